/* DESIGN: data shared by tasks. Each item is computed once and stored until a task needs other data.
 *
 * Tasks of one candidate arrive in sequence, and so do the candidates of a request. They share the database, the schema
 * index, the analysis of the question, cached results of statements, the parsed candidate and its result. Tasks of
 * several requests alternate, so the readings of several requests are stored.
 */
#include "worker/internal.h"

#include "lib/base/clock.h"
#include "worker/db_states.h"

#include <glib.h>
#include <string.h>

enum { QUESTION_BYTES = 16 << 20, CANDIDATE_BYTES = 96 << 20 };

void workspace_init(struct workspace *workspace, const struct worker_config *config, struct handles *handles,
                    struct worker_stats *stats)
{
    *workspace = (struct workspace){.config = config, .handles = handles, .stats = stats};
    for (unsigned i = 0; i < KEPT_READINGS; i++) arena_init(&workspace->readings[i].arena, QUESTION_BYTES);
    workspace->reading = &workspace->readings[0];
    arena_init(&workspace->arena, CANDIDATE_BYTES);
}

static void forget_candidate(struct workspace *ws)
{
    ws->has_candidate = false;
    arena_reset(&ws->arena);
}

static void forget_reading(struct reading *reading)
{
    struct arena arena = reading->arena;
    schema_unref(reading->schema);
    arena_reset(&arena);
    *reading = (struct reading){.arena = arena};
}

static void forget_question(struct workspace *ws)
{
    forget_candidate(ws);
    forget_reading(ws->reading);
}

void workspace_free(struct workspace *workspace)
{
    forget_candidate(workspace);
    arena_free(&workspace->arena);
    for (unsigned i = 0; i < KEPT_READINGS; i++) {
        forget_reading(&workspace->readings[i]);
        arena_free(&workspace->readings[i].arena);
    }
}

static enum err_code out_of_memory(struct err *err)
{
    return err_set(err, ERR_LIMIT_MEMORY, "the task exceeds its memory limit");
}

/* Copies a text, so that it outlives the message. Copies NULL as NULL. Returns false if the arena is full. */
static bool keep(struct arena *arena, const char *text, char **out)
{
    *out = text ? arena_strdup(arena, text) : NULL;
    return !text || *out;
}

static bool keep_linking(struct reading *reading, const struct msg_linking *linking)
{
    reading->n_uncertain = linking ? linking->n_uncertain : 0;
    reading->uncertain = arena_new_array(&reading->arena, reading->n_uncertain + 1, struct vsig_uncertain);
    for (uint32_t i = 0; reading->uncertain && i < reading->n_uncertain; i++) {
        const struct msg_uncertain *place = &linking->uncertain[i];
        char *name = NULL;
        if (!keep(&reading->arena, place->name, &name)) return false;
        bool columns = place->stage && strcmp(place->stage, "columns") == 0;
        reading->uncertain[i] = (struct vsig_uncertain){.columns = columns, .name = name, .p = place->p};
    }
    return reading->uncertain != NULL;
}

static bool is_of(const struct reading *reading, const struct msg_task *task, const struct schema_index *schema)
{
    return reading->used && reading->schema == schema && reading->key.partition == task->key.partition &&
           reading->key.offset == task->key.offset;
}

static bool holds_request(const struct workspace *ws, const struct msg_task *task)
{
    return is_of(ws->reading, task, ws->reading->schema);
}

static void take_state(struct workspace *ws, const struct msg_task *task, const struct handle *handle)
{
    struct reading *reading = ws->reading;
    struct db_states *states = task->schema ? NULL : ws->config->states;
    if (!states ||
        !db_states_of(states, handle->db, task->db, handle->path, reading->schema->fingerprint, reading->state))
        reading->state[0] = '\0';
}

/* Returns the text, or NULL if the task requests only the source rows of a result, for which the question is not
 * needed. */
static const char *to_read(const struct msg_task *task, const char *text)
{
    return task->part == MSG_PART_ROWS ? NULL : text;
}

/* Sets the gate of a reading. Copies the names, because a reading outlives its task. */
static bool keep_gate(struct workspace *ws, struct reading *reading, const struct msg_task *task)
{
    reading->gate = (struct schema_gate){.index = reading->schema};
    if (!task->n_deny_columns || worker_hides_denied(&ws->config->databases, task->db)) return true;
    const char **names = arena_new_array(&reading->arena, task->n_deny_columns, const char *);
    for (uint32_t i = 0; names && i < task->n_deny_columns; i++) {
        char *name = NULL;
        if (!keep(&reading->arena, task->deny_columns[i], &name)) return false;
        names[i] = name;
    }
    reading->gate.names = names;
    reading->gate.n = task->n_deny_columns;
    return names != NULL;
}

static enum err_code read_question(struct reading *reading, const struct msg_task *task, struct err *err)
{
    if (!keep(&reading->arena, to_read(task, task->question), &reading->question) ||
        !keep(&reading->arena, to_read(task, task->evidence), &reading->evidence) ||
        !keep_linking(reading, task->linking))
        return out_of_memory(err);
    if (!reading->question || !*reading->question) return ERR_OK;
    reading->analysis = question_read(&reading->arena, reading->schema, reading->question, reading->evidence);
    return reading->analysis ? ERR_OK : out_of_memory(err);
}

/* Returns true if the reading belongs to this task. Also compares the texts, because a recreated topic repeats the keys
 * of the old one. */
static bool is_kept(const struct reading *reading, const struct msg_task *task, const struct schema_index *schema)
{
    return is_of(reading, task, schema) && g_strcmp0(reading->question, to_read(task, task->question)) == 0 &&
           g_strcmp0(reading->evidence, to_read(task, task->evidence)) == 0;
}

/* Returns the cached reading of the task's request. If there is none, returns the least recently used one. */
static struct reading *find_reading(struct workspace *ws, const struct msg_task *task,
                                    const struct schema_index *schema)
{
    struct reading *oldest = &ws->readings[0];
    for (unsigned i = 0; i < KEPT_READINGS; i++) {
        if (is_kept(&ws->readings[i], task, schema)) return &ws->readings[i];
        if (ws->readings[i].used < oldest->used) oldest = &ws->readings[i];
    }
    return oldest;
}

/* Makes the task's question the current reading. Analyses the question once for each request, and again if the index
 * was rebuilt. Takes ownership of the reference to `schema`. */
static enum err_code take_question(struct workspace *ws, const struct msg_task *task, struct schema_index *schema,
                                   const struct handle *handle, struct err *err)
{
    if (is_of(ws->reading, task, schema)) {
        schema_unref(schema);
        return ERR_OK;
    }
    forget_candidate(ws);
    ws->reading = find_reading(ws, task, schema);
    enum err_code code = ERR_OK;
    if (is_kept(ws->reading, task, schema)) {
        schema_unref(schema);
    } else {
        forget_reading(ws->reading);
        ws->reading->schema = schema;
        ws->reading->key = task->key;
        code = keep_gate(ws, ws->reading, task) ? read_question(ws->reading, task, err) : out_of_memory(err);
    }
    ws->reading->used = ++ws->turns;
    take_state(ws, task, handle);
    return code;
}

static enum err_code take_candidate(struct workspace *ws, const struct msg_task *task, struct db *db, struct err *err)
{
    if (ws->has_candidate && ws->hash[0] == task->hash[0] && ws->hash[1] == task->hash[1]) {
        ws->subject.db = db;
        return ERR_OK;
    }
    const struct reading *reading = ws->reading;
    struct trace_span span;
    forget_candidate(ws);
    int64_t started = clock_now_ns();
    tracer_begin(ws->config->tracer, &ws->trace, "parse", TRACE_INTERNAL, &span);
    ws->sql = arena_strndup(&ws->arena, task->sql.bytes, task->sql.len);
    if (!ws->sql) return out_of_memory(err);
    enum err_code code = vsig_subject_init(&ws->subject, &ws->arena, reading->schema, db, ws->sql, task->sql.len,
                                           reading->question, reading->evidence, reading->analysis);
    tracer_end(ws->config->tracer, &span, code);
    if (code == ERR_LIMIT_MEMORY) return out_of_memory(err);
    ws->subject.uncertain = reading->uncertain;
    ws->subject.n_uncertain = reading->n_uncertain;
    const struct sql_bound *bound = ws->subject.code ? NULL : ws->subject.bound;
    ws->refused = schema_reads_denied(reading->schema, bound, reading->gate.names, reading->gate.n);
    if (ws->refused) vsig_refuse(&ws->subject, ERR_DENIED);
    ws->denied = ws->refused || schema_uses_denied(reading->schema, bound, task->deny_columns, task->n_deny_columns);
    ws->reaches_denied = schema_reaches_denied(reading->schema, bound, task->deny_columns, task->n_deny_columns);
    memcpy(ws->hash, task->hash, sizeof ws->hash);
    ws->checked = ws->ran = false;
    ws->has_candidate = true;
    ws->stats->parse_ns += clock_now_ns() - started;
    ws->stats->candidates++;
    return ERR_OK;
}

/* Gets the index. Only the first task of a request has a span, because the others find the index in the cache. */
static enum err_code take_index(struct workspace *ws, const struct msg_task *task, const struct handle *handle,
                                struct schema_index **out, struct err *err)
{
    const struct trace_context none = {0};
    struct trace_span span;
    tracer_begin(ws->config->tracer, holds_request(ws, task) ? &none : &ws->trace, "index", TRACE_INTERNAL, &span);
    const char *name = task->schema ? handle->path : task->db;
    enum err_code code = schema_cache_get_denying(ws->config->schemas, handle->db, name, handle->path,
                                                  task->deny_columns, task->n_deny_columns, out, err);
    tracer_end(ws->config->tracer, &span, code);
    return code;
}

/* Gets the task's database and its index. If there is a schema, its text identifies both, and the task's label does
 * not. */
static enum err_code take_database(struct workspace *ws, const struct msg_task *task, int64_t deadline_ns,
                                   struct handle **handle, struct schema_index **schema, struct err *err)
{
    enum err_code code = task->schema ? handles_get_schema(ws->handles, ws->config, task->schema, handle, err)
                                      : handles_get(ws->handles, ws->config, task->db, handle, err);
    if (code) return code;
    /* The deadline of the last task may have passed. The new one is set first, because the next call may query a
     * server. */
    db_set_deadline((*handle)->db, deadline_ns);
    db_set_gate((*handle)->db, NULL, NULL);
    /* the result cache is off here, because an index must be built from current data */
    db_set_memo((*handle)->db, NULL);
    code = take_index(ws, task, *handle, schema, err);
    if (code) handles_drop(ws->handles, *handle); /* so that a replaced or removed file is opened again */
    if (!code || !task->schema || err_class(code) != ERR_CLASS_REJECT) return code;
    struct err why = *err; /* for example a view whose reading never ends */
    return err_set(err, ERR_SCHEMA, "%s", why.text);
}

enum err_code workspace_take(struct workspace *workspace, const struct msg_task *task, int64_t deadline_ns,
                             struct err *err)
{
    struct handle *handle;
    struct schema_index *schema;
    enum err_code code = take_database(workspace, task, deadline_ns, &handle, &schema, err);
    if (code) return code;
    handles_remember(handle, schema->fingerprint, is_of(workspace->reading, task, schema));
    code = take_question(workspace, task, schema, handle, err);
    if (!code && workspace->reading->gate.n) db_set_gate(handle->db, schema_gate_check, &workspace->reading->gate);
    if (!code) code = take_candidate(workspace, task, handle->db, err);
    if (code) forget_question(workspace);
    return code;
}

/* Returns true if the error means that the engine will never accept the statement. */
static bool is_invalid(enum err_code code)
{
    return code == ERR_ENGINE || code == ERR_REFUSED || code == ERR_SYNTAX || code == ERR_ENCODING ||
           code == ERR_UNKNOWN_NAME || code == ERR_AMBIGUOUS_NAME;
}

/* Returns true if the error concerns the database or the task, and not the candidate. */
static bool is_about_task(enum err_code code)
{
    return err_class(code) != ERR_CLASS_REJECT || code == ERR_DEADLINE || code == ERR_CANCELLED ||
           code == ERR_DB_MISSING || code == ERR_DB_UNREADABLE || code == ERR_DB_CORRUPT || code == ERR_DB_EMPTY;
}

/* Returns true if the engine's error concerns the statement's text, and not a value. For this it prepares the
 * statement, which reads no data. If preparing fails, its error replaces the first one. */
static bool concerns_text(struct workspace *ws)
{
    struct err prepared = {0};
    if (ws->engine_err.code != ERR_ENGINE) return !*ws->engine_err.sqlstate;
    enum err_code code = db_prepare_check(ws->subject.db, ws->sql, ws->subject.sql_len, &ws->offset, &prepared);
    if (code == ERR_ENGINE) ws->engine_err = prepared;
    return code == ERR_ENGINE;
}

/* Checks the text without data. If the schema is in the engine's own dialect, the engine's error counts. Otherwise the
 * binder's error counts. */
static enum err_code check_text(struct workspace *ws)
{
    const struct vsig_subject *subject = &ws->subject;
    enum err_code code = db_prepare_check(subject->db, ws->sql, subject->sql_len, &ws->offset, &ws->engine_err);
    if (code != ERR_NO_DATA) return code;
    const struct sql_diag *diag = subject->code && subject->bound ? subject->bound->diags : NULL;
    if (!diag) return ERR_OK;
    ws->offset = (int)diag->start;
    return err_set(&ws->engine_err, subject->code, "%s", diag->message);
}

enum err_code workspace_check(struct workspace *ws, bool run, struct err *err)
{
    struct vsig_subject *subject = &ws->subject;
    run = run && !ws->reading->schema->no_data && !ws->refused;
    if (ws->checked && (!run || ws->ran || ws->invalid_code)) return ERR_OK;
    struct trace_span span;
    int64_t started = clock_now_ns();
    enum err_code code;
    ws->offset = -1;
    tracer_begin(ws->config->tracer, &ws->trace, run ? "execute" : "prepare", TRACE_INTERNAL, &span);
    code = db_candidate_check(subject->db, ws->sql, subject->sql_len, &ws->engine_err);
    if (code) {
        ws->failed_running = false;
    } else if (run) {
        vsig_result(subject);
        code = subject->result_code;
        ws->engine_err = subject->result_err;
        ws->ran = true;
        ws->stats->execute_ns += clock_now_ns() - started;
        ws->stats->executed++;
        ws->failed_running = code && !concerns_text(ws);
    } else {
        code = check_text(ws);
        if (!code && ws->refused) ws->engine_err = subject->result_err;
        ws->failed_running = false;
        ws->stats->prepare_ns += clock_now_ns() - started;
    }
    tracer_end(ws->config->tracer, &span, code);
    if (code && !is_invalid(code) && is_about_task(code)) {
        ws->has_candidate = false; /* so that a redelivered task does not reuse the failed run as its result */
        return err_set(err, code, "%s", ws->engine_err.text);
    }
    ws->checked = true;
    ws->invalid_code = is_invalid(code) ? code : ERR_OK;
    return ERR_OK;
}
