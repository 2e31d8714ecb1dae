/* DESIGN: reads requests from JSON. jansson parses a line into a tree, and the functions here copy the known keys into
 * the arena.
 *
 * Every value is checked for type and bound; errors name the key. Unknown keys are ignored, and null is the same as a
 * missing key. json_write.c writes requests and verdicts.
 */
#include "proto/message/msg.h"

#include "lib/base/bom.h"

#include <glib.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

/* --- reading --- */

struct reader {
    struct arena *arena;
    struct err *err;
};

static enum err_code bad(const struct reader *r, const char *key, const char *what)
{
    return err_set(r->err, ERR_MALFORMED, "\"%s\" %s", key, what);
}

static enum err_code no_room(const struct reader *r)
{
    return err_set(r->err, ERR_LIMIT_MEMORY, "the request exceeds its memory limit");
}

/* Reads a string of at most `max` bytes, or null. */
static enum err_code read_text(const struct reader *r, const char *key, const json_t *value, size_t max,
                               struct msg_text *out)
{
    *out = (struct msg_text){0};
    if (!value || json_is_null(value)) return ERR_OK;
    if (!json_is_string(value)) return bad(r, key, "is not a string");
    size_t len = json_string_length(value);
    if (len > max) return err_set(r->err, ERR_LIMIT_BYTES, "\"%s\" has %zu bytes; %zu are allowed", key, len, max);
    out->bytes = arena_strndup(r->arena, json_string_value(value), len);
    out->len = (uint32_t)len;
    return out->bytes ? ERR_OK : no_room(r);
}

static enum err_code read_string(const struct reader *r, const json_t *from, const char *key, size_t max,
                                 const char **out)
{
    struct msg_text text;
    enum err_code code = read_text(r, key, json_object_get(from, key), max, &text);
    *out = text.bytes;
    return code;
}

static enum err_code read_strings(const struct reader *r, const json_t *from, const char *key, const char *const **out,
                                  uint32_t *n)
{
    const json_t *list = json_object_get(from, key);
    if (!list || json_is_null(list)) return ERR_OK;
    if (!json_is_array(list)) return bad(r, key, "is not a list of strings");
    size_t size = json_array_size(list);
    if (size > MSG_MAX_LIST)
        return err_set(r->err, ERR_LIMIT_COUNT, "\"%s\" has %zu items; %d are allowed", key, size, MSG_MAX_LIST);
    const char **items = arena_new_array(r->arena, size, const char *);
    if (!items) return no_room(r);
    for (size_t i = 0; i < size; i++) {
        struct msg_text text;
        enum err_code code = read_text(r, key, json_array_get(list, i), MSG_MAX_NAME, &text);
        if (code) return code;
        if (!text.bytes) return bad(r, key, "is not a list of strings");
        items[i] = text.bytes;
    }
    *out = items;
    *n = (uint32_t)size;
    return ERR_OK;
}

static enum err_code read_whole(const struct reader *r, const json_t *from, const char *key, int64_t min, int64_t max,
                                int64_t *out)
{
    const json_t *value = json_object_get(from, key);
    if (!value || json_is_null(value)) return ERR_OK;
    json_int_t number = json_integer_value(value);
    if (!json_is_integer(value) || number < min || number > max)
        return err_set(r->err, ERR_MALFORMED, "\"%s\" is not a whole number from %lld to %lld", key, (long long)min,
                       (long long)max);
    *out = number;
    return ERR_OK;
}

static enum err_code read_count(const struct reader *r, const json_t *from, const char *key, uint32_t *out)
{
    int64_t value = *out;
    enum err_code code = read_whole(r, from, key, 0, UINT32_MAX, &value);
    *out = (uint32_t)value;
    return code;
}

static enum err_code read_share(const struct reader *r, const json_t *from, const char *key, double *out)
{
    const json_t *value = json_object_get(from, key);
    if (!value || json_is_null(value)) return ERR_OK;
    double real = json_number_value(value);
    if (!json_is_number(value) || real < 0 || real > 1) return bad(r, key, "is not a number from 0 to 1");
    *out = real;
    return ERR_OK;
}

static enum err_code read_choice(const struct reader *r, const json_t *from, const char *key,
                                 int (*by_name)(const char *), unsigned *out)
{
    const json_t *value = json_object_get(from, key);
    if (!value || json_is_null(value)) return ERR_OK;
    int choice = json_is_string(value) ? by_name(json_string_value(value)) : -1;
    if (choice < 0) return bad(r, key, "has an unknown value");
    *out = (unsigned)choice;
    return ERR_OK;
}

static enum err_code read_candidate(const struct reader *r, const json_t *from, struct msg_candidate *out)
{
    out->score = NAN;
    const json_t *sql = json_is_object(from) ? json_object_get(from, "sql") : from;
    if (!json_is_string(sql))
        return bad(r, "candidates", "has an item that is neither a string nor an object with \"sql\"");
    enum err_code code = read_text(r, "sql", sql, MSG_MAX_SQL, &out->sql);
    if (code || !json_is_object(from)) return code;
    const json_t *score = json_object_get(from, "score");
    if (score && !json_is_null(score) && !json_is_number(score)) return bad(r, "score", "is not a number");
    if (json_is_number(score)) out->score = json_number_value(score);
    code = read_count(r, from, "count", &out->count);
    if (!code) code = read_strings(r, from, "generators", &out->generators, &out->n_generators);
    return code;
}

static enum err_code read_candidates(const struct reader *r, const json_t *from, struct msg_request *out)
{
    const json_t *list = json_object_get(from, "candidates");
    if (!list || json_is_null(list)) return ERR_OK;
    if (!json_is_array(list)) return bad(r, "candidates", "is not a list");
    size_t n = json_array_size(list);
    if (n > MSG_MAX_CANDIDATES)
        return err_set(r->err, ERR_LIMIT_COUNT, "the request has %zu candidates; %d are allowed", n,
                       MSG_MAX_CANDIDATES);
    out->candidates = arena_new_array(r->arena, n, struct msg_candidate);
    if (!out->candidates) return no_room(r);
    out->n_candidates = (uint32_t)n;
    enum err_code code = ERR_OK;
    for (size_t i = 0; i < n && !code; i++) code = read_candidate(r, json_array_get(list, i), &out->candidates[i]);
    return code;
}

static enum err_code read_answer(const struct reader *r, const json_t *from, struct msg_answer *out)
{
    enum err_code code = read_string(r, from, "question", MSG_MAX_NAME, &out->question);
    if (!code) code = read_string(r, from, "choice", MSG_MAX_NAME, &out->choice);
    if (code || (out->question && out->choice)) return code;
    return bad(r, "answers", "has an item that is not an object with \"question\" and \"choice\"");
}

static enum err_code read_answers(const struct reader *r, const json_t *from, struct msg_request *out)
{
    const json_t *list = json_object_get(from, "answers");
    if (!list || json_is_null(list)) return ERR_OK;
    if (!json_is_array(list)) return bad(r, "answers", "is not a list");
    size_t n = json_array_size(list);
    if (n > MSG_MAX_ANSWERS)
        return err_set(r->err, ERR_LIMIT_COUNT, "the request has %zu answers; %d are allowed", n, MSG_MAX_ANSWERS);
    out->answers = arena_new_array(r->arena, n, struct msg_answer);
    if (!out->answers) return no_room(r);
    out->n_answers = (uint32_t)n;
    enum err_code code = ERR_OK;
    for (size_t i = 0; i < n && !code; i++) code = read_answer(r, json_array_get(list, i), &out->answers[i]);
    return code;
}

static enum err_code read_uncertain(const struct reader *r, const json_t *from, struct msg_uncertain *out)
{
    out->p = NAN;
    enum err_code code = read_string(r, from, "stage", MSG_MAX_NAME, &out->stage);
    if (!code) code = read_string(r, from, "name", MSG_MAX_NAME, &out->name);
    if (!code) code = read_share(r, from, "p", &out->p);
    bool known = out->stage && (strcmp(out->stage, "tables") == 0 || strcmp(out->stage, "columns") == 0);
    return code || known
               ? code
               : bad(r, "linking", "has an item of \"uncertain\" whose \"stage\" is neither tables nor columns");
}

static enum err_code read_places(const struct reader *r, const json_t *list, struct msg_linking *out)
{
    size_t n = json_array_size(list);
    if (list && !json_is_array(list)) return bad(r, "linking", "has \"uncertain\" that is not a list");
    if (n > MSG_MAX_UNCERTAIN)
        return err_set(r->err, ERR_LIMIT_COUNT, "the linking has %zu uncertain places; %d are allowed", n,
                       MSG_MAX_UNCERTAIN);
    out->uncertain = arena_new_array(r->arena, n, struct msg_uncertain);
    if (!out->uncertain) return no_room(r);
    out->n_uncertain = (uint32_t)n;
    enum err_code code = ERR_OK;
    for (size_t i = 0; i < n && !code; i++) code = read_uncertain(r, json_array_get(list, i), &out->uncertain[i]);
    return code;
}

static enum err_code read_linking(const struct reader *r, const json_t *from, struct msg_request *out)
{
    const json_t *linking = json_object_get(from, "linking");
    if (!linking || json_is_null(linking)) return ERR_OK;
    if (!json_is_object(linking)) return bad(r, "linking", "is not an object");
    out->linking = arena_new(r->arena, struct msg_linking);
    if (!out->linking) return no_room(r);
    enum err_code code = read_strings(r, linking, "tables", &out->linking->tables, &out->linking->n_tables);
    if (!code) code = read_strings(r, linking, "columns", &out->linking->columns, &out->linking->n_columns);
    return code ? code : read_places(r, json_object_get(linking, "uncertain"), out->linking);
}

/* Reads true, false, or "full". */
static enum err_code read_explain(const struct reader *r, const json_t *from, enum msg_explain *out)
{
    const json_t *value = json_object_get(from, "explain");
    if (!value || json_is_null(value)) return ERR_OK;
    bool full = json_is_string(value) && strcmp(json_string_value(value), "full") == 0;
    if (!full && !json_is_boolean(value)) return bad(r, "explain", "is neither true, false nor \"full\"");
    *out = full ? MSG_EXPLAIN_FULL : json_is_true(value) ? MSG_EXPLAIN_ON : MSG_EXPLAIN_OFF;
    return ERR_OK;
}

/* Reads the key `cache`; false disables the cache for this request. */
static enum err_code read_cache(const struct reader *r, const json_t *from, bool *no_cache)
{
    const json_t *value = json_object_get(from, "cache");
    if (!value || json_is_null(value)) return ERR_OK;
    if (!json_is_boolean(value)) return bad(r, "cache", "is neither true nor false");
    *no_cache = json_is_false(value);
    return ERR_OK;
}

static enum err_code read_options(const struct reader *r, const json_t *from, struct msg_options *out)
{
    unsigned strategy = 0, policy = 0, order = 0, repair = 0, expose = 0;
    enum err_code code = read_whole(r, from, "deadline_ms", -1, INT64_MAX / 2000000, &out->deadline_ms);
    if (!code) code = read_count(r, from, "max_iterations", &out->max_iterations);
    if (!code) code = read_count(r, from, "speculate", &out->speculate);
    if (!code) code = read_choice(r, from, "strategy", msg_strategy_by_name, &strategy);
    if (!code) code = read_choice(r, from, "policy", msg_policy_by_name, &policy);
    if (!code) code = read_choice(r, from, "order", msg_order_by_name, &order);
    if (!code) code = read_choice(r, from, "repair", msg_repair_by_name, &repair);
    if (!code) code = read_choice(r, from, "expose", msg_expose_by_name, &expose);
    if (!code) code = read_share(r, from, "threshold", &out->threshold);
    if (!code) code = read_share(r, from, "alpha", &out->alpha);
    if (!code) code = read_share(r, from, "delta", &out->delta);
    if (!code) code = read_share(r, from, "repair_margin", &out->repair_margin);
    if (!code) code = read_share(r, from, "ask_gain", &out->ask_gain);
    if (!code) code = read_strings(r, from, "families", &out->families, &out->n_families);
    if (!code) code = read_strings(r, from, "deny_columns", &out->deny_columns, &out->n_deny_columns);
    if (!code) code = read_explain(r, from, &out->explain);
    if (!code) code = read_cache(r, from, &out->no_cache);
    out->strategy = (enum msg_strategy)strategy;
    out->policy = (enum msg_policy)policy;
    out->order = (enum msg_order)order;
    out->repair = (enum msg_repair)repair;
    out->expose = (enum msg_expose)expose;
    return code;
}

static enum err_code read_meta(const struct reader *r, const json_t *from, const char **out)
{
    const json_t *meta = json_object_get(from, "meta");
    if (!meta) return ERR_OK;
    size_t len = json_dumpb(meta, NULL, 0, JSON_COMPACT | JSON_ENCODE_ANY);
    if (len > MSG_MAX_META)
        return err_set(r->err, ERR_LIMIT_BYTES, "\"meta\" has %zu bytes; %d are allowed", len, MSG_MAX_META);
    char *text = arena_alloc(r->arena, len + 1);
    if (!text) return no_room(r);
    json_dumpb(meta, text, len, JSON_COMPACT | JSON_ENCODE_ANY);
    text[len] = '\0';
    *out = text;
    return ERR_OK;
}

static enum err_code read_request(const struct reader *r, const json_t *from, struct msg_request *out)
{
    if (!json_is_object(from)) return err_set(r->err, ERR_MALFORMED, "the line is not a JSON object");
    enum err_code code = read_string(r, from, "id", MSG_MAX_NAME, &out->id);
    if (!code) code = read_string(r, from, "db", MSG_MAX_NAME, &out->db);
    if (!code) code = read_string(r, from, "schema", MSG_MAX_SCHEMA, &out->schema);
    if (!code && !out->db && out->schema) out->db = "schema"; /* a label that shows that there is only a schema */
    if (!code && !out->db) code = bad(r, "db", "is missing");
    if (!code) code = read_string(r, from, "question", MSG_MAX_QUESTION, &out->question);
    if (!code) code = read_string(r, from, "evidence", MSG_MAX_QUESTION, &out->evidence);
    if (!code) code = read_string(r, from, "gold", MSG_MAX_SQL, &out->gold);
    if (!code) code = read_string(r, from, "traceparent", MSG_MAX_NAME, &out->traceparent);
    if (!code) code = read_candidates(r, from, out);
    if (!code) code = read_answers(r, from, out);
    if (!code) code = read_linking(r, from, out);
    if (!code) code = read_options(r, from, &out->options);
    if (!code) code = read_meta(r, from, &out->meta);
    return code;
}

static enum err_code json_failure(const json_error_t *error, struct err *err)
{
    bool encoding =
        json_error_code(error) == json_error_invalid_utf8 || json_error_code(error) == json_error_null_character;
    return err_set(err, encoding ? ERR_ENCODING : ERR_MALFORMED, "not JSON, at byte %d: %s", error->position,
                   error->text);
}

/* Parses a line into a tree. The caller frees *out with json_decref. */
static enum err_code load(const char *line, size_t len, json_t **out, struct err *err)
{
    json_error_t error;
    if (len > MSG_MAX_LINE)
        return err_set(err, ERR_LIMIT_BYTES, "the line has %zu bytes; %d are allowed", len, MSG_MAX_LINE);
    size_t mark = bom_length(line, len);
    *out = json_loadb(line + mark, len - mark, JSON_REJECT_DUPLICATES, &error);
    return *out ? ERR_OK : json_failure(&error, err);
}

enum err_code msg_request_from_json(struct arena *arena, const char *line, size_t len, struct msg_request **out,
                                    struct err *err)
{
    json_t *root = NULL;
    *out = NULL;
    enum err_code code = load(line, len, &root, err);
    if (code) return code;
    struct reader reader = {arena, err};
    struct msg_request *request = arena_new(arena, struct msg_request);
    code = request ? read_request(&reader, root, request) : no_room(&reader);
    json_decref(root);
    if (!code) *out = request;
    return code;
}

enum err_code msg_options_from_json(struct arena *arena, const char *text, size_t len, struct msg_options *out,
                                    struct err *err)
{
    json_t *root = NULL;
    struct reader reader = {arena, err};
    *out = (struct msg_options){0};
    enum err_code code = load(text, len, &root, err);
    if (code) return code;
    code = json_is_object(root) ? read_options(&reader, root, out)
                                : err_set(err, ERR_MALFORMED, "the options are not a JSON object");
    json_decref(root);
    return code;
}
