/* Reads feedback from files and a topic, and matches it to requests (feedback.h has the design).
 *
 * Feedback is stored by request id, in the order of reading. Files are read a second time, for verdicts, only if a
 * record refers to the answer of a verdict. A record that cannot be used is counted and skipped; the first SAID are
 * reported. Feedback is used once: a second request with the same id receives none. */
#include "train/feedback.h"

#include <glib.h>
#include <string.h>

enum { SAID = 20 };
static const char KEY[] = "feedback_version";

/* One record of feedback on a request. */
struct word {
    char *sql; /* NULL if the record gives an index or refers to the answer */
    int64_t candidate;
    bool right;
};

struct said {
    GArray *words; /* struct word, in the order of reading */
    char *generator;
    char *answer;      /* SQL of the verdict; NULL if no verdict was read */
    bool needs, taken; /* a record refers to the answer; a request has used this feedback */
};

struct feedback {
    GHashTable *by_id; /* request id → struct said */
    struct feedback_counts counts;
    bool needs; /* a record refers to the answer of a verdict */
    input_skipped skipped;
};

/* --- one record --- */

static enum err_code read_text(const json_t *json, const char *key, size_t max, const char **out, struct err *err)
{
    const json_t *value = json_object_get(json, key);
    *out = NULL;
    if (!value || json_is_null(value)) return ERR_OK;
    if (!json_is_string(value)) return err_set(err, ERR_MALFORMED, "\"%s\" is not a string", key);
    size_t len = json_string_length(value);
    if (len > max) return err_set(err, ERR_LIMIT_BYTES, "\"%s\" has %zu bytes, expected at most %zu", key, len, max);
    if (strlen(json_string_value(value)) != len) return err_set(err, ERR_MALFORMED, "\"%s\" contains a NUL", key);
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
        return err_set(err, ERR_MALFORMED, "\"candidate\" is not an index from 0 to %d", MSG_MAX_CANDIDATES - 1);
    *out = index;
    return ERR_OK;
}

static enum err_code read_version(const json_t *json, struct err *err)
{
    const json_t *version = json_object_get(json, KEY);
    if (!json_is_integer(version)) return err_set(err, ERR_MALFORMED, "\"%s\" is not a whole number", KEY);
    if (json_integer_value(version) == FEEDBACK_VERSION) return ERR_OK;
    return err_set(err, ERR_VERSION, "unsupported feedback version %lld, expected %d",
                   (long long)json_integer_value(version), FEEDBACK_VERSION);
}

enum err_code feedback_parse(const json_t *json, struct feedback_record *out, struct err *err)
{
    *out = (struct feedback_record){.candidate = -1};
    enum err_code code = read_version(json, err);
    if (!code) code = read_text(json, "id", MSG_MAX_NAME, &out->id, err);
    if (!code && !out->id) code = err_set(err, ERR_MALFORMED, "\"id\" is missing");
    if (!code) code = read_text(json, "sql", MSG_MAX_SQL, &out->sql, err);
    if (!code) code = read_text(json, "generator", MSG_MAX_NAME, &out->generator, err);
    if (!code) code = read_index(json, &out->candidate, err);
    if (!code && out->sql && out->candidate >= 0)
        code = err_set(err, ERR_MALFORMED, "\"candidate\" and \"sql\" cannot be combined");
    if (!code && !json_is_boolean(json_object_get(json, "right")))
        code = err_set(err, ERR_MALFORMED, "\"right\" must be true or false");
    out->right = json_is_true(json_object_get(json, "right"));
    return code;
}

/* --- all records --- */

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

static void skip(struct feedback *feedback, const struct source *at, const char *why)
{
    if (feedback->counts.bad++ >= SAID || !feedback->skipped) return;
    char *where = source_where(at);
    feedback->skipped(where, why);
    g_free(where);
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

/* True if the text contains the key. Most lines are requests or verdicts; only those with the key are parsed. */
static bool mentions(const char *text, size_t len, const char *key)
{
    return g_strstr_len(text, (gssize)len, key) != NULL;
}

bool feedback_is_meant(const char *text, size_t len)
{
    return mentions(text, len, "\"feedback_version\"");
}

bool feedback_is_verdict(const char *text, size_t len)
{
    return mentions(text, len, "\"status\"") && mentions(text, len, "\"schema_version\"");
}

/* Reads the answer that a person chose among readings (docs/ask.md) as feedback that marks it right. */
static void read_choice(struct feedback *feedback, const char *text, size_t len)
{
    json_t *json = json_loadb(text, len, 0, NULL);
    const json_t *answers = json_object_get(json, "answers");
    const json_t *last = json_array_get(answers, json_array_size(answers) - 1);
    const char *choice = json_string_value(json_object_get(last, "choice"));
    struct feedback_record record = {.id = json_string_value(json_object_get(json, "id")),
                                     .sql = json_string_value(json_object_get(json, "sql")),
                                     .candidate = -1,
                                     .right = true};
    if (choice && strcmp(choice, "none") != 0 && record.id && record.sql) keep(feedback, &record);
    json_decref(json);
}

/* Reads a record. A file may also hold other records; the feedback topic may not. */
static void read_feedback(struct feedback *feedback, const struct source *at)
{
    struct err err = {0};
    json_error_t error;
    struct feedback_record record;
    size_t len;
    const char *text = source_text(at, &len);
    if (!at->range && feedback_is_verdict(text, len) && mentions(text, len, "\"answers\""))
        read_choice(feedback, text, len);
    bool meant = feedback_is_meant(text, len);
    json_t *json = meant ? json_loadb(text, len, JSON_REJECT_DUPLICATES, &error) : NULL;
    if (meant && !json)
        skip(feedback, at, error.text);
    else if (json_object_get(json, KEY) && feedback_parse(json, &record, &err) == ERR_OK)
        keep(feedback, &record);
    else if (json_object_get(json, KEY))
        skip(feedback, at, err.text);
    else if (at->range)
        skip(feedback, at, "not a feedback record");
    json_decref(json);
}

/* Stores the answer of a verdict. Of two verdicts with the same id, the first counts. */
static void read_answer(struct feedback *feedback, const struct source *at)
{
    size_t len;
    const char *text = source_text(at, &len);
    if (!feedback_is_verdict(text, len)) return;
    json_t *json = json_loadb(text, len, 0, NULL);
    const char *id = json_string_value(json_object_get(json, "id"));
    const char *sql = json_string_value(json_object_get(json, "sql"));
    struct said *said = id ? g_hash_table_lookup(feedback->by_id, id) : NULL;
    if (said && said->needs && !said->answer && json_object_get(json, "status")) said->answer = g_strdup(sql);
    json_decref(json);
}

typedef void read_one(struct feedback *feedback, const struct source *at);

static enum err_code each_record(struct feedback *feedback, struct source *source, read_one *each, struct err *err)
{
    int more;
    while ((more = source_advance(source, err)) > 0)
        if (more == SOURCE_READY) each(feedback, source);
    if (more == SOURCE_END) return ERR_OK;
    return err->code ? err->code : ERR_IO;
}

static enum err_code each_file(struct feedback *feedback, const char *const *paths, int n, read_one *each,
                               struct err *err)
{
    enum err_code code = ERR_OK;
    for (int i = 0; i < n && !code; i++) {
        struct source source;
        if (strcmp(paths[i], "-") == 0) continue;
        code = source_open_log(&source, paths[i], err);
        if (code) {
            struct err inner = *err;
            return err_at(err, code, &inner, "%s", paths[i]);
        }
        code = each_record(feedback, &source, each, err);
        source_close(&source);
    }
    return code;
}

enum err_code feedback_read(const char *const *paths, int n, struct source *topic, input_skipped skipped,
                            struct feedback **out, struct err *err)
{
    struct feedback *feedback = g_new0(struct feedback, 1);
    feedback->by_id = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, said_free);
    feedback->skipped = skipped;
    enum err_code code = each_file(feedback, paths, n, read_feedback, err);
    if (!code && topic) code = each_record(feedback, topic, read_feedback, err);
    if (!code && feedback->needs) code = each_file(feedback, paths, n, read_answer, err);
    *out = code ? NULL : feedback;
    if (code) feedback_free(feedback);
    return code;
}

/* --- a request --- */

/* Returns the SQL that a record is about; NULL if it is unknown. A candidate whose text holds a NUL cannot run and
 * counts as unknown. */
static const char *subject_of(const struct said *said, const struct word *word, const struct msg_request *request)
{
    if (word->sql) return word->sql;
    if (word->candidate < 0) return said->answer;
    return word->candidate < request->n_candidates ? request->candidates[word->candidate].sql.bytes : NULL;
}

/* Adds the labels of the records, from last to first. So the last record about a query counts. */
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

void feedback_pass_by(struct feedback *feedback, const struct msg_request *request)
{
    struct said *said = request->id ? g_hash_table_lookup(feedback->by_id, request->id) : NULL;
    if (!said || said->taken) return;
    said->taken = true;
    feedback->counts.overruled++;
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
