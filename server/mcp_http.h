/* Serves the Model Context Protocol over HTTP ("streamable HTTP"): POST /mcp with one message per request, answered
 * with JSON. The server stores nothing per caller, so there are no sessions and no stream for a client to read: GET and
 * DELETE get 405. A web page may send requests only if it comes from this machine (Origin). */
#ifndef ASSAY_SERVER_MCP_HTTP_H
#define ASSAY_SERVER_MCP_HTTP_H

#include "server/http_route.h"
#include "server/mcp.h"

#define MCP_PATH "/mcp"

/* Returns the row of `mcp`, which must outlive the API. */
struct http_route mcp_http_route(const struct mcp *mcp);

#endif
