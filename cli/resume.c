#include "cli/resume.h"
#include "cli/input.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char key[] = ",\"line\":";

uint64_t resume_line_of(const char *record, size_t len)
{
    if (len < sizeof key + 1 || record[0] != '{' || record[len - 1] != '}') return 0;
    size_t at = len - 1;
    uint64_t line = 0, unit = 1;
    while (at > 0 && g_ascii_isdigit(record[at - 1]) && unit < 1000000000000000000ULL) {
        line += (uint64_t)(record[--at] - '0') * unit;
        unit *= 10;
    }
    size_t key_len = sizeof key - 1;
    return at > key_len && memcmp(record + at - key_len, key, key_len) == 0 ? line : 0;
}

static void mark(struct resume *resume, uint64_t line)
{
    guint byte = (guint)(line / 8);
    if (byte >= resume->bits->len) {
        guint old = resume->bits->len, grown = (byte + 1) * 2;
        g_byte_array_set_size(resume->bits, grown);
        memset(resume->bits->data + old, 0, grown - old);
    }
    resume->bits->data[byte] |= (guint8)(1U << line % 8);
    resume->done++;
}

bool resume_has(const struct resume *resume, uint64_t line)
{
    return resume->bits && line / 8 < resume->bits->len && (resume->bits->data[line / 8] & 1U << line % 8);
}

static void sample(struct resume *resume, uint64_t line, const char *record, size_t len)
{
    if (resume->n_samples == RESUME_SAMPLES) return;
    json_t *json = json_loadb(record, len, 0, NULL);
    const char *id = json_string_value(json_object_get(json, "id"));
    if (id) {
        resume->samples[resume->n_samples].line = line;
        resume->samples[resume->n_samples++].id = g_strdup(id);
    }
    json_decref(json);
}

bool resume_conflicts(const struct resume *resume, uint64_t line, const char *id)
{
    for (unsigned i = 0; i < resume->n_samples; i++)
        if (resume->samples[i].line == line) return strcmp(resume->samples[i].id, id) != 0;
    return false;
}

/* May this be what a kill left of a record? Anything else is somebody's file, and not ours to cut. */
static bool is_torn_record(const struct lines *lines)
{
    static const char start[] = "{\"schema_version\":";
    return !lines->too_long && strncmp(lines->text, start, MIN(lines->len, sizeof start - 1)) == 0;
}

static enum err_code cut(const char *path, uint64_t size, struct err *err)
{
    if (truncate(path, (off_t)size) == 0) return ERR_OK;
    return err_set(err, ERR_IO, "%s: cannot be cut to its last whole line: %s", path, g_strerror(errno));
}

static bool ends_with_newline(struct lines *lines)
{
    return fseeko(lines->file, -1, SEEK_END) == 0 && getc(lines->file) == '\n';
}

/* Note every record. *whole is the size up to the end of the last one. */
static enum err_code scan(struct lines *lines, struct resume *out, uint64_t *whole, struct err *err)
{
    int more;
    while ((more = lines_next(lines)) > 0) {
        uint64_t line = resume_line_of(lines->text, lines->len);
        bool last = lines->offset == lines->size;
        if (line == 0 && last && is_torn_record(lines)) break;
        if (line == 0 || lines->too_long || line > UINT32_MAX)
            return err_set(err, ERR_MALFORMED, "%s:%llu: not a record of a replay in jsonl", lines->path,
                           (unsigned long long)lines->number);
        bool torn = false;
        if (last) torn = !ends_with_newline(lines);
        if (torn) break;
        if (resume_has(out, line))
            return err_set(err, ERR_MALFORMED, "%s:%llu: a second verdict on line %llu of the log", lines->path,
                           (unsigned long long)lines->number, (unsigned long long)line);
        mark(out, line);
        sample(out, line, lines->text, lines->len);
        *whole = lines->offset;
        if (last) break;
    }
    return more < 0 ? err_set(err, ERR_IO, "%s: cannot be read: %s", lines->path, g_strerror(errno)) : ERR_OK;
}

enum err_code resume_scan(const char *path, struct resume *out, struct err *err)
{
    *out = (struct resume){.bits = g_byte_array_new()};
    struct stat status;
    if (stat(path, &status) != 0 && errno == ENOENT) return ERR_OK;
    struct lines lines;
    if (lines_open(path, &lines, err) != ERR_OK) return ERR_IO;
    uint64_t whole = 0, size = lines.size;
    enum err_code code = scan(&lines, out, &whole, err);
    lines_close(&lines);
    return code == ERR_OK && whole < size ? cut(path, whole, err) : code;
}

void resume_free(struct resume *resume)
{
    if (resume->bits) g_byte_array_free(resume->bits, TRUE);
    for (unsigned i = 0; i < resume->n_samples; i++) g_free(resume->samples[i].id);
    *resume = (struct resume){0};
}
