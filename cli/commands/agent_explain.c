/* Implements the tool explain_sql, which explains one statement in words. Statements of agents run in a separate
 * process. */
#include "cli/commands/agent_int.h"
#include "cli/commands/story.h"
#include "lib/base/locations.h"
#include "lib/db/executor.h"

#include <string.h>

enum { MAX_PROSE = 6000 };

static void put_story(struct story *story, struct mcp_result *result)
{
    json_t *all = story_json(story);
    const char *prose = json_string_value(json_object_get(all, "prose"));
    const char *missing = json_string_value(json_object_get(all, "missing"));
    const char *error = json_string_value(json_object_get(all, "error"));
    if (error) g_string_append_printf(result->text, "Execution failed (%s).\n", error);
    agent_append(result->text, prose ? prose : "", MAX_PROSE);
    if (missing) g_string_append_c(result->text, '\n');
    if (missing) agent_append(result->text, missing, MAX_PROSE);
    result->structured = json_pack("{s:s, s:O, s:O, s:O, s:O}", "explanation", prose ? prose : "", "rows",
                                   json_object_get(all, "rows"), "error", json_object_get(all, "error"), "missing",
                                   json_object_get(all, "missing"), "why_not", json_object_get(all, "why_not"));
    json_decref(all);
}

static void refuse(const struct err *err, struct mcp_result *result)
{
    result->is_error = true;
    g_string_append_printf(result->text, "This statement cannot be explained (%s): ", err_name(err->code));
    agent_append(result->text, err_public_text(err), ERR_TEXT_MAX);
    g_string_append(result->text, "\nCorrect the SQL; describe_schema lists the names of tables and columns.");
}

static void explain(const struct agent *agent, const struct worker_database *database, struct executor *executor,
                    const char *sql, struct mcp_result *result)
{
    struct story story;
    struct err err = {0};
    enum err_code code = story_open(&story, database, executor, &err);
    if (!code)
        code = schema_cache_get_denying(agent->schemas, story.db, database->name, database->path,
                                        database->deny_columns, database->n_deny_columns, &story.schema, &err);
    if (code)
        agent_fail_database(agent, database->name, &err, result);
    else if (story_tell(&story, sql, strlen(sql), NULL, NULL, &err))
        refuse(&err, result);
    else
        put_story(&story, result);
    story_close(&story);
}

void agent_explain_sql(void *ctx, const struct mcp_call *call, struct mcp_result *result)
{
    struct arena arena;
    const struct agent *agent = ctx;
    struct worker_database database;
    arena_init(&arena, 0);
    if (agent_pick(agent, call->tenant, &arena, agent_argument(call, "db"), &database, result)) {
        struct executor *executor = executor_new(EXECUTOR_SELF);
        explain(agent, &database, executor, agent_argument(call, "sql"), result);
        executor_free(executor);
    }
    arena_free(&arena);
}
