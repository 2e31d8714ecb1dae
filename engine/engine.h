/* Assay in one process: coordinator, workers and local transport behind submit and next.
 *
 *   engine_open → engine_submit ... engine_next ... → engine_finish → engine_next until ERR_CLOSED → engine_close
 *
 * Memory is bounded by the queues: submit blocks while they are full, so whoever submits must also take verdicts: on
 * another thread, or on the same one by a submit with a timeout and engine_next between the attempts.
 */
#ifndef ASSAY_ENGINE_ENGINE_H
#define ASSAY_ENGINE_ENGINE_H

#include "coordinator/coordinator.h"
#include "examples/encoder.h"
#include "lib/llm/scorer.h"
#include "worker/cache.h"
#include "worker/llm.h"
#include "worker/worker.h"

#include <locale.h>

/* How those who share an engine take turns: tenants, then databases, then requests. */
struct engine_fair {
    bool on; /* else requests are judged in the order in which they come */
    unsigned
        tenant_shift;  /* of a request's tag, the bits from here on are the number of its tenant; 0: there are none */
    uint32_t max_open; /* requests of one tenant in flight, larger ones counted as several; 0: any */
};

struct engine_config {
    uint32_t workers;      /* threads; 0: one a processor */
    uint32_t window;       /* requests in flight; 0: eight a worker */
    const char *transport; /* NULL: "local" */
    struct worker_databases databases;
    const char *models_dir;         /* as in models_load */
    const char *label_model;        /* NULL, a file, or "none" */
    const char *classifier;         /* NULL, a file, or "none" */
    const char *calibration;        /* of `assay calibrate`; NULL: nothing is promised */
    bool ignore_drift;              /* promises stay where the traffic is no longer like the calibration's */
    const char *verifier;           /* NULL, a file, or "none": the built-in one */
    struct scorer_config remote;    /* a remote verifier; no backend: none */
    uint32_t remote_threads;        /* 0: 4 */
    struct scorer_config corrector; /* a chat model that is asked for repairs; no endpoint: none */
    uint32_t corrector_threads;     /* 0: 4 */
    struct examples_shots shots;    /* whose edits repairs try, and that the corrector is shown */
    uint32_t corrector_per_minute;  /* times that this process asks it at most; 0: as often as it takes */
    uint32_t corrector_rounds;      /* times that it is asked for one answer at most; 0: 3 */
    struct scorer_config encoder;   /* that makes the vectors of shots' store; no endpoint: the built-in embedder */
    struct llm_config llm;          /* that the family llm asks; no endpoints: none */
    uint32_t llm_threads;           /* calls at a time; 0: 4 */
    struct coordinator_llm consult; /* about what, and what its word weighs */
    const char *llm_when;           /* as coordinator_config's */
    struct scorer_config polisher;  /* a chat model that polishes the answer's explanation; no endpoint: none */
    uint32_t polisher_threads;      /* 0: 4 */
    struct schema_options schema;
    uint64_t schema_cache_bytes; /* 0: 96 MiB of indexes kept */
    struct cache_config redis;   /* no address: none */
    struct db_limits limits;
    const struct vsig_options *signals; /* NULL: defaults */
    struct msg_options defaults;
    int64_t max_deadline_ms, max_work_ms; /* of a request, as coordinator_config's */
    /* As coordinator_config's. */
    void (*progress)(void *ctx, const struct coordinator_progress *progress);
    void *progress_ctx;
    struct tracer *tracer; /* lib/base/tracing.h, of requests; must outlive the engine; NULL: nothing is traced */
    const char *executor;  /* the program in whose processes statements on SQLite run; NULL: here */
    /* Messages of verdicts name files, servers and roles: for a user who named them on the command line alone. */
    bool shows_locations;
    struct engine_fair fair;
    uint32_t slow_threads; /* of a worker, as worker_config's */
};

struct engine_stats {
    struct coordinator_stats coordinator;
    struct worker_stats workers; /* sum over the threads */
    struct cache_stats redis;    /* zeros without one */
    struct llm_stats llm;        /* likewise */
    double cpu_s;                /* of the whole process */
    uint64_t peak_bytes;         /* resident, of the whole process */
};

struct engine;

/* Everything in `config` is copied except databases, signals, executor and the strings of defaults, which must outlive
 * the engine. */
enum err_code engine_open(const struct engine_config *config, struct engine **out, struct err *err);

/* Hand over a request; it is encoded before the call returns. Waits up to timeout_ms (below 0: for ever) for room:
 * ERR_FULL, also where its tenant has fair.max_open in flight. ERR_CLOSED: the engine stopped; `err` says why. Each
 * request that was taken gives one verdict. Thread: any.
 */
enum err_code engine_submit(struct engine *engine, const struct msg_request *request, int64_t timeout_ms,
                            struct err *err);

/* The verdict of the request with that tag is not wanted any more. It comes within a second: failed, with reason
 * "cancelled", unless it was made before. Of a fair engine what runs for the request is stopped too. Thread: any. */
void engine_cancel(struct engine *engine, uint64_t tag);

/* True if a request of that tenant would find room now. Thread: any. */
bool engine_has_room(struct engine *engine, uint64_t tenant);

/* The next verdict, in order of completion; the caller owes msg_verdict_free. Waits up to timeout_ms (0: does not,
 * below 0: for ever): ERR_FULL when none came in that time. ERR_CLOSED: finished and all were handed out, or the engine
 * stopped with an error (then `err` is set to its code, else to ERR_OK). Thread: one at a time. */
enum err_code engine_next(struct engine *engine, int64_t timeout_ms, struct msg_verdict **out, struct err *err);

/* What may be known of the databases that are judged on. Their names, as worker_databases_names has them; and of asks->db its schema,
 * JSON from malloc, as worker_describe has it: the least exposed, and all columns denied, of the request's options and of
 * what the engine does by itself. The database is opened, and its index may be built, which takes seconds. Thread: any. */
enum err_code engine_database_names(const struct engine *engine, struct arena *arena, const char *const **names,
                                    uint32_t *n, struct err *err);
enum err_code engine_describe(const struct engine *engine, const struct msg_request *asks, char **json,
                              struct err *err);

/* No more submits: what is open is finished, then engine_next says ERR_CLOSED. Thread: any. */
void engine_finish(struct engine *engine);

/* No more verdicts are wanted: engine_next gives ERR_CLOSED, at once where it waits. Thread: any. */
void engine_interrupt(struct engine *engine);

/* Stops at once what still runs and frees everything. NULL is fine. */
void engine_close(struct engine *engine);

/* Thread: any. */
void engine_stats(struct engine *engine, struct engine_stats *out);

/* The indexes of its databases, for whoever reads them beside it; they are the engine's. Thread: any. */
struct schema_cache *engine_schemas(const struct engine *engine);

/* What leaves a database alone whose server goes on with statements that were given up (worker/db_breakers.h); it is the
 * engine's. Thread: any. */
struct breakers *engine_breakers(const struct engine *engine);

/* Requests in flight at most. */
uint32_t engine_window(const struct engine *engine);

/* The strategy and threshold in effect when neither request nor config sets them. */
enum msg_strategy engine_strategy(const struct engine *engine);
double engine_threshold(const struct engine *engine);

/* The locale of the engine's threads, which write numbers with a point whatever the process has set. Not to be freed.
 * Thread: any. */
locale_t engine_locale(void);

#endif
