/* A scripted HTTP server on the loopback address that replaces a model endpoint. It answers each request to a path with
 * the next step of that path's script. Steps can fail as real servers and networks do. The fake records all requests.
 * Each connection has a thread. All threads have ended when fake_model_stop returns. */
#ifndef ASSAY_TESTS_SUPPORT_FAKE_MODEL_H
#define ASSAY_TESTS_SUPPORT_FAKE_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fake_act {
    FAKE_ANSWER,  /* sends status, headers and body */
    FAKE_RESET,   /* resets the connection before any answer */
    FAKE_CLOSE,   /* closes the connection without a byte */
    FAKE_CUT,     /* announces the whole length, sends half of the body, then closes */
    FAKE_HANG,    /* sends nothing until the peer closes */
    FAKE_DRIP,    /* sends single bytes of the body with pauses, but never all of it */
    FAKE_FLOOD,   /* sends a body without end */
    FAKE_HEADERS, /* sends headers without end */
    FAKE_NOISE    /* sends the body alone, without HTTP */
};

struct fake_step {
    enum fake_act act;
    int status;          /* 0 means 200 */
    const char *headers; /* lines with \r\n, or NULL */
    const char *body;    /* may be NULL */
};

struct fake_model;

/* Starts a fake on a free port. Never returns NULL: aborts if it cannot open a socket. */
struct fake_model *fake_model_start(void);
void fake_model_stop(struct fake_model *fake);

/* Returns "http://127.0.0.1:PORT". */
const char *fake_model_url(const struct fake_model *fake);

/* Sets the answers to `path`, in order; the last one repeats. Replaces an earlier script. `steps` must outlive the
 * fake. A path without a script answers 404. */
void fake_model_script(struct fake_model *fake, const char *path, const struct fake_step *steps, size_t n);

/* Returns the number of complete requests to a path; NULL counts those to any path. */
unsigned fake_model_requests(struct fake_model *fake, const char *path);

/* Return the body, the head and the arrival time (CLOCK_MONOTONIC, ns) of request i to that path. The fake owns the
 * texts. */
const char *fake_model_body(struct fake_model *fake, const char *path, unsigned i);
const char *fake_model_head(struct fake_model *fake, const char *path, unsigned i);
int64_t fake_model_time(struct fake_model *fake, const char *path, unsigned i);

/* Returns the number of connections accepted so far. */
unsigned fake_model_connections(struct fake_model *fake);

#endif
