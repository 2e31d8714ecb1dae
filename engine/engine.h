/* Assay in one process. Coordinator, workers and local transport are used through engine_submit and engine_next.
 *
 *    engine_open → engine_submit ... engine_next ... → engine_finish → engine_next until ERR_CLOSED → engine_close
 *
 * The queues are bounded, and engine_submit blocks while they are full. The caller must therefore take verdicts while
 * it submits. It can do so on another thread, or alternate both calls with timeouts on one thread.
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

/* Scheduling between the users of an engine: round robin by tenant, then by database, then by request. */
struct engine_fair {
    bool on;               /* false: requests are judged in order of arrival */
    unsigned tenant_shift; /* the tenant of a request is its tag, shifted right by this number of bits; 0 means no
                            * tenants */
    uint32_t max_open;     /* maximum requests of a tenant in flight; a large request counts as several; 0 sets no
                            * limit */
};

struct engine_config {
    uint32_t workers;      /* threads; 0 means one for each processor */
    uint32_t window;       /* maximum requests in flight; 0 means eight for each worker */
    const char *transport; /* NULL means "local" */
    struct worker_databases databases;
    const char *models_dir;         /* as the argument of models_load */
    const char *label_model;        /* a file, or "none"; NULL selects the default */
    const char *classifier;         /* a file, or "none"; NULL selects the default */
    const char *calibration;        /* file from `assay calibrate`; NULL disables guarantees */
    bool ignore_drift;              /* guarantees stay valid even if the traffic has drifted from that of the
                                  * calibration */
    const char *verifier;           /* a file, or "none"; NULL selects the built-in one */
    struct scorer_config remote;    /* remote verifier; disabled without a backend */
    uint32_t remote_threads;        /* concurrent calls; 0 means 4 */
    struct scorer_config corrector; /* a chat model that proposes repairs; disabled without an endpoint */
    uint32_t corrector_threads;     /* concurrent calls; 0 means 4 */
    struct examples_shots shots;    /* few-shot examples: repairs reuse their edits, and the corrector receives them */
    uint32_t corrector_per_minute;  /* maximum calls of this process per minute; 0 sets no limit */
    uint32_t corrector_rounds;      /* maximum calls for one answer; 0 means 3 */
    struct scorer_config encoder;   /* model that embeds the texts of the store of `shots`; without an endpoint, the
                                     * built-in embedder is used */
    struct llm_config llm;          /* models of the family llm; disabled without endpoints */
    uint32_t llm_threads;           /* concurrent calls; 0 means 4 */
    struct coordinator_llm consult; /* which candidates these calls are about, and the weight of their results */
    const char *llm_when;           /* as in coordinator_config */
    struct scorer_config polisher;  /* a chat model that rewords the answer's explanation; disabled without an
                                     * endpoint */
    uint32_t polisher_threads;      /* concurrent calls; 0 means 4 */
    struct schema_options schema;
    uint64_t schema_cache_bytes; /* maximum size of the cache of indexes; 0 means 96 MiB */
    struct cache_config redis;   /* disabled without an address */
    struct db_limits limits;
    const struct vsig_options *signals; /* NULL means defaults */
    struct msg_options defaults;
    int64_t max_deadline_ms, max_work_ms; /* limits of a request, as in coordinator_config */
    /* Reports progress, as in coordinator_config. */
    void (*progress)(void *ctx, const struct coordinator_progress *progress);
    void *progress_ctx;
    struct tracer *tracer; /* traces requests (lib/base/tracing.h); must outlive the engine; NULL disables tracing */
    const char *executor;  /* program whose processes run statements on SQLite; NULL runs them in this process */
    /* If true, messages of verdicts name files, servers and roles. Only for a user who named them on the command
     * line. */
    bool shows_locations;
    struct engine_fair fair;
    uint32_t slow_threads; /* slow threads of each worker, as in worker_config */
};

struct engine_stats {
    struct coordinator_stats coordinator;
    struct worker_stats workers; /* sum over all workers */
    struct cache_stats redis;    /* zeros if disabled */
    struct llm_stats llm;        /* zeros if disabled */
    double cpu_s;                /* CPU time of the whole process */
    uint64_t peak_bytes;         /* peak resident memory of the whole process */
};

struct engine;

/* Opens an engine. Copies `config` except databases, signals, executor and the strings of defaults, which must outlive
 * the engine. */
enum err_code engine_open(const struct engine_config *config, struct engine **out, struct err *err);

/* Submits a request. Encodes it before the call returns. Waits for space up to timeout_ms (without limit if negative).
 *
 * Returns ERR_FULL if there was no space, or if its tenant has fair.max_open requests in flight. Returns ERR_CLOSED if
 * the engine stopped, with the reason in `err`. Each accepted request yields one verdict. Thread: any.
 */
enum err_code engine_submit(struct engine *engine, const struct msg_request *request, int64_t timeout_ms,
                            struct err *err);

/* Cancels the request with that tag. Its verdict arrives within a second: failed with reason "cancelled", unless the
 * verdict was complete before. An engine with `fair` also stops the work of the request. Thread: any. */
void engine_cancel(struct engine *engine, uint64_t tag);

/* Returns true if a request of that tenant would be accepted now. Thread: any. */
bool engine_has_room(struct engine *engine, uint64_t tenant);

/* Returns the next verdict, in order of completion. Free with msg_verdict_free. Waits up to timeout_ms (not at all if
 * 0, without limit if negative).
 *
 * Returns ERR_FULL if no verdict arrived in that time. Returns ERR_CLOSED if all verdicts were taken after
 * engine_finish (`err` is then ERR_OK), or if the engine stopped with the error in `err`. Thread: one at a time.
 */
enum err_code engine_next(struct engine *engine, int64_t timeout_ms, struct msg_verdict **out, struct err *err);

/* Describe the databases. engine_database_names lists their names as worker_databases_names does. engine_describe
 * returns the schema of asks->db as JSON, allocated with malloc, as worker_describe does. The exposure is the lower one
 * of the request's options and the engine's own. The columns that either denies are denied. engine_describe opens the
 * database and may build its index, which takes seconds. Thread: any. */
enum err_code engine_database_names(const struct engine *engine, struct arena *arena, const char *const **names,
                                    uint32_t *n, struct err *err);
enum err_code engine_describe(const struct engine *engine, const struct msg_request *asks, char **json,
                              struct err *err);

/* Ends submission. The requests in flight finish, and then engine_next returns ERR_CLOSED. Thread: any. */
void engine_finish(struct engine *engine);

/* Discards all further verdicts. engine_next then returns ERR_CLOSED; a waiting call returns at once. Thread: any. */
void engine_interrupt(struct engine *engine);

/* Stops all running work at once and frees the engine. `engine` may be NULL. */
void engine_close(struct engine *engine);

/* Copies the statistics. Thread: any. */
void engine_stats(struct engine *engine, struct engine_stats *out);

/* Returns the cache of the databases' indexes, for reading only. The engine owns it. Thread: any. */
struct schema_cache *engine_schemas(const struct engine *engine);

/* Returns the circuit breakers for databases whose servers still run abandoned statements (worker/db_breakers.h). The
 * engine owns them. Thread: any. */
struct breakers *engine_breakers(const struct engine *engine);

/* Returns the maximum number of requests in flight. */
uint32_t engine_window(const struct engine *engine);

/* Return the strategy and the threshold that apply if neither the request nor the config sets them. */
enum msg_strategy engine_strategy(const struct engine *engine);
double engine_threshold(const struct engine *engine);

/* Returns the locale of the engine's threads, in which numbers have a decimal point. The process may use another
 * locale. The caller must not free it. Thread: any. */
locale_t engine_locale(void);

#endif
