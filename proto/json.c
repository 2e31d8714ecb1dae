/* Requests and verdicts as JSON: what people and other programs see. */
#include "proto/msg.h"

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
    return err_set(r->err, ERR_LIMIT_MEMORY, "the request needs more memory than it may have");
}

/* A string of at most `max` bytes, or null. */
static enum err_code read_text(const struct reader *r, const char *key, const json_t *value, size_t max,
                               struct msg_text *out)
{
    *out = (struct msg_text){0};
    if (!value || json_is_null(value)) return ERR_OK;
    if (!json_is_string(value)) return bad(r, key, "is no string");
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
    if (!json_is_array(list)) return bad(r, key, "is no list of strings");
    size_t size = json_array_size(list);
    if (size > MSG_MAX_LIST)
        return err_set(r->err, ERR_LIMIT_COUNT, "\"%s\" has %zu items; %d are allowed", key, size, MSG_MAX_LIST);
    const char **items = arena_new_array(r->arena, size, const char *);
    if (!items) return no_room(r);
    for (size_t i = 0; i < size; i++) {
        struct msg_text text;
        enum err_code code = read_text(r, key, json_array_get(list, i), MSG_MAX_NAME, &text);
        if (code) return code;
        if (!text.bytes) return bad(r, key, "is no list of strings");
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
        return err_set(r->err, ERR_MALFORMED, "\"%s\" is no whole number from %lld to %lld", key, (long long)min,
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
    if (!json_is_number(value) || real < 0 || real > 1) return bad(r, key, "is no number from 0 to 1");
    *out = real;
    return ERR_OK;
}

static enum err_code read_choice(const struct reader *r, const json_t *from, const char *key,
                                 int (*by_name)(const char *), unsigned *out)
{
    const json_t *value = json_object_get(from, key);
    if (!value || json_is_null(value)) return ERR_OK;
    int choice = json_is_string(value) ? by_name(json_string_value(value)) : -1;
    if (choice < 0) return bad(r, key, "has a value that is not known");
    *out = (unsigned)choice;
    return ERR_OK;
}

static enum err_code read_candidate(const struct reader *r, const json_t *from, struct msg_candidate *out)
{
    out->score = NAN;
    const json_t *sql = json_is_object(from) ? json_object_get(from, "sql") : from;
    if (!json_is_string(sql))
        return bad(r, "candidates", "holds an item that is neither SQL nor an object with \"sql\"");
    enum err_code code = read_text(r, "sql", sql, MSG_MAX_SQL, &out->sql);
    if (code || !json_is_object(from)) return code;
    const json_t *score = json_object_get(from, "score");
    if (score && !json_is_null(score) && !json_is_number(score)) return bad(r, "score", "is no number");
    if (json_is_number(score)) out->score = json_number_value(score);
    code = read_count(r, from, "count", &out->count);
    if (!code) code = read_strings(r, from, "generators", &out->generators, &out->n_generators);
    return code;
}

static enum err_code read_candidates(const struct reader *r, const json_t *from, struct msg_request *out)
{
    const json_t *list = json_object_get(from, "candidates");
    if (!list || json_is_null(list)) return ERR_OK;
    if (!json_is_array(list)) return bad(r, "candidates", "is no list");
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

/* true, false, or "full". */
static enum err_code read_explain(const struct reader *r, const json_t *from, enum msg_explain *out)
{
    const json_t *value = json_object_get(from, "explain");
    if (!value || json_is_null(value)) return ERR_OK;
    bool full = json_is_string(value) && strcmp(json_string_value(value), "full") == 0;
    if (!full && !json_is_boolean(value)) return bad(r, "explain", "is neither true, false nor \"full\"");
    *out = full ? MSG_EXPLAIN_FULL : json_is_true(value) ? MSG_EXPLAIN_ON : MSG_EXPLAIN_OFF;
    return ERR_OK;
}

static enum err_code read_options(const struct reader *r, const json_t *from, struct msg_options *out)
{
    unsigned strategy = 0, policy = 0, expose = 0;
    enum err_code code = read_whole(r, from, "deadline_ms", -1, INT64_MAX / 2000000, &out->deadline_ms);
    if (!code) code = read_count(r, from, "max_iterations", &out->max_iterations);
    if (!code) code = read_count(r, from, "speculate", &out->speculate);
    if (!code) code = read_choice(r, from, "strategy", msg_strategy_by_name, &strategy);
    if (!code) code = read_choice(r, from, "policy", msg_policy_by_name, &policy);
    if (!code) code = read_choice(r, from, "expose", msg_expose_by_name, &expose);
    if (!code) code = read_share(r, from, "threshold", &out->threshold);
    if (!code) code = read_share(r, from, "alpha", &out->alpha);
    if (!code) code = read_strings(r, from, "families", &out->families, &out->n_families);
    if (!code) code = read_strings(r, from, "deny_columns", &out->deny_columns, &out->n_deny_columns);
    if (!code) code = read_explain(r, from, &out->explain);
    out->strategy = (enum msg_strategy)strategy;
    out->policy = (enum msg_policy)policy;
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
    if (!json_is_object(from)) return err_set(r->err, ERR_MALFORMED, "the line is no JSON object");
    enum err_code code = read_string(r, from, "id", MSG_MAX_NAME, &out->id);
    if (!code) code = read_string(r, from, "db", MSG_MAX_NAME, &out->db);
    if (!code && !out->db) code = bad(r, "db", "is missing");
    if (!code) code = read_string(r, from, "question", MSG_MAX_QUESTION, &out->question);
    if (!code) code = read_string(r, from, "evidence", MSG_MAX_QUESTION, &out->evidence);
    if (!code) code = read_string(r, from, "gold", MSG_MAX_SQL, &out->gold);
    if (!code) code = read_string(r, from, "traceparent", MSG_MAX_NAME, &out->traceparent);
    if (!code) code = read_candidates(r, from, out);
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

enum err_code msg_request_from_json(struct arena *arena, const char *line, size_t len, struct msg_request **out,
                                    struct err *err)
{
    json_error_t error;
    *out = NULL;
    if (len > MSG_MAX_LINE)
        return err_set(err, ERR_LIMIT_BYTES, "the line has %zu bytes; %d are allowed", len, MSG_MAX_LINE);
    json_t *root = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);
    if (!root) return json_failure(&error, err);
    struct reader reader = {arena, err};
    struct msg_request *request = arena_new(arena, struct msg_request);
    enum err_code code = request ? read_request(&reader, root, request) : no_room(&reader);
    json_decref(root);
    if (!code) *out = request;
    return code;
}

/* --- writing --- */

/* Text that may be anything; NULL becomes null. */
static json_t *text_json(const char *text, size_t len)
{
    if (!text) return json_null();
    json_t *value = json_stringn(text, len);
    if (value) return value;
    char *valid = g_utf8_make_valid(text, (gssize)len);
    value = json_string(valid);
    g_free(valid);
    return value;
}

static json_t *string_json(const char *text)
{
    return text_json(text, text ? strlen(text) : 0);
}
static json_t *real_json(double real)
{
    return isfinite(real) ? json_real(real) : json_null();
}
static json_t *ms_json(int64_t ns)
{
    return json_real(round((double)ns / 1e3) / 1e3);
}

static json_t *strings_json(const char *const *items, uint32_t n)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < n; i++) json_array_append_new(list, string_json(items[i]));
    return list;
}

/* Set, unless there is nothing to say. */
static void set_if(json_t *object, const char *key, const char *text)
{
    if (text) json_object_set_new(object, key, string_json(text));
}

/* 16 bytes as hexadecimal digits. */
static json_t *pair_json(const uint64_t pair[2])
{
    char hex[33];
    g_snprintf(hex, sizeof hex, "%016" G_GINT64_MODIFIER "x%016" G_GINT64_MODIFIER "x", pair[0], pair[1]);
    return json_string(hex);
}

/* Facts as an object; a key that comes again makes a list. */
static json_t *facts_json(const struct msg_finding *finding)
{
    json_t *data = json_object();
    for (uint32_t i = 0; i < finding->n_facts; i++) {
        const struct msg_fact *fact = &finding->facts[i];
        const char *key = fact->key ? fact->key : "";
        json_t *before = json_object_get(data, key);
        if (!before) {
            json_object_set_new(data, key, string_json(fact->value));
            continue;
        }
        if (!json_is_array(before)) {
            json_t *list = json_array();
            json_array_append(list, before);
            json_object_set_new(data, key, list);
            before = list;
        }
        json_array_append_new(before, string_json(fact->value));
    }
    return data;
}

static json_t *finding_json(const struct msg_finding *finding)
{
    json_t *clauses = json_array();
    for (uint32_t i = 0; i < finding->n_clauses; i++) {
        const struct msg_clause *clause = &finding->clauses[i];
        json_t *entry = json_object();
        set_if(entry, "label", clause->label);
        json_object_set_new(entry, "text", string_json(clause->text));
        json_object_set_new(entry, "start", json_integer(clause->start));
        json_object_set_new(entry, "end", json_integer(clause->end));
        json_array_append_new(clauses, entry);
    }
    json_t *out = json_object();
    json_object_set_new(out, "signal", string_json(finding->name));
    json_object_set_new(out, "severity", string_json(msg_severity_name(finding->severity)));
    json_object_set_new(out, "message", string_json(finding->message));
    json_object_set_new(out, "clauses", clauses);
    json_object_set_new(out, "data", facts_json(finding));
    return out;
}

static json_t *sample_json(const struct msg_execution *execution)
{
    json_t *rows = json_array(), *out = json_object();
    for (uint32_t i = 0; i < execution->n_sample; i++)
        json_array_append_new(rows, strings_json(execution->sample[i].values, execution->sample[i].n_values));
    json_object_set_new(out, "columns", strings_json(execution->names, execution->n_names));
    json_object_set_new(out, "rows", rows);
    return out;
}

static json_t *execution_json(const struct msg_execution *execution)
{
    if (!execution) return json_null();
    json_t *out = json_object();
    bool ran = execution->code && strcmp(execution->code, "ok") == 0;
    json_object_set_new(out, "rows", ran ? json_integer(execution->rows) : json_null());
    json_object_set_new(out, "columns", ran ? json_integer(execution->columns) : json_null());
    json_object_set_new(out, "ms", ms_json(execution->ns));
    json_object_set_new(out, "digest", ran ? pair_json(execution->digest) : json_null());
    if (!ran) {
        json_object_set_new(out, "error", string_json(execution->code));
        json_object_set_new(out, "message", string_json(execution->message));
        json_object_set_new(out, "offset",
                            execution->error_offset >= 0 ? json_integer(execution->error_offset) : json_null());
    }
    if (execution->n_names) json_object_set_new(out, "sample", sample_json(execution));
    return out;
}

static void signals_json(json_t *out, const struct msg_judged *judged)
{
    json_t *states = json_object(), *reasons = json_object();
    for (uint32_t i = 0; i < judged->n_signals; i++) {
        const struct msg_signal *signal = &judged->signals[i];
        if (!signal->name) continue;
        json_object_set_new(states, signal->name, json_string(msg_state_name(signal->state)));
        if (signal->state == MSG_UNAVAILABLE) json_object_set_new(reasons, signal->name, string_json(signal->reason));
    }
    json_object_set_new(out, "signals", states);
    if (json_object_size(reasons)) json_object_set(out, "unavailable", reasons);
    json_decref(reasons);
}

static void findings_json(json_t *out, const struct msg_judged *judged)
{
    json_t *findings = json_array();
    for (uint32_t i = 0; i < judged->n_findings; i++)
        json_array_append_new(findings, finding_json(&judged->findings[i]));
    json_object_set_new(out, "findings", findings);
}

static json_t *explained_json(const struct msg_explanation *explanation)
{
    json_t *out = json_object(), *numbers = json_object();
    char id[16], bits[17];
    g_snprintf(bits, sizeof bits, "%016" G_GINT64_MODIFIER "x", explanation->components);
    for (uint32_t i = 0; i < explanation->n_numbers; i++) {
        g_snprintf(id, sizeof id, "%u", explanation->numbers[i].id);
        json_object_set_new(numbers, id, real_json((double)explanation->numbers[i].value));
    }
    json_object_set_new(out, "premise", string_json(explanation->premise));
    json_object_set_new(out, "digest", pair_json(explanation->digest));
    json_object_set_new(out, "components", json_string(bits));
    json_object_set_new(out, "numbers", numbers);
    return out;
}

static json_t *judged_json(const struct msg_judged *judged)
{
    json_t *out = json_object();
    json_object_set_new(out, "sql", text_json(judged->sql.bytes, judged->sql.len));
    json_object_set_new(out, "p_correct", real_json(judged->p_correct));
    json_object_set_new(out, "label_model_p", real_json(judged->label_model_p));
    json_object_set_new(out, "entailment", real_json(judged->entailment));
    if (judged->judged) {
        signals_json(out, judged);
        findings_json(out, judged);
    } else {
        json_object_set_new(out, "signals", json_null());
        json_object_set_new(out, "findings", json_null());
    }
    set_if(out, "verifier", judged->verifier);
    json_object_set_new(out, "explanation", string_json(judged->explanation));
    if (judged->explained) json_object_set_new(out, "explained", explained_json(judged->explained));
    json_object_set_new(out, "execution", execution_json(judged->execution));
    if (judged->same_as) json_object_set_new(out, "same_as", json_integer(judged->same_as - 1));
    json_object_set_new(out, "why", string_json(judged->why));
    return out;
}

static json_t *report_json(const struct msg_report *report)
{
    json_t *out = json_object(), *clauses = json_object();
    for (uint32_t i = 0; i < report->n_clauses; i++) {
        const struct msg_report_clause *clause = &report->clauses[i];
        json_object_set_new(clauses, clause->label ? clause->label : "", strings_json(clause->texts, clause->n_texts));
    }
    json_object_set_new(out, "signal", string_json(report->signal));
    json_object_set_new(out, "cause", string_json(report->cause));
    json_object_set_new(out, "description", string_json(report->description));
    set_if(out, "example", report->example);
    json_object_set_new(out, "instruction", string_json(report->instruction));
    json_object_set_new(out, "clauses", clauses);
    return out;
}

static void lists_json(json_t *out, const struct msg_verdict *verdict)
{
    json_t *candidates = json_array(), *report = json_array();
    for (uint32_t i = 0; i < verdict->n_candidates; i++)
        json_array_append_new(candidates, judged_json(&verdict->candidates[i]));
    for (uint32_t i = 0; i < verdict->n_report; i++) json_array_append_new(report, report_json(&verdict->report[i]));
    json_object_set_new(out, "candidates", candidates);
    json_object_set_new(out, "report", report);
    json_object_set_new(out, "questions", strings_json(verdict->questions, verdict->n_questions));
    if (verdict->n_unavailable)
        json_object_set_new(out, "unavailable", strings_json(verdict->unavailable, verdict->n_unavailable));
    if (verdict->n_notes) json_object_set_new(out, "notes", strings_json(verdict->notes, verdict->n_notes));
}

json_t *msg_verdict_json(const struct msg_verdict *verdict)
{
    json_t *out = json_object(), *timings = json_object(), *versions = json_object();
    json_object_set_new(out, "schema_version", json_integer(MSG_SCHEMA_VERSION));
    json_object_set_new(out, "id", string_json(verdict->id));
    json_object_set_new(out, "status", string_json(msg_status_name(verdict->status)));
    set_if(out, "reason", verdict->reason);
    set_if(out, "message", verdict->message);
    json_object_set_new(out, "sql", string_json(verdict->sql));
    json_object_set_new(out, "chosen", verdict->chosen ? json_integer(verdict->chosen - 1) : json_null());
    json_object_set_new(out, "p_correct", real_json(verdict->p_correct));
    json_object_set_new(out, "threshold", real_json(verdict->threshold));
    json_object_set_new(out, "entailment_threshold", real_json(verdict->entailment_threshold));
    lists_json(out, verdict);
    json_object_set_new(out, "iterations", json_integer(verdict->iterations));
    json_object_set_new(timings, "total_ms", ms_json(verdict->total_ns));
    json_object_set_new(timings, "worker_ms", ms_json(verdict->worker_ns));
    json_object_set_new(out, "timings", timings);
    for (uint32_t i = 0; i < verdict->n_versions; i++)
        json_object_set_new(versions, verdict->versions[i].name, string_json(verdict->versions[i].value));
    json_object_set_new(out, "versions", versions);
    return out;
}

static char *dump(json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(6));
    json_decref(value);
    return text;
}

char *msg_verdict_to_json(const struct msg_verdict *verdict)
{
    return dump(msg_verdict_json(verdict));
}

static json_t *candidate_json(const struct msg_candidate *candidate)
{
    json_t *out = json_object();
    json_object_set_new(out, "sql", text_json(candidate->sql.bytes, candidate->sql.len));
    if (candidate->count) json_object_set_new(out, "count", json_integer(candidate->count));
    if (!isnan(candidate->score)) json_object_set_new(out, "score", real_json(candidate->score));
    if (candidate->n_generators)
        json_object_set_new(out, "generators", strings_json(candidate->generators, candidate->n_generators));
    return out;
}

static void options_json(json_t *out, const struct msg_options *options)
{
    if (options->deadline_ms) json_object_set_new(out, "deadline_ms", json_integer(options->deadline_ms));
    if (options->max_iterations) json_object_set_new(out, "max_iterations", json_integer(options->max_iterations));
    if (options->speculate) json_object_set_new(out, "speculate", json_integer(options->speculate));
    set_if(out, "strategy", msg_strategy_name(options->strategy));
    set_if(out, "policy", msg_policy_name(options->policy));
    set_if(out, "expose", msg_expose_name(options->expose));
    if (options->threshold > 0) json_object_set_new(out, "threshold", real_json(options->threshold));
    if (options->alpha > 0) json_object_set_new(out, "alpha", real_json(options->alpha));
    if (options->explain == MSG_EXPLAIN_FULL) json_object_set_new(out, "explain", json_string("full"));
    if (options->explain == MSG_EXPLAIN_ON || options->explain == MSG_EXPLAIN_OFF)
        json_object_set_new(out, "explain", json_boolean(options->explain == MSG_EXPLAIN_ON));
    if (options->n_families) json_object_set_new(out, "families", strings_json(options->families, options->n_families));
    if (options->n_deny_columns)
        json_object_set_new(out, "deny_columns", strings_json(options->deny_columns, options->n_deny_columns));
}

char *msg_request_to_json(const struct msg_request *request)
{
    json_t *out = json_object(), *candidates = json_array();
    json_object_set_new(out, "id", string_json(request->id));
    json_object_set_new(out, "db", string_json(request->db));
    set_if(out, "question", request->question);
    set_if(out, "evidence", request->evidence);
    for (uint32_t i = 0; i < request->n_candidates; i++)
        json_array_append_new(candidates, candidate_json(&request->candidates[i]));
    json_object_set_new(out, "candidates", candidates);
    set_if(out, "gold", request->gold);
    if (request->meta) {
        json_t *meta = json_loads(request->meta, JSON_DECODE_ANY, NULL);
        json_object_set_new(out, "meta", meta ? meta : string_json(request->meta));
    }
    set_if(out, "traceparent", request->traceparent);
    options_json(out, &request->options);
    return dump(out);
}
