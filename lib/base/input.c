/* Reads whole files, and query logs line by line (input.h). Lines above INPUT_MAX_BYTES are skipped and reported. The
 * first bytes of a log are inspected before the first line is returned, so a binary file is rejected at once. A text
 * file without JSON objects, such as CSV, is rejected after INPUT_FIRST_LINES lines. A log with some damaged lines is
 * accepted. */
#include "lib/base/input.h"
#include "lib/base/bom.h"

#include <errno.h>
#include <glib.h>
#include <jansson.h>
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
    g_string_erase(text, 0, (gssize)bom_length(text->str, text->len));
    out->len = text->len;
    out->text = g_string_free(text, code != ERR_OK);
    return code;
}

void input_free(struct input *input)
{
    g_free(input->text);
    *input = (struct input){0};
}

/* Fills `head` with the first bytes. Reads at most the first line unless the input is a regular file, because reading
 * further could block. */
static void look_ahead(struct lines *lines)
{
    bool waits = lines->size == 0;
    int c = 0;
    while (lines->head_len < sizeof lines->head && !(waits && c == '\n') && (c = getc_unlocked(lines->file)) != EOF)
        lines->head[lines->head_len++] = (char)c;
    lines->empty = c == EOF;
    for (size_t i = 0; i < lines->head_len; i++) lines->empty &= g_ascii_isspace(lines->head[i]);
    lines->offset = lines->head_at = bom_length(lines->head, lines->head_len);
    lines->empty |= c == EOF && lines->head_at == lines->head_len;
}

/* Returns the first byte in `head` that cannot be text. Returns NULL if there is none, or if a line begins with '{':
 * the input may then be a log with damaged lines. */
static const char *not_text(const struct lines *lines)
{
    bool line_start = true;
    const char *strange = NULL;
    for (size_t i = lines->head_at; i < lines->head_len; i++) {
        unsigned char c = (unsigned char)lines->head[i];
        if (line_start && c == '{') return NULL;
        if (!strange && c < ' ' && !g_ascii_isspace(c)) strange = &lines->head[i];
        line_start = c == '\n' || (line_start && g_ascii_isspace(c));
    }
    return strange;
}

enum err_code lines_open(const char *path, struct lines *out, struct err *err)
{
    *out = (struct lines){.path = path, .file = open_or_stdin(path, err)};
    if (!out->file) return ERR_IO;
    struct stat status;
    if (fstat(fileno(out->file), &status) == 0 && S_ISREG(status.st_mode)) out->size = (uint64_t)status.st_size;
    look_ahead(out);
    const char *strange = not_text(out);
    if (!strange) return ERR_OK;
    bool packed = out->head_len > 2 && memcmp(out->head, "\x1f\x8b", 2) == 0;
    err_set(err, ERR_ENCODING, "not a text file: byte %zu is 0x%02x, expected lines of JSON in UTF-8" ERR_HINT "%s",
            (size_t)(strange - out->head) + 1, (unsigned char)*strange,
            packed ? "the file is compressed: use `zcat FILE | assay ... -`" : "");
    lines_close(out);
    return ERR_ENCODING;
}

void lines_close(struct lines *lines)
{
    if (lines->file && lines->file != stdin) fclose(lines->file);
    g_free(lines->text);
    *lines = (struct lines){0};
}

/* Makes room for `need` bytes and a NUL, by doubling the buffer. */
static void reserve(struct lines *lines, size_t need)
{
    if (need + 1 <= lines->cap) return;
    size_t cap = lines->cap ? lines->cap : 4096;
    while (cap < need + 1) cap *= 2;
    lines->text = g_realloc(lines->text, cap);
    lines->cap = cap;
}

static inline int next_byte(struct lines *lines)
{
    if (lines->head_at < lines->head_len) return (unsigned char)lines->head[lines->head_at++];
    return getc_unlocked(lines->file);
}

/* Reads the next line. Drops the text of a line longer than INPUT_MAX_BYTES. Returns false at the end of the input. */
static bool read_line(struct lines *lines)
{
    lines->len = 0;
    lines->too_long = false;
    lines->start = lines->offset;
    bool any = false;
    int c;
    while ((c = next_byte(lines)) != EOF) {
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
    if (c == EOF && ferror(lines->file) && !lines->failed) lines->failed = errno ? errno : EIO;
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

/* Returns false after INPUT_FIRST_LINES lines of which none is a JSON object: a table, prose, or one JSON text over
 * many lines. */
static bool may_be_log(struct lines *lines)
{
    if (lines->is_log || lines->too_long) return true;
    json_t *json = json_loadb(lines->text, lines->len, 0, NULL);
    lines->is_log = json_is_object(json);
    json_decref(json);
    lines->strange += !lines->is_log;
    return lines->strange < INPUT_FIRST_LINES;
}

int lines_next(struct lines *lines)
{
    while (read_line(lines)) {
        lines->number++;
        if (is_blank(lines)) continue;
        if (may_be_log(lines)) return 1;
        lines->failed = EBADMSG;
        return -1;
    }
    return ferror(lines->file) ? -1 : 0;
}

const char *lines_error(const struct lines *lines)
{
    if (lines->strange >= INPUT_FIRST_LINES) return "this is no log: none of its first lines is a JSON object";
    return g_strerror(lines->failed ? lines->failed : errno);
}

char *lines_where(const struct lines *lines)
{
    return g_strdup_printf("%s:%llu", lines->path, (unsigned long long)lines->number);
}

int lines_at(struct lines *lines, uint64_t start, uint64_t number)
{
    if (start != lines->offset) {
        lines->head_at = lines->head_len;
        if (fseeko(lines->file, (off_t)start, SEEK_SET) != 0) return -1;
    }
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
                err_at(err, inner.code, &inner, "%s", path);
                return -1;
            }
            if (!logs->again && logs->lines.empty && logs->on_empty) logs->on_empty(path);
        }
        int more = lines_next(&logs->lines);
        if (more > 0) return 1;
        if (more < 0) {
            err_set(err, ERR_IO, "%s: cannot be read: %s", logs->lines.path, lines_error(&logs->lines));
            return -1;
        }
        lines_close(&logs->lines);
    }
}

void logs_rewind(struct logs *logs)
{
    lines_close(&logs->lines);
    logs->again |= logs->next > 0;
    logs->next = 0;
}
