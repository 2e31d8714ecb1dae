/* A worker: takes tasks of its families, runs their signals, sends results.
 *
 * It identifies a database by the name in the task, and searches for the file under its own roots. No message can
 * therefore name a path. It caches a few open databases, the analysis of the last question and the last parsed
 * candidate. The families of a candidate, and the candidates of a request, therefore share that work if they arrive
 * together.
 */
#ifndef ASSAY_WORKER_WORKER_H
#define ASSAY_WORKER_WORKER_H

#include "lib/base/metrics.h"
#include "lib/db/db.h"
#include "lib/db/executor.h"
#include "lib/schema/schema.h"
#include "proto/bus/transport.h"
#include "proto/message/msg.h"
#include "signals/vsig.h"

/* The treatment of a statement that reads a denied column: refuse to run it, or run it and hide its result. Only
 * refusing protects the data, because a filter on such a column still reveals its content. */
enum worker_deny { WORKER_DENY_UNSET, WORKER_DENY_REFUSE, WORKER_DENY_HIDE };

/* A database of the catalogue, with the policy of its owner. It need not be under a root. Zero is the default of each
 * field. */
struct worker_database {
    const char *name, *path;         /* a file, or a connection string that may contain a secret */
    const char *descriptions;        /* folder; NULL: the setting of the schema cache */
    enum msg_expose expose;          /* upper limit, whatever the request allows; unset: the request decides */
    const char *const *deny_columns; /* denied columns, in addition to those of a request */
    uint32_t n_deny_columns;
    enum worker_deny deny_mode; /* unset: the mode for all databases */
    uint32_t max_statements;    /* maximum concurrent statements of the whole fleet (permits.h); 0 means no limit */
    struct db_limits limits;    /* limits of a statement; zeros: the worker's limits */
};

struct worker_databases {
    const char *const *roots; /* folders with databases as <root>/<db>/<db>.sqlite or <root>/<db>.sqlite; the first
                               * existing file counts */
    uint32_t n_roots;
    const struct worker_database *files; /* the catalogue, which is searched first */
    uint32_t n_files;
    const char *const *deny_columns; /* denied columns of all databases */
    uint32_t n_deny_columns;
    enum worker_deny deny_mode; /* unset: statements that read a denied column are not run */
};

/* Returns the catalogue's entry of that name, or NULL. Thread: any. */
const struct worker_database *worker_database_find(const struct worker_databases *databases, const char *name);

/* Lists the names of all databases, sorted and unique: those of the catalogue, and those that are now under the roots.
 * Lists at most WORKER_MAX_NAMES. Reads folders. The text is in the arena. Returns ERR_LIMIT_MEMORY. Thread: any. */
enum { WORKER_MAX_NAMES = 10000 };
enum err_code worker_databases_names(const struct worker_databases *databases, struct arena *arena,
                                     const char *const **names, uint32_t *n, struct err *err);

/* Makes a schema cache build each index according to the catalogue's entry. Such an index has the entry's descriptions
 * and no values of denied columns. If nothing may be exposed, the index stays in this process. `base` has the other
 * options, which also apply to databases under a root.
 *
 * Call it once, before the first worker. `databases` and `arena` must outlive the cache. `arena` holds joined lists; it
 * may be NULL if `databases` itself denies no columns. Returns ERR_NOMEM.
 */
enum err_code worker_databases_apply(const struct worker_databases *databases, struct schema_cache *schemas,
                                     const struct schema_options *base, struct arena *arena, struct err *err);

/* Returns the stricter of the requested exposure and that of the catalogue's entry, if there is one. Thread: any. */
enum msg_expose worker_expose(const struct worker_databases *databases, const char *name, enum msg_expose requested);

/* Returns true if results with denied columns of that database are hidden. Returns false if statements that read such a
 * column are not run. The operator decides, never a request. Thread: any. */
bool worker_hides_denied(const struct worker_databases *databases, const char *name);

/* INVARIANT stricter: Makes the task's policy the stricter of those of the request and the entry. It exposes the least,
 * and denies all columns that either denies. Writers of results use only the task. Text and lists are in the arena.
 * Returns ERR_LIMIT_MEMORY. Thread: any. */
enum err_code worker_policy(const struct worker_databases *databases, struct arena *arena, struct msg_task *task,
                            struct err *err);

/* Finds the file of a database and writes its path, allocated with malloc, to *path. Returns ERR_DB_MISSING if the
 * database is unknown. Returns it also for names that could leave the root: empty, longer than MSG_MAX_NAME bytes, or
 * with a slash, a leading dot or control characters. Thread: any. */
enum err_code worker_database_path(const struct worker_databases *databases, const char *name, char **path,
                                   struct err *err);

/* Logs why a database cannot be used. The text is only for the operator, because it may name the database's location.
 * The name of a missing database is text of the requester and is marked as such. Thread: any. */
void worker_log_failure(const struct worker_databases *databases, const char *name, const struct err *why);

struct examples;  /* examples/examples.h */
struct llm;       /* llm.h */
struct breakers;  /* db_breakers.h */
struct db_states; /* db_states.h */
struct permits;   /* permits.h */
struct tracer;    /* lib/base/tracing.h */

struct worker_config {
    struct bus *bus;
    const char *group;           /* NULL: "assay-worker" */
    const char *const *families; /* names of the families to serve; n_families 0: all */
    uint32_t n_families;
    struct worker_databases databases;
    struct schema_cache *schemas; /* shared by the threads of a process */
    struct db_limits limits;
    const struct vsig_options *signals;
    uint32_t max_databases; /* maximum number of open databases; 0: 16 */
    uint32_t max_attempts;  /* maximum attempts of a task with a transient failure (such as a locked database); 0: 5 */
    int64_t retry_ms;       /* pause before the first retry, which doubles for each further one; 0: 20 */
    uint32_t slow_threads;  /* number of threads that finish slow candidates while others are judged; may be 0 */
    int64_t slow_ms;        /* time in ms after which a candidate is slow; 0: 20 */
    int64_t explain_ms;     /* time for all statements that explain one candidate; 0: 1,000 */
    uint32_t sample_rows;   /* number of result rows shown if the policy exposes rows; 0: 5 */
    /* program whose processes run statements on SQLite (lib/db/executor.h); NULL runs them in this process */
    const char *executor;

    /* Shared by the threads of a process. Each may be NULL. */
    struct llm *llm;           /* models of the family llm, which is not served if this is NULL */
    struct examples *examples; /* few-shot examples whose edits are tried for repairs */
    struct breakers *breakers; /* circuit breakers of the databases */
    struct permits *permits;   /* enforces max_statements of the catalogue's entries */
    struct db_states *states;  /* states of the databases, for results */
    struct tracer *tracer;     /* traces tasks that have a trace context */

    /* Judges an encoded task in an isolated process (isolated.h), within limit_ms, and encodes its result in *result.
     * Called for a task that was delivered to max_crashes (0: 2) processes that then died. If NULL, such a task is
     * judged like any other. Thread: eval. */
    enum err_code (*evaluate_isolated)(void *ctx, const void *task, size_t len, int64_t limit_ms,
                                       struct msg_buffer *result, struct err *err);
    void *isolated_ctx;
    uint32_t max_crashes;

    /* true: answers contain the full text of failures, with names of files and servers. Only for a user who named them
     * on the command line. false: answers contain the name of the database and the meaning of the code */
    bool shows_locations;
};

struct worker_stats {
    uint64_t tasks, answered, late, retried, dead, failed; /* `failed` counts tasks answered as unavailable, or not
                                                            * answered */
    int64_t busy_ns;                                       /* wall-clock time spent in tasks */
    int64_t signal_ns[VSIG_ID_END];
    uint64_t signal_runs[VSIG_ID_END];
    uint64_t signal_fired[VSIG_ID_END], signal_unavailable[VSIG_ID_END]; /* counts of these runs */
    /* time of shared work: parsing and binding; executing and preparing candidates */
    int64_t parse_ns, execute_ns, prepare_ns;
    uint64_t candidates, executed;
    struct executor_stats executors; /* processes in which statements are executed */
    /* candidates judged outside the leader's lane, because they took longer than slow_ms */
    uint64_t slow;
    uint32_t slow_running;                                /* number of such candidates now */
    uint64_t isolated;                                    /* tasks judged in an isolated process */
    uint64_t dead_by[ERR_COUNT];                          /* counts of `dead`, by error */
    struct metrics_histogram families[VSIG_FAMILY_COUNT]; /* time from taking a task to its result or failure */
    /* time from a task's arrival in its topic until a worker reads it */
    struct metrics_histogram task_reads;
};

/* The current state of a worker. */
struct worker_liveness {
    /* time of the last poll or taken task (clock_now_ns), from the active thread where it is the oldest. 0 before the
     * first poll */
    int64_t heartbeat_ns;
    uint32_t in_flight; /* number of tasks taken and not yet answered */
};

struct worker;

/* Creates a worker and subscribes. `config` is copied; its pointers must outlive the worker. */
enum err_code worker_new(const struct worker_config *config, struct worker **out, struct err *err);
void worker_free(struct worker *worker);

/* Returns the schema of task->db as JSON in the form of schema_json, allocated with malloc. The policies of the task
 * and the catalogue apply. The index comes from the cache, which may have to build it. No error text names a file or a
 * server.
 *
 * Returns ERR_DB_MISSING, or errors of db_open and schema_cache_get. Uses databases, schemas and limits of `config`.
 * Thread: any.
 */
enum err_code worker_describe(const struct worker_config *config, const struct msg_task *task, char **json,
                              struct err *err);

/* Runs on the calling thread and on slow_threads further threads until worker_stop. Then the taken tasks are finished,
 * and all others stay in the transport. Any code but ERR_OK is of class fatal. Thread: eval. */
enum err_code worker_run(struct worker *worker, struct err *err);
/* Makes worker_run return after it has finished the taken tasks. Thread: any. */
void worker_stop(struct worker *worker);
/* Interrupts the running statements of that request, as far as possible now. Its remaining tasks are answered with
 * ERR_CANCELLED. Returns true if some tasks still run, so that another call may be needed. Supports only requests of
 * one partition, as in the local transport. Thread: any. */
bool worker_stop_request(struct worker *worker, struct msg_key request);
/* Adds this worker's counts to `into`. Thread: any. */
void worker_stats(struct worker *worker, struct worker_stats *into);
/* Returns the state of this worker. Thread: any. */
struct worker_liveness worker_liveness(const struct worker *worker);

#endif
