/* The coordinator as a state machine: it receives events and calls actions. It has no clock, thread, transport or
 * database of its own.
 *
 * Events are requests, results, responses of a remote verifier and the passing of time. Actions are tasks to send,
 * verifier calls, verdicts to publish and dead letters. Equal events in equal order give equal actions. A result is
 * matched to a task by content (request key, hash, family). The first matching result counts; a result without a match
 * is stray. Thread: one at a time.
 */
#ifndef ASSAY_COORDINATOR_CORE_H
#define ASSAY_COORDINATOR_CORE_H

#include "coordinator/coordinator.h"
#include "lib/base/tracing.h"
#include "proto/message/edge.h"

#include <glib.h>

struct core;

struct core_config {
    const struct scoring_models *models;
    struct msg_options defaults;
    uint32_t max_window;      /* maximum number of candidates of one request in flight if all must be judged; 0: 16 */
    uint32_t max_corrections; /* maximum corrector calls for one answer; 0: 3 */
    struct coordinator_llm llm;
    /* While tasks wait for workers less than this time, some worker is idle. A request that does not set the number of
     * concurrent candidates then sends several at once. 0 disables this. */
    int64_t idle_wait_ns;
    int64_t max_deadline_ms; /* maximum deadline of any request, also for requests without a deadline; 0 means no
                              * limit */
    int64_t max_work_ns;     /* maximum worker time for one request; 0 means no limit */
    bool ignores_drift;      /* guarantees ignore changes of the traffic (guarantee.c) */
    bool rows_at_once;       /* request the source rows of each candidate's result while it is judged (story.c) */
    bool finds_duplicates;   /* do not judge a repeated request that has an id (duplicates.h) */
    int64_t polish_ns;       /* maximum time that a verdict waits for its reworded explanation */
    int64_t find_ns;         /* maximum time that a request waits for a cached verdict */
    size_t max_kept_bytes;   /* maximum size of a cached verdict; at most VERDICT_CACHE_MAX_BYTES */
    struct tracer *tracer;   /* lib/base/tracing.h; NULL disables tracing */
};

/* An incoming request. */
struct core_incoming {
    struct msg_key key;
    void *token; /* value passed back with the verdict; owned by the loop */
    const void *bytes;
    size_t len;
    enum edge_type type;
    const char *traceparent; /* trace context of the message; if NULL, that of the request is used */
    int64_t arrived_ns;      /* arrival time, from which deadlines count */
    bool redriven;           /* an operator redelivered the request: judge it even if it is a duplicate */
};

/* A call of a model about one candidate. A remote verifier judges whether the premise answers the hypothesis. A
 * corrector proposes a better query; the premise then contains its whole input, as JSON. */
struct core_model_question {
    struct msg_key key;
    uint64_t hash[2];
    uint32_t candidate;
    const char *premise, *hypothesis;
    int64_t deadline_ns; /* on the transport's clock; 0 means no deadline */
    struct trace_context trace;
};

/* The response of a remote verifier. */
struct core_verifier_answer {
    enum err_code code;  /* if it is not ERR_OK, the built-in verifier judges */
    double p;            /* entailment, from 0 to 1 */
    const char *message; /* name of the model, or the error; may be NULL */
};

/* A lookup of the cached verdict for a request. */
struct core_wanted {
    struct msg_key request;
    const char *db, *key; /* name of the database; key of VERDICT_CACHE_KEY digits */
    int64_t until_ns;     /* deadline of the wait, on the transport's clock */
};

/* The outcome of a lookup. */
struct core_found {
    enum err_code code; /* ERR_DB_UNAVAILABLE if the state of the database is unknown; another error if the lookup
                         * failed */
    const void *bytes;  /* NULL if there is no cached verdict */
    size_t len;
};

/* A verdict to be cached. */
struct core_kept {
    const char *db, *state, *key;
    const void *bytes;
    size_t len;
};

/* The actions, called while an event is handled. Their arguments live until the action returns. */
struct core_actions {
    void *ctx;
    void (*task)(void *ctx, const struct msg_task *task);
    void (*verdict)(void *ctx, void *token, const struct msg_verdict *verdict);
    /* Dead-letters a request that could not be read. No verdict follows. */
    void (*dead)(void *ctx, void *token, const struct err *why);
    /* Calls the remote verifier. core_verified follows, even on failure. Returns false if it cannot be called now. NULL
     * if there is no verifier. */
    bool (*verify)(void *ctx, const struct core_model_question *question);
    /* Calls a corrector. A result of the family MSG_CORRECTOR follows, even on failure. Otherwise as `verify`. */
    bool (*correct)(void *ctx, const struct core_model_question *question);
    /* Calls a polisher, whose premise is {"explanation": ...}. A result of the family MSG_POLISHER follows. Otherwise
     * as `verify`. */
    bool (*polish)(void *ctx, const struct core_model_question *question);
    /* Looks up a cached verdict. core_found follows, unless the lookup times out. Returns false if no lookup is
     * possible now. NULL if there is no cache; `keep` is then not called. */
    bool (*find)(void *ctx, const struct core_wanted *wanted);
    void (*keep)(void *ctx, const struct core_kept *verdict);
    /* Ends a duplicate request. No verdict follows. NULL if duplicates are judged. */
    void (*duplicate)(void *ctx, void *token);
    /* Drops a request whose partition went to another process (core_forget). No verdict follows. May be NULL. */
    void (*dropped)(void *ctx, void *token);
    /* Reports that a family has judged a candidate. May be NULL. */
    void (*progress)(void *ctx, const struct coordinator_progress *progress);
};

struct core_stats {
    uint64_t requests, verdicts, dead, tasks, results, stray, deadlines;
    uint64_t consultations, consultations_failed;
    uint64_t questions, answered; /* number of clarification questions; number of requests with answers */
    uint64_t verifications, verifier_failures;
    struct coordinator_repairs repairs;
    struct coordinator_polish polish;
    struct coordinator_lookups lookups;
    uint64_t duplicates;
    uint64_t promises[MSG_PROMISE_COUNT]; /* verdicts with a guarantee, by its status */
    uint64_t promises_withdrawn;          /* number of groups whose traffic has changed */
    uint64_t by_status[MSG_STATUS_COUNT];
    struct coordinator_quality quality;
};

/* Parses the conditions for calling language models into *out. Examples are "never", "always" and "0.1:0.95,disagree".
 * NULL leaves *out unchanged. Returns ERR_CONFIG if the text is invalid. */
enum err_code consult_when(const char *when, struct coordinator_llm *out, struct err *err);
/* Formats these conditions. A guarantee may hold only under the same conditions (scoring/guarantee.h). Writes "" if
 * `llm` is NULL or off. */
enum { CONSULT_TEXT = 96 };
void consult_text(const struct coordinator_llm *llm, char out[CONSULT_TEXT]);

struct core *core_new(const struct core_config *config, const struct core_actions *actions);
/* Frees the core. Open requests are dropped without a verdict. */
void core_free(struct core *core);

/* Handles an incoming request. */
void core_request(struct core *core, const struct core_incoming *incoming, int64_t now_ns);
/* Records a request that already has its verdict, so that its duplicates are recognized. */
void core_history(struct core *core, const struct core_incoming *incoming);
/* Drops the requests of a partition that went to another process. */
void core_forget(struct core *core, int32_t partition);
/* Returns the token of an open request, or NULL if the request is not open. */
void *core_token(const struct core *core, struct msg_key key);
/* Returns true if this task of an open request has no result yet. */
bool core_awaits(const struct core *core, struct msg_key key, const uint64_t hash[2], const char *family);
/* Handles a result for the request with that key. Returns ERR_OK also for a stray result. Returns another code with
 * `err` if the result cannot be read. A result of the family MSG_VERIFIER acts as core_verified. */
enum err_code core_result(struct core *core, struct msg_key key, const void *bytes, size_t len, int64_t now_ns,
                          struct err *err);
/* Marks a family of the candidate with that hash as unavailable, because its task cannot be sent. Counts as a stray
 * result if no task of that family is open. `family` is the static name. */
void core_unavailable(struct core *core, struct msg_key key, const uint64_t hash[2], const char *family,
                      const struct err *why, int64_t now_ns);
/* Cancels the request with that tag, which fails with reason "cancelled". Returns false if the request is not open. */
bool core_cancel(struct core *core, uint64_t tag, int64_t now_ns);
/* Handles the remote verifier's response on the candidate with that hash. The response is stray if no call is
 * pending. */
void core_verified(struct core *core, struct msg_key key, const uint64_t hash[2],
                   const struct core_verifier_answer *answer, int64_t now_ns);
/* Handles the outcome of a lookup for the request with that key. Does nothing if no lookup is pending. */
void core_found(struct core *core, struct msg_key key, const struct core_found *found, int64_t now_ns);
/* Handles the passing of time. Returns the time by which it must be called again, or 0 if no deadline is set. */
int64_t core_tick(struct core *core, int64_t now_ns);

uint32_t core_open_requests(const struct core *core);
/* Returns the arrival time of the oldest open request, or 0 if none is open. Scans all open requests. */
int64_t core_oldest_ns(const struct core *core);
struct core_stats core_get_stats(const struct core *core);

#endif
