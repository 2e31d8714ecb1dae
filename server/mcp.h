/* Answers messages of the Model Context Protocol, with which agents call tools and read resources. The transports are
 * server/mcp_stdio.h and server/mcp_http.h. The caller supplies the tools and resources as rows, so this module does
 * not depend on their purpose.
 *
 * Versions. Up to 2025-11-25 a connection begins with `initialize`. From 2026-07-28 on there is no such handshake, and
 * each request contains its version in `_meta`. Each request is answered according to its own version. The server
 * stores nothing per connection, so over HTTP any replica can answer any request.
 *
 * A call that needs a verdict returns a request to be judged. After the verdict, mcp_finish answers the call. Over HTTP
 * no thread waits for the verdict.
 *
 * Thread: any, for all functions.
 */
#ifndef ASSAY_SERVER_MCP_H
#define ASSAY_SERVER_MCP_H

#include "lib/base/error.h"
#include "server/mcp_message.h"
#include "server/tokens.h"

#include <glib.h>
#include <stdint.h>

enum { MCP_MAX_BYTES = 1 << 20 /* maximum size of a message */ };

/* --- tools --- */

enum mcp_type {
    MCP_TEXT,
    MCP_TEXTS,  /* a list of texts */
    MCP_CHOICE, /* one of `choices` */
};

struct mcp_parameter {
    const char *name;
    enum mcp_type type;
    bool required;
    uint32_t max_items;  /* maximum length of a list (MCP_TEXTS); at least 1 */
    uint32_t max_bytes;  /* maximum size of each text */
    const char *choices; /* "abstain|ask" */
    const char *description;
};

/* A key of a tool's structured result. */
struct mcp_field {
    const char *name;
    const char *type; /* JSON Schema's type: "string", "array" ... */
    bool nullable;    /* false if the key is always present with that type */
    const char *description;
};

struct mcp_call {
    const json_t *arguments; /* checked against the tool's parameters */
    const struct tenant
        *tenant;       /* the caller; NULL without tenants, and in `finish`, where the request is already restricted */
    const char *owner; /* the tenant's name; "" without tenants */
};

/* The result of a call. */
struct mcp_result {
    GString *text;      /* text for the model; created by the caller */
    json_t *structured; /* object with the tool's fields; taken over. NULL if is_error is set */
    bool is_error;      /* the text describes an error that the model can correct */
    char *judge;        /* request to judge instead of a result, JSON from malloc; taken over */
};

struct mcp_tool {
    const char *name, *title, *description;
    const struct mcp_parameter *parameters; /* ends with a NULL name */
    const struct mcp_field *fields;         /* fields of a successful result; ends with a NULL name */
    /* Runs the tool. May take as long as the statements that it runs. */
    void (*call)(void *ctx, const struct mcp_call *call, struct mcp_result *result);
    /* Completes the result with the verdict of result->judge as JSON. If there is no verdict, `verdict` is NULL and
     * `err` has the reason; ERR_DEADLINE means that the transport's wait ended first. Must be quick. NULL for a tool
     * that never sets result->judge. */
    void (*finish)(void *ctx, const struct mcp_call *call, const char *verdict, size_t len, const struct err *err,
                   struct mcp_result *result);
};

/* --- resources --- */

/* JSON documents with a common URI prefix. */
struct mcp_resource {
    const char *prefix;   /* "assay://verdicts/" */
    const char *variable; /* name of the variable after the prefix: "id" */
    const char *name, *title, *description;
    /* Appends the available names to `names`, without the prefix. Their number has a limit. Must be quick. */
    void (*list)(void *ctx, const struct tenant *tenant, json_t *names);
    /* Returns the document of that name, allocated with malloc, or NULL if there is none. */
    char *(*read)(void *ctx, const struct tenant *tenant, const char *name);
};

/* --- the server --- */

struct mcp {
    const char *name, *title, *version;
    const char *instructions;             /* text for the model about the use of the tools */
    const struct mcp_tool *tools;         /* ends with a NULL name */
    const struct mcp_resource *resources; /* ends with a NULL prefix */
    void *ctx;                            /* argument of their functions */
};

struct mcp_answer {
    char *reply;          /* line of JSON, allocated with malloc; NULL if no reply is sent, or not yet */
    enum mcp_error error; /* error in the reply, or MCP_NO_ERROR */
    bool handshake;       /* true if the message's version has `initialize`, or if the message has no version */
    char *judge;          /* request whose verdict mcp_finish needs; allocated with malloc */
    char *state;          /* argument of mcp_finish; allocated with malloc */
};

/* Returns true if the answer may take longer than microseconds. */
bool mcp_is_slow(const struct mcp_message *message);

/* Answers a message of that tenant; `tenant` is NULL without tenants. Free the answer with mcp_answer_clear. */
void mcp_answer(const struct mcp *mcp, const struct mcp_message *message, const struct tenant *tenant,
                struct mcp_answer *out);
/* Completes the answer to which `state` belongs, from the verdict of its request. If `verdict` is NULL, `err` has the
 * reason. */
void mcp_finish(const struct mcp *mcp, const char *state, const char *verdict, size_t len, const struct err *err,
                struct mcp_answer *out);
void mcp_answer_clear(struct mcp_answer *answer);

/* mcp_knows_version returns true for a supported version, mcp_is_stateless_version for a version without a
 * handshake. */
bool mcp_knows_version(const char *version);
bool mcp_is_stateless_version(const char *version);

#endif
