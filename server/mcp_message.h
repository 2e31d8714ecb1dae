/* Parses and writes messages of the Model Context Protocol: JSON-RPC 2.0, one object each. Batches, which one version
 * of the protocol allowed, are refused.
 *
 * Thread: any; a message belongs to one thread at a time.
 */
#ifndef ASSAY_SERVER_MCP_MESSAGE_H
#define ASSAY_SERVER_MCP_MESSAGE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* The error codes of JSON-RPC and of the protocol. The codes from -32000 to -32019 are the server's own. */
enum mcp_error {
    MCP_NO_ERROR = 0,
    MCP_PARSE_ERROR = -32700,
    MCP_INVALID_REQUEST = -32600,
    MCP_METHOD_NOT_FOUND = -32601,
    MCP_INVALID_PARAMS = -32602,
    MCP_INTERNAL_ERROR = -32603,
    MCP_BUSY = -32000,               /* too many concurrent calls */
    MCP_RESOURCE_NOT_FOUND = -32002, /* for versions with a handshake; later ones use MCP_INVALID_PARAMS */
    MCP_HEADER_MISMATCH = -32020,
    MCP_UNSUPPORTED_VERSION = -32022,
};

enum mcp_kind {
    MCP_BROKEN,       /* invalid message; see `error` and `why` */
    MCP_REQUEST,      /* requires an answer */
    MCP_NOTIFICATION, /* gets no answer */
    MCP_RESPONSE,     /* answers a request; this server sends none */
};

struct mcp_message {
    enum mcp_kind kind;
    json_t *root;         /* owned; NULL if the bytes are not JSON */
    json_t *id;           /* in root: a string or an integer; may be NULL */
    json_t *params;       /* in root: an object; may be NULL */
    const char *method;   /* in root; may be NULL */
    enum mcp_error error; /* the error of an MCP_BROKEN message */
    char why[160];
};

/* Reads a message from any bytes. Free it with mcp_message_clear. */
void mcp_message_read(struct mcp_message *out, const char *bytes, size_t len);
/* Reads a message from JSON, whose reference it takes over. Free it with mcp_message_clear. */
void mcp_message_take(struct mcp_message *out, json_t *root);
void mcp_message_clear(struct mcp_message *message);

/* Returns the string parameter `name`; NULL if it is missing or not a string. */
const char *mcp_message_text(const struct mcp_message *message, const char *name);
/* Returns the protocol version that the message contains, as in stateless versions; NULL if there is none. */
const json_t *mcp_message_version(const struct mcp_message *message);

/* Return the reply as one line, allocated with malloc. `id` is NULL if the message has none. They take over the
 * references to `result` and `data`; `data` may be NULL. */
char *mcp_reply_result(const json_t *id, json_t *result);
char *mcp_reply_error(const json_t *id, enum mcp_error error, const char *why, json_t *data);

#endif
