/* One HTTP exchange with one endpoint. Bounds time and the bytes of body and headers. Follows no redirect, uses only a
 * configured proxy, verifies TLS, and does not decompress. Does not retry and does not interpret the content. */
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
    const char *const *headers;        /* further headers, "Name: value", as secret as a key */
    uint32_t n_headers;
    bool plain_key;   /* key and headers may go over plain http */
    size_t max_bytes; /* of a body */
};

enum http_end {
    HTTP_ANSWERED,  /* a complete reply with any status */
    HTTP_UNREACHED, /* no connection, or lost on the way */
    HTTP_LATE,      /* past the given deadline */
    HTTP_STOPPED,   /* http_stop */
    HTTP_TOO_BIG,   /* body or headers over the cap */
    HTTP_UNTRUSTED  /* the certificate is not trusted */
};

struct http_reply {
    enum http_end end;
    int status;             /* 0 if no status line arrived */
    int64_t retry_after_ns; /* -1 if absent */
    char *body;             /* NUL-terminated; NULL unless answered */
    size_t len;
    const char *why; /* static description of the failure, never text of the peer */
};

/* Checks the endpoint's form and copies everything. ERR_CONFIG. Thread: any. */
enum err_code http_open(const struct http_settings *settings, struct http **out, struct err *err);
void http_close(struct http *http);

/* Sends `body` as JSON by POST, or GET if it is NULL. Blocks until the reply or `deadline_ns`. The caller must call
 * http_reply_clear in any case. Thread: any; concurrent calls are allowed. */
void http_exchange(struct http *http, const char *path, const char *body, int64_t deadline_ns,
                   struct http_reply *reply);
void http_reply_clear(struct http_reply *reply);

/* Ends every exchange, current or later, with HTTP_STOPPED. Thread: any. */
void http_stop(struct http *http);

#endif
