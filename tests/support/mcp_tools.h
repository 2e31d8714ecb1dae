/* A server of the Model Context Protocol for tests. Its tools are self-contained: one has a parameter of each kind, one
 * fails, one needs a verdict. */
#ifndef ASSAY_TESTS_SUPPORT_MCP_TOOLS_H
#define ASSAY_TESTS_SUPPORT_MCP_TOOLS_H

#include "server/mcp.h"

/* Tools: "echo" returns its arguments and its caller, "fail" always fails, "judge" submits {"sql": its first text} and
 * then returns the verdict. The resources are "test://notes/{name}". Every caller may read the note "one"; a tenant may
 * also read "mine". */
extern const struct mcp test_mcp;

#endif
