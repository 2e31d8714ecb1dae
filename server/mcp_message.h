/* Messages of the Model Context Protocol: JSON-RPC 2.0, one object each. Batches, which one version of the protocol had, are not taken.
 *
 * Thread: any; a message belongs to one thread at a time. */
#ifndef ASSAY_SERVER_MCP_MESSAGE_H
#define ASSAY_SERVER_MCP_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Codes of errors: JSON-RPC's own, then the protocol's, and of -32000 to -32019 ours. */
enum mcp_error {
    MCP_NO_ERROR = 0,
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_METHOD_NOT_FOUND = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL_ERROR = -32603,
    MCP_BUSY = -32000,               /* too many calls at a time */
    MCP_RESOURCE_NOT_FOUND = -32002, /* of versions with a handshake; later ones say MCP_INVALID_PARAMS */
    MCP_HEADER_MISMATCH = -32020,
    MCP_UNSUPPORTED_VERSION = -32022,
};

enum mcp_kind {
    MCP_BROKEN,       /* no message; `error` and `why` say so */
    MCP_REQUEST,      /* wants an answer */
    MCP_NOTIFICATION, /* wants none */
    MCP_RESPONSE,     /* to a request, of which this server makes none */
};

struct mcp_message {
    enum mcp_kind kind;
    json_t *root;         /* owned; NULL: not JSON */
    json_t *id;           /* in root: a text or a whole number; NULL: none */
    json_t *params;       /* in root: an object; NULL: none */
    const char *method;   /* in root; NULL: none */
    enum mcp_error error; /* of MCP_BROKEN */
    char why[160];
};

/* Reads any bytes. The caller owes mcp_message_clear. */
void mcp_message_read(struct mcp_message *out, const char *bytes, size_t len);
/* The same of JSON, whose reference is taken over. */
void mcp_message_take(struct mcp_message *out, json_t *root);
void mcp_message_clear(struct mcp_message *message);

/* A text of the parameters; NULL: it is not there, or no text. */
const char *mcp_message_text(const struct mcp_message *message, const char *name);
/* The version that the message itself names, as those without a handshake do; NULL: none. */
const json_t *mcp_message_version(const struct mcp_message *message);

/* The reply as one line, malloc'd. `id` NULL: of nobody knows what. References to `result` and `data` (may be NULL) are taken over. */
char *mcp_reply_result(const json_t *id, json_t *result);
char *mcp_reply_error(const json_t *id, enum mcp_error error, const char *why, json_t *data);

#endif
