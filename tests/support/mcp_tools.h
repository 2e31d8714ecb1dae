/* A server of the Model Context Protocol with self-contained tools: one with a parameter of each kind, one that fails,
 * one that needs a verdict. */
#ifndef ASSAY_TESTS_SUPPORT_MCP_TOOLS_H
#define ASSAY_TESTS_SUPPORT_MCP_TOOLS_H

#include "server/mcp.h"

/* Tools: "echo" returns its arguments and its caller, "fail" always fails, "judge" submits {"sql": its first text} and
 * then returns the verdict. Resources: "test://notes/{name}", of which every caller may read "one", and a tenant also
 * "mine". */
extern const struct mcp test_mcp;

#endif
