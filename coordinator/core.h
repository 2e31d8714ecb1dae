/* The coordinator as a state machine: events in, actions out, no clock, thread, transport or database of its own.
 *
 * Events are requests, results, answers of a remote verifier and the passing of time. Actions are tasks to send,
 * verifiers to ask, verdicts to publish and messages that nobody can use. Equal events in equal order give equal
 * actions. Results match by content (request key, hash, family), the first one wins; what matches nothing is stray.
 * Thread: one at a time.
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
    uint32_t max_window;      /* candidates of one request out at a time when all are to be judged; 0: 16 */
    uint32_t max_corrections; /* that a corrector is asked for about one answer; 0: 3 */
    struct coordinator_llm llm;
    /* Where a request does not say how many candidates to judge at a time: more than one while tasks wait for workers
     * no longer than this, for then somebody is idle. 0: never. */
    int64_t idle_wait_ns;
    int64_t max_deadline_ms; /* of any request, also of one that asks for none; 0: no bound */
    int64_t max_work_ns;     /* that workers spend on one request in all; 0: no bound */
    bool ignores_drift;      /* of the traffic, when promises are made (guarantee.c) */
    bool rows_at_once;       /* the rows behind each candidate's result are looked for with its judgement (story.c) */
    bool finds_duplicates;   /* requests with an id that came before (duplicates.h) are not judged */
    int64_t polish_ns;       /* that a verdict waits for its polished explanation at most */
    int64_t find_ns;         /* that a request waits for a verdict that was kept */
    size_t max_kept_bytes;   /* of a verdict that is kept; no more than VERDICT_CACHE_MAX_BYTES */
    struct tracer *tracer;   /* lib/base/tracing.h; NULL: nothing is traced */
};

/* A request as it came in. */
struct core_incoming {
    struct msg_key key;
    void *token; /* comes back with the verdict */
    const void *bytes;
    size_t len;
    enum edge_type type;
    const char *traceparent; /* of the message; NULL: the request's own */
    int64_t arrived_ns;      /* deadlines count from here */
    bool redriven;           /* sent again on purpose: judge it, though it may have come before */
};

/* What a model is asked about one candidate: a remote verifier, whether the premise answers the hypothesis; a corrector, for a better
 * query: the premise is all that it is told, as JSON. */
struct core_model_question {
    struct msg_key key;
    uint64_t hash[2];
    uint32_t candidate;
    const char *premise, *hypothesis;
    int64_t deadline_ns; /* on the transport's clock; 0: none */
    struct trace_context trace;
};

/* And what it said. */
struct core_verifier_answer {
    enum err_code code;  /* not ERR_OK: it has no answer, the built-in verifier judges */
    double p;            /* P(entails), 0 to 1 */
    const char *message; /* what it is, or what went wrong; NULL */
};

/* A verdict that is looked for, for the request with that key. */
struct core_wanted {
    struct msg_key request;
    const char *db, *key; /* VERDICT_CACHE_KEY */
    int64_t until_ns;     /* on the transport's clock: nobody waits for it behind that */
};

/* And what was found. */
struct core_found {
    enum err_code code; /* ERR_DB_UNAVAILABLE: the state of the database is not known; else not ERR_OK: it failed */
    const void *bytes;  /* NULL: none is kept */
    size_t len;
};

/* A verdict that is to be kept. */
struct core_kept {
    const char *db, *state, *key;
    const void *bytes;
    size_t len;
};

/* Called inside of events. What they are given lives until they return. */
struct core_actions {
    void *ctx;
    void (*task)(void *ctx, const struct msg_task *task);
    void (*verdict)(void *ctx, void *token, const struct msg_verdict *verdict);
    /* The request could not be read: no verdict will come. */
    void (*dead)(void *ctx, void *token, const struct err *why);
    /* Ask the remote verifier; core_verified follows, whatever becomes of it. False: it cannot be asked now. NULL:
     * there is none. */
    bool (*verify)(void *ctx, const struct core_model_question *question);
    /* Ask a corrector; a result of the family MSG_CORRECTOR follows, whatever becomes of it. Else the same. */
    bool (*correct)(void *ctx, const struct core_model_question *question);
    /* Ask a polisher, whose premise is {"explanation": ...}; a result of the family MSG_POLISHER follows. Else the same. */
    bool (*polish)(void *ctx, const struct core_model_question *question);
    /* Look for a verdict that was kept; core_found follows, unless it takes too long. False: not now. NULL: none are kept, and
     * `keep` is not called. */
    bool (*find)(void *ctx, const struct core_wanted *wanted);
    void (*keep)(void *ctx, const struct core_kept *verdict);
    /* The request came before: no verdict will come. NULL where duplicates are not looked for. */
    void (*duplicate)(void *ctx, void *token);
    /* The request went to another process (core_forget): no verdict will come. NULL: not called. */
    void (*dropped)(void *ctx, void *token);
    /* A family has looked at a candidate. NULL: not called. */
    void (*progress)(void *ctx, const struct coordinator_progress *progress);
};

struct core_stats {
    uint64_t requests, verdicts, dead, tasks, results, stray, deadlines;
    uint64_t consultations, consultations_failed;
    uint64_t questions, answered; /* to the person who asked; requests with answers */
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

/* When language models are asked ("never", "always", "0.1:0.95,disagree"; NULL: as it is), into *out. ERR_CONFIG. */
enum err_code consult_when(const char *when, struct coordinator_llm *out, struct err *err);
/* Its terms as a text, for what holds under these alone (scoring/guarantee.h); "": never asked, or `llm` is NULL. */
enum { CONSULT_TEXT = 96 };
void consult_text(const struct coordinator_llm *llm, char out[CONSULT_TEXT]);

struct core *core_new(const struct core_config *config, const struct core_actions *actions);
/* Open requests are dropped without a verdict. */
void core_free(struct core *core);

/* A request came in. */
void core_request(struct core *core, const struct core_incoming *incoming, int64_t now_ns);
/* A request that has its verdict already, so that duplicates of it are known. */
void core_history(struct core *core, const struct core_incoming *incoming);
/* The partition went to another process, and its requests with it. */
void core_forget(struct core *core, int32_t partition);
/* The token of an open request; NULL if the request is not open. */
void *core_token(const struct core *core, struct msg_key key);
/* Has this task no answer yet, in a request that is open? */
bool core_awaits(const struct core *core, struct msg_key key, const uint64_t hash[2], const char *family);
/* A result came in for the request with that key. ERR_OK also for a stray one; else it cannot be read, see `err`. One
 * of the family MSG_VERIFIER is core_verified. */
enum err_code core_result(struct core *core, struct msg_key key, const void *bytes, size_t len, int64_t now_ns,
                          struct err *err);
/* A family's task for the candidate with that hash cannot be sent, and why: its signals are unavailable for that
 * reason. Stray when nobody waits for it. `family`: the static name. */
void core_unavailable(struct core *core, struct msg_key key, const uint64_t hash[2], const char *family,
                      const struct err *why, int64_t now_ns);
/* Nobody wants the verdict of the request with that tag: it fails with reason "cancelled". False: it is not open. */
bool core_cancel(struct core *core, uint64_t tag, int64_t now_ns);
/* The remote verifier has answered about the candidate with that hash; stray when nobody waits for it. */
void core_verified(struct core *core, struct msg_key key, const uint64_t hash[2],
                   const struct core_verifier_answer *answer, int64_t now_ns);
/* What came of looking for a verdict for the request with that key; nothing happens where it waits for none. */
void core_found(struct core *core, struct msg_key key, const struct core_found *found, int64_t now_ns);
/* Time has passed. Returns when to call again at the latest; 0: no deadline is set. */
int64_t core_tick(struct core *core, int64_t now_ns);

uint32_t core_open_requests(const struct core *core);
/* When the oldest of them arrived; 0: none is open. Looks at each. */
int64_t core_oldest_ns(const struct core *core);
struct core_stats core_get_stats(const struct core *core);

#endif
