/* Judges requests over HTTP. Has the functions that single requests (server/http_api.c) and batches
 * (server/http_batch.c) share, and the API's rows for requests and verdicts. */
#ifndef ASSAY_SERVER_HTTP_JUDGE_H
#define ASSAY_SERVER_HTTP_JUDGE_H

#include "server/http_api.h"

#define HTTP_JUDGE    "/v1/judge"
#define HTTP_VERDICTS "/v1/verdicts/"

/* A decoded request. */
struct judge_request {
    struct msg_request *message;
    bool only_caller; /* only the caller knows its id, so no other client can ask for its verdict */
};

/* Decodes a request in JSON into the arena, adds an id if it has none, and restricts it to its tenant's databases and
 * columns. Returns ERR_FULL, before any decoding, if the tenant has no free slot. Other errors are those of
 * edge_decode_request, such as ERR_MALFORMED. */
enum err_code http_judge_read(const struct http_api_config *config, const struct http_request *http, const void *json,
                              size_t len, struct arena *arena, struct judge_request *out, struct err *err);
/* Registers a wait for the request's verdict, and sends the request. After ERR_OK, `done` has been called or will be;
 * after an error it is never called. `told` is passed to pending_watch; NULL means no progress reports. Always begins
 * the caller's span; end it with http_judge_end_span. Thread: the connection thread. */
enum err_code http_judge_send(const struct http_api_config *config, const struct http_request *http,
                              const struct judge_request *request, struct trace_span *span, pending_done *done,
                              void (*told)(void *ctx, const void *progress), void *ctx, struct err *err);
/* Ends the caller's span. The arguments are those of http_judge_reply. Thread: any. */
void http_judge_end_span(const struct http_api_config *config, const struct outcome *outcome, enum err_code code,
                         struct trace_span *span);
/* Converts the end of a wait to the code for http_judge_reply; ERR_OK means that there is an outcome. */
enum err_code http_judge_end(enum pending_end end);
/* Fills the reply: the verdict, a dead letter as a problem, or an error. ERR_DEADLINE gives 202 with the location of
 * the verdict of `id`. */
void http_judge_reply(const char *id, const struct outcome *outcome, const struct err *err, struct http_reply *reply);

/* Returns {"id", "location"} of a verdict that is not ready, allocated with malloc. `location` is allocated with
 * g_malloc. */
char *http_judge_later(const char *id, char **location);

/* Returns a reference to the newest verdict of that id that the caller may read, or NULL. May read a file. */
GBytes *http_judge_find(const struct http_api_config *config, const struct tenant *tenant, const char *id);

/* Appends the rows; `config` must outlive them. */
void http_judge_routes(const struct http_api_config *config, GArray *routes);

#endif
