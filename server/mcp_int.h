/* Shared declarations of the files that implement mcp.h. */
#ifndef ASSAY_SERVER_MCP_INT_H
#define ASSAY_SERVER_MCP_INT_H

#include "server/mcp.h"

/* A request and its answer. */
struct exchange {
    const struct mcp *mcp;
    const struct mcp_message *message;
    const struct tenant *tenant;
    const char *owner;
    bool stateless; /* true for a version without a handshake */
    json_t *result; /* owned */
    enum mcp_error error;
    char *why;    /* text of the error; owned */
    json_t *data; /* data of the error; owned; may be NULL */
    char *judge;  /* request to judge instead of a result; owned */
};

void exchange_fail(struct exchange *exchange, enum mcp_error error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Answer tools/list and tools/call, and complete a call after its verdict. */
void tools_list(struct exchange *exchange);
void tools_call(struct exchange *exchange);
void tools_finish(struct exchange *exchange, const char *verdict, size_t len, const struct err *err);

#endif
