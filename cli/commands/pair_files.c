/* Reads question/SQL pairs from files (pair_files.h). Folders are walked without following links, and every count, size
 * and depth has a bound. A file with an invalid pair gets an error code and does not stop the others. A file without a
 * pair is skipped. */
#include "cli/commands/pair_files.h"

#include "lib/base/input.h"

#include <errno.h>
#include <fts.h>
#include <string.h>
#include <sys/stat.h>

struct reader {
    GPtrArray *pairs;
    uint64_t bytes;
};

static void pair_free(void *item)
{
    struct pair *pair = item;
    g_free((char *)pair->file.path);
    g_free((char *)pair->folder);
    g_free((char *)pair->question);
    g_free((char *)pair->evidence);
    g_free((char *)pair->db);
    g_free(pair->text);
    g_free(pair);
}

void pairs_free(GPtrArray *pairs)
{
    if (pairs) g_ptr_array_free(pairs, TRUE);
}

static void leave_out(struct pair *pair, enum err_code code, const char *why)
{
    pair->code = code;
    pair->why = why;
}

/* --- one file --------------------------------------------------------------------------------------------------- */

/* Appends the value of "-- key: value" to the previous value. Returns false if the line does not have this key. */
static bool take_value(const char *line, const char *key, const char **value)
{
    size_t len = strlen(key);
    line += 2;
    while (g_ascii_isspace(*line)) line++;
    if (g_ascii_strncasecmp(line, key, len) != 0 || line[len] != ':') return false;
    char *more = g_strstrip(g_strdup(line + len + 1));
    char *all = *value && *more ? g_strconcat(*value, " ", more, NULL) : g_strdup(*more ? more : *value);
    g_free(more);
    g_free((char *)*value);
    *value = all;
    return true;
}

/* Reads the comment lines before the query, and finds its start. */
static void read_head(struct pair *pair, const char *text, size_t len)
{
    const char *at = text;
    for (pair->file.line = 1; at < text + len; pair->file.line++) {
        const char *end = memchr(at, '\n', (size_t)(text + len - at));
        char *line = g_strstrip(g_strndup(at, end ? (size_t)(end - at) : (size_t)(text + len - at)));
        bool comment = g_str_has_prefix(line, "--"), blank = !*line;
        if (comment && !take_value(line, "question", &pair->question) && !take_value(line, "db", &pair->db))
            take_value(line, "evidence", &pair->evidence);
        g_free(line);
        if (!comment && !blank) break;
        at = end ? end + 1 : text + len;
    }
    pair->file.start = (uint32_t)(at - text);
    pair->sql = (struct msg_text){at, (uint32_t)(text + len - at)};
    while (pair->sql.len && g_ascii_isspace(at[pair->sql.len - 1])) pair->sql.len--;
}

/* Checks the bounds of a request, so that one file does not end the whole run. */
static void check_bounds(struct pair *pair)
{
    if (!pair->question)
        leave_out(pair, ERR_OK, "no question: the comment lines at the top lack `-- question: TEXT`");
    else if (!pair->sql.len)
        leave_out(pair, ERR_MALFORMED, "no query after the question");
    else if (strlen(pair->question) > MSG_MAX_QUESTION || (pair->evidence && strlen(pair->evidence) > MSG_MAX_QUESTION))
        leave_out(pair, ERR_LIMIT_BYTES, "the question or its evidence is longer than 64 KiB");
    else if (pair->db && strlen(pair->db) > MSG_MAX_NAME)
        leave_out(pair, ERR_LIMIT_BYTES, "the name of the database is longer than 256 bytes");
}

static enum err_code read_text(struct reader *reader, struct pair *pair, const char *path, struct err *err)
{
    struct input input;
    enum err_code code = input_read(path, &input, err);
    if (code) {
        struct err inner = *err;
        return err_at(err, code, &inner, "%s", path);
    }
    reader->bytes += input.len;
    pair->text = input.text;
    if (reader->bytes > PAIRS_MAX_BYTES)
        return err_set(err, ERR_LIMIT_BYTES,
                       "the files contain more than %d bytes" ERR_HINT "check fewer files at a time", PAIRS_MAX_BYTES);
    if (!g_utf8_validate(input.text, (gssize)input.len, NULL)) {
        leave_out(pair, ERR_ENCODING, "the file is not valid UTF-8, or contains a NUL");
        return ERR_OK;
    }
    read_head(pair, input.text, input.len);
    check_bounds(pair);
    return ERR_OK;
}

/* --- all files -------------------------------------------------------------------------------------------------- */

/* Returns the name of the folder that contains `path`, also for relative paths such as "q1.sql". Free with g_free. */
static char *folder_name(const char *path)
{
    char *whole = g_canonicalize_filename(path, NULL), *parent = g_path_get_dirname(whole);
    char *name = g_path_get_basename(parent), *valid = g_utf8_make_valid(name, -1);
    g_free(name);
    g_free(parent);
    g_free(whole);
    return valid;
}

static enum err_code add(struct reader *reader, const FTSENT *entry, struct err *err)
{
    if (reader->pairs->len >= PAIRS_MAX_FILES)
        return err_set(err, ERR_LIMIT_COUNT, "more than %d files" ERR_HINT "check fewer files at a time",
                       PAIRS_MAX_FILES);
    const char *path = g_str_has_prefix(entry->fts_path, "./") ? entry->fts_path + 2 : entry->fts_path;
    struct pair *pair = g_new0(struct pair, 1);
    g_ptr_array_add(reader->pairs, pair);
    pair->file = (struct sql_file){.path = g_utf8_make_valid(path, -1), .line = 1};
    pair->folder = folder_name(path);
    if (entry->fts_info == FTS_SL || entry->fts_info == FTS_SLNONE)
        leave_out(pair, ERR_OK, "symbolic links are not followed");
    else if (entry->fts_statp->st_size > MSG_MAX_SQL)
        leave_out(pair, ERR_LIMIT_BYTES, "larger than 1 MiB");
    else
        return read_text(reader, pair, entry->fts_accpath, err);
    return ERR_OK;
}

static enum err_code visit(struct reader *reader, FTS *walk, FTSENT *entry, struct err *err)
{
    bool named = entry->fts_level == FTS_ROOTLEVEL;
    if (!named && *entry->fts_name == '.') {
        fts_set(walk, entry, FTS_SKIP);
        return ERR_OK;
    }
    switch (entry->fts_info) {
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS: return err_set(err, ERR_IO, "%s: cannot be read: %s", entry->fts_path, g_strerror(entry->fts_errno));
    case FTS_D:
        if (entry->fts_level <= PAIRS_MAX_DEPTH) return ERR_OK;
        return err_set(err, ERR_LIMIT_DEPTH, "%s: folders are nested more than %d deep", entry->fts_path,
                       PAIRS_MAX_DEPTH);
    case FTS_F:
    case FTS_SL:
    case FTS_SLNONE: return named || g_str_has_suffix(entry->fts_name, ".sql") ? add(reader, entry, err) : ERR_OK;
    default:
        if (named && entry->fts_info == FTS_DEFAULT)
            return err_set(err, ERR_IO, "%s: neither a file nor a folder", entry->fts_path);
        return ERR_OK;
    }
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

enum err_code pairs_read(const char *const *paths, int n, GPtrArray **out, struct err *err)
{
    struct reader reader = {.pairs = g_ptr_array_new_with_free_func(pair_free)};
    *out = reader.pairs;
    char **argv = g_new0(char *, (gsize)n + 1);
    for (int i = 0; i < n; i++) argv[i] = (char *)paths[i];
    FTS *walk = fts_open(argv, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    enum err_code code = walk ? ERR_OK : err_set(err, ERR_IO, "cannot list the files: %s", g_strerror(errno));
    for (FTSENT *entry; !code && (entry = fts_read(walk));) code = visit(&reader, walk, entry, err);
    if (walk) fts_close(walk);
    g_free(argv);
    return code;
}
