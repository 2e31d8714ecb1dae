/* Provides the tools and resources of the Model Context Protocol, through which agents use the databases (`assay mcp`,
 * `assay serve`). */
#ifndef ASSAY_CLI_COMMANDS_AGENT_H
#define ASSAY_CLI_COMMANDS_AGENT_H

#include "cli/cli.h"
#include "server/mcp.h"
#include "worker/worker.h"

struct agent;

/* Creates an agent. `schemas` is the cache of the judging engine, and `databases` are those of the engine. `cli`,
 * `schemas` and the texts of `databases` must outlive the agent. */
struct agent *agent_new(const struct cli *cli, const struct worker_databases *databases, struct schema_cache *schemas);
void agent_free(struct agent *agent); /* NULL is fine */

/* Returns the tables of tools and resources for server/mcp.h. They live as long as the agent. */
const struct mcp *agent_mcp(const struct agent *agent);

#endif
