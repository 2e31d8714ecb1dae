/* The coordinator as a state machine: events in, actions out, without clock, thread, transport or database of its own.
 *
 * Events are requests, results, responses of a remote verifier and the passing of time. Actions are tasks to send,
 * verifier calls, verdicts to publish and dead letters. Equal events in equal order give equal actions. Results match
 * by content (request key, hash, family), and the first one wins; results without a match are stray. Thread: one at a
 * time.
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
    uint32_t max_window;      /* candidates of one request in flight if all are to be judged; 0: 16 */
    uint32_t max_corrections; /* corrector calls for one answer; 0: 3 */
    struct coordinator_llm llm;
    /* Longest wait of tasks for workers at which several candidates of a request are sent, because some worker is then
     * idle. For requests that do not set the number of concurrent candidates. 0 disables this. */
    int64_t idle_wait_ns;
    int64_t max_deadline_ms; /* of any request, including those without a deadline; 0 means no limit */
    int64_t max_work_ns;     /* worker time for one request; 0 means no limit */
    bool ignores_drift;      /* ignore changes of the traffic for guarantees (guarantee.c) */
    bool rows_at_once;       /* look for the rows behind each candidate's result while it is judged (story.c) */
    bool finds_duplicates;   /* do not judge repeated requests that have an id (duplicates.h) */
    int64_t polish_ns;       /* longest wait of a verdict for its reworded explanation */
    int64_t find_ns;         /* longest wait of a request for a cached verdict */
    size_t max_kept_bytes;   /* of a cached verdict; at most VERDICT_CACHE_MAX_BYTES */
    struct tracer *tracer;   /* lib/base/tracing.h; NULL disables tracing */
};

/* An incoming request. */
struct core_incoming {
    struct msg_key key;
    void *token; /* returned with the verdict */
    const void *bytes;
    size_t len;
    enum edge_type type;
    const char *traceparent; /* of the message; NULL: the request's own */
    int64_t arrived_ns;      /* start of deadlines */
    bool redriven;           /* redriven on purpose: judge it even if it is a duplicate */
};

/* A call of a model about one candidate. A remote verifier judges whether the premise answers the hypothesis. A
 * corrector proposes a better query; the premise is then its whole input, as JSON. */
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
    enum err_code code;  /* if not ERR_OK, the built-in verifier judges */
    double p;            /* P(entails), 0 to 1 */
    const char *message; /* name of the model, or the error; may be NULL */
};

/* A lookup of a cached verdict for the request with that key. */
struct core_wanted {
    struct msg_key request;
    const char *db, *key; /* VERDICT_CACHE_KEY */
    int64_t until_ns;     /* end of the wait, on the transport's clock */
};

/* The outcome of a lookup. */
struct core_found {
    enum err_code code; /* ERR_DB_UNAVAILABLE: unknown state of the database; another error: the lookup failed */
    const void *bytes;  /* NULL on a miss */
    size_t len;
};

/* A verdict to be cached. */
struct core_kept {
    const char *db, *state, *key;
    const void *bytes;
    size_t len;
};

/* Called inside events. Their arguments live until they return. */
struct core_actions {
    void *ctx;
    void (*task)(void *ctx, const struct msg_task *task);
    void (*verdict)(void *ctx, void *token, const struct msg_verdict *verdict);
    /* The request could not be read; no verdict follows. */
    void (*dead)(void *ctx, void *token, const struct err *why);
    /* Calls the remote verifier; core_verified follows, even on failure. Returns false if it cannot be called now. NULL
     * without a verifier. */
    bool (*verify)(void *ctx, const struct core_model_question *question);
    /* Calls a corrector; a result of the family MSG_CORRECTOR follows, even on failure. Otherwise as above. */
    bool (*correct)(void *ctx, const struct core_model_question *question);
    /* Calls a polisher, whose premise is {"explanation": ...}; a result of the family MSG_POLISHER follows. Otherwise
     * as above. */
    bool (*polish)(void *ctx, const struct core_model_question *question);
    /* Looks up a cached verdict; core_found follows, unless it times out. Returns false if that is impossible now. If
     * NULL, there is no cache, and `keep` is not called. */
    bool (*find)(void *ctx, const struct core_wanted *wanted);
    void (*keep)(void *ctx, const struct core_kept *verdict);
    /* The request is a duplicate; no verdict follows. NULL if duplicates are judged. */
    void (*duplicate)(void *ctx, void *token);
    /* The request went to another process (core_forget); no verdict follows. May be NULL. */
    void (*dropped)(void *ctx, void *token);
    /* A family has judged a candidate. May be NULL. */
    void (*progress)(void *ctx, const struct coordinator_progress *progress);
};

struct core_stats {
    uint64_t requests, verdicts, dead, tasks, results, stray, deadlines;
    uint64_t consultations, consultations_failed;
    uint64_t questions, answered; /* clarification questions; requests with answers */
    uint64_t verifications, verifier_failures;
    struct coordinator_repairs repairs;
    struct coordinator_polish polish;
    struct coordinator_lookups lookups;
    uint64_t duplicates;
    uint64_t promises[MSG_PROMISE_COUNT]; /* of verdicts */
    uint64_t promises_withdrawn;          /* groups whose traffic has changed */
    uint64_t by_status[MSG_STATUS_COUNT];
    struct coordinator_quality quality;
};

/* Parses when to call language models ("never", "always", "0.1:0.95,disagree"; NULL: unchanged) into *out. Returns
 * ERR_CONFIG if the text is invalid. */
enum err_code consult_when(const char *when, struct coordinator_llm *out, struct err *err);
/* Formats these conditions for guarantees that hold only under them (scoring/guarantee.h). Writes "" if `llm` is NULL
 * or off. */
enum { CONSULT_TEXT = 96 };
void consult_text(const struct coordinator_llm *llm, char out[CONSULT_TEXT]);

struct core *core_new(const struct core_config *config, const struct core_actions *actions);
/* Frees the core. Open requests are dropped without a verdict. */
void core_free(struct core *core);

/* Handles an incoming request. */
void core_request(struct core *core, const struct core_incoming *incoming, int64_t now_ns);
/* Records a request that has its verdict already, so that duplicates of it are recognized. */
void core_history(struct core *core, const struct core_incoming *incoming);
/* Drops a partition that went to another process, with its requests. */
void core_forget(struct core *core, int32_t partition);
/* Returns the token of an open request, or NULL if the request is not open. */
void *core_token(const struct core *core, struct msg_key key);
/* Tells whether this task of an open request has no result yet. */
bool core_awaits(const struct core *core, struct msg_key key, const uint64_t hash[2], const char *family);
/* Handles a result for the request with that key. Returns ERR_OK also for a stray one, and another code with `err` if
 * it cannot be read. A result of the family MSG_VERIFIER acts as core_verified. */
enum err_code core_result(struct core *core, struct msg_key key, const void *bytes, size_t len, int64_t now_ns,
                          struct err *err);
/* Marks a family of the candidate with that hash unavailable, because its task cannot be sent. Stray if no task awaits
 * it. `family` is the static name. */
void core_unavailable(struct core *core, struct msg_key key, const uint64_t hash[2], const char *family,
                      const struct err *why, int64_t now_ns);
/* Cancels the request with that tag: it fails with reason "cancelled". Returns false if it is not open. */
bool core_cancel(struct core *core, uint64_t tag, int64_t now_ns);
/* Handles the remote verifier's response on the candidate with that hash. It is stray if no call is pending. */
void core_verified(struct core *core, struct msg_key key, const uint64_t hash[2],
                   const struct core_verifier_answer *answer, int64_t now_ns);
/* Handles the outcome of a lookup for the request with that key. Ignored if none is pending. */
void core_found(struct core *core, struct msg_key key, const struct core_found *found, int64_t now_ns);
/* Handles the passing of time. Returns the latest time of the next call, or 0 if no deadline is set. */
int64_t core_tick(struct core *core, int64_t now_ns);

uint32_t core_open_requests(const struct core *core);
/* Returns the arrival of the oldest open request, or 0 if none is open. Scans all of them. */
int64_t core_oldest_ns(const struct core *core);
struct core_stats core_get_stats(const struct core *core);

#endif
