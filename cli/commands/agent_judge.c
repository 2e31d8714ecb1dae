/* Implements the tools judge_sql and repair_sql: converts their arguments to a request. agent_verdict.c formats the
 * verdict for the model. */
#include "cli/commands/agent_int.h"

#include <string.h>

enum { JUDGE_MS = 25000 /* less than clients wait for a call, and less than `assay serve` waits for a verdict */ };

/* Builds a request from the options in `extra` and the call's arguments, which have the same names as in a request.
 * Takes ownership of `extra`. */
static json_t *request_of(const struct agent *agent, const struct mcp_call *call, json_t *extra)
{
    static const char *const same[] = {"db", "question", "evidence", "policy"};
    char *uuid = g_uuid_string_random(), *id = g_strconcat("mcp-", uuid, NULL);
    json_object_set_new(extra, "id", json_string(id));
    for (unsigned i = 0; i < G_N_ELEMENTS(same); i++) {
        json_t *value = json_object_get(call->arguments, same[i]);
        if (value) json_object_set(extra, same[i], value);
    }
    if (!agent->cli->settings.judge.deadline_ms) json_object_set_new(extra, "deadline_ms", json_integer(JUDGE_MS));
    g_free(id);
    g_free(uuid);
    return extra;
}

/* Stores the request in `result`, to be judged. Takes ownership of the request. */
static void leave(json_t *request, struct mcp_result *result)
{
    result->judge = json_dumps(request, JSON_COMPACT);
    json_decref(request);
}

/* Parses "QUESTION=CHOICE" texts. Returns NULL with *result set if one is malformed. */
static json_t *answers_of(const json_t *texts, struct mcp_result *result)
{
    size_t i;
    const json_t *text;
    json_t *out = json_array();
    json_array_foreach(texts, i, text)
    {
        const char *answer = json_string_value(text), *equals = strchr(answer, '=');
        if (equals)
            json_array_append_new(
                out, json_pack("{s:s#, s:s}", "question", answer, (int)(equals - answer), "choice", equals + 1));
        result->is_error |= !equals;
    }
    if (!result->is_error) return out;
    g_string_append(result->text,
                    "Each of `answers` must be \"QUESTION=CHOICE\", with the ids of the verdict's clarification.");
    json_decref(out);
    return NULL;
}

void agent_judge_sql(void *ctx, const struct mcp_call *call, struct mcp_result *result)
{
    json_t *given = json_object_get(call->arguments, "answers");
    json_t *answers = given ? answers_of(given, result) : NULL;
    if (given && !answers) return;
    leave(request_of(ctx, call,
                     json_pack("{s:O, s:o*}", "candidates", json_object_get(call->arguments, "candidates"), "answers",
                               answers)),
          result);
}

void agent_repair_sql(void *ctx, const struct mcp_call *call, struct mcp_result *result)
{
    leave(request_of(ctx, call,
                     json_pack("{s:[O], s:s, s:s}", "candidates", json_object_get(call->arguments, "sql"), "repair",
                               "apply", "policy", "best_effort")),
          result);
}
