/* The Model Context Protocol over standard input and output: a message a line. */
#ifndef ASSAY_SERVER_MCP_STDIO_H
#define ASSAY_SERVER_MCP_STDIO_H

#include "server/mcp.h"

struct mcp_stdio_config {
    const struct mcp *mcp;
    int in, out;       /* descriptors; they stay the caller's */
    uint32_t threads;  /* calls that are worked on at a time; at least 1 */
    uint32_t max_open; /* and that may wait, those included; one more is told to come again */
    /* The verdict of a request, JSON from malloc into *verdict. Waits for it. Thread: one of `threads`. */
    enum err_code (*judge)(void *ctx, const char *request, char **verdict, struct err *err);
    void *ctx;
};

/* Reads messages until the input ends or the output is closed, then finishes the calls that are open and returns. Messages of more than
 * MCP_MAX_BYTES are refused and passed over. A call that is cancelled is not begun any more, or its answer not sent. ERR_IO: the input cannot be
 * read. Thread: main; blocks. */
enum err_code mcp_stdio_run(const struct mcp_stdio_config *config, struct err *err);

#endif
