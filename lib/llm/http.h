/* Exchanges HTTP messages with one endpoint. An exchange is bounded in time and in the bytes of the body and the
 * headers. It follows no redirect, uses no proxy unless one is configured, verifies TLS, and does not decompress. It
 * does not retry and does not interpret the content. */
#ifndef ASSAY_LIB_LLM_HTTP_H
#define ASSAY_LIB_LLM_HTTP_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct http;

struct http_settings {
    const char *endpoint;              /* URL without a slash at the end */
    const char *key, *ca_file, *proxy; /* each may be NULL */
    const char *const *headers;        /* further headers, "Name: value"; treated as secrets, like the key */
    uint32_t n_headers;
    bool plain_key;   /* the key and `headers` may be sent over plain http */
    size_t max_bytes; /* maximum size of a reply's body */
};

enum http_end {
    HTTP_ANSWERED,  /* a complete reply arrived, with any status */
    HTTP_UNREACHED, /* the connection failed or was lost */
    HTTP_LATE,      /* the deadline passed */
    HTTP_STOPPED,   /* http_stop was called */
    HTTP_TOO_BIG,   /* the body or the headers exceed their limit */
    HTTP_UNTRUSTED  /* the certificate is not trusted */
};

struct http_reply {
    enum http_end end;
    int status;             /* HTTP status; 0 if no status line arrived */
    int64_t retry_after_ns; /* Retry-After header; -1 if absent */
    char *body;             /* NUL-terminated; NULL unless `end` is HTTP_ANSWERED */
    size_t len;
    const char *why; /* static description of the failure; contains no text of the peer */
};

/* Validates and copies the settings; sends nothing. Close with http_close. Errors: ERR_CONFIG, ERR_NOMEM. Thread: any.
 */
enum err_code http_open(const struct http_settings *settings, struct http **out, struct err *err);
void http_close(struct http *http);

/* Sends `body` as JSON with POST, or sends GET if `body` is NULL. Blocks until the reply has arrived or `deadline_ns`
 * has passed. The caller must always call http_reply_clear. Thread: any; concurrent calls are allowed. */
void http_exchange(struct http *http, const char *path, const char *body, int64_t deadline_ns,
                   struct http_reply *reply);
void http_reply_clear(struct http_reply *reply);

/* Ends all current and later exchanges with HTTP_STOPPED. Thread: any. */
void http_stop(struct http *http);

#endif
