/* What the tools of agent.h share. */
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

/* Text of an argument; NULL: it was not given. */
const char *agent_argument(const struct mcp_call *call, const char *name);

/* The database of that name, with what the tenant may see of it and its limits; in the arena. One he may not ask of is not there. False: the result says so. */
bool agent_pick(const struct agent *agent, const struct tenant *tenant, struct arena *arena, const char *name,
                struct worker_database *out, struct mcp_result *result);
/* The same of a failure to open or read it. Its text may name files, so that the log has it alone. */
void agent_fail_database(const struct agent *agent, const char *name, const struct err *why, struct mcp_result *result);

/* Text from data or users on one line, what is invisible escaped, cut to about `max` bytes. */
void agent_append(GString *out, const char *text, size_t max);

/* Names of databases that the tenant may ask of, sorted, at most AGENT_MAX_DATABASES. Owed: json_decref, as what follows. */
enum { AGENT_MAX_DATABASES = 1000 };
json_t *agent_database_names(const struct agent *agent, const struct tenant *tenant);

/* Schema of a database as schema_json has it, of a table or (NULL) of all; `complete` says whether all of it is there. NULL with the
 * result set: there is no such database or table. */
json_t *agent_describe(const struct agent *agent, const struct tenant *tenant, const char *name, const char *table,
                       struct mcp_result *result);

/* The tools; ends with a NULL name. */
extern const struct mcp_tool agent_tools[];

void agent_judge_sql(void *ctx, const struct mcp_call *call, struct mcp_result *result);
void agent_repair_sql(void *ctx, const struct mcp_call *call, struct mcp_result *result);
void agent_tell_verdict(void *ctx, const struct mcp_call *call, const char *verdict, size_t len, const struct err *err,
                        struct mcp_result *result);
void agent_explain_sql(void *ctx, const struct mcp_call *call, struct mcp_result *result);
void agent_describe_schema(void *ctx, const struct mcp_call *call, struct mcp_result *result);
void agent_list_databases(void *ctx, const struct mcp_call *call, struct mcp_result *result);

#endif
