/* What agents may ask of the databases here, as tools and resources of the Model Context Protocol: of `assay mcp` and of `assay serve`. */
#ifndef ASSAY_CLI_COMMANDS_AGENT_H
#define ASSAY_CLI_COMMANDS_AGENT_H

#include "cli/cli.h"
#include "server/mcp.h"
#include "worker/worker.h"

struct agent;

/* `cli` and `schemas` (the engine's that judges) outlive it; so do the texts of `databases`, which the engine has too. */
struct agent *agent_new(const struct cli *cli, const struct worker_databases *databases, struct schema_cache *schemas);
void agent_free(struct agent *agent); /* NULL is fine */

/* As agents see it. Lives as long as the agent. */
const struct mcp *agent_mcp(const struct agent *agent);

#endif
