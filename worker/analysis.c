/* What tasks share. Tasks of one candidate come one after the other, and so do the candidates of a request: the
 * database, the schema index, the reading of the question, what probes gave, the parsed candidate and its result are
 * each made once and kept until a task needs another one. */
#include "worker/internal.h"

#include "lib/base/clock.h"

#include <string.h>

enum { QUESTION_BYTES = 16 << 20, CANDIDATE_BYTES = 96 << 20 };

enum err_code analysis_init(struct analysis *analysis, const struct worker_config *config, struct worker_stats *stats)
{
    *analysis = (struct analysis){.config = config, .stats = stats};
    arena_init(&analysis->question_arena, QUESTION_BYTES);
    arena_init(&analysis->arena, CANDIDATE_BYTES);
    analysis->memo = db_memo_new();
    return handles_init(&analysis->handles, config);
}

static void forget_candidate(struct analysis *a)
{
    a->has_candidate = false;
    arena_reset(&a->arena);
}

static void forget_question(struct analysis *a)
{
    forget_candidate(a);
    a->has_question = false;
    schema_unref(a->schema);
    a->schema = NULL;
    db_memo_clear(a->memo);
    arena_reset(&a->question_arena);
}

void analysis_free(struct analysis *analysis)
{
    forget_question(analysis);
    handles_free(&analysis->handles);
    db_memo_free(analysis->memo);
    arena_free(&analysis->arena);
    arena_free(&analysis->question_arena);
}

static enum err_code out_of_memory(struct err *err)
{
    return err_set(err, ERR_LIMIT_MEMORY, "the task needs more memory than it may have");
}

/* A copy, so that it outlives the message. NULL stays NULL. */
static bool keep(struct arena *arena, const char *text, char **out)
{
    *out = text ? arena_strdup(arena, text) : NULL;
    return !text || *out;
}

/* Read the question once a request. An index that was rebuilt meanwhile makes it another one. Takes over the reference.
 */
static enum err_code take_question(struct analysis *a, const struct msg_task *task, struct schema_index *schema,
                                   struct err *err)
{
    bool same = a->has_question && a->schema == schema && a->key.partition == task->key.partition &&
                a->key.offset == task->key.offset;
    if (same) {
        schema_unref(schema);
        return ERR_OK;
    }
    forget_question(a);
    a->schema = schema;
    a->key = task->key;
    a->question_analysis = NULL;
    if (!keep(&a->question_arena, task->question, &a->question) ||
        !keep(&a->question_arena, task->evidence, &a->evidence))
        return out_of_memory(err);
    if (a->question && *a->question) {
        a->question_analysis = question_read(&a->question_arena, schema, a->question, a->evidence);
        if (!a->question_analysis) return out_of_memory(err);
    }
    a->has_question = true;
    return ERR_OK;
}

static enum err_code take_candidate(struct analysis *a, const struct msg_task *task, struct db *db, struct err *err)
{
    if (a->has_candidate && a->hash[0] == task->hash[0] && a->hash[1] == task->hash[1]) {
        a->subject.db = db;
        return ERR_OK;
    }
    forget_candidate(a);
    int64_t started = clock_now_ns();
    a->sql = arena_strndup(&a->arena, task->sql.bytes, task->sql.len);
    if (!a->sql) return out_of_memory(err);
    enum err_code code = vsig_subject_init(&a->subject, &a->arena, a->schema, db, a->sql, task->sql.len, a->question,
                                           a->evidence, a->question_analysis);
    if (code == ERR_LIMIT_MEMORY) return out_of_memory(err);
    const struct sql_bound *bound = a->subject.code ? NULL : a->subject.bound;
    a->denied = schema_uses_denied(a->schema, bound, task->deny_columns, task->n_deny_columns);
    a->reaches_denied = schema_reaches_denied(a->schema, bound, task->deny_columns, task->n_deny_columns);
    memcpy(a->hash, task->hash, sizeof a->hash);
    a->checked = a->ran = false;
    a->has_candidate = true;
    a->stats->parse_ns += clock_now_ns() - started;
    a->stats->candidates++;
    return ERR_OK;
}

enum err_code analysis_take(struct analysis *analysis, const struct msg_task *task, int64_t deadline_ns,
                            struct err *err)
{
    struct handle *handle;
    struct schema_index *schema;
    enum err_code code = handles_get(&analysis->handles, analysis->config, task->db, &handle, err);
    if (code) return code;
    db_set_deadline(handle->db, deadline_ns);
    db_set_memo(handle->db, NULL); /* it still holds what was asked of the last question's database */
    code = schema_cache_get(analysis->config->schemas, handle->db, task->db, handle->path, &schema, err);
    if (code) {
        handles_drop(&analysis->handles, handle); /* a file that was replaced or removed is opened anew */
        return code;
    }
    struct db *db = handle->db;
    code = take_question(analysis, task, schema, err);
    db_set_memo(db, analysis->memo);
    if (!code) code = take_candidate(analysis, task, db, err);
    if (code) forget_question(analysis);
    return code;
}

/* The engine has looked at the statement and will not have it, today or ever. */
static bool is_invalid(enum err_code code)
{
    return code == ERR_ENGINE || code == ERR_REFUSED || code == ERR_SYNTAX || code == ERR_ENCODING ||
           code == ERR_UNKNOWN_NAME || code == ERR_AMBIGUOUS_NAME;
}

/* What stopped the statement, if anything, says nothing about the database or the task. */
static bool is_about_task(enum err_code code)
{
    return err_class(code) != ERR_CLASS_REJECT || code == ERR_DEADLINE || code == ERR_CANCELLED ||
           code == ERR_DB_MISSING || code == ERR_DB_UNREADABLE || code == ERR_DB_CORRUPT || code == ERR_DB_EMPTY;
}

/* Is what the engine said about the text of the statement, and not about a value on the way? Preparing it tells, which
 * reads no data; what that says is then what is said. */
static bool concerns_text(struct analysis *a)
{
    struct err prepared = {0};
    if (a->engine_err.code != ERR_ENGINE) return !*a->engine_err.sqlstate;
    enum err_code code = db_prepare_check(a->subject.db, a->sql, a->subject.sql_len, &a->offset, &prepared);
    if (code == ERR_ENGINE) a->engine_err = prepared;
    return code == ERR_ENGINE;
}

enum err_code analysis_check(struct analysis *a, bool run, struct err *err)
{
    struct vsig_subject *subject = &a->subject;
    if (a->checked && (!run || a->ran || a->invalid_code)) return ERR_OK;
    int64_t started = clock_now_ns();
    enum err_code code;
    a->offset = -1;
    if (run) {
        vsig_result(subject);
        code = subject->result_code;
        a->engine_err = subject->result_err;
        a->ran = true;
        a->stats->execute_ns += clock_now_ns() - started;
        a->stats->executed++;
        a->failed_running = code && !concerns_text(a);
    } else {
        code = db_prepare_check(subject->db, a->sql, subject->sql_len, &a->offset, &a->engine_err);
        a->failed_running = false;
        a->stats->prepare_ns += clock_now_ns() - started;
    }
    if (code && !is_invalid(code) && is_about_task(code)) {
        a->has_candidate = false; /* not to be taken for this candidate's result when the task comes again */
        return err_set(err, code, "%s", a->engine_err.text);
    }
    a->checked = true;
    a->invalid_code = is_invalid(code) ? code : ERR_OK;
    return ERR_OK;
}
