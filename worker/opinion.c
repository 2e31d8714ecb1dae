/* A language model's opinion on the current candidate, for the signals of the family llm.
 *
 * This file decides what the model receives: the question and its evidence, the query, and the schema as far as the
 * task's policy allows. It never sends rows of the data. It sends only values that are frequent and that the policy
 * allows to be exposed.
 */
#include "worker/internal.h"

#include "lib/base/clock.h"
#include "lib/schema/describe.h"
#include "worker/llm.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum {
    SCHEMA_BYTES = 32 << 10,
    ANSWER_MS = 200,
    DESCRIBE_BYTES = 1 << 20
}; /* ANSWER_MS: part of the task's time that is reserved for the result */

static void set_text(json_t *object, const char *key, const char *text)
{
    if (text && *text) json_object_set_new(object, key, json_string(text)); /* invalid UTF-8 is omitted */
}

/* Returns the model's input as JSON, allocated with malloc. Returns NULL if a text is missing or invalid. */
static char *data_of(const struct workspace *ws, const struct msg_task *task)
{
    const struct schema_describe_options shown = {.values = task->expose != MSG_EXPOSE_NONE,
                                                  .deny_columns = task->deny_columns,
                                                  .n_deny_columns = task->n_deny_columns,
                                                  .max_bytes = SCHEMA_BYTES};
    struct arena arena;
    arena_init(&arena, DESCRIBE_BYTES);
    json_t *object = json_object();
    set_text(object, "question", ws->reading->question);
    set_text(object, "evidence", ws->reading->evidence);
    set_text(object, "schema", schema_describe(&arena, ws->reading->schema, &shown));
    json_object_set_new(object, "sql", json_stringn(ws->sql, ws->subject.sql_len));
    bool whole =
        json_object_get(object, "question") && json_object_get(object, "schema") && json_object_get(object, "sql");
    char *text = whole ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    arena_free(&arena);
    return text;
}

static int64_t deadline_of(const struct workspace *ws)
{
    int64_t deadline_ns = ws->subject.db ? db_get_deadline(ws->subject.db) : 0;
    return deadline_ns ? deadline_ns - (int64_t)ANSWER_MS * 1000000 : 0;
}

static bool tell_usage(struct arena *arena, const struct llm_answer *answer, struct msg_result *out)
{
    struct msg_usage *usage = arena_new(arena, struct msg_usage);
    const char *source = arena_strdup(arena, answer->source);
    if (!usage || !source) return false;
    *usage = (struct msg_usage){.calls = answer->usage.calls,
                                .cached = answer->usage.cached,
                                .tokens_in = answer->usage.tokens_in,
                                .tokens_out = answer->usage.tokens_out,
                                .cost = answer->usage.cost,
                                .source = *source ? source : NULL};
    out->usage = usage;
    return true;
}

bool opinion_run(struct workspace *workspace, struct arena *arena, const struct msg_task *task,
                 struct vsig_verdict *verdicts, struct msg_result *out)
{
    struct llm_answer answer = {0};
    struct vsig_subject *subject = &workspace->subject;
    char *data = subject->code || subject->refused || !workspace->config->llm ? NULL : data_of(workspace, task);
    if (data) llm_ask(workspace->config->llm, data, deadline_of(workspace), &answer);
    subject->reply = data ? &answer.reply : NULL;
    vsig_run_family(subject, VSIG_LLM, workspace->config->signals, verdicts);
    subject->reply = NULL;
    bool told = !data || tell_usage(arena, &answer, out);
    llm_answer_clear(&answer);
    free(data);
    return told;
}
