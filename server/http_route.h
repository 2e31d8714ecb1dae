/* What is answered at which path of the HTTP API: a row a method and path. server/http_api.h has its own rows; whoever
 * opens it brings the others (the page, schemas, a protocol of agents).
 *
 * A row's function sees the whole body and fills a reply. It may instead leave a request to be judged: then the reply is
 * written once the verdict is there, by `finish`, or as /v1/judge does. */
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

/* Where a row's function runs. */
enum http_work {
    HTTP_QUICK, /* on the thread of all connections: microseconds, and it waits for nothing */
    HTTP_SLOW,  /* on one of a few threads of the API: files, databases */
};

/* What a caller must be allowed to do. Without tokens (server/tokens.h) every caller is. */
enum http_scope {
    HTTP_SCOPE_NONE,  /* anybody: the page's own files, the description of the API */
    HTTP_SCOPE_JUDGE, /* judge on the databases of his token, and read the verdicts of his tenant */
};

struct tenant; /* server/tokens.h */

/* A request over HTTP; all of it lives until its reply is sent. */
struct http_request {
    const char *method;
    const char *path; /* decoded, begins with '/' */
    const char *rest; /* what stands in the braces of the row's path, or behind its '/'; else "" */
    const char *body; /* NUL-terminated; NULs inside are the caller's */
    size_t body_len;
    const struct tenant *tenant; /* whose token it brought; NULL: there are no tokens, or the row is for anybody */
    void *connection;            /* of http_request_query and _header */
};

/* Value of ?name=... or of a header; NULL: not there. Thread: that of the row's function. */
const char *http_request_query(const struct http_request *request, const char *name);
const char *http_request_header(const struct http_request *request, const char *name);

struct http_route;
/* The media type that the body of a POST must have. */
const char *http_route_type(const struct http_route *route);

struct http_stream; /* server/http_stream.h */

struct http_reply {
    unsigned status;            /* 0: `judge` is to be judged */
    const char *type;           /* of the body; static */
    GBytes *body;               /* taken over; NULL: empty */
    char *location;             /* from GLib, taken over; NULL: none */
    const char *const *headers; /* name, value, name, value, NULL; static. NULL: none more */
    struct http_stream *stream; /* in place of a body: one that comes piece by piece; taken over. Of quick rows only */
    GBytes *judge;              /* a request as a log line has it, in JSON; taken over */
    char *state;                /* for `finish`, from GLib, taken over; NULL: none */
};

/* An error as the body of an answer: problem+json (RFC 9457); `detail` may be NULL. The caller owes g_bytes_unref. */
GBytes *http_problem(unsigned status, const char *title, const char *code, const char *detail);
/* Fills the reply with one. */
void http_reply_problem(struct http_reply *reply, unsigned status, const char *title, const char *code,
                        const char *detail);
/* The same of an error, with the status that its code has. */
void http_reply_error(struct http_reply *reply, const struct err *err);
/* 200 and JSON, which is taken over: malloc'd. NULL: no memory. */
void http_reply_json(struct http_reply *reply, char *json);

/* What a row is, for those who read its description (server/http_openapi.h). */
struct http_description {
    const char *sentence;
    const struct json_schema_field *query; /* ends with one without a name; NULL: none */
    const char *takes, *gives; /* names of json_schema_objects; of a body with one a line, of a line. NULL: anything */
    bool lines;                /* both bodies are NDJSON */
    bool events;               /* the answer may be server-sent events, for who accepts them (server/http_events.h) */
    const uint16_t *statuses;  /* beside 200, and what all rows may answer; ends with 0 */
};

struct http_route {
    const char *method; /* "GET", "POST" */
    /* "/v1/judge"; "/v1/verdicts/{id}/answers": anything in place of the braces; one that ends with '/' takes every path that it begins. Of
     * several that fit, those with the most letters of their own count. */
    const char *path;
    enum http_scope scope;
    enum http_work work;
    bool may_link;       /* a link on another site may open it, for it holds no data (server/http_gate.h) */
    const char *accepts; /* media type of a POST's body; NULL: JSON */
    size_t max_bytes;    /* of the body; 0: as of a request */
    void (*answer)(void *ctx, const struct http_request *request, struct http_reply *reply);
    /* The verdict of reply->judge, or why there is none: `outcome` NULL and `err` says so (ERR_DEADLINE: it takes longer than the caller waits).
     * NULL: as /v1/judge. Quick. */
    void (*finish)(void *ctx, const char *state, const struct outcome *outcome, const struct err *err,
                   struct http_reply *reply);
    void *ctx;
    const struct http_description *description; /* NULL: it is not described */
};

#endif
