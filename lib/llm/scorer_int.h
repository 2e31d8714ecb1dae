/* What a backend is, and what it may use. Inside lib/llm only. */
#ifndef ASSAY_LIB_LLM_SCORER_INT_H
#define ASSAY_LIB_LLM_SCORER_INT_H

#include "lib/llm/answers.h"
#include "lib/llm/http.h"
#include "lib/llm/retry_policy.h"
#include "lib/llm/scorer.h"

#include <glib.h>
#include <pthread.h>

/* One question on its way. Lives on the caller's stack. */
struct call {
    struct scorer *scorer;
    const char *premise, *hypothesis;
    int64_t deadline_ns;
    struct scorer_reply *info; /* never NULL */
    struct err *err;           /* never NULL */
    bool admitted;             /* the breaker let an attempt through and has not been told yet how it went */
};

/* A backend speaks one protocol. Adding one: a file whose last block is this table, a row in scorer.c. */
struct scorer_backend {
    const char *name;
    /* Does the configuration have what this backend needs? NULL: nothing of its own. */
    enum err_code (*check)(const struct scorer_config *config, struct err *err);
    /* What it remembers of its endpoint, shared by all calls. Never NULL. */
    void *(*open)(void);
    void (*close)(void *state);
    /* Ask once, by call_exchange alone. On ERR_OK *p is finite and in [0, 1]. */
    enum err_code (*ask)(struct call *call, double *p);
    /* Goes into the hash of a request: changes whenever the same texts are asked differently. */
    const char *prompt;
};

extern const struct scorer_backend scorer_tei, scorer_chat;

struct scorer {
    const struct scorer_backend *backend;
    void *state;                 /* the backend's */
    struct scorer_config config; /* texts owned; key_file, key_variable and proxy are not kept */
    struct http *http;
    struct retry_policy policy;
    struct answers *answers;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t woken; /* scorer_stop */
    bool stopped;
    struct scorer_stats stats;
};

/* Send, and send again while the error may be temporary; waits, budget, breaker and deadline are respected. ERR_OK:
 * status 200 and *reply has the body. After ERR_REMOTE *reply has the body too, for whoever can learn from it. The
 * caller owes http_reply_clear always. */
enum err_code call_exchange(struct call *call, const char *path, const char *body, struct http_reply *reply);

/* Reading replies, apart from asking for them, so that a fuzzer can hand in any bytes. `reply` has a body.
 * tei_learn: what /info says goes into the scorer's memory. tei_read: an answer, in the light of that memory.
 * chat_read: a completion; *formless: it speaks, but not in the form asked for. */
enum err_code tei_learn(struct call *call, const struct http_reply *reply);
enum err_code tei_read(struct call *call, const struct http_reply *reply, double *p);
enum err_code chat_read(struct call *call, const struct http_reply *reply, double *p, bool *formless);

#endif
