/* One HTTP exchange with one endpoint, within bounds: time, bytes of body and headers, no redirect, no proxy that the
 * configuration does not name, verified TLS, no decompression. Knows nothing of retries or of the content. */
#ifndef ASSAY_LIB_LLM_HTTP_H
#define ASSAY_LIB_LLM_HTTP_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http;

struct http_settings {
    const char *endpoint;              /* without a slash at the end */
    const char *key, *ca_file, *proxy; /* may be NULL */
    const char *const *headers;        /* more of them, "Name: value", as secret as a key */
    uint32_t n_headers;
    bool plain_key;   /* key and headers may go over plain http */
    size_t max_bytes; /* of a body */
};

enum http_end {
    HTTP_ANSWERED,  /* a complete reply; whatever its status */
    HTTP_UNREACHED, /* no connection, or lost on the way */
    HTTP_LATE,      /* past the given deadline */
    HTTP_STOPPED,   /* http_stop */
    HTTP_TOO_BIG,   /* body or headers over the cap */
    HTTP_UNTRUSTED  /* the certificate does not hold */
};

struct http_reply {
    enum http_end end;
    int status;             /* 0 unless a status line came */
    int64_t retry_after_ns; /* -1: not said */
    char *body;             /* NUL-terminated; NULL unless answered */
    size_t len;
    const char *why; /* static words on what went wrong, never text of the peer */
};

/* Check the endpoint's form, copy everything. ERR_CONFIG. Thread: any. */
enum err_code http_open(const struct http_settings *settings, struct http **out, struct err *err);
void http_close(struct http *http);

/* POST `body` as JSON, or GET when it is NULL. Blocks until the reply or `deadline_ns`. The caller owes
 * http_reply_clear whatever the end. Thread: any; several at once. */
void http_exchange(struct http *http, const char *path, const char *body, int64_t deadline_ns,
                   struct http_reply *reply);
void http_reply_clear(struct http_reply *reply);

/* Every exchange, running or to come, ends as HTTP_STOPPED. Thread: any. */
void http_stop(struct http *http);

#endif
