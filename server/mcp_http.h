/* The Model Context Protocol over HTTP ("streamable HTTP"): POST /mcp, a message a request, answered with JSON. Nothing is kept of a caller, so there is no
 * session and no stream to listen on: GET and DELETE get 405. A browser's page may ask only if it comes from this machine (Origin). */
#ifndef ASSAY_SERVER_MCP_HTTP_H
#define ASSAY_SERVER_MCP_HTTP_H

#include "server/http_route.h"
#include "server/mcp.h"

#define MCP_PATH "/mcp"

/* The row of `mcp`, which outlives the API. */
struct http_route mcp_http_route(const struct mcp *mcp);

#endif
