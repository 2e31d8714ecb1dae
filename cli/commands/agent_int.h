/* Declares the functions that the tools of agent.h share. */
#ifndef ASSAY_CLI_COMMANDS_AGENT_INT_H
#define ASSAY_CLI_COMMANDS_AGENT_INT_H

#include "cli/commands/agent.h"
#include "server/recent_verdicts.h"

struct agent {
    const struct cli *cli;
    struct worker_databases databases;
    struct schema_cache *schemas;
    struct recent_verdicts *verdicts;
    struct mcp mcp;
};

#define AGENT_VERDICTS  "assay://verdicts/"
#define AGENT_DATABASES "assay://databases/"

/* Returns the text of an argument, or NULL if it is missing. */
const char *agent_argument(const struct mcp_call *call, const char *name);

/* Picks the database of that name and narrows it to the tenant's rights and limits. Lists live in the arena. A database
 * that the tenant may not use counts as missing. On failure returns false and describes it in *result. */
bool agent_pick(const struct agent *agent, const struct tenant *tenant, struct arena *arena, const char *name,
                struct worker_database *out, struct mcp_result *result);
/* Sets *result to a failure to open or read the database. The error's text may name files, so only the log receives it.
 */
void agent_fail_database(const struct agent *agent, const char *name, const struct err *why, struct mcp_result *result);

/* Appends text from data or users on one line, with invisible characters escaped, cut to about `max` bytes. */
void agent_append(GString *out, const char *text, size_t max);

/* Returns the sorted names of the databases that the tenant may use, at most AGENT_MAX_DATABASES. Release with
 * json_decref. */
enum { AGENT_MAX_DATABASES = 1000 };
json_t *agent_database_names(const struct agent *agent, const struct tenant *tenant);

/* Returns the schema of a database in the form of schema_json. `table` NULL includes all tables. The member `complete`
 * is true if nothing is left out. Release with json_decref. Returns NULL with *result set if the database or table does
 * not exist. */
json_t *agent_describe(const struct agent *agent, const struct tenant *tenant, const char *name, const char *table,
                       struct mcp_result *result);

/* The table of tools; ends with a NULL name. */
extern const struct mcp_tool agent_tools[];

void agent_judge_sql(void *ctx, const struct mcp_call *call, struct mcp_result *result);
void agent_repair_sql(void *ctx, const struct mcp_call *call, struct mcp_result *result);
void agent_tell_verdict(void *ctx, const struct mcp_call *call, const char *verdict, size_t len, const struct err *err,
                        struct mcp_result *result);
void agent_explain_sql(void *ctx, const struct mcp_call *call, struct mcp_result *result);
void agent_describe_schema(void *ctx, const struct mcp_call *call, struct mcp_result *result);
void agent_list_databases(void *ctx, const struct mcp_call *call, struct mcp_result *result);

#endif
