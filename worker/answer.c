/* DESIGN: results as messages. Database contents leave a worker only through this file, which applies `expose` and the
 * denied columns.
 *
 * A result is built in the arena of the lane's answers and encoded before the next task. Facts read from the data,
 * samples of rows and engine messages each have their own check. A failed family never reports silent signals: its
 * signals are unavailable, with a reason.
 */
#include "worker/internal.h"

#include "examples/examples.h"
#include "lib/base/clock.h"
#include "lib/base/locations.h"
#include "lib/explain/readings.h"
#include "lib/schema/deny_name.h"
#include "lib/schema/describe.h"
#include "proto/message/findings.h"
#include "signals/support/links.h"

#include <glib.h>
#include <math.h>
#include <string.h>

_Static_assert((int)MSG_SILENT == (int)VSIG_SILENT && (int)MSG_FIRED == (int)VSIG_FIRED &&
                   (int)MSG_UNAVAILABLE == (int)VSIG_UNAVAILABLE && (int)MSG_NOTE == (int)VSIG_NOTE &&
                   (int)MSG_WARNING == (int)VSIG_WARNING && (int)MSG_ERROR == (int)VSIG_ERROR,
               "the wire's states and severities are those of signals/vsig.h");

enum {
    SAMPLE_ROWS = 5,
    SAMPLE_BYTES = 200,
    SCHEMA_BYTES = 32 << 10,
    PROPOSING_BYTES = 64 << 20,
    READINGS_BYTES = 64 << 20
};

struct writer {
    struct arena *arena;
    const struct workspace *workspace;
    const struct msg_task *task;
    bool values; /* the result may contain facts read from the database */
    bool rows;   /* the result may contain rows */
};

static enum err_code out_of_memory(struct err *err)
{
    return err_set(err, ERR_LIMIT_MEMORY, "the result exceeds its memory limit");
}

static void init_result(struct msg_result *out, const struct msg_task *task)
{
    *out = (struct msg_result){
        .key = task->key,
        .hash = {task->hash[0], task->hash[1]},
        .candidate = task->candidate,
        .family = task->family,
        .proposes = task->proposes,
        .asks = task->n_readings > 0,
        .code = err_name(ERR_OK),
    };
}

static bool write_clauses(const struct writer *w, const struct vsig_finding *from, struct msg_finding *out)
{
    out->clauses = arena_new_array(w->arena, from->n_clauses, struct msg_clause);
    if (!out->clauses) return false;
    for (uint32_t i = 0; i < from->n_clauses; i++) {
        const struct vsig_clause *clause = &from->clauses[i];
        const char *text = arena_strndup(w->arena, w->workspace->sql + clause->start, clause->end - clause->start);
        if (!text) return false;
        out->clauses[i] = (struct msg_clause){clause->label, text, clause->start, clause->end};
    }
    out->n_clauses = from->n_clauses;
    return true;
}

/* Returns true if a fact mentions a denied column. The fact is then left out, even if the query itself uses another
 * column. */
static bool is_denied(const struct writer *w, const struct vsig_fact *fact)
{
    bool all = false;
    for (uint32_t i = 0; i < w->task->n_deny_columns; i++) {
        struct deny_name name;
        if (deny_name_parse(w->task->deny_columns[i], &name, NULL)) return true;
        if (!name.all_columns && strcasestr(fact->value, deny_name_last(&name))) return true;
        all |= name.all_columns;
    }
    const struct schema_index *index = w->workspace->reading->schema;
    /* also columns that show the values of a denied column under another name */
    for (uint32_t i = 0; w->task->n_deny_columns && i < index->n_columns; i++)
        if ((all || index->columns[i]->n_origins) && strcasestr(fact->value, index->columns[i]->name) &&
            schema_column_is_denied(index, index->columns[i], w->task->deny_columns, w->task->n_deny_columns))
            return true;
    return false;
}

static bool write_facts(const struct writer *w, const struct vsig_finding *from, struct msg_finding *out)
{
    uint32_t n = 0;
    for (const struct vsig_fact *fact = from->facts; fact; fact = fact->next) n++;
    out->facts = arena_new_array(w->arena, n, struct msg_fact);
    if (!out->facts) return false;
    for (const struct vsig_fact *fact = from->facts; fact; fact = fact->next)
        if (!fact->from_data || (w->values && !is_denied(w, fact)))
            out->facts[out->n_facts++] = (struct msg_fact){fact->key, fact->value};
    return true;
}

static bool write_finding(const struct writer *w, const struct vsig_finding *from, struct msg_finding *out)
{
    out->signal = (uint32_t)from->signal;
    out->severity = (enum msg_severity)from->severity;
    out->message = from->message;
    return write_clauses(w, from, out) && write_facts(w, from, out);
}

static bool is_enabled_in(const struct vsig_def *def, enum vsig_family family, const struct vsig_options *options)
{
    return def->family == family && options->enabled[def->id];
}

static bool write_verdict(const struct writer *w, const struct vsig_def *def, const struct vsig_verdict *from,
                          struct msg_result *out)
{
    out->signals[out->n_signals++] =
        (struct msg_signal){.id = (uint32_t)def->id, .state = (enum msg_state)from->state, .reason = from->reason};
    for (const struct vsig_finding *finding = from->findings; finding; finding = finding->next)
        if (!write_finding(w, finding, &out->findings[out->n_findings++])) return false;
    return true;
}

static bool write_verdicts(const struct writer *w, enum vsig_family family, const struct vsig_verdict *verdicts,
                           struct msg_result *out)
{
    unsigned n_all;
    const struct vsig_def *const *all = vsig_all(&n_all);
    uint32_t n_findings = 0;
    for (unsigned i = 0; i < n_all; i++)
        if (is_enabled_in(all[i], family, w->workspace->config->signals)) n_findings += verdicts[all[i]->id].n_findings;
    out->signals = arena_new_array(w->arena, n_all, struct msg_signal);
    out->findings = arena_new_array(w->arena, n_findings, struct msg_finding);
    if (!out->signals || !out->findings) return false;
    for (unsigned i = 0; i < n_all; i++)
        if (is_enabled_in(all[i], family, w->workspace->config->signals) &&
            !write_verdict(w, all[i], &verdicts[all[i]->id], out))
            return false;
    return true;
}

/* --- the candidate's execution --- */

static const char *value_text(struct arena *arena, const struct db_value *value)
{
    char real[DB_REAL_TEXT];
    switch (value->type) {
    case DB_NULL: return NULL;
    case DB_INT: return arena_printf(arena, "%lld", (long long)value->i);
    case DB_FLOAT: return arena_strndup(arena, real, db_real_text(value->f, real));
    case DB_TEXT: {
        size_t len = strnlen(value->text, value->len < SAMPLE_BYTES ? value->len : SAMPLE_BYTES);
        while (len && len < value->len && ((unsigned char)value->text[len] & 0xC0) == 0x80) len--;
        return arena_strndup(arena, value->text, len);
    }
    case DB_BLOB: return arena_printf(arena, "blob of %zu bytes", value->len);
    }
    return NULL;
}

static bool write_sample(const struct writer *w, const struct db_result *from, struct msg_execution *out)
{
    uint32_t limit = w->workspace->config->sample_rows ? w->workspace->config->sample_rows : SAMPLE_ROWS;
    uint32_t n = from->n_rows < limit ? from->n_rows : limit;
    out->sample = arena_new_array(w->arena, n, struct msg_row);
    if (!out->sample) return false;
    for (uint32_t r = 0; r < n; r++) {
        const char **values = arena_new_array(w->arena, from->n_columns, const char *);
        if (!values) return false;
        for (uint32_t c = 0; c < from->n_columns; c++)
            values[c] = value_text(w->arena, &from->values[(size_t)r * from->n_columns + c]);
        out->sample[r] = (struct msg_row){values, from->n_columns};
    }
    out->n_sample = n;
    out->names = from->columns;
    out->n_names = from->n_columns;
    return true;
}

/* Returns the part of an error's text that the requester may read. It names the database, but not its location. Returns
 * NULL if the arena is full. */
static const char *public_text(struct arena *arena, const struct worker_config *config, const char *db,
                               const struct err *why)
{
    if (config->shows_locations || !err_names_locations(why->code)) return arena_strdup(arena, why->text);
    return arena_printf(arena, "'%.100s': %s", db, err_meaning(why->code));
}

/* Returns true if the text names a file. An engine's error may name its temporary files. */
static bool names_file(const char *text)
{
    return strstr(text, "'/") || strstr(text, "\"/") || strstr(text, "(/") || strstr(text, " /") ||
           strstr(text, "\"base/");
}

/* Returns the engine's message. An error while running a statement may quote a value of any reachable column ('invalid
 * input syntax for type integer: "..."'). Such a message may therefore be replaced. An error while preparing a
 * statement quotes only its text. Returns NULL if the arena is full. */
static const char *engine_message(const struct writer *w)
{
    const struct workspace *ws = w->workspace;
    bool hides_files = !ws->config->shows_locations && names_file(ws->engine_err.text);
    if (!ws->failed_running || (w->values && !ws->reaches_denied && !hides_files))
        return public_text(w->arena, ws->config, w->task->db, &ws->engine_err);
    const char *what = hides_files                         ? err_meaning(ws->engine_err.code)
                       : ws->engine_err.code == ERR_ENGINE ? "failed on a value that must not be shown"
                                                           : err_meaning(ws->engine_err.code);
    return *ws->engine_err.sqlstate ? arena_printf(w->arena, "%s (SQLSTATE %s)", what, ws->engine_err.sqlstate) : what;
}

static bool write_execution(const struct writer *w, struct msg_result *result)
{
    const struct vsig_subject *subject = &w->workspace->subject;
    const struct db_result *from = &subject->result;
    struct msg_execution *out = arena_new(w->arena, struct msg_execution);
    if (!out) return false;
    /* Another family's task may have found the candidate invalid while preparing it. It was then not run afterwards. */
    enum err_code code = w->workspace->invalid_code;
    if (!code && subject->result_known) code = subject->result_code;
    if (w->workspace->reading->schema->no_data && !w->workspace->invalid_code) code = ERR_NO_DATA;
    result->execution = out;
    out->code = err_name(code);
    out->error_offset = w->workspace->offset;
    if (code) {
        out->message = code == ERR_NO_DATA ? err_meaning(code) : engine_message(w);
        return out->message != NULL;
    }
    out->rows = from->n_rows;
    out->columns = from->n_columns;
    out->ns = from->ns;
    out->withheld = w->workspace->denied;
    memcpy(out->digest, from->digest, sizeof out->digest);
    memcpy(out->ordered_digest, from->ordered_digest, sizeof out->ordered_digest);
    return !w->rows || write_sample(w, from, out);
}

static bool write_invalid(const struct writer *w, struct msg_result *out)
{
    const struct workspace *ws = w->workspace;
    const struct sql_diag *diags = ws->subject.bound ? ws->subject.bound->diags : NULL;
    if (!diags && ws->subject.stmt) diags = ws->subject.stmt->diags;
    /* The statement parsed, but the engine reports an error inside it. It may use syntax of another engine. */
    const struct db_dialect *dialect = ws->subject.db ? db_dialect(ws->subject.db) : NULL;
    bool stopped = !diags && ws->subject.stmt && ws->offset >= 0;
    if (stopped && dialect && dialect->lacks) diags = dialect->lacks(w->arena, ws->subject.stmt);
    const char *said = engine_message(w);
    if (!said) return false;
    out->findings = findings_from_engine(w->arena, ws->subject.stmt, diags, said, ws->offset);
    out->n_findings = 1;
    out->invalid = true;
    return out->findings != NULL;
}

/* Counts states and times of signals. Times are not part of messages, because they would double the size of each silent
 * signal. */
static void count(struct worker_stats *stats, const struct msg_result *result, const struct vsig_verdict *verdicts)
{
    for (uint32_t i = 0; i < result->n_signals; i++) {
        stats->signal_ns[result->signals[i].id] += verdicts[result->signals[i].id].ns;
        stats->signal_runs[result->signals[i].id]++;
        stats->signal_fired[result->signals[i].id] += result->signals[i].state == MSG_FIRED;
        stats->signal_unavailable[result->signals[i].id] += result->signals[i].state == MSG_UNAVAILABLE;
    }
}

/* --- similar queries --- */

static struct repair_suspect *suspects_of(struct arena *arena, const struct msg_task *task, uint32_t *n)
{
    struct repair_suspect *out = arena_new_array(arena, REPAIR_MAX_SUSPECTS, struct repair_suspect);
    for (uint32_t i = 0; out && i < task->n_findings; i++)
        for (uint32_t c = 0; c < task->findings[i].n_clauses && *n < REPAIR_MAX_SUSPECTS; c++) {
            const struct msg_clause *clause = &task->findings[i].clauses[c];
            out[(*n)++] = (struct repair_suspect){clause->start, clause->end, task->findings[i].message};
        }
    return out;
}

/* Adds the corrections of the most similar wrong queries as examples. Excludes examples of the same question. Texts
 * live in `arena`. */
static void add_examples(struct workspace *workspace, struct arena *arena, const struct msg_task *task,
                         struct repair_example *list, struct repair_query *query)
{
    const struct examples_query like = {query->question, query->sql,
                                        task->n_findings ? task->findings[0].message : NULL, NULL};
    if (!workspace->config->examples) return;
    query->examples = list;
    query->n_examples = examples_for_repair(workspace->config->examples, arena, &like, REPAIR_MAX_EXAMPLES, list);
}

/* Writes the proposals, copied from their working memory. If there are none, the message gives the reason. */
static bool write_proposals(struct workspace *workspace, struct arena *arena, const struct msg_task *task,
                            const struct repair_query *asked, struct msg_result *out)
{
    struct repair_query query = *asked;
    struct repair_example examples[REPAIR_MAX_EXAMPLES];
    struct repair_proposal *found = NULL;
    struct err why = {0};
    struct arena work;
    arena_init(&work, PROPOSING_BYTES);
    add_examples(workspace, &work, task, examples, &query);
    int n = repair_propose(&work, workspace->reading->schema, &query, &found, &why);
    out->proposals = arena_new_array(arena, n > 0 ? (uint32_t)n : 0, struct msg_proposal);
    bool whole = out->proposals != NULL;
    for (int i = 0; i < n && whole; i++) {
        const char *sql = arena_strdup(arena, found[i].sql);
        const char *reason = found[i].reason ? arena_strdup(arena, found[i].reason) : NULL;
        whole = sql && (reason || !found[i].reason);
        if (whole) out->proposals[out->n_proposals++] = (struct msg_proposal){{sql, (uint32_t)strlen(sql)}, reason};
    }
    if (n < 0) whole = (out->message = public_text(arena, workspace->config, task->db, &why)) != NULL;
    arena_free(&work);
    return whole;
}

static enum err_code answer_proposals(struct workspace *workspace, struct arena *arena, const struct msg_task *task,
                                      struct msg_result *out, struct err *err)
{
    struct repair_query query = {.sql = workspace->sql,
                                 .len = workspace->subject.sql_len,
                                 .links = vsig_links(&workspace->subject),
                                 .question = task->question,
                                 .values = !workspace->denied && task->expose != MSG_EXPOSE_NONE,
                                 .deny_columns = task->deny_columns,
                                 .n_deny_columns = task->n_deny_columns};
    int64_t started = clock_now_ns();
    init_result(out, task);
    query.suspects = suspects_of(arena, task, &query.n_suspects);
    if (!query.suspects || !write_proposals(workspace, arena, task, &query, out)) return out_of_memory(err);
    const struct schema_describe_options shown = {.values = task->expose != MSG_EXPOSE_NONE,
                                                  .deny_columns = task->deny_columns,
                                                  .n_deny_columns = task->n_deny_columns,
                                                  .max_bytes = SCHEMA_BYTES};
    if (task->describes && !(out->schema = schema_describe(arena, workspace->reading->schema, &shown)))
        return out_of_memory(err);
    out->ns = clock_now_ns() - started;
    return ERR_OK;
}

/* --- differences between readings --- */

static bool copy_question(struct arena *arena, const struct explain_readings *from, struct msg_result *out)
{
    struct msg_clarification *question = arena_new(arena, struct msg_clarification);
    struct msg_choice *choices = arena_new_array(arena, from->n, struct msg_choice);
    if (!question || !choices) return false;
    *question = (struct msg_clarification){
        .text = arena_strdup(arena, from->question), .choices = choices, .n_choices = from->n, .gain = NAN};
    bool whole = question->text;
    for (uint32_t i = 0; i < from->n; i++) whole = (choices[i].text = arena_strdup(arena, from->choices[i])) && whole;
    out->clarification = question;
    return whole;
}

/* Writes a clarification question. If none can be found, the family has not failed: the code of the result gives the
 * reason. */
static enum err_code answer_readings(const struct workspace *workspace, struct arena *arena,
                                     const struct msg_task *task, struct msg_result *out, struct err *err)
{
    struct explain_statement statements[EXPLAIN_MAX_READINGS] = {{workspace->sql, workspace->subject.sql_len}};
    struct explain_readings readings;
    struct err why = {0};
    struct arena work;
    int64_t started = clock_now_ns();
    uint32_t n = 1;
    init_result(out, task);
    for (; n <= task->n_readings && n < EXPLAIN_MAX_READINGS; n++)
        statements[n] = (struct explain_statement){task->readings[n - 1].sql.bytes, task->readings[n - 1].sql.len};
    arena_init(&work, READINGS_BYTES);
    enum err_code code = explain_readings(&work, workspace->reading->schema, statements, n, &readings, &why);
    bool whole = code ? (out->message = public_text(arena, workspace->config, task->db, &why)) != NULL
                      : copy_question(arena, &readings, out);
    arena_free(&work);
    out->code = err_name(code);
    out->ns = clock_now_ns() - started;
    return whole ? ERR_OK : out_of_memory(err);
}

enum err_code answer_family(struct workspace *workspace, struct arena *arena, const struct msg_task *task,
                            enum vsig_family family, struct msg_result *out, struct err *err)
{
    if (family == VSIG_EXPLAIN && task->proposes) return answer_proposals(workspace, arena, task, out, err);
    if (family == VSIG_EXPLAIN && task->n_readings) return answer_readings(workspace, arena, task, out, err);
    struct vsig_verdict verdicts[VSIG_ID_END] = {0};
    bool open = !workspace->denied && task->expose != MSG_EXPOSE_NONE;
    bool sample = open && task->expose == MSG_EXPOSE_ROWS && family == VSIG_EXECUTION;
    struct writer writer = {arena, workspace, task, open, sample};
    int64_t started = clock_now_ns();
    bool run = family == VSIG_EXECUTION || family == VSIG_EXPLAIN;
    enum err_code code = workspace_check(workspace, run, err);
    if (code) return code;
    init_result(out, task);
    bool written = !run || write_execution(&writer, out);
    if (workspace->invalid_code) {
        written = written && write_invalid(&writer, out);
    } else if (family == VSIG_LLM) {
        written = opinion_run(workspace, arena, task, verdicts, out) && write_verdicts(&writer, family, verdicts, out);
    } else {
        vsig_run_family(&workspace->subject, family, workspace->config->signals, verdicts);
        written = written && write_verdicts(&writer, family, verdicts, out);
        if (family == VSIG_EXPLAIN) code = answer_explain(workspace, arena, task, open, &out->explanation, err);
        out->part = task->part;
    }
    if (code) return code;
    out->ns = clock_now_ns() - started;
    count(workspace->stats, out, verdicts);
    return written ? ERR_OK : out_of_memory(err);
}

enum err_code answer_unavailable(struct arena *arena, const struct worker_config *config, const struct msg_task *task,
                                 int family, const struct err *why, struct msg_result *out)
{
    unsigned n_all;
    const struct vsig_def *const *all = vsig_all(&n_all);
    init_result(out, task);
    out->code = err_name(why->code);
    out->message = public_text(arena, config, task->db, why);
    out->signals = arena_new_array(arena, n_all, struct msg_signal);
    if (!out->signals) return ERR_NOMEM;
    for (unsigned i = 0; i < n_all; i++)
        if ((int)all[i]->family == family && config->signals->enabled[all[i]->id])
            out->signals[out->n_signals++] =
                (struct msg_signal){.id = (uint32_t)all[i]->id, .state = MSG_UNAVAILABLE, .reason = out->code};
    return ERR_OK;
}
