/* A server of the Model Context Protocol: what agents call, and what they read. A message in, its reply out; the transports are
 * server/mcp_stdio.h and server/mcp_http.h. Tools and resources are rows that whoever opens it brings, so that nothing here knows what they do.
 *
 * Versions. Up to 2025-11-25 a connection begins with `initialize`; from 2026-07-28 on there is no such beginning, and each request names its
 * version in `_meta`. Both are answered, request by request: nothing is kept of a connection, so that over HTTP any replica answers any request.
 *
 * A call that needs a verdict leaves a request to be judged, and is answered once the verdict is there (mcp_finish): over HTTP nobody's thread
 * waits for it.
 *
 * Thread: any, for all calls. */
#ifndef ASSAY_SERVER_MCP_H
#define ASSAY_SERVER_MCP_H

#include "lib/base/error.h"
#include "server/mcp_message.h"
#include "server/tokens.h"

#include <glib.h>
#include <stdint.h>

enum { MCP_MAX_BYTES = 1 << 20 /* of a message */ };

/* --- tools --- */

enum mcp_type {
    MCP_TEXT,
    MCP_TEXTS,  /* a list of them */
    MCP_CHOICE, /* one of `choices` */
};

struct mcp_parameter {
    const char *name;
    enum mcp_type type;
    bool required;
    uint32_t max_items;  /* of MCP_TEXTS; at least 1 */
    uint32_t max_bytes;  /* of each text */
    const char *choices; /* "abstain|ask" */
    const char *description;
};

/* A key of a tool's structured result. */
struct mcp_field {
    const char *name;
    const char *type; /* JSON Schema's: "string", "array" ... */
    bool nullable;    /* else it is always there, and of that type */
    const char *description;
};

struct mcp_call {
    const json_t *arguments; /* as the tool's parameters have them */
    const struct tenant
        *tenant;       /* who calls; NULL: there are none, or (in `finish`) his request was narrowed already */
    const char *owner; /* his name; "" where there are none */
};

/* What a call comes to. */
struct mcp_result {
    GString *text;      /* for the model; made by the caller */
    json_t *structured; /* an object with the tool's fields; taken over. NULL: none, as with is_error */
    bool is_error;      /* the text says what to mend */
    char *judge;        /* instead: this request is to be judged, JSON from malloc; taken over */
};

struct mcp_tool {
    const char *name, *title, *description;
    const struct mcp_parameter *parameters; /* ends with a NULL name */
    const struct mcp_field *fields;         /* of a result that is no error; ends with a NULL name */
    /* May take as long as its statements may. */
    void (*call)(void *ctx, const struct mcp_call *call, struct mcp_result *result);
    /* The verdict of result->judge as JSON, or NULL, and why in `err` (ERR_DEADLINE: it takes longer than the transport waits). Quick.
     * NULL: it leaves none to be judged. */
    void (*finish)(void *ctx, const struct mcp_call *call, const char *verdict, size_t len, const struct err *err,
                   struct mcp_result *result);
};

/* --- resources --- */

/* JSON documents whose URIs begin alike. */
struct mcp_resource {
    const char *prefix;   /* "assay://verdicts/" */
    const char *variable; /* what follows it: "id" */
    const char *name, *title, *description;
    /* Appends what there is to `uris`, as texts without the prefix; a bounded number. Quick. */
    void (*list)(void *ctx, const struct tenant *tenant, json_t *names);
    /* The document of that name, malloc'd; NULL: there is none. */
    char *(*read)(void *ctx, const struct tenant *tenant, const char *name);
};

/* --- the server --- */

struct mcp {
    const char *name, *title, *version;
    const char *instructions;             /* to the model: when to use what */
    const struct mcp_tool *tools;         /* ends with a NULL name */
    const struct mcp_resource *resources; /* ends with a NULL prefix */
    void *ctx;                            /* of their functions */
};

struct mcp_answer {
    char *reply;          /* a line of JSON, malloc'd; NULL: nothing is to be sent, or not yet */
    enum mcp_error error; /* that it tells; MCP_NO_ERROR: none */
    bool handshake;       /* to a message of a version with `initialize`, or of none */
    char *judge;          /* the request whose verdict mcp_finish wants; malloc'd */
    char *state;          /* for mcp_finish; malloc'd */
};

/* May answering take longer than microseconds? */
bool mcp_is_slow(const struct mcp_message *message);

/* Answers a message of that tenant (NULL: there are none). The caller owes mcp_answer_clear. */
void mcp_answer(const struct mcp *mcp, const struct mcp_message *message, const struct tenant *tenant,
                struct mcp_answer *out);
/* The rest of an answer with `state`: `verdict` of its request, or NULL and why. */
void mcp_finish(const struct mcp *mcp, const char *state, const char *verdict, size_t len, const struct err *err,
                struct mcp_answer *out);
void mcp_answer_clear(struct mcp_answer *answer);

/* Is this a version that is spoken here? And one without a handshake? */
bool mcp_knows_version(const char *version);
bool mcp_is_stateless_version(const char *version);

#endif
