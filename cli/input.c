#include "cli/input.h"

#include <errno.h>
#include <glib.h>
#include <string.h>
#include <sys/stat.h>

static FILE *open_or_stdin(const char *path, struct err *err)
{
    if (strcmp(path, "-") == 0) return stdin;
    FILE *file = fopen(path, "re");
    struct stat status;
    if (file && fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
        fclose(file);
        file = NULL;
        errno = EISDIR;
    }
    if (!file) err_set(err, ERR_IO, "cannot be read: %s", g_strerror(errno));
    return file;
}

enum err_code input_read(const char *path, struct input *out, struct err *err)
{
    FILE *file = open_or_stdin(path, err);
    if (!file) return ERR_IO;
    GString *text = g_string_new(NULL);
    char block[65536];
    size_t n;
    while (text->len <= INPUT_MAX_BYTES && (n = fread(block, 1, sizeof block, file)) > 0)
        g_string_append_len(text, block, (gssize)n);
    enum err_code code = ERR_OK;
    if (ferror(file))
        code = err_set(err, ERR_IO, "cannot be read: %s", g_strerror(errno));
    else if (text->len > INPUT_MAX_BYTES)
        code = err_set(err, ERR_LIMIT_BYTES, "larger than %d bytes", INPUT_MAX_BYTES);
    if (file != stdin) fclose(file);
    out->len = text->len;
    out->text = g_string_free(text, code != ERR_OK);
    return code;
}

void input_free(struct input *input)
{
    g_free(input->text);
    *input = (struct input){0};
}

enum err_code lines_open(const char *path, struct lines *out, struct err *err)
{
    *out = (struct lines){.path = path, .file = open_or_stdin(path, err)};
    if (!out->file) return ERR_IO;
    struct stat status;
    if (fstat(fileno(out->file), &status) == 0 && S_ISREG(status.st_mode)) out->size = (uint64_t)status.st_size;
    return ERR_OK;
}

void lines_close(struct lines *lines)
{
    if (lines->file && lines->file != stdin) fclose(lines->file);
    g_free(lines->text);
    *lines = (struct lines){0};
}

/* Room for `need` bytes and a NUL; grows by doubling, up to the cap on a line. */
static void reserve(struct lines *lines, size_t need)
{
    if (need + 1 <= lines->cap) return;
    size_t cap = lines->cap ? lines->cap : 4096;
    while (cap < need + 1) cap *= 2;
    lines->text = g_realloc(lines->text, cap);
    lines->cap = cap;
}

/* Read up to a newline. Bytes past the cap are read and dropped. False: nothing left to read. */
static bool read_line(struct lines *lines)
{
    lines->len = 0;
    lines->too_long = false;
    lines->start = lines->offset;
    bool any = false;
    int c;
    while ((c = getc_unlocked(lines->file)) != EOF) {
        any = true;
        lines->offset++;
        if (c == '\n') break;
        if (lines->len >= INPUT_MAX_BYTES) {
            lines->too_long = true;
            continue;
        }
        reserve(lines, lines->len + 1);
        lines->text[lines->len++] = (char)c;
    }
    reserve(lines, lines->len + 1);
    if (lines->len > 0 && lines->text[lines->len - 1] == '\r') lines->len--;
    if (lines->too_long) lines->len = 0;
    lines->text[lines->len] = '\0';
    return any;
}

static bool is_blank(const struct lines *lines)
{
    for (size_t i = 0; i < lines->len; i++)
        if (!g_ascii_isspace(lines->text[i])) return false;
    return !lines->too_long;
}

int lines_next(struct lines *lines)
{
    while (read_line(lines)) {
        lines->number++;
        if (!is_blank(lines)) return 1;
    }
    return ferror(lines->file) ? -1 : 0;
}

char *lines_where(const struct lines *lines)
{
    return g_strdup_printf("%s:%llu", lines->path, (unsigned long long)lines->number);
}

int lines_at(struct lines *lines, uint64_t start, uint64_t number)
{
    if (start != lines->offset && fseeko(lines->file, (off_t)start, SEEK_SET) != 0) return -1;
    lines->offset = start;
    lines->number = number;
    if (read_line(lines)) return 1;
    return ferror(lines->file) ? -1 : 0;
}

int logs_next(struct logs *logs, struct err *err)
{
    for (;;) {
        if (!logs->lines.file) {
            if (logs->next >= logs->n) return 0;
            const char *path = logs->paths[logs->next++];
            if (lines_open(path, &logs->lines, err) != ERR_OK) {
                struct err inner = *err;
                err_set(err, inner.code, "%s: %s", path, inner.text);
                return -1;
            }
        }
        int more = lines_next(&logs->lines);
        if (more > 0) return 1;
        if (more < 0) {
            err_set(err, ERR_IO, "%s: cannot be read: %s", logs->lines.path, g_strerror(errno));
            return -1;
        }
        lines_close(&logs->lines);
    }
}

void logs_rewind(struct logs *logs)
{
    lines_close(&logs->lines);
    logs->next = 0;
}
