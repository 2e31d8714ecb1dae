/* A fake: a scripted HTTP server on the loopback address, in place of a model's endpoint. It answers each request to a
 * path with the next step of that path's script, in the ways that servers and networks fail, and keeps what it was
 * asked. One thread a connection; all are gone after fake_model_stop. */
#ifndef ASSAY_TESTS_SUPPORT_FAKE_MODEL_H
#define ASSAY_TESTS_SUPPORT_FAKE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fake_act {
    FAKE_ANSWER,  /* status, headers, body */
    FAKE_RESET,   /* the connection is reset before any answer */
    FAKE_CLOSE,   /* closed without a byte */
    FAKE_CUT,     /* the whole length is announced, half of the body sent, then closed */
    FAKE_HANG,    /* nothing, until the peer goes away */
    FAKE_DRIP,    /* a byte of the body now and then, never all of it */
    FAKE_FLOOD,   /* a body without end */
    FAKE_HEADERS, /* headers without end */
    FAKE_NOISE    /* the body as it is, without any HTTP around it */
};

struct fake_step {
    enum fake_act act;
    int status;          /* 0: 200 */
    const char *headers; /* lines with \r\n; NULL: none */
    const char *body;    /* NULL: none */
};

struct fake_model;

/* Listen on a free port. Never NULL: a test without a socket aborts. */
struct fake_model *fake_model_start(void);
void fake_model_stop(struct fake_model *fake);

/* "http://127.0.0.1:PORT" */
const char *fake_model_url(const struct fake_model *fake);

/* The answers to `path`, in order; the last one repeats. Replaces an earlier script. `steps` must outlive the fake. A
 * path without a script gives 404. */
void fake_model_script(struct fake_model *fake, const char *path, const struct fake_step *steps, size_t n);

/* Requests to a path that came in whole; NULL: to any. */
unsigned fake_model_requests(struct fake_model *fake, const char *path);

/* The body and head of request i to that path, and when it came (CLOCK_MONOTONIC, ns). Owned by the fake. */
const char *fake_model_body(struct fake_model *fake, const char *path, unsigned i);
const char *fake_model_head(struct fake_model *fake, const char *path, unsigned i);
int64_t fake_model_time(struct fake_model *fake, const char *path, unsigned i);

/* Connections accepted so far. */
unsigned fake_model_connections(struct fake_model *fake);

#endif
