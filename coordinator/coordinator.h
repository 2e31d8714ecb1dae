/* The coordinator: opens requests, fans their candidates out, gathers what the workers say, decides.
 *
 * Three parts. The *models* are read-only and shared. The *core* (core.h) is a state machine without clock, threads or
 * transport: events in, actions out. The *loop* moves messages between a transport and the core. The coordinator opens
 * no database.
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

/* When a language model is asked about a candidate (consult.c), and what its word weighs. */
struct coordinator_llm {
    bool on;                 /* these three: of coordinator_config.llm_when */
    double low, high;        /* where P of the candidate that would be the answer lies between these */
    bool disagreement;       /* or the signals and the verifier disagree about it */
    double hit_rate;         /* of models_hear; 0: 0.7 */
    uint32_t max_candidates; /* of a request; 0: 3 */
    int64_t wait_ms;         /* for one opinion; 0: 60,000. Nobody may be there to ask */
    uint64_t max_tokens;     /* of a request: none is asked about once these are used up; 0: any number */
};

/* What has just been learned of an open request. */
struct coordinator_progress {
    uint64_t tag;       /* the sender's number for the request */
    uint32_t candidate; /* its index; at n_candidates and behind: a query near the answer, for a repair */
    uint32_t n_candidates;
    const char *family; /* that has looked at it; static */
};

/* Where verdicts are kept for equal requests (worker/cache_verdicts.h, which this room does not see). Both may block. Thread: any. */
struct coordinator_cache {
    void *ctx;
    /* The verdict under that key, of the state in which the database is; g_free, *bytes NULL: there is none. ERR_DB_UNAVAILABLE: the state is not known;
     * ERR_UNREACHABLE. */
    enum err_code (*find)(void *ctx, const char *db, const char *key, char **bytes, size_t *len);
    /* Where it fails nothing is kept. */
    enum err_code (*keep)(void *ctx, const char *db, const char *state, const char *key, const void *bytes, size_t len);
};

/* What shares a message on its way to the workers. */
enum coordinator_messages {
    COORDINATOR_EACH,      /* nothing: each task is one, in the topic of its family, as workers of 1.10 read them */
    COORDINATOR_BY_FAMILY, /* tasks of a request for one family, in its topic */
    COORDINATOR_BY_REQUEST, /* tasks of a request for any family but llm, in BUS_TASKS_ALL, which workers of all families read */
    COORDINATOR_BY_CANDIDATE, /* tasks of a candidate for any family but llm, with its flow, likewise */
    COORDINATOR_MESSAGES
};

/* "each", "family", "request", "candidate"; -1: none of these. */
int coordinator_messages_by_name(const char *name);

struct coordinator_config {
    struct bus *bus;
    const char *group;    /* NULL: BUS_GROUP */
    const char *instance; /* another one in each living process of the group, the same after a restart; NULL: "0" */
    const char *from;     /* where a group that has never read begins: "beginning", "end"; NULL: it is refused */
    int64_t commit_ms;    /* between commits under load, where verdicts are committed; 0: 100 */
    uint32_t producers;   /* that commit beside each other, each its share of the partitions; 0: 1 */
    const struct scoring_models *models;
    struct msg_options defaults;           /* for what a request leaves open */
    uint32_t max_open;                     /* requests open at a time; 0: 64 */
    enum coordinator_messages messages;    /* to the workers */
    const struct scorer_config *verifier;  /* a remote verifier, asked before the built-in one; NULL: none */
    uint32_t verifier_threads;             /* calls to it at a time; 0: 4 */
    const struct scorer_config *corrector; /* a chat model that is asked for repairs; NULL: none */
    uint32_t corrector_threads;            /* likewise */
    uint32_t corrector_per_minute;         /* times that this process asks it at most; 0: as often as it takes */
    uint32_t corrector_rounds;             /* times that it is asked for one answer at most; 0: 3 */
    struct examples_shots shots;           /* that the corrector is shown */
    struct coordinator_llm llm;
    bool rows_later; /* shared transport: the rows behind the answer alone are looked for, when it is found (story.c) */
    const char *llm_when; /* "never", "always", or "LOW:HIGH" with ",disagree" behind it or not; NULL: never */
    bool ignore_drift;    /* promises stay where the traffic is no longer like the calibration's */
    const struct scorer_config *polisher; /* a chat model that polishes the answer's explanation; NULL: none */
    uint32_t polisher_threads;            /* likewise */
    int64_t max_deadline_ms;              /* of any request; 0: 600,000 where the transport is shared, else no bound */
    int64_t max_work_ms;   /* that workers spend on one request, all candidates and repairs together; 0: no bound */
    struct tracer *tracer; /* of requests and calls of models; NULL: nothing is traced */
    const struct coordinator_cache *cache; /* NULL: verdicts are not kept. Not with verifier, corrector or polisher */
    size_t max_kept_bytes;                 /* of one verdict; 0: 64 KiB */
    /* On the thread of the loop, so it is to be quick. NULL: nobody wants to know. */
    void (*progress)(void *ctx, const struct coordinator_progress *progress);
    void *progress_ctx;
    /* A request with a flow is over: stop what workers still do for it. True: some goes on, so ask again. On the
     * thread of the loop. NULL: it is left to end by itself. */
    bool (*stop_work)(void *ctx, struct msg_key request);
    void *stop_ctx;
};

/* Repairs that were looked for, and what came of them; of the others: nothing surer was found. */
struct coordinator_repairs {
    uint64_t looked_for, applied, proposed, given_up;
    uint64_t corrections, corrections_failed; /* asked of the corrector; those without an answer */
    uint64_t corrections_refused;             /* not asked: its queue is full, or its budget is used up */
};

/* Explanations that the polisher was asked for; those that stay as they are. */
struct coordinator_polish {
    uint64_t asked, failed;
};

/* Requests that could have the verdict of an equal one. */
#define COORDINATOR_LOOKUPS(X)                                                                                         \
    X(hits)     /* had it */                                                                                           \
    X(misses)   /* none was kept */                                                                                    \
    X(unknown)  /* nobody says in which state the database is */                                                       \
    X(late)     /* the answer took too long */                                                                         \
    X(failed)   /* Redis failed */                                                                                     \
    X(skipped)  /* not looked for: too many are, or the partition is being taken over */                               \
    X(rejected) /* what was kept is no verdict on the request */                                                       \
    X(kept)     /* verdicts that were given away to be kept */
struct coordinator_lookups {
#define X(name) uint64_t name;
    COORDINATOR_LOOKUPS(X)
#undef X
};

/* What verdicts say, summed up. */
enum { COORDINATOR_P_RANGES = 10 };
struct coordinator_quality {
    uint64_t answers_by_p[COORDINATOR_P_RANGES]; /* of those with an answer, by P(correct): [0, 0.1), ... [0.9, 1] */
    uint64_t answers_unknown;                    /* of those, without a P(correct) */
    double p_sum;                                /* of P(correct) of answers */
    uint64_t unanswered[VSIG_CAUSE_COUNT + 1];   /* without an answer, by root cause; the last: not enough evidence */
};

struct coordinator_stats {
    uint64_t requests, verdicts, rejected; /* rejected: to the DLQ */
    uint64_t by_status[MSG_STATUS_COUNT];
    uint64_t tasks, results, stray; /* stray: results that nobody waits for any more */
    uint64_t deadlines;
    struct coordinator_repairs repairs;
    struct coordinator_polish polish;
    struct coordinator_lookups lookups;
    uint64_t consultations,
        consultations_failed;     /* candidates that a language model was asked about; those without an opinion */
    uint64_t questions, answered; /* verdicts that ask the person; requests with answers of one */
    uint64_t verifications, verifier_failures; /* asked of the remote verifier; those that the built-in one judged */
    uint64_t promises[MSG_PROMISE_COUNT];      /* verdicts with one, by its status */
    uint64_t promises_withdrawn;               /* generators whose traffic has changed */
    uint64_t duplicates;                       /* requests that came before, and get no verdict of their own */
    uint64_t cut;                              /* verdicts that were too large and left something out */
    uint64_t unsendable;                       /* tasks that were too large: their families are unavailable */
    int64_t oldest_age_ns;                     /* of the open requests, from its arrival; as of a moment ago */
    uint32_t open;                             /* requests taken and not yet decided */
    uint64_t rejected_by[ERR_COUNT];           /* of dead letters, requests' and results', by what was wrong */
    struct coordinator_quality quality;        /* of verdicts */
    struct metrics_histogram latency;          /* from a request's arrival up to its verdict, not yet committed */
    struct metrics_histogram request_reads;    /* from a request's arrival in its topic until it was taken up */
    struct metrics_histogram judgements;       /* from there up to its verdict */
    struct metrics_histogram result_reads;     /* from a result's arrival in its topic until it was taken up */
    struct bus_once_stats once;                /* all 0 where the transport has no transactions */
};

struct coordinator;

/* Subscribes to requests and results. ERR_CONFIG: also for llm_when. `config` is copied, its pointers must outlive the coordinator. */
enum err_code coordinator_new(const struct coordinator_config *config, struct coordinator **out, struct err *err);
void coordinator_free(struct coordinator *coordinator);

/* Run on the calling thread until coordinator_stop, then finish what is open (bounded by deadlines) and return.
 * Anything but ERR_OK is of class fatal. */
enum err_code coordinator_run(struct coordinator *coordinator, struct err *err);
/* Thread: any. `now`: do not finish what is open. */
void coordinator_stop(struct coordinator *coordinator, bool now);
/* The request with that tag is not wanted any more: it ends within a second, failed with reason "cancelled"; one that
 * has a flow also where it is not open yet. Thread: any. */
void coordinator_cancel(struct coordinator *coordinator, uint64_t tag);
/* Thread: any. */
void coordinator_stats(struct coordinator *coordinator, struct coordinator_stats *out);
/* When the loop last turned, on clock_now_ns's clock; 0: not yet. Thread: any. */
int64_t coordinator_heartbeat_ns(const struct coordinator *coordinator);

#endif
