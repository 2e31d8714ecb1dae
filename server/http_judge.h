/* Requests of callers over HTTP, judged: what one on its own (server/http_api.c) and one of many (server/http_batch.c) share, and the rows of the
 * API that are about one request or its verdict. */
#ifndef ASSAY_SERVER_HTTP_JUDGE_H
#define ASSAY_SERVER_HTTP_JUDGE_H

#include "server/http_api.h"

#define HTTP_JUDGE    "/v1/judge"
#define HTTP_VERDICTS "/v1/verdicts/"

/* A request that was read. */
struct judge_request {
    struct msg_request *message;
    bool only_caller; /* its id is known to nobody but who waits, so nobody else can ask for its verdict */
};

/* Decodes a request in JSON into the arena, gives it an id if it has none, and narrows it to what its tenant may see.
 * ERR_MALFORMED and others of edge_decode_request; ERR_FULL: there is no room for a request of the tenant now, and
 * nothing was read. */
enum err_code http_judge_read(const struct http_api_config *config, const struct http_request *http, const void *json,
                              size_t len, struct arena *arena, struct judge_request *out, struct err *err);
/* Begins to wait for the request's verdict, and sends it on. ERR_OK: `done` is called, or has been; `told` as pending_watch's, NULL: it does not watch. Else it never will be. On the thread of connections.
 * Begins the caller's span, which http_judge_end_span ends, in both cases. */
enum err_code http_judge_send(const struct http_api_config *config, const struct http_request *http,
                              const struct judge_request *request, struct trace_span *span, pending_done *done,
                              void (*told)(void *ctx, const void *progress), void *ctx, struct err *err);
/* The wait has ended, as http_judge_reply has it. Thread: any. */
void http_judge_end_span(const struct http_api_config *config, const struct outcome *outcome, enum err_code code,
                         struct trace_span *span);
/* Why a wait ended, as the code that http_judge_reply takes; ERR_OK: with an outcome. */
enum err_code http_judge_end(enum pending_end end);
/* The verdict as the answer, a dead letter as a problem; or why there is neither: ERR_DEADLINE (202, and where the verdict of `id` will be),
 * ERR_CLOSED, others. */
void http_judge_reply(const char *id, const struct outcome *outcome, const struct err *err, struct http_reply *reply);

/* {"id", "location"} of a verdict that is still to come; from malloc. `location` is g_malloc'd. */
char *http_judge_later(const char *id, char **location);

/* The newest verdict of that id that the caller may read: a reference, or NULL. May look into a file. */
GBytes *http_judge_find(const struct http_api_config *config, const struct tenant *tenant, const char *id);

/* Appends the rows; `config` must outlive them. */
void http_judge_routes(const struct http_api_config *config, GArray *routes);

#endif
