/* What tasks share. Tasks of one candidate come one after the other, and so do the candidates of a request: the
 * database, the schema index, the reading of the question, what probes gave, the parsed candidate and its result are
 * each made once and kept until a task needs another one. */
#include "worker/internal.h"

#include "lib/base/clock.h"

#include <string.h>

enum { QUESTION_BYTES = 16 << 20, CANDIDATE_BYTES = 96 << 20 };

enum err_code subjects_init(struct subjects *subjects, const struct worker_config *config, struct worker_stats *stats)
{
    *subjects = (struct subjects){.config = config, .stats = stats};
    arena_init(&subjects->question_arena, QUESTION_BYTES);
    arena_init(&subjects->arena, CANDIDATE_BYTES);
    subjects->memo = db_memo_new();
    return handles_init(&subjects->handles, config);
}

static void forget_candidate(struct subjects *s)
{
    s->known = false;
    arena_reset(&s->arena);
}

static void forget_question(struct subjects *s)
{
    forget_candidate(s);
    s->question_known = false;
    schema_unref(s->schema);
    s->schema = NULL;
    db_memo_clear(s->memo);
    arena_reset(&s->question_arena);
}

void subjects_free(struct subjects *subjects)
{
    forget_question(subjects);
    handles_free(&subjects->handles);
    db_memo_free(subjects->memo);
    arena_free(&subjects->arena);
    arena_free(&subjects->question_arena);
}

static enum err_code full(struct err *err)
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
static enum err_code take_question(struct subjects *s, const struct msg_task *task, struct schema_index *schema,
                                   struct err *err)
{
    bool same = s->question_known && s->schema == schema && s->key.partition == task->key.partition &&
                s->key.offset == task->key.offset;
    if (same) {
        schema_unref(schema);
        return ERR_OK;
    }
    forget_question(s);
    s->schema = schema;
    s->key = task->key;
    s->analysis = NULL;
    if (!keep(&s->question_arena, task->question, &s->question) ||
        !keep(&s->question_arena, task->evidence, &s->evidence))
        return full(err);
    if (s->question && *s->question) {
        s->analysis = question_read(&s->question_arena, schema, s->question, s->evidence);
        if (!s->analysis) return full(err);
    }
    s->question_known = true;
    return ERR_OK;
}

static enum err_code take_candidate(struct subjects *s, const struct msg_task *task, struct db *db, struct err *err)
{
    if (s->known && s->hash[0] == task->hash[0] && s->hash[1] == task->hash[1]) {
        s->subject.db = db;
        return ERR_OK;
    }
    forget_candidate(s);
    int64_t started = clock_now_ns();
    s->sql = arena_strndup(&s->arena, task->sql.bytes, task->sql.len);
    if (!s->sql) return full(err);
    enum err_code code = vsig_subject_init(&s->subject, &s->arena, s->schema, db, s->sql, task->sql.len, s->question,
                                           s->evidence, s->analysis);
    if (code == ERR_LIMIT_MEMORY) return full(err);
    const struct sql_bound *bound = s->subject.code ? NULL : s->subject.bound;
    s->denied = schema_uses_denied(s->schema, bound, task->deny_columns, task->n_deny_columns);
    s->reaches_denied = schema_reaches_denied(s->schema, bound, task->deny_columns, task->n_deny_columns);
    memcpy(s->hash, task->hash, sizeof s->hash);
    s->checked = s->ran = false;
    s->known = true;
    s->stats->parse_ns += clock_now_ns() - started;
    s->stats->candidates++;
    return ERR_OK;
}

enum err_code subjects_take(struct subjects *subjects, const struct msg_task *task, int64_t deadline_ns,
                            struct err *err)
{
    struct handle *handle;
    struct schema_index *schema;
    enum err_code code = handles_get(&subjects->handles, subjects->config, task->db, &handle, err);
    if (code) return code;
    db_set_deadline(handle->db, deadline_ns);
    db_set_memo(handle->db, NULL); /* it still holds what was asked of the last question's database */
    code = schema_cache_get(subjects->config->schemas, handle->db, task->db, handle->path, &schema, err);
    if (code) {
        handles_drop(&subjects->handles, handle); /* a file that was replaced or removed is opened anew */
        return code;
    }
    struct db *db = handle->db;
    code = take_question(subjects, task, schema, err);
    db_set_memo(db, subjects->memo);
    if (!code) code = take_candidate(subjects, task, db, err);
    if (code) forget_question(subjects);
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
static bool is_of_text(struct subjects *s)
{
    struct err prepared = {0};
    if (s->said.code != ERR_ENGINE) return !*s->said.sqlstate;
    enum err_code code = db_prepare_check(s->subject.db, s->sql, s->subject.sql_len, &s->offset, &prepared);
    if (code == ERR_ENGINE) s->said = prepared;
    return code == ERR_ENGINE;
}

enum err_code subjects_check(struct subjects *s, bool run, struct err *err)
{
    struct vsig_subject *subject = &s->subject;
    if (s->checked && (!run || s->ran || s->verdict)) return ERR_OK;
    int64_t started = clock_now_ns();
    enum err_code code;
    s->offset = -1;
    if (run) {
        vsig_result(subject);
        code = subject->result_code;
        s->said = subject->result_err;
        s->ran = true;
        s->stats->execute_ns += clock_now_ns() - started;
        s->stats->executed++;
        s->said_running = code && !is_of_text(s);
    } else {
        code = db_prepare_check(subject->db, s->sql, subject->sql_len, &s->offset, &s->said);
        s->said_running = false;
        s->stats->prepare_ns += clock_now_ns() - started;
    }
    if (code && !is_invalid(code) && is_about_task(code)) {
        s->known = false; /* not to be taken for this candidate's result when the task comes again */
        return err_set(err, code, "%s", s->said.text);
    }
    s->checked = true;
    s->verdict = is_invalid(code) ? code : ERR_OK;
    return ERR_OK;
}
