#include "lib/base/outfile.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void print_much(FILE *stream)
{
    char line[16384];
    memset(line, 'x', sizeof line);
    fwrite(line, 1, sizeof line, stream); /* larger than the buffer, so the write fails immediately */
}

Test(outfile, full_device_reason_survives_other_calls)
{
    struct outfile out;
    cr_assert_eq(outfile_open(&out, "/dev/full", false), 0);
    print_much(out.stream);
    cr_expect(ferror(out.stream));
    errno = 0;
    cr_expect_eq(outfile_flush(&out), ENOSPC);
    errno = 0;
    cr_expect_eq(outfile_close(&out), ENOSPC);
    cr_expect_eq(outfile_close(&out), ENOSPC);
}

Test(outfile, small_write_fails_at_close)
{
    struct outfile out;
    cr_assert_eq(outfile_open(&out, "/dev/full", false), 0);
    cr_expect_geq(fprintf(out.stream, "x"), 0);
    cr_expect_eq(outfile_close(&out), ENOSPC);
}

Test(outfile, missing_folder_is_an_error_at_open)
{
    struct outfile out;
    cr_expect_eq(outfile_open(&out, "/nonexistent/x", false), ENOENT);
    cr_expect_eq(outfile_close(&out), 0);
}

Test(outfile, append_keeps_existing_content)
{
    char path[] = "/tmp/outfile-XXXXXX";
    int fd = mkstemp(path);
    struct outfile out;
    char text[8] = "";
    cr_assert_geq(fd, 0);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(outfile_open(&out, path, i > 0), 0);
        cr_expect_geq(fprintf(out.stream, "%d", i), 0);
        cr_expect_eq(outfile_close(&out), 0);
    }
    cr_expect_eq(read(fd, text, sizeof text - 1), 2);
    cr_expect_str_eq(text, "01");
    close(fd);
    unlink(path);
}

Test(outfile, descriptor_of_caller_stays_open)
{
    int fds[2];
    struct outfile out;
    cr_assert_eq(pipe(fds), 0);
    cr_assert_eq(outfile_of(&out, fds[1]), 0);
    cr_expect_eq(outfile_close(&out), 0);
    cr_expect_eq(write(fds[1], "x", 1), 1);
    close(fds[0]);
    close(fds[1]);
}
