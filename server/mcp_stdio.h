/* Serves the Model Context Protocol over standard input and output, one message per line. */
#ifndef ASSAY_SERVER_MCP_STDIO_H
#define ASSAY_SERVER_MCP_STDIO_H

#include "server/mcp.h"

struct mcp_stdio_config {
    const struct mcp *mcp;
    int in, out;       /* descriptors, which the caller owns */
    uint32_t threads;  /* number of calls that run at a time; at least 1 */
    uint32_t max_open; /* limit of running and queued calls; a further one gets MCP_BUSY */
    /* Judges a request, waits for the verdict and sets *verdict to JSON from malloc. Thread: one of `threads`. */
    enum err_code (*judge)(void *ctx, const char *request, char **verdict, struct err *err);
    void *ctx;
};

/* Reads messages until the input ends or the output is closed, then finishes the open calls and returns. Messages
 * larger than MCP_MAX_BYTES are refused and skipped. A cancelled call is not started, or its answer is not written.
 * Returns ERR_IO if the input cannot be read. Thread: main; blocks. */
enum err_code mcp_stdio_run(const struct mcp_stdio_config *config, struct err *err);

#endif
