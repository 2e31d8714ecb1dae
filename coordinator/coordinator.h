/* The coordinator: opens requests, sends tasks for their candidates, collects the workers' results, and decides on
 * verdicts.
 *
 * It has three parts. The *models* are read-only and shared. The *core* (core.h) is a state machine without clock,
 * threads or transport: it receives events and calls actions. The *loop* moves messages between a transport and the
 * core. The coordinator opens no database.
 */
#ifndef ASSAY_COORDINATOR_COORDINATOR_H
#define ASSAY_COORDINATOR_COORDINATOR_H

#include "examples/examples.h"
#include "lib/base/error.h"
#include "proto/bus/transport.h"
#include "proto/message/msg.h"
#include "signals/vsig.h"

struct scoring_models; /* scoring/models.h */
struct scorer_config;  /* lib/llm/scorer.h */
struct tracer;         /* lib/base/tracing.h */

/* Conditions for calling a language model about a candidate (consult.c), and the weight of its opinion. */
struct coordinator_llm {
    bool on;                 /* false disables the opinions; set, like `low`, `high` and `disagreement`, from
                              * coordinator_config.llm_when */
    double low, high;        /* range of P(correct) in which the likely answer is submitted to a language model */
    bool disagreement;       /* also submit it if the signals and the verifier disagree */
    double hit_rate;         /* argument of models_hear; 0: 0.7 */
    uint32_t max_candidates; /* maximum number of submitted candidates of a request; 0: 3 */
    int64_t wait_ms;         /* timeout of one opinion in ms, because there may be no worker for it; 0: 60,000 */
    uint64_t max_tokens;     /* maximum tokens of a request: no further candidate is submitted beyond it; 0 means no
                              * limit */
};

/* Progress of an open request. */
struct coordinator_progress {
    uint64_t tag;       /* number that the sender gave the request */
    uint32_t candidate; /* index of a candidate; indexes from n_candidates on are proposals for a repair */
    uint32_t n_candidates;
    const char *family; /* name of the family that has judged the candidate; static */
};

/* A cache of verdicts for equal requests. worker/cache_verdicts.h implements it; this directory does not include that
 * header. Both functions may block. Thread: any. */
struct coordinator_cache {
    void *ctx;
    /* Finds the verdict under that key for the current state of the database. Free *bytes with g_free. *bytes is NULL
     * if there is no verdict. Returns ERR_DB_UNAVAILABLE if the state is unknown, or ERR_UNREACHABLE. */
    enum err_code (*find)(void *ctx, const char *db, const char *key, char **bytes, size_t *len);
    /* Stores a verdict. On failure nothing is cached. */
    enum err_code (*keep)(void *ctx, const char *db, const char *state, const char *key, const void *bytes, size_t len);
};

/* How tasks are grouped into messages to the workers. */
enum coordinator_messages {
    COORDINATOR_EACH,      /* one task in each message, in the topic of its family, as workers of version 1.10 read
                            * them */
    COORDINATOR_BY_FAMILY, /* tasks of a request for one family share a message in the topic of that family */
    /* tasks of a request for all families but llm share a message in BUS_TASKS_ALL, which workers of all families
     * read */
    COORDINATOR_BY_REQUEST,
    COORDINATOR_BY_CANDIDATE, /* tasks of a candidate for all families but llm share a message with its flow, in
                               * BUS_TASKS_ALL */
    COORDINATOR_MESSAGES
};

/* Returns the value for "each", "family", "request" or "candidate". Returns -1 for another name. */
int coordinator_messages_by_name(const char *name);

struct coordinator_config {
    struct bus *bus;
    const char *group;    /* NULL: BUS_GROUP */
    const char *instance; /* unique among running processes of the group, and the same after a restart; NULL: "0" */
    /* where a group that has never read begins: "beginning" or "end"; NULL refuses such a group */
    const char *from;
    int64_t commit_ms;  /* interval of commits under load in ms, if the transport commits verdicts; 0: 100 */
    uint32_t producers; /* number of producers that commit in parallel, each for its share of the partitions; 0: 1 */
    const struct scoring_models *models;
    struct msg_options defaults;           /* values of options that a request leaves unset */
    uint32_t max_open;                     /* maximum number of open requests; 0: 64 */
    enum coordinator_messages messages;    /* how tasks are grouped into messages */
    const struct scorer_config *verifier;  /* remote verifier, called before the built-in one; NULL if there is none */
    uint32_t verifier_threads;             /* concurrent calls; 0: 4 */
    const struct scorer_config *corrector; /* chat model that proposes repairs; NULL if there is none */
    uint32_t corrector_threads;            /* concurrent calls; 0: 4 */
    uint32_t corrector_per_minute;         /* maximum calls of this process per minute; 0 means no limit */
    uint32_t corrector_rounds;             /* maximum calls for one answer; 0: 3 */
    struct examples_shots shots;           /* few-shot examples for the corrector */
    struct coordinator_llm llm;
    /* with a shared transport: request only the source rows of the answer's result, once the answer is known
     * (story.c) */
    bool rows_later;
    /* when language models are called: "never", "always", or "LOW:HIGH" optionally followed by ",disagree"; NULL:
     * never */
    const char *llm_when;
    bool ignore_drift;                    /* guarantees stay valid even if the traffic differs from that of the
                                           * calibration */
    const struct scorer_config *polisher; /* chat model that rewords the answer's explanation; NULL if there is none */
    uint32_t polisher_threads;            /* concurrent calls; 0: 4 */
    /* maximum deadline of any request; 0: 600,000 if the transport is shared, otherwise no limit */
    int64_t max_deadline_ms;
    /* maximum worker time for one request, including all candidates and repairs; 0 means no limit */
    int64_t max_work_ms;
    struct tracer *tracer; /* traces requests and model calls; NULL disables tracing */
    /* NULL disables the verdict cache; must be NULL with a verifier, corrector or polisher */
    const struct coordinator_cache *cache;
    size_t max_kept_bytes; /* maximum size of one cached verdict; 0: 64 KiB */
    /* Reports progress. Runs on the thread of the loop, so it must be quick. May be NULL. */
    void (*progress)(void *ctx, const struct coordinator_progress *progress);
    void *progress_ctx;
    /* Stops the workers' remaining tasks of a closed request that has a flow (bus_out.flow). Returns true if some tasks
     * still run; the coordinator then calls it again. NULL lets the tasks run to their end. Thread: that of the
     * loop. */
    bool (*stop_work)(void *ctx, struct msg_key request);
    void *stop_ctx;
};

/* Searches for repairs and their outcomes. All other searches found no query with a higher P(correct). */
struct coordinator_repairs {
    uint64_t looked_for, applied, proposed, given_up;
    uint64_t corrections, corrections_failed; /* calls of the corrector, and how many of them failed */
    uint64_t corrections_refused;             /* calls not made because the queue was full or the budget was used up */
};

/* Explanations sent to the polisher, and those that stayed unchanged because it failed. */
struct coordinator_polish {
    uint64_t asked, failed;
};

/* Outcomes of lookups. A lookup searches for the cached verdict of an equal request. */
#define COORDINATOR_LOOKUPS(X)                                                                                         \
    X(hits)     /* a cached verdict was found */                                                                       \
    X(misses)   /* no cached verdict was found */                                                                      \
    X(unknown)  /* the state of the database was unknown */                                                            \
    X(late)     /* the lookup timed out */                                                                             \
    X(failed)   /* Redis failed */                                                                                     \
    X(skipped)  /* no lookup: too many lookups were running, or a take-over was in progress */                         \
    X(rejected) /* the cached bytes did not match the request */                                                       \
    X(kept)     /* counts verdicts submitted to the cache */
struct coordinator_lookups {
#define X(name) uint64_t name;
    COORDINATOR_LOOKUPS(X)
#undef X
};

/* Summary of the verdicts. */
enum { COORDINATOR_P_RANGES = 10 };
struct coordinator_quality {
    uint64_t answers_by_p[COORDINATOR_P_RANGES]; /* verdicts with an answer, by P(correct): [0, 0.1), ... [0.9, 1] */
    uint64_t answers_unknown;                    /* verdicts with an answer but without P(correct) */
    double p_sum;                                /* sum of P(correct) over the answers */
    /* verdicts without an answer, by root cause; the last entry counts "not enough evidence" */
    uint64_t unanswered[VSIG_CAUSE_COUNT + 1];
};

struct coordinator_stats {
    uint64_t requests, verdicts, rejected; /* `rejected` counts dead-lettered requests */
    uint64_t by_status[MSG_STATUS_COUNT];
    uint64_t tasks, results, stray; /* `stray` counts results that no open request awaited */
    uint64_t deadlines;
    struct coordinator_repairs repairs;
    struct coordinator_polish polish;
    struct coordinator_lookups lookups;
    uint64_t consultations,
        consultations_failed;                  /* candidates submitted to a language model, and how many of them got no
                                                * opinion */
    uint64_t questions, answered;              /* verdicts with a clarification question; requests with user answers */
    uint64_t verifications, verifier_failures; /* calls of the remote verifier; calls after which the built-in verifier
                                                * judged instead */
    uint64_t promises[MSG_PROMISE_COUNT];      /* verdicts with a guarantee, by the status of the guarantee */
    uint64_t promises_withdrawn;               /* number of generators whose traffic has changed */
    uint64_t duplicates;                       /* repeated requests that got no verdict of their own */
    uint64_t cut;                              /* verdicts in which parts were omitted because they were too large */
    uint64_t unsendable;                       /* tasks that were too large to send; their families are unavailable */
    int64_t oldest_age_ns;                     /* age of the oldest open request since its arrival; updated with a short
                                                * delay */
    uint32_t open;                             /* requests that were read and are not yet decided */
    uint64_t rejected_by[ERR_COUNT];           /* dead-lettered requests and results, by error */
    struct coordinator_quality quality;        /* summary of the verdicts */
    struct metrics_histogram latency;          /* time from a request's arrival to its verdict, before the commit */
    /* time from a request's arrival in its topic until the coordinator reads it */
    struct metrics_histogram request_reads;
    struct metrics_histogram judgements;   /* time from reading a request to its verdict */
    struct metrics_histogram result_reads; /* time from a result's arrival in its topic until the coordinator reads
                                            * it */
    struct bus_once_stats once;            /* zeros if the transport has no transactions */
};

struct coordinator;

/* Creates a coordinator and subscribes to requests and results. `config` is copied; its pointers must outlive the
 * coordinator. Returns ERR_CONFIG for invalid settings, including llm_when. */
enum err_code coordinator_new(const struct coordinator_config *config, struct coordinator **out, struct err *err);
void coordinator_free(struct coordinator *coordinator);

/* Runs on the calling thread until coordinator_stop, then finishes the open requests, which their deadlines bound. Any
 * code but ERR_OK is of class fatal. */
enum err_code coordinator_run(struct coordinator *coordinator, struct err *err);
/* Stops the coordinator. With `now`, open requests are not finished. Thread: any. */
void coordinator_stop(struct coordinator *coordinator, bool now);
/* Cancels the request with that tag, which fails within a second with reason "cancelled". A request with a flow can be
 * cancelled even before it is open. Thread: any. */
void coordinator_cancel(struct coordinator *coordinator, uint64_t tag);
/* Copies the statistics. Thread: any. */
void coordinator_stats(struct coordinator *coordinator, struct coordinator_stats *out);
/* Returns the time at which the loop began its last iteration, on clock_now_ns. Returns 0 before the first one. Thread:
 * any. */
int64_t coordinator_heartbeat_ns(const struct coordinator *coordinator);

#endif
