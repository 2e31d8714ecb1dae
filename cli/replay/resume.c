/* Scans the verdicts of an earlier replay (resume.h). A record's position is read from its end; the record is parsed
 * for the id and digest of its request. Marks are stored in pieces by position. A torn last record is cut off only if
 * it begins like a record, so that another program's file is never truncated. */
#include "cli/replay/resume.h"
#include "proto/bus/position.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

/* Reads the number that ends before `at` and follows `key`. Sets *start to the position of the key. Returns false if
 * there is none. */
static bool number_before(const char *record, size_t at, const char *key, uint64_t *number, size_t *start)
{
    uint64_t unit = 1;
    size_t end = at, key_len = strlen(key);
    *number = 0;
    while (at > 0 && g_ascii_isdigit(record[at - 1]) && unit < 1000000000000000000ULL) {
        *number += (uint64_t)(record[--at] - '0') * unit;
        unit *= 10;
    }
    if (at == end || at <= key_len || memcmp(record + at - key_len, key, key_len) != 0) return false;
    *start = at - key_len;
    return true;
}

uint64_t resume_place_of(const char *record, size_t len)
{
    uint64_t number, partition;
    size_t at = 0;
    if (len < 2 || record[0] != '{' || record[len - 1] != '}') return 0;
    if (number_before(record, len - 1, ",\"line\":", &number, &at))
        return number >> POSITION_OFFSET_BITS ? 0 : position_line(number);
    if (!number_before(record, len - 1, ",\"offset\":", &number, &at) || number >> POSITION_OFFSET_BITS) return 0;
    if (!number_before(record, at, ",\"partition\":", &partition, &at) || partition >= POSITION_MAX_PARTITIONS)
        return 0;
    return position_record((int32_t)partition, (int64_t)number);
}

static guint place_hash(gconstpointer place)
{
    const guint64 *key = place;
    return (guint)(*key ^ *key >> 32);
}

/* Returns a mark, which is never 0: 31 bits of a hash, and one bit that is set if there is a digest. The hash covers
 * the id and the digest, because the digest does not cover the id. */
static guint32 mark_of(const char *digest, const char *id)
{
    uint64_t seed = digest ? XXH3_64bits(digest, strlen(digest)) : 0;
    guint32 hash = (guint32)XXH3_64bits_withSeed(id, strlen(id), seed) >> 1;
    return (hash ? hash : 1) << 1 | (digest != NULL);
}

static guint32 *mark_at(const struct resume *resume, uint64_t place)
{
    guint64 key = place / RESUME_PIECE;
    guint32 *marks = resume->pieces ? g_hash_table_lookup(resume->pieces, &key) : NULL;
    return marks ? &marks[place % RESUME_PIECE] : NULL;
}

static void set_mark(struct resume *resume, uint64_t place, guint32 mark)
{
    guint64 key = place / RESUME_PIECE;
    if (!mark_at(resume, place))
        g_hash_table_insert(resume->pieces, g_memdup2(&key, sizeof key), g_new0(guint32, RESUME_PIECE));
    *mark_at(resume, place) = mark;
    resume->done++;
}

bool resume_has(const struct resume *resume, uint64_t place)
{
    const guint32 *mark = mark_at(resume, place);
    return mark && *mark;
}

void resume_digest_text(const uint64_t digest[2], char out[33])
{
    snprintf(out, 33, "%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", digest[0], digest[1]);
}

bool resume_conflicts(const struct resume *resume, uint64_t place, const uint64_t digest[2], const char *id)
{
    char text[33];
    const guint32 *mark = mark_at(resume, place);
    if (!mark || !*mark) return false;
    bool by_digest = *mark & 1;
    if (by_digest && digest) resume_digest_text(digest, text);
    if (!id || (by_digest && !digest)) return true;
    return *mark != mark_of(by_digest ? text : NULL, id);
}

bool resume_read(const struct lines *lines, struct resume_record *out)
{
    json_t *json = json_loadb(lines->text, lines->len, 0, NULL);
    *out = (struct resume_record){.id = json_string_value(json_object_get(json, "id")),
                                  .digest = json_string_value(json_object_get(json, "request_digest")),
                                  .old = json_integer_value(json_object_get(json, "schema_version")) < 2,
                                  .json = json};
    return out->id != NULL;
}

/* True if the line may be a record that was cut off when the process was killed. Any other line belongs to another
 * program's file, which must not be truncated. */
static bool is_torn_record(const struct lines *lines)
{
    static const char start[] = "{\"schema_version\":";
    return !lines->too_long && strncmp(lines->text, start, MIN(lines->len, sizeof start - 1)) == 0;
}

static enum err_code cut(const char *path, uint64_t size, struct err *err)
{
    if (truncate(path, (off_t)size) == 0) return ERR_OK;
    return err_set(err, ERR_IO, "%s: cannot be truncated to the last complete line: %s", path, g_strerror(errno));
}

static bool ends_with_newline(struct lines *lines)
{
    return fseeko(lines->file, -1, SEEK_END) == 0 && getc(lines->file) == '\n';
}

/* Passes every complete record to `take`. Sets *whole to the size of the file up to the end of the last one. */
static enum err_code each_whole(struct lines *lines, resume_take *take, void *ctx, uint64_t *whole, struct err *err)
{
    int more;
    while ((more = lines_next(lines)) > 0) {
        bool last = lines->offset == lines->size, cut_off = last && !ends_with_newline(lines);
        const char *wrong = lines->too_long ? RESUME_NO_RECORD : take(ctx, lines, !cut_off);
        if (wrong ? last && is_torn_record(lines) : cut_off) break;
        if (wrong)
            return err_set(err, ERR_MALFORMED, "%s:%llu: %s", lines->path, (unsigned long long)lines->number, wrong);
        *whole = lines->offset;
        if (last) break;
    }
    return more < 0 ? err_set(err, ERR_IO, "%s: cannot be read: %s", lines->path, lines_error(lines)) : ERR_OK;
}

enum err_code resume_each(const char *path, resume_take *take, void *ctx, struct err *err)
{
    struct stat status;
    if (stat(path, &status) != 0 && errno == ENOENT) return ERR_OK;
    struct lines lines;
    enum err_code code = lines_open(path, &lines, err);
    if (code != ERR_OK) {
        struct err inner = *err;
        return err_at(err, code, &inner, "%s", path);
    }
    uint64_t whole = 0, size = lines.size;
    code = each_whole(&lines, take, ctx, &whole, err);
    lines_close(&lines);
    return code == ERR_OK && whole < size ? cut(path, whole, err) : code;
}

static const char *take_place(void *ctx, const struct lines *lines, bool keep)
{
    struct resume *resume = ctx;
    uint64_t place = resume_place_of(lines->text, lines->len);
    if (place == 0) return RESUME_NO_RECORD;
    if (!keep) return NULL;
    if (resume_has(resume, place)) return "a second verdict on the same request";
    struct resume_record record;
    bool read = resume_read(lines, &record);
    if (read) set_mark(resume, place, mark_of(record.digest, record.id));
    resume->of_topics += read && position_is_record(place);
    resume->undigested += read && record.old;
    json_decref(record.json);
    return read ? NULL : RESUME_NO_RECORD;
}

enum err_code resume_scan(const char *path, struct resume *out, struct err *err)
{
    *out = (struct resume){.pieces = g_hash_table_new_full(place_hash, g_int64_equal, g_free, g_free)};
    return resume_each(path, take_place, out, err);
}

void resume_free(struct resume *resume)
{
    if (resume->pieces) g_hash_table_destroy(resume->pieces);
    *resume = (struct resume){0};
}
