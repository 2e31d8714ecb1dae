#include "lib/base/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <unistd.h>

static struct outfile standard;

/* Writes all bytes. Returns fewer than `len` after a failure, so that stdio sets the stream's error flag. */
static ssize_t write_all(void *cookie, const char *bytes, size_t len)
{
    struct outfile *out = cookie;
    size_t done = 0;
    while (done < len) {
        ssize_t n = write(out->fd, bytes + done, len - done);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) {
            if (!out->failed) out->failed = n < 0 ? errno : EIO;
            break;
        }
        done += (size_t)n;
    }
    return (ssize_t)done;
}

static int close_fd(void *cookie)
{
    struct outfile *out = cookie;
    if (!out->open || close(out->fd) == 0) return 0;
    if (!out->failed) out->failed = errno; /* close reports lost writes on NFS and with disk quotas */
    return -1;
}

static int open_stream(struct outfile *out)
{
    out->stream = fopencookie(out, "w", (cookie_io_functions_t){.write = write_all, .close = close_fd});
    if (out->stream) return 0;
    int why = errno;
    if (out->open) close(out->fd);
    return why;
}

int outfile_open(struct outfile *out, const char *path, bool append)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | (append ? O_APPEND : O_TRUNC), 0666);
    *out = (struct outfile){.fd = fd, .open = true};
    return fd < 0 ? errno : open_stream(out);
}

int outfile_of(struct outfile *out, int fd)
{
    *out = (struct outfile){.fd = fd};
    return open_stream(out);
}

void outfile_take_stdout(void)
{
    if (outfile_of(&standard, STDOUT_FILENO) != 0) return; /* out of memory: libc's own stdout stays in use */
    if (isatty(STDOUT_FILENO)) setvbuf(standard.stream, NULL, _IOLBF, BUFSIZ);
    stdout = standard.stream;
}

int outfile_flush_stdout(void)
{
    if (stdout == standard.stream && standard.stream) return outfile_flush(&standard);
    return fflush(stdout) != 0 || ferror(stdout) ? EIO : 0;
}

int outfile_flush(struct outfile *out)
{
    if (fflush(out->stream) != 0 && !out->failed) out->failed = errno ? errno : EIO;
    return out->failed;
}

int outfile_close(struct outfile *out)
{
    if (out->stream && fclose(out->stream) != 0 && !out->failed) out->failed = errno ? errno : EIO;
    out->stream = NULL;
    return out->failed;
}

enum err_code outfile_write(const char *path, const char *bytes, size_t len, struct err *err)
{
    struct outfile out;
    int why = outfile_open(&out, path, false);
    if (!why) fwrite(bytes, 1, len, out.stream);
    if (!why) why = outfile_close(&out);
    return why ? err_set(err, ERR_IO, "%s: cannot be written: %s", path, g_strerror(why)) : ERR_OK;
}
