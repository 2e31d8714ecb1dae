/* DESIGN: the explain family: why the candidate has this result, and the input of the verifier.
 *
 * Explaining may run its own statements, to find the source of a row or why there is none. All of them together may
 * take explain_ms. If they take longer, the candidate is explained again without them, from its text and the schema
 * alone. The explanation then says which part is missing. A slow candidate therefore neither blocks the loop nor stays
 * unexplained.
 *
 * A task may request only a part. The source rows of a result are for people, who read only those of the answer. The
 * verifier's numbers are derived from the statement.
 *
 * A candidate that exceeded a limit is explained without its result, which is not computed again. If only the engine,
 * and not Assay's parser, understands it, a plain sentence says that there is no explanation.
 *
 * The task's policy decides which data the explanation exposes. The verifier's numbers describe how question and
 * candidate match, and never contain a value.
 */
#include "worker/internal.h"

#include "lib/base/clock.h"
#include "lib/explain/explain.h"
#include "lib/explain/provenance.h"
#include "scoring/features/features.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { EXPLAIN_MS = 1000, SHOWN_ROWS = 3, SHOWN_VALUE = 80 };

static enum err_code out_of_memory(struct err *err)
{
    return err_set(err, ERR_LIMIT_MEMORY, "the explanation exceeds its memory limit");
}

/* --- the explanation --- */

static struct explain_options options_of(const struct msg_task *task, bool open)
{
    static const enum explain_expose exposed[MSG_EXPOSE_COUNT] = {EXPLAIN_VALUES, EXPLAIN_NONE, EXPLAIN_VALUES,
                                                                  EXPLAIN_ROWS};
    struct explain_options options = explain_defaults;
    options.expose = open ? exposed[task->expose] : EXPLAIN_NONE;
    options.deny_columns = task->deny_columns;
    options.n_deny_columns = task->n_deny_columns;
    return options;
}

/* Returns the deadline of the statements that explain a candidate. It is explain_ms from now, or the task's deadline if
 * that is earlier. */
static int64_t explain_deadline(const struct workspace *ws, int64_t deadline_ns)
{
    int64_t ms = ws->config->explain_ms ? ws->config->explain_ms : EXPLAIN_MS, own = clock_now_ns() + ms * 1000000;
    return deadline_ns && deadline_ns < own ? deadline_ns : own;
}

static enum err_code explain(struct workspace *ws, const struct msg_task *task, bool open, struct explanation **out,
                             struct err *err)
{
    const struct vsig_subject *subject = &ws->subject;
    bool ran = subject->result_known && !subject->result_code;
    struct explain_source source = {.sql = subject->sql,
                                    .sql_len = subject->sql_len,
                                    .stmt = subject->stmt,
                                    .bound = subject->bound,
                                    .index = subject->schema,
                                    .db = ran ? subject->db : NULL,
                                    .result = ran ? &subject->result : NULL};
    struct explain_options options = options_of(task, open);
    options.may_probe = ran && task->part != MSG_PART_STATEMENT;
    int64_t deadline_ns = db_get_deadline(subject->db), own_ns = explain_deadline(ws, deadline_ns);
    db_set_deadline(subject->db, own_ns);
    enum err_code code = explain_query(&ws->arena, &source, &options, out, err);
    db_set_deadline(subject->db, deadline_ns);
    if (code != ERR_DEADLINE || own_ns == deadline_ns) return code;
    options.may_probe = false;
    source.db = NULL;
    code = explain_query(&ws->arena, &source, &options, out, err);
    if (!code && !(*out)->missing) (*out)->missing = "Where its rows come from took too long to find out.";
    return code;
}

/* --- the premise --- */

/* Returns the length of the text cut to at most `max` bytes at the end of a character. */
static size_t cut(const char *text, size_t len, size_t max)
{
    if (len <= max) return len;
    while (max && ((unsigned char)text[max] & 0xC0) == 0x80) max--;
    return max;
}

static void add_value(GString *out, const struct db_value *value)
{
    char real[DB_REAL_TEXT];
    switch (value->type) {
    case DB_NULL: g_string_append(out, "NULL"); break;
    case DB_INT: g_string_append_printf(out, "%lld", (long long)value->i); break;
    case DB_FLOAT: g_string_append_len(out, real, (gssize)db_real_text(value->f, real)); break;
    case DB_TEXT: g_string_append_len(out, value->text, (gssize)cut(value->text, value->len, SHOWN_VALUE)); break;
    case DB_BLOB: g_string_append_printf(out, "blob of %zu bytes", value->len); break;
    }
}

/* Writes the result, such as "2 rows (name, age): Leo, 7; Mia, 4". Writes at most `rows` rows, which the policy
 * limits. */
static void add_result(GString *out, const struct vsig_subject *subject, uint32_t rows)
{
    const struct db_result *result = &subject->result;
    if (!subject->result_known || subject->result_code) {
        g_string_append_printf(out, "no result (%s)", err_name(subject->result_code));
        return;
    }
    g_string_append_printf(out, "%u row%s (", result->n_rows, result->n_rows == 1 ? "" : "s");
    for (uint32_t c = 0; c < result->n_columns && out->len < MSG_MAX_PREMISE; c++)
        g_string_append_printf(out, "%s%.*s", c ? ", " : "", SHOWN_VALUE, result->columns[c]);
    g_string_append(out, ")");
    for (uint32_t r = 0; r < rows && r < result->n_rows; r++)
        for (uint32_t c = 0; c < result->n_columns && out->len < MSG_MAX_PREMISE; c++) {
            g_string_append(out, c ? ", " : r ? "; " : ": ");
            add_value(out, &result->values[(size_t)r * result->n_columns + c]);
        }
}

/* Returns the text as valid UTF-8 without a NUL, cut to MSG_MAX_PREMISE bytes. Returns NULL if the arena is full. */
static const char *text_of(struct arena *arena, const char *text, size_t len)
{
    char *valid = g_utf8_make_valid(text, (gssize)len);
    const char *out = arena_strndup(arena, valid, cut(valid, strlen(valid), MSG_MAX_PREMISE));
    g_free(valid);
    return out;
}

/* Returns SQL, result and explanation, separated by " | " as in the paper. The code of the paper omits the joins; this
 * function omits nothing. */
static const char *premise_of(struct arena *arena, const struct workspace *ws, const struct explanation *explanation,
                              const struct explain_options *options)
{
    static const uint32_t rows[] = {[EXPLAIN_VALUES] = 1, [EXPLAIN_ROWS] = SHOWN_ROWS, [EXPLAIN_NONE] = 0};
    GString *out = g_string_new_len(ws->sql, (gssize)cut(ws->sql, ws->subject.sql_len, MSG_MAX_PREMISE / 2));
    g_string_append(out, " | ");
    add_result(out, &ws->subject, rows[options->expose]);
    g_string_append_printf(out, " | %s", explanation ? explanation->premise : "");
    const char *text = text_of(arena, out->str, out->len);
    g_string_free(out, TRUE);
    return text;
}

static const char *prose_of(struct arena *arena, const struct explanation *explanation, const char *none)
{
    if (!explanation) return none;
    bool says = explanation->prose && *explanation->prose;
    const char *text =
        arena_printf(arena, "%s%s%s", says ? explanation->prose : "", says && explanation->missing ? " " : "",
                     explanation->missing ? explanation->missing : "");
    return text ? text_of(arena, text, strlen(text)) : NULL;
}

/* --- the verifier's numbers --- */

static enum err_code write_numbers(struct workspace *ws, struct arena *arena, const struct explanation *explanation,
                                   struct msg_explanation *out, struct err *err)
{
    float values[FEATURE_COUNT];
    enum err_code code = features_extract(&ws->subject, explanation, &ws->arena, values);
    out->numbers = arena_new_array(arena, FEATURE_COMPONENTS, struct msg_number);
    if (code || !out->numbers) return out_of_memory(err);
    for (unsigned i = 0; i < FEATURE_COMPONENTS; i++)
        if (isfinite(values[i])) out->numbers[out->n_numbers++] = (struct msg_number){features_id(i), values[i]};
    for (unsigned i = FEATURE_COMPONENTS; i < FEATURE_COUNT; i++)
        if (values[i] > 0) out->components |= UINT64_C(1) << (features_id(i) - FEATURE_COMPONENT_ID);
    return ERR_OK;
}

enum err_code answer_explain(struct workspace *ws, struct arena *arena, const struct msg_task *task, bool open,
                             struct msg_explanation **out, struct err *err)
{
    struct vsig_subject *subject = &ws->subject;
    struct explain_options options = options_of(task, open);
    struct explanation *explanation = NULL;
    const char *none = "There is no explanation: Assay does not understand every name in this statement.";
    enum err_code code = ERR_OK;
    if (!subject->code && subject->bound && !subject->bound->diags) code = explain(ws, task, open, &explanation, err);
    if (code) return code;
    struct msg_explanation *own = arena_new(arena, struct msg_explanation);
    if (!own) return out_of_memory(err);
    own->prose = prose_of(arena, explanation, none);
    if (!own->prose) return out_of_memory(err);
    *out = own;
    if (task->part == MSG_PART_ROWS) return ERR_OK;
    if (task->part == MSG_PART_ALL && !(own->premise = premise_of(arena, ws, explanation, &options)))
        return out_of_memory(err);
    if (subject->result_known && !subject->result_code && !ws->denied)
        memcpy(own->digest, subject->result.digest, sizeof own->digest);
    return write_numbers(ws, arena, explanation, own, err);
}
