#include "cli/feedback.h"

#include <glib.h>
#include <string.h>

enum { SAID = 20 };
static const char KEY[] = "feedback_version";

/* One thing said of a request. */
struct word {
    char *sql; /* NULL: by index, or the answer */
    int64_t candidate;
    bool right;
};

struct said {
    GArray *words; /* struct word, as they were read */
    char *generator;
    char *answer;      /* the SQL that a verdict gave; NULL */
    bool needs, taken; /* a word is about the answer; a request has come */
};

struct feedback {
    GHashTable *by_id; /* request → struct said */
    struct feedback_counts counts;
    bool needs; /* some word is about an answer */
    lines_skipped skipped;
};

/* --- one record --- */

static enum err_code read_text(const json_t *json, const char *key, size_t max, const char **out, struct err *err)
{
    const json_t *value = json_object_get(json, key);
    *out = NULL;
    if (!value || json_is_null(value)) return ERR_OK;
    if (!json_is_string(value)) return err_set(err, ERR_MALFORMED, "\"%s\" is no string", key);
    size_t len = json_string_length(value);
    if (len > max) return err_set(err, ERR_LIMIT_BYTES, "\"%s\" has %zu bytes; %zu are allowed", key, len, max);
    if (strlen(json_string_value(value)) != len) return err_set(err, ERR_MALFORMED, "\"%s\" holds a NUL", key);
    *out = json_string_value(value);
    return ERR_OK;
}

static enum err_code read_index(const json_t *json, int64_t *out, struct err *err)
{
    const json_t *value = json_object_get(json, "candidate");
    *out = -1;
    if (!value || json_is_null(value)) return ERR_OK;
    json_int_t index = json_integer_value(value);
    if (!json_is_integer(value) || index < 0 || index >= MSG_MAX_CANDIDATES)
        return err_set(err, ERR_MALFORMED, "\"candidate\" is no index from 0 to %d", MSG_MAX_CANDIDATES - 1);
    *out = index;
    return ERR_OK;
}

static enum err_code read_version(const json_t *json, struct err *err)
{
    const json_t *version = json_object_get(json, KEY);
    if (!json_is_integer(version)) return err_set(err, ERR_MALFORMED, "\"%s\" is no whole number", KEY);
    if (json_integer_value(version) == FEEDBACK_VERSION) return ERR_OK;
    return err_set(err, ERR_VERSION, "feedback of version %lld; this build reads version %d",
                   (long long)json_integer_value(version), FEEDBACK_VERSION);
}

enum err_code feedback_parse(const json_t *json, struct feedback_record *out, struct err *err)
{
    *out = (struct feedback_record){.candidate = -1};
    enum err_code code = read_version(json, err);
    if (!code) code = read_text(json, "id", MSG_MAX_NAME, &out->id, err);
    if (!code && !out->id) code = err_set(err, ERR_MALFORMED, "\"id\" is missing: of which request?");
    if (!code) code = read_text(json, "sql", MSG_MAX_SQL, &out->sql, err);
    if (!code) code = read_text(json, "generator", MSG_MAX_NAME, &out->generator, err);
    if (!code) code = read_index(json, &out->candidate, err);
    if (!code && out->sql && out->candidate >= 0)
        code = err_set(err, ERR_MALFORMED, "\"candidate\" or \"sql\", not both");
    if (!code && !json_is_boolean(json_object_get(json, "right")))
        code = err_set(err, ERR_MALFORMED, "\"right\" is neither true nor false");
    out->right = json_is_true(json_object_get(json, "right"));
    return code;
}

/* --- all of them --- */

static void said_free(gpointer p)
{
    struct said *said = p;
    for (guint i = 0; i < said->words->len; i++) g_free(g_array_index(said->words, struct word, i).sql);
    g_array_free(said->words, TRUE);
    g_free(said->generator);
    g_free(said->answer);
    g_free(said);
}

void feedback_free(struct feedback *feedback)
{
    if (!feedback) return;
    g_hash_table_destroy(feedback->by_id);
    g_free(feedback);
}

static void skip(struct feedback *feedback, const struct lines *lines, const char *why)
{
    if (feedback->counts.bad++ < SAID && feedback->skipped) feedback->skipped(lines, why);
}

static void keep(struct feedback *feedback, const struct feedback_record *record)
{
    struct said *said = g_hash_table_lookup(feedback->by_id, record->id);
    if (!said) {
        said = g_new0(struct said, 1);
        said->words = g_array_new(FALSE, FALSE, sizeof(struct word));
        g_hash_table_insert(feedback->by_id, g_strdup(record->id), said);
    }
    struct word word = {g_strdup(record->sql), record->candidate, record->right};
    g_array_append_val(said->words, word);
    if (record->generator) {
        g_free(said->generator);
        said->generator = g_strdup(record->generator);
    }
    if (!record->sql && record->candidate < 0) said->needs = feedback->needs = true;
    feedback->counts.records++;
}

/* Most lines are requests or verdicts: only those that name the key are looked into. */
static bool mentions(const struct lines *lines, const char *key)
{
    return !lines->too_long && g_strstr_len(lines->text, (gssize)lines->len, key);
}

bool feedback_is_meant(const struct lines *lines)
{
    return mentions(lines, "\"feedback_version\"");
}

static void read_feedback(struct feedback *feedback, const struct lines *lines)
{
    struct err err = {0};
    json_error_t error;
    struct feedback_record record;
    if (!feedback_is_meant(lines)) return;
    json_t *json = json_loadb(lines->text, lines->len, JSON_REJECT_DUPLICATES, &error);
    if (!json)
        skip(feedback, lines, error.text);
    else if (json_object_get(json, KEY)) {
        if (feedback_parse(json, &record, &err) == ERR_OK)
            keep(feedback, &record);
        else
            skip(feedback, lines, err.text);
    }
    json_decref(json);
}

/* Of two verdicts of one id the first counts, as everywhere. */
static void read_answer(struct feedback *feedback, const struct lines *lines)
{
    if (!mentions(lines, "\"status\"") || !mentions(lines, "schema_version")) return;
    json_t *json = json_loadb(lines->text, lines->len, 0, NULL);
    const char *id = json_string_value(json_object_get(json, "id"));
    const char *sql = json_string_value(json_object_get(json, "sql"));
    struct said *said = id ? g_hash_table_lookup(feedback->by_id, id) : NULL;
    if (said && said->needs && !said->answer && json_object_get(json, "status")) said->answer = g_strdup(sql);
    json_decref(json);
}

static enum err_code each_line(struct feedback *feedback, const char *const *paths, int n,
                               void (*each)(struct feedback *, const struct lines *), struct err *err)
{
    int more = 0;
    for (int i = 0; i < n && more >= 0; i++) {
        struct logs logs = {.paths = &paths[i], .n = 1};
        if (strcmp(paths[i], "-") == 0) continue;
        while ((more = logs_next(&logs, err)) > 0) each(feedback, &logs.lines);
        logs_rewind(&logs);
    }
    if (more >= 0) return ERR_OK;
    return err->code ? err->code : ERR_IO;
}

enum err_code feedback_read(const char *const *paths, int n, lines_skipped skipped, struct feedback **out,
                            struct err *err)
{
    struct feedback *feedback = g_new0(struct feedback, 1);
    feedback->by_id = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, said_free);
    feedback->skipped = skipped;
    enum err_code code = each_line(feedback, paths, n, read_feedback, err);
    if (!code && feedback->needs) code = each_line(feedback, paths, n, read_answer, err);
    *out = code ? NULL : feedback;
    if (code) feedback_free(feedback);
    return code;
}

/* --- a request --- */

/* The SQL that a word is about; NULL: nobody knows. Candidates' texts may hold NULs, and then are none that anybody
 * could run. */
static const char *subject_of(const struct said *said, const struct word *word, const struct msg_request *request)
{
    if (word->sql) return word->sql;
    if (word->candidate < 0) return said->answer;
    return word->candidate < request->n_candidates ? request->candidates[word->candidate].sql.bytes : NULL;
}

/* From the last word to the first, so that the last about a piece of SQL counts. */
static void put_words(struct feedback *feedback, const struct said *said, const struct msg_request *request,
                      struct feedback_labels *out)
{
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    for (guint i = said->words->len; i-- > 0;) {
        const struct word *word = &g_array_index(said->words, struct word, i);
        const char *sql = subject_of(said, word, request);
        feedback->counts.unresolved += !sql;
        if (!sql || !g_hash_table_add(seen, (gpointer)(uintptr_t)sql)) continue;
        if (!word->right)
            out->wrong[out->n_wrong++] = sql;
        else if (!out->right)
            out->right = sql;
    }
    g_hash_table_destroy(seen);
}

bool feedback_labels(struct feedback *feedback, const struct msg_request *request, struct feedback_labels *out)
{
    *out = (struct feedback_labels){0};
    struct said *said = request->id ? g_hash_table_lookup(feedback->by_id, request->id) : NULL;
    if (said && said->taken) feedback->counts.repeated++;
    if (!said || said->taken) return false;
    said->taken = true;
    out->wrong = g_new0(const char *, said->words->len + 1);
    out->generator = said->generator;
    put_words(feedback, said, request, out);
    feedback->counts.requests += out->right || out->n_wrong;
    if (out->right || out->n_wrong) return true;
    g_free(out->wrong);
    out->wrong = NULL;
    return false;
}

struct feedback_counts feedback_counts(const struct feedback *feedback, uint64_t *left)
{
    GHashTableIter each;
    gpointer said;
    *left = 0;
    g_hash_table_iter_init(&each, feedback->by_id);
    while (g_hash_table_iter_next(&each, NULL, &said)) *left += !((const struct said *)said)->taken;
    return feedback->counts;
}
