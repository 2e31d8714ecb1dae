/* A server of the Model Context Protocol whose tools need nothing: one of each kind of parameter, one that fails, one that wants a verdict. */
#ifndef ASSAY_TESTS_SUPPORT_MCP_TOOLS_H
#define ASSAY_TESTS_SUPPORT_MCP_TOOLS_H

#include "server/mcp.h"

/* Tools: "echo" says its arguments and who calls, "fail" always fails, "judge" leaves {"sql": its first text} to be judged and then says the
 * verdict. Resources: "test://notes/{name}", of which "one" is there for everybody, and "mine" for a tenant. */
extern const struct mcp test_mcp;

#endif
