/* Defines the rows of the HTTP API: one per method and path. server/http_api.h has the API's own rows. The code that
 * opens the API adds others, such as the page, the schemas and MCP.
 *
 * A row's function reads the whole body and fills a reply. Instead of a body, the reply may contain a request to be
 * judged. The reply is then completed after the verdict, by the row's `finish` or in the form of /v1/judge.
 */
#ifndef ASSAY_SERVER_HTTP_ROUTE_H
#define ASSAY_SERVER_HTTP_ROUTE_H

#include "proto/message/json_schema.h"
#include "server/pending.h"

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#define HTTP_JSON   "application/json"
#define HTTP_NDJSON "application/x-ndjson"
#define HTTP_BYTES  "application/octet-stream"

/* The thread on which a row's function runs. */
enum http_work {
    HTTP_QUICK, /* the connection thread: for microseconds of work that never blocks */
    HTTP_SLOW,  /* one of a few threads of the API: files, databases */
};

/* The permission that a caller needs. Without tokens (server/tokens.h) every caller has it. */
enum http_scope {
    HTTP_SCOPE_NONE,  /* no permission: the page's own files, the description of the API */
    HTTP_SCOPE_JUDGE, /* judging on the databases of the token, and reading the verdicts of its tenant */
};

struct tenant; /* server/tokens.h */

/* A request over HTTP; all of it lives until its reply is sent. */
struct http_request {
    const char *method;
    const char *path; /* decoded, begins with '/' */
    const char *rest; /* text that matches the braces of the row's path, or follows its final '/'; else "" */
    const char *body; /* NUL-terminated; it may contain other NULs */
    size_t body_len;
    const struct tenant *tenant; /* owner of the token; NULL without tokens, or if the row needs none */
    void *connection;            /* argument of http_request_query and http_request_header */
};

/* Returns the value of ?name=... or of a header, or NULL if it is missing. Thread: that of the row's function. */
const char *http_request_query(const struct http_request *request, const char *name);
const char *http_request_header(const struct http_request *request, const char *name);

struct http_route;
/* Returns the required media type of a POST body. */
const char *http_route_type(const struct http_route *route);

struct http_stream; /* server/http_stream.h */

struct http_reply {
    unsigned status;            /* 0 if the request in `judge` must be judged first */
    const char *type;           /* media type of the body; static */
    GBytes *body;               /* owned reference; NULL for an empty body */
    char *location;             /* owned, allocated by GLib; may be NULL */
    const char *const *headers; /* further headers: name, value, name, value, NULL; static. May be NULL */
    struct http_stream *stream; /* owned; sends the body in pieces, instead of `body`. Quick rows only */
    GBytes *judge;              /* owned reference; request as JSON, in the form of a log line */
    char *state;                /* argument of `finish`; owned, allocated by GLib; may be NULL */
};

/* Returns an error as a body: problem+json (RFC 9457). `detail` may be NULL. Release with g_bytes_unref. */
GBytes *http_problem(unsigned status, const char *title, const char *code, const char *detail);
/* Fills the reply with the error that http_problem returns. */
void http_reply_problem(struct http_reply *reply, unsigned status, const char *title, const char *code,
                        const char *detail);
/* Fills the reply with the problem of an error code and its status. */
void http_reply_error(struct http_reply *reply, const struct err *err);
/* Fills the reply with 200 and JSON. Takes over `json`, which malloc allocated. If it is NULL, the reply reports that
 * memory is exhausted. */
void http_reply_json(struct http_reply *reply, char *json);

/* The description of a row, for server/http_openapi.h. */
struct http_description {
    const char *sentence;
    const struct json_schema_field *query; /* ends with an entry without a name; may be NULL */
    /* names of json_schema_objects: of the request body and of the response body, or of each line of NDJSON. NULL means
     * any content */
    const char *takes, *gives;
    bool lines; /* both bodies are NDJSON */
    /* the answer may be server-sent events, if the client accepts them (server/http_events.h) */
    bool events;
    const uint16_t *statuses; /* statuses besides 200 and those that all rows share; ends with 0 */
};

struct http_route {
    const char *method; /* "GET", "POST" */
    /* "/v1/judge", for example. In "/v1/verdicts/{id}/answers", the braces match any text. A path with a final '/'
     * matches all paths with that prefix. If several rows match, the one with the most literal characters is used. */
    const char *path;
    enum http_scope scope;
    enum http_work work;
    bool may_link;       /* a link on another site may open it, since it contains no data (server/http_gate.h) */
    const char *accepts; /* media type of a POST body; NULL means JSON */
    size_t max_bytes;    /* maximum size of the body; 0 means the limit of a request */
    void (*answer)(void *ctx, const struct http_request *request, struct http_reply *reply);
    /* Fills the reply after the verdict of reply->judge. If there is no outcome, `outcome` is NULL and `err` has the
     * reason; ERR_DEADLINE means that the wait ended first. Must be quick. If `finish` is NULL, the reply is that of
     * /v1/judge. */
    void (*finish)(void *ctx, const char *state, const struct outcome *outcome, const struct err *err,
                   struct http_reply *reply);
    void *ctx;
    const struct http_description *description; /* NULL for rows that are not described */
};

#endif
