/* What the files of mcp.h share. */
#ifndef ASSAY_SERVER_MCP_INT_H
#define ASSAY_SERVER_MCP_INT_H

#include "server/mcp.h"

/* One request and what is answered. */
struct exchange {
    const struct mcp *mcp;
    const struct mcp_message *message;
    const struct tenant *tenant;
    const char *owner;
    bool stateless; /* of a version without a handshake */
    json_t *result; /* owned */
    enum mcp_error error;
    char *why;    /* of error; owned */
    json_t *data; /* of error; owned; NULL: none */
    char *judge;  /* owned; instead of both: to be judged first */
};

void exchange_fail(struct exchange *exchange, enum mcp_error error, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* tools/list, tools/call, and a call whose verdict has come. */
void tools_list(struct exchange *exchange);
void tools_call(struct exchange *exchange);
void tools_finish(struct exchange *exchange, const char *verdict, size_t len, const struct err *err);

#endif
