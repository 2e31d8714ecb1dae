/* Writes verdicts and requests as one line of JSON.
 *
 * DESIGN: the functions walk the message and append text to one growing buffer. A key is written together with its
 * value; `key` is NULL for an item of a list. Numbers have six digits.
 *
 * Rejected: a tree of the JSON library and its printer. It took three times as long, and one allocation for each value
 * of a verdict. At a few thousand candidates per second that was a twelfth of the time of a replay. The library still
 * parses.
 */
#include "lib/base/digits.h"
#include "proto/message/msg.h"

#include <glib.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct writer {
    char *text;
    size_t len, room;
    bool comma;  /* a comma is needed before the next value */
    bool failed; /* memory is short; nothing more is written */
};

/* --- bytes --- */

static bool reserve(struct writer *w, size_t more)
{
    if (w->failed) return false;
    if (more <= w->room - w->len) return true;
    size_t room = MAX(2 * w->room, w->len + more);
    char *larger = realloc(w->text, room);
    w->failed = !larger;
    if (!larger) return false;
    w->text = larger;
    w->room = room;
    return true;
}

static void put(struct writer *w, const char *bytes, size_t n)
{
    if (!reserve(w, n)) return;
    memcpy(w->text + w->len, bytes, n);
    w->len += n;
}

static void put_byte(struct writer *w, char byte)
{
    if (reserve(w, 1)) w->text[w->len++] = byte;
}

static void put_string(struct writer *w, const char *text)
{
    put(w, text, strlen(text));
}

/* Returns true if the text is valid UTF-8. A NUL is an ordinary character here. */
static bool is_utf8(const char *text, size_t len)
{
    const char *end = text + len, *bad;
    while (!g_utf8_validate_len(text, (gsize)(end - text), &bad)) {
        if (bad == end || *bad) return false;
        text = bad + 1;
    }
    return true;
}

static void put_escaped(struct writer *w, unsigned char c)
{
    static const char plain[] = "\"\\\b\f\n\r\t", letters[] = "\"\\bfnrt";
    const char *at = c ? strchr(plain, c) : NULL;
    char text[8] = "\\";
    if (at)
        text[1] = letters[at - plain];
    else
        snprintf(text + 1, sizeof text - 1, "u%04X", c);
    put_string(w, text);
}

static void put_characters(struct writer *w, const char *text, size_t len)
{
    size_t from = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c >= ' ' && c != '"' && c != '\\') continue;
        put(w, text + from, i - from);
        put_escaped(w, c);
        from = i + 1;
    }
    put(w, text + from, len - from);
}

#define EACH(byte) ((byte)*UINT64_C(0x0101010101010101))

/* Returns a word with the high bit set for each byte below `least`. After such a byte, the bits of higher bytes may be
 * set too. */
static uint64_t below(uint64_t eight, unsigned char least)
{
    return (eight - EACH(least)) & ~eight & EACH(0x80);
}

/* Returns true only if all eight bytes are printable ASCII without quote and backslash. May return false for plain
 * bytes in rare cases. */
static bool are_plain(uint64_t eight)
{
    uint64_t beyond = (eight | (eight + EACH(1))) & EACH(0x80); /* bytes above '~' */
    return !(beyond | below(eight, ' ') | below(eight ^ EACH('"'), 1) | below(eight ^ EACH('\\'), 1));
}

/* Returns true if the text needs neither escaping nor validation, as nearly all text does. */
static bool is_plain(const char *text, size_t len)
{
    uint64_t eight, last = EACH(' ');
    for (; len >= sizeof eight; text += sizeof eight, len -= sizeof eight) {
        memcpy(&eight, text, sizeof eight);
        if (!are_plain(eight)) return false;
    }
    memcpy(&last, text, len);
    return are_plain(last);
}

static void put_strange(struct writer *w, const char *text, size_t len)
{
    put_byte(w, '"');
    if (is_utf8(text, len)) {
        put_characters(w, text, len);
    } else {
        char *valid = g_utf8_make_valid(text, (gssize)len);
        put_characters(w, valid, strlen(valid));
        g_free(valid);
    }
    put_byte(w, '"');
}

static void put_text(struct writer *w, const char *text, size_t len)
{
    if (!is_plain(text, len)) {
        put_strange(w, text, len);
        return;
    }
    if (!reserve(w, len + 2)) return;
    char *at = w->text + w->len;
    *at = '"';
    memcpy(at + 1, text, len);
    at[len + 1] = '"';
    w->len += len + 2;
}

/* --- values --- */

static void begin(struct writer *w, const char *key)
{
    if (w->comma) put_byte(w, ',');
    w->comma = true;
    if (!key) return;
    put_text(w, key, strlen(key));
    put_byte(w, ':');
}

static void write_bare(struct writer *w, const char *key, const char *text)
{
    begin(w, key);
    put_string(w, text);
}

static void open_list(struct writer *w, const char *key, char bracket)
{
    begin(w, key);
    put_byte(w, bracket);
    w->comma = false;
}

static void close_list(struct writer *w, char bracket)
{
    put_byte(w, bracket);
    w->comma = true;
}

static void write_null(struct writer *w, const char *key)
{
    write_bare(w, key, "null");
}

/* Writes text, which may have any bytes. Writes null if it is NULL. */
static void write_text(struct writer *w, const char *key, const char *text, size_t len)
{
    begin(w, key);
    if (text)
        put_text(w, text, len);
    else
        put_string(w, "null");
}

static void write_string(struct writer *w, const char *key, const char *text)
{
    write_text(w, key, text, text ? strlen(text) : 0);
}

/* Writes the text. Writes nothing if it is NULL. */
static void write_if(struct writer *w, const char *key, const char *text)
{
    if (text) write_string(w, key, text);
}

static void write_whole(struct writer *w, const char *key, int64_t number)
{
    char text[DIGITS_WHOLE_MAX];
    digits_whole(number, text);
    write_bare(w, key, text);
}

/* Writes a real such as 1.0, 0.25 or 1e-20. It has a point or an exponent, so that parsers read it as a real. */
static void write_real(struct writer *w, const char *key, double real)
{
    char text[40];
    if (!isfinite(real)) {
        write_null(w, key);
        return;
    }
    int n = snprintf(text, sizeof text - 2, "%.6g", real);
    char *e = strchr(text, 'e');
    if (e) /* shortens e+06 to e6, and e-05 to e-5 */
        snprintf(e + 1, 8, "%ld", strtol(e + 1, NULL, 10));
    else if (!strchr(text, '.'))
        memcpy(text + n, ".0", 3);
    write_bare(w, key, text);
}

/* Writes milliseconds with at most three decimals. Nearly all times are below a second, and then have at most six
 * digits. */
static void write_ms(struct writer *w, const char *key, int64_t ns)
{
    double us = round((double)ns / 1e3);
    char text[DIGITS_WHOLE_MAX + 4];
    if (!(us >= 0 && us < 1e6)) {
        write_real(w, key, us / 1e3);
        return;
    }
    unsigned whole = (unsigned)us;
    size_t len = digits_whole(whole / 1000, text);
    text[len++] = '.';
    text[len++] = (char)('0' + whole / 100 % 10);
    if (whole % 100) text[len++] = (char)('0' + whole / 10 % 10);
    if (whole % 10) text[len++] = (char)('0' + whole % 10);
    text[len] = '\0';
    write_bare(w, key, text);
}

static void write_strings(struct writer *w, const char *key, const char *const *items, uint32_t n)
{
    open_list(w, key, '[');
    for (uint32_t i = 0; i < n; i++) write_string(w, NULL, items[i]);
    close_list(w, ']');
}

static void put_hex(char out[16], uint64_t number)
{
    for (unsigned i = 0; i < 16; i++) out[i] = "0123456789abcdef"[number >> (60 - 4 * i) & 15];
}

/* Writes 16 bytes as 32 hexadecimal digits. */
static void write_pair(struct writer *w, const char *key, const uint64_t pair[2])
{
    char hex[32];
    put_hex(hex, pair[0]);
    put_hex(hex + 16, pair[1]);
    write_text(w, key, hex, sizeof hex);
}

/* --- the parts of a verdict --- */

static const char *fact_key(const struct msg_finding *finding, uint32_t i)
{
    return finding->facts[i].key ? finding->facts[i].key : "";
}

/* Returns the index of the next fact with the key of fact i, starting at `at`. Returns n_facts if there is none. */
static uint32_t find_fact(const struct msg_finding *finding, uint32_t i, uint32_t at)
{
    while (at < finding->n_facts && strcmp(fact_key(finding, at), fact_key(finding, i)) != 0) at++;
    return at;
}

/* Writes facts as an object. The values of a repeated key become a list. */
static void write_facts(struct writer *w, const struct msg_finding *finding)
{
    open_list(w, "data", '{');
    for (uint32_t i = 0; i < finding->n_facts; i++) {
        uint32_t n = finding->n_facts, next = find_fact(finding, i, i + 1);
        if (find_fact(finding, i, 0) < i) continue; /* already written in the list of the first fact with this key */
        if (next == n) {
            write_string(w, fact_key(finding, i), finding->facts[i].value);
            continue;
        }
        open_list(w, fact_key(finding, i), '[');
        for (uint32_t k = i; k < n; k = find_fact(finding, i, k + 1)) write_string(w, NULL, finding->facts[k].value);
        close_list(w, ']');
    }
    close_list(w, '}');
}

static void write_clause(struct writer *w, const struct msg_clause *clause)
{
    open_list(w, NULL, '{');
    write_if(w, "label", clause->label);
    write_string(w, "text", clause->text);
    write_whole(w, "start", clause->start);
    write_whole(w, "end", clause->end);
    close_list(w, '}');
}

static void write_finding(struct writer *w, const struct msg_finding *finding)
{
    open_list(w, NULL, '{');
    write_string(w, "signal", finding->name);
    write_string(w, "severity", msg_severity_name(finding->severity));
    write_string(w, "message", finding->message);
    open_list(w, "clauses", '[');
    for (uint32_t i = 0; i < finding->n_clauses; i++) write_clause(w, &finding->clauses[i]);
    close_list(w, ']');
    write_facts(w, finding);
    close_list(w, '}');
}

static void write_sample(struct writer *w, const struct msg_execution *execution)
{
    open_list(w, "sample", '{');
    write_strings(w, "columns", execution->names, execution->n_names);
    open_list(w, "rows", '[');
    for (uint32_t i = 0; i < execution->n_sample; i++)
        write_strings(w, NULL, execution->sample[i].values, execution->sample[i].n_values);
    close_list(w, ']');
    close_list(w, '}');
}

static void write_failure(struct writer *w, const struct msg_execution *execution)
{
    write_string(w, "error", execution->code);
    write_string(w, "message", execution->message);
    if (execution->error_offset >= 0)
        write_whole(w, "offset", execution->error_offset);
    else
        write_null(w, "offset");
}

static void write_execution(struct writer *w, const struct msg_execution *execution)
{
    bool ran = execution && execution->code && strcmp(execution->code, "ok") == 0;
    if (!execution) {
        write_null(w, "execution");
        return;
    }
    open_list(w, "execution", '{');
    if (ran) {
        write_whole(w, "rows", execution->rows);
        write_whole(w, "columns", execution->columns);
    } else {
        write_null(w, "rows");
        write_null(w, "columns");
    }
    write_ms(w, "ms", execution->ns);
    if (ran && !execution->withheld)
        write_pair(w, "digest", execution->digest);
    else
        write_null(w, "digest");
    if (!ran) write_failure(w, execution);
    if (execution->n_names) write_sample(w, execution);
    close_list(w, '}');
}

static void write_signals(struct writer *w, const struct msg_judged *judged)
{
    bool reasons = false;
    open_list(w, "signals", '{');
    for (uint32_t i = 0; i < judged->n_signals; i++)
        if (judged->signals[i].name) {
            write_string(w, judged->signals[i].name, msg_state_name(judged->signals[i].state));
            reasons |= judged->signals[i].state == MSG_UNAVAILABLE;
        }
    close_list(w, '}');
    if (!reasons) return;
    open_list(w, "unavailable", '{');
    for (uint32_t i = 0; i < judged->n_signals; i++)
        if (judged->signals[i].name && judged->signals[i].state == MSG_UNAVAILABLE)
            write_string(w, judged->signals[i].name, judged->signals[i].reason);
    close_list(w, '}');
}

static void write_findings(struct writer *w, const struct msg_judged *judged)
{
    open_list(w, "findings", '[');
    for (uint32_t i = 0; i < judged->n_findings; i++) write_finding(w, &judged->findings[i]);
    close_list(w, ']');
}

static void write_explained(struct writer *w, const struct msg_explanation *explanation)
{
    char id[16], bits[16];
    put_hex(bits, explanation->components);
    open_list(w, "explained", '{');
    write_string(w, "premise", explanation->premise);
    write_pair(w, "digest", explanation->digest);
    write_text(w, "components", bits, sizeof bits);
    open_list(w, "numbers", '{');
    for (uint32_t i = 0; i < explanation->n_numbers; i++) {
        snprintf(id, sizeof id, "%u", explanation->numbers[i].id);
        write_real(w, id, (double)explanation->numbers[i].value);
    }
    close_list(w, '}');
    close_list(w, '}');
}

static void write_polished(struct writer *w, const struct msg_polished *polished)
{
    open_list(w, "explanation_polished", '{');
    write_string(w, "text", polished->text);
    write_string(w, "source", polished->source);
    close_list(w, '}');
}

static void write_judged(struct writer *w, const struct msg_judged *judged)
{
    open_list(w, NULL, '{');
    write_text(w, "sql", judged->sql.bytes, judged->sql.len);
    write_real(w, "p_correct", judged->p_correct);
    write_real(w, "label_model_p", judged->label_model_p);
    write_real(w, "entailment", judged->entailment);
    if (judged->judged) {
        write_signals(w, judged);
        write_findings(w, judged);
    } else {
        write_null(w, "signals");
        write_null(w, "findings");
    }
    write_if(w, "verifier", judged->verifier);
    write_string(w, "explanation", judged->explanation);
    if (judged->polished) write_polished(w, judged->polished);
    if (judged->explained) write_explained(w, judged->explained);
    write_execution(w, judged->execution);
    if (judged->same_as) write_whole(w, "same_as", (int64_t)judged->same_as - 1);
    write_string(w, "why", judged->why);
    close_list(w, '}');
}

static void write_report(struct writer *w, const struct msg_report *report)
{
    open_list(w, NULL, '{');
    write_string(w, "signal", report->signal);
    write_string(w, "cause", report->cause);
    write_string(w, "description", report->description);
    write_if(w, "example", report->example);
    write_string(w, "instruction", report->instruction);
    open_list(w, "clauses", '{');
    for (uint32_t i = 0; i < report->n_clauses; i++) {
        const struct msg_report_clause *clause = &report->clauses[i];
        write_strings(w, clause->label ? clause->label : "", clause->texts, clause->n_texts);
    }
    close_list(w, '}');
    close_list(w, '}');
}

static void write_step(struct writer *w, const struct msg_step *step)
{
    open_list(w, NULL, '{');
    write_string(w, "clause", step->clause);
    write_string(w, "was", step->was);
    write_string(w, "now", step->now);
    close_list(w, '}');
}

static void write_repair(struct writer *w, const struct msg_repaired *repair)
{
    open_list(w, "repair", '{');
    write_bare(w, "applied", repair->applied ? "true" : "false");
    write_string(w, "sql", repair->sql);
    write_string(w, "old_sql", repair->old_sql);
    write_whole(w, "of", (int64_t)repair->of - 1);
    write_real(w, "p_old", repair->p_old);
    write_real(w, "p_correct", repair->p_correct);
    write_if(w, "reason", repair->reason);
    write_if(w, "source", repair->source);
    open_list(w, "steps", '[');
    for (uint32_t i = 0; i < repair->n_steps; i++) write_step(w, &repair->steps[i]);
    close_list(w, ']');
    write_whole(w, "proposals", repair->n_proposals);
    close_list(w, '}');
}

static void write_guarantee(struct writer *w, const struct msg_guarantee *guarantee)
{
    open_list(w, "guarantee", '{');
    write_real(w, "alpha", guarantee->alpha);
    write_real(w, "delta", guarantee->delta);
    write_string(w, "group", guarantee->group);
    write_whole(w, "records", guarantee->records);
    write_string(w, "status", msg_promise_name(guarantee->status));
    write_real(w, "p_value", guarantee->p_value);
    write_if(w, "why", guarantee->why);
    close_list(w, '}');
}

static void write_usage(struct writer *w, const struct msg_usage *usage)
{
    open_list(w, "llm", '{');
    write_whole(w, "calls", usage->calls);
    write_whole(w, "cached", usage->cached);
    write_whole(w, "tokens_in", (int64_t)usage->tokens_in);
    write_whole(w, "tokens_out", (int64_t)usage->tokens_out);
    write_real(w, "cost", usage->cost);
    write_if(w, "source", usage->source);
    close_list(w, '}');
}

/* Writes text that contains JSON as a JSON value. */
static void write_json(struct writer *w, const char *key, const char *json)
{
    json_t *value = json_loads(json, JSON_DECODE_ANY, NULL);
    char *text = value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(6)) : NULL;
    if (text)
        write_bare(w, key, text);
    else
        write_string(w, key, json);
    free(text);
    json_decref(value);
}

static void write_choice(struct writer *w, const struct msg_choice *choice)
{
    open_list(w, NULL, '{');
    write_string(w, "id", choice->id);
    write_string(w, "text", choice->text);
    if (choice->candidate) write_whole(w, "candidate", (int64_t)choice->candidate - 1);
    if (choice->returns) write_whole(w, "rows", choice->returns->rows);
    if (choice->returns && choice->returns->n_names) write_sample(w, choice->returns);
    close_list(w, '}');
}

static void write_clarification(struct writer *w, const struct msg_clarification *asked)
{
    open_list(w, "clarification", '{');
    write_string(w, "id", asked->id);
    write_string(w, "question", asked->text);
    open_list(w, "choices", '[');
    for (uint32_t i = 0; i < asked->n_choices; i++) write_choice(w, &asked->choices[i]);
    close_list(w, ']');
    write_real(w, "gain", asked->gain);
    if (asked->request) write_json(w, "request", asked->request);
    close_list(w, '}');
}

static void write_answers(struct writer *w, const struct msg_answer *answers, uint32_t n)
{
    open_list(w, "answers", '[');
    for (uint32_t i = 0; i < n; i++) {
        open_list(w, NULL, '{');
        write_string(w, "question", answers[i].question);
        write_string(w, "choice", answers[i].choice);
        close_list(w, '}');
    }
    close_list(w, ']');
}

static void write_lists(struct writer *w, const struct msg_verdict *verdict)
{
    open_list(w, "candidates", '[');
    for (uint32_t i = 0; i < verdict->n_candidates; i++) write_judged(w, &verdict->candidates[i]);
    close_list(w, ']');
    open_list(w, "report", '[');
    for (uint32_t i = 0; i < verdict->n_report; i++) write_report(w, &verdict->report[i]);
    close_list(w, ']');
    write_strings(w, "questions", verdict->questions, verdict->n_questions);
    if (verdict->clarification) write_clarification(w, verdict->clarification);
    if (verdict->n_answers) write_answers(w, verdict->answers, verdict->n_answers);
    if (verdict->n_unavailable) write_strings(w, "unavailable", verdict->unavailable, verdict->n_unavailable);
    if (verdict->n_notes) write_strings(w, "notes", verdict->notes, verdict->n_notes);
}

static void write_making(struct writer *w, const struct msg_verdict *verdict)
{
    if (verdict->cached) write_bare(w, "cached", "true");
    write_whole(w, "iterations", verdict->iterations);
    open_list(w, "timings", '{');
    write_ms(w, "total_ms", verdict->total_ns);
    write_ms(w, "worker_ms", verdict->worker_ns);
    close_list(w, '}');
    open_list(w, "versions", '{');
    for (uint32_t i = 0; i < verdict->n_versions; i++)
        write_string(w, verdict->versions[i].name ? verdict->versions[i].name : "", verdict->versions[i].value);
    close_list(w, '}');
}

static void write_verdict(struct writer *w, const struct msg_verdict *verdict, uint64_t line)
{
    open_list(w, NULL, '{');
    write_whole(w, "schema_version", MSG_SCHEMA_VERSION);
    if (verdict->request_digest[0] || verdict->request_digest[1])
        write_pair(w, "request_digest", verdict->request_digest);
    write_string(w, "id", verdict->id);
    write_string(w, "db", verdict->db);
    write_string(w, "status", msg_status_name(verdict->status));
    write_if(w, "reason", verdict->reason);
    write_if(w, "message", verdict->message);
    write_if(w, "cause", verdict->cause);
    write_string(w, "sql", verdict->sql);
    if (verdict->chosen)
        write_whole(w, "chosen", (int64_t)verdict->chosen - 1);
    else
        write_null(w, "chosen");
    write_real(w, "p_correct", verdict->p_correct);
    write_real(w, "threshold", verdict->threshold);
    write_real(w, "entailment_threshold", verdict->entailment_threshold);
    if (verdict->repair) write_repair(w, verdict->repair);
    if (verdict->guarantee) write_guarantee(w, verdict->guarantee);
    if (verdict->usage) write_usage(w, verdict->usage);
    write_lists(w, verdict);
    write_making(w, verdict);
    write_if(w, "gold", verdict->gold);
    if (verdict->meta) write_json(w, "meta", verdict->meta);
    if (line) write_whole(w, "line", (int64_t)line);
    close_list(w, '}');
}

enum err_code msg_verdict_write_json(struct msg_buffer *out, const struct msg_verdict *verdict, uint64_t line)
{
    struct writer w = {.text = out->bytes, .room = out->room};
    write_verdict(&w, verdict, line);
    put(&w, "", 1);
    *out = (struct msg_buffer){w.text, w.len ? w.len - 1 : 0, w.room};
    return w.failed ? ERR_NOMEM : ERR_OK;
}

char *msg_verdict_to_json(const struct msg_verdict *verdict)
{
    struct msg_buffer buffer = {0};
    if (msg_verdict_write_json(&buffer, verdict, 0) == ERR_OK) return buffer.bytes;
    msg_buffer_free(&buffer);
    return NULL;
}

/* --- requests --- */

static void write_candidate(struct writer *w, const struct msg_candidate *candidate)
{
    open_list(w, NULL, '{');
    write_text(w, "sql", candidate->sql.bytes, candidate->sql.len);
    if (candidate->count) write_whole(w, "count", candidate->count);
    if (!isnan(candidate->score)) write_real(w, "score", candidate->score);
    if (candidate->n_generators) write_strings(w, "generators", candidate->generators, candidate->n_generators);
    close_list(w, '}');
}

static void write_options(struct writer *w, const struct msg_options *options)
{
    if (options->deadline_ms) write_whole(w, "deadline_ms", options->deadline_ms);
    if (options->max_iterations) write_whole(w, "max_iterations", options->max_iterations);
    if (options->speculate) write_whole(w, "speculate", options->speculate);
    write_if(w, "strategy", msg_strategy_name(options->strategy));
    write_if(w, "policy", msg_policy_name(options->policy));
    write_if(w, "order", msg_order_name(options->order));
    write_if(w, "repair", msg_repair_name(options->repair));
    write_if(w, "expose", msg_expose_name(options->expose));
    if (options->threshold > 0) write_real(w, "threshold", options->threshold);
    if (options->alpha > 0) write_real(w, "alpha", options->alpha);
    if (options->delta > 0) write_real(w, "delta", options->delta);
    if (options->repair_margin > 0) write_real(w, "repair_margin", options->repair_margin);
    if (options->ask_gain > 0) write_real(w, "ask_gain", options->ask_gain);
    if (options->explain == MSG_EXPLAIN_FULL) write_string(w, "explain", "full");
    if (options->explain == MSG_EXPLAIN_ON || options->explain == MSG_EXPLAIN_OFF)
        write_bare(w, "explain", options->explain == MSG_EXPLAIN_ON ? "true" : "false");
    if (options->no_cache) write_bare(w, "cache", "false");
    if (options->n_families) write_strings(w, "families", options->families, options->n_families);
    if (options->n_deny_columns) write_strings(w, "deny_columns", options->deny_columns, options->n_deny_columns);
}

static void write_linking(struct writer *w, const struct msg_linking *linking)
{
    open_list(w, "linking", '{');
    write_strings(w, "tables", linking->tables, linking->n_tables);
    write_strings(w, "columns", linking->columns, linking->n_columns);
    open_list(w, "uncertain", '[');
    for (uint32_t i = 0; i < linking->n_uncertain; i++) {
        const struct msg_uncertain *place = &linking->uncertain[i];
        open_list(w, NULL, '{');
        write_string(w, "stage", place->stage);
        write_if(w, "name", place->name);
        if (!isnan(place->p)) write_real(w, "p", place->p);
        close_list(w, '}');
    }
    close_list(w, ']');
    close_list(w, '}');
}

char *msg_request_to_json(const struct msg_request *request)
{
    struct writer w = {0};
    open_list(&w, NULL, '{');
    write_string(&w, "id", request->id);
    write_string(&w, "db", request->db);
    write_if(&w, "schema", request->schema);
    write_if(&w, "question", request->question);
    write_if(&w, "evidence", request->evidence);
    open_list(&w, "candidates", '[');
    for (uint32_t i = 0; i < request->n_candidates; i++) write_candidate(&w, &request->candidates[i]);
    close_list(&w, ']');
    if (request->n_answers) write_answers(&w, request->answers, request->n_answers);
    if (request->linking) write_linking(&w, request->linking);
    write_if(&w, "gold", request->gold);
    if (request->meta) write_json(&w, "meta", request->meta);
    write_if(&w, "traceparent", request->traceparent);
    write_options(&w, &request->options);
    close_list(&w, '}');
    put(&w, "", 1);
    if (!w.failed) return w.text;
    free(w.text);
    return NULL;
}
