/* Tools and resources of the Model Context Protocol, with which agents use the databases (`assay mcp`, `assay
 * serve`). */
#ifndef ASSAY_CLI_COMMANDS_AGENT_H
#define ASSAY_CLI_COMMANDS_AGENT_H

#include "cli/cli.h"
#include "server/mcp.h"
#include "worker/worker.h"

struct agent;

/* Creates an agent. `cli`, `schemas` (of the judging engine) and the texts of `databases`, shared with the engine, must
 * outlive it. */
struct agent *agent_new(const struct cli *cli, const struct worker_databases *databases, struct schema_cache *schemas);
void agent_free(struct agent *agent); /* NULL is fine */

/* Returns the protocol's tables. Valid as long as the agent. */
const struct mcp *agent_mcp(const struct agent *agent);

#endif
