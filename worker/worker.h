/* A worker: takes tasks of its families, runs their signals, sends results.
 *
 * It knows databases by the name in the task and finds their files under its own roots, so no message can name a path.
 * It holds a few open databases, the analysis of the last question and the last parsed candidate. The families of a
 * candidate, and the candidates of a request, therefore share that work when they arrive together.
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

/* The treatment of a statement that reads a denied column: it is not run, or it runs and its result is hidden. Only
 * refusing is a boundary: a filter on such a column still reveals its content. */
enum worker_deny { WORKER_DENY_UNSET, WORKER_DENY_REFUSE, WORKER_DENY_HIDE };

/* A database of the catalogue: one that is not under a root, and its owner's policy. Zero is the default. */
struct worker_database {
    const char *name, *path;         /* a file, or a connection string, which may hold a secret */
    const char *descriptions;        /* folder; NULL: as in the schema cache */
    enum msg_expose expose;          /* upper limit, whatever a request asks for; unset: as requested */
    const char *const *deny_columns; /* in addition to a request's own */
    uint32_t n_deny_columns;
    enum worker_deny deny_mode; /* unset: as for all databases */
    uint32_t max_statements;    /* concurrent statements of the whole fleet (permits.h); 0 means no limit */
    struct db_limits limits;    /* zeros: the worker's */
};

struct worker_databases {
    const char *const *roots; /* <root>/<db>/<db>.sqlite, else <root>/<db>.sqlite; the first that exists */
    uint32_t n_roots;
    const struct worker_database *files; /* searched first */
    uint32_t n_files;
    const char *const *deny_columns; /* of all databases */
    uint32_t n_deny_columns;
    enum worker_deny deny_mode; /* unset: statements that read a denied column are not run */
};

/* Returns the catalogue's entry of that name, or NULL. Thread: any. */
const struct worker_database *worker_database_find(const struct worker_databases *databases, const char *name);

/* Lists the names of all databases, sorted and unique: the catalogue's, and those under the roots now. There are at
 * most WORKER_MAX_NAMES. Reads folders. Text is in the arena. Returns ERR_LIMIT_MEMORY. Thread: any. */
enum { WORKER_MAX_NAMES = 10000 };
enum err_code worker_databases_names(const struct worker_databases *databases, struct arena *arena,
                                     const char *const **names, uint32_t *n, struct err *err);

/* Makes a schema cache build each index according to its entry. The index has no values of denied columns, has the
 * entry's descriptions, and is only in this process if nothing may be exposed. `base` has the other options, which also
 * apply to databases under a root. Call it once, before the first worker. `databases` and `arena` must outlive the
 * cache. `arena` holds joined lists, and may be NULL if `databases` denies no columns of its own. Returns ERR_NOMEM. */
enum err_code worker_databases_apply(const struct worker_databases *databases, struct schema_cache *schemas,
                                     const struct schema_options *base, struct arena *arena, struct err *err);

/* Returns the stricter of the requested exposure and that of the entry, if there is one. Thread: any. */
enum msg_expose worker_expose(const struct worker_databases *databases, const char *name, enum msg_expose requested);

/* Returns true if denied columns of that database are hidden; false if statements that read one are not run. The
 * operator decides, never a request. Thread: any. */
bool worker_hides_denied(const struct worker_databases *databases, const char *name);

/* INVARIANT stricter: Makes the task's policy the stricter of the request's and the entry's: least exposed, all columns
 * denied by either. Writers of results use the task alone. Text and lists are in the arena. Returns ERR_LIMIT_MEMORY.
 * Thread: any. */
enum err_code worker_policy(const struct worker_databases *databases, struct arena *arena, struct msg_task *task,
                            struct err *err);

/* Finds the file of a database, allocated with malloc in *path. Returns ERR_DB_MISSING if it is unknown. The same holds
 * for names that could leave the root: empty, with a slash, a leading dot or control characters, or over MSG_MAX_NAME
 * bytes. Thread: any. */
enum err_code worker_database_path(const struct worker_databases *databases, const char *name, char **path,
                                   struct err *err);

/* Logs why a database cannot be used, for the operator only: the text may name its location. The name of a missing
 * database is the requester's text, and is marked as such. Thread: any. */
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
    const char *const *families; /* by name; n_families 0: all */
    uint32_t n_families;
    struct worker_databases databases;
    struct schema_cache *schemas; /* shared by the threads of a process */
    struct db_limits limits;
    const struct vsig_options *signals;
    uint32_t max_databases; /* open databases; 0: 16 */
    uint32_t max_attempts;  /* attempts of a task with a transient failure (a locked database); 0: 5 */
    int64_t retry_ms;       /* before the first retry, doubling; 0: 20 */
    uint32_t slow_threads;  /* threads that finish slow candidates while others are judged; may be 0 */
    int64_t slow_ms;        /* limit after which a candidate is slow; 0: 20 */
    int64_t explain_ms;     /* for all statements that explain one candidate; 0: 1,000 */
    uint32_t sample_rows;   /* shown if the policy exposes rows; 0: 5 */
    /* program in whose processes SQLite statements run (lib/db/executor.h); NULL: in this process */
    const char *executor;

    /* Shared by the threads of a process; may be NULL. */
    struct llm *llm;           /* for the family llm, which is not served without it */
    struct examples *examples; /* few-shot examples whose edits are tried for repairs */
    struct breakers *breakers; /* circuit breakers of the databases */
    struct permits *permits;   /* enforce max_statements of the catalogue's entries */
    struct db_states *states;  /* states of its databases, for results */
    struct tracer *tracer;     /* of tasks with a trace */

    /* Judges an encoded task in an isolated process (isolated.h), within limit_ms, and encodes its result in *result.
     * Called for tasks that were delivered to max_crashes (0: 2) processes that died. NULL disables the suspicion.
     * Thread: eval. */
    enum err_code (*evaluate_isolated)(void *ctx, const void *task, size_t len, int64_t limit_ms,
                                       struct msg_buffer *result, struct err *err);
    void *isolated_ctx;
    uint32_t max_crashes;

    /* full text of failures in answers, with the names of files and servers; for a user who named them on the command
     * line. If false, answers have the database's name and the code's meaning */
    bool shows_locations;
};

struct worker_stats {
    uint64_t tasks, answered, late, retried, dead, failed; /* failed: answered as unavailable, or not at all */
    int64_t busy_ns;                                       /* wall clock inside tasks */
    int64_t signal_ns[VSIG_ID_END];
    uint64_t signal_runs[VSIG_ID_END];
    uint64_t signal_fired[VSIG_ID_END], signal_unavailable[VSIG_ID_END]; /* of these runs */
    /* shared work: parsing and binding; running and preparing candidates */
    int64_t parse_ns, execute_ns, prepare_ns;
    uint64_t candidates, executed;
    struct executor_stats executors; /* processes in which statements ran */
    /* candidates judged beside the leader, because they took longer than slow_ms */
    uint64_t slow;
    uint32_t slow_running;                                /* number of them now */
    uint64_t isolated;                                    /* tasks judged in an isolated process */
    uint64_t dead_by[ERR_COUNT];                          /* dead, by error */
    struct metrics_histogram families[VSIG_FAMILY_COUNT]; /* from taking a task to its result or failure */
    /* from a task's arrival in its topic until a worker reads it */
    struct metrics_histogram task_reads;
};

/* The current state of a worker. */
struct worker_liveness {
    /* time of the last poll or taken task (clock_now_ns): the oldest such time among its active threads. 0 before the
     * first poll */
    int64_t heartbeat_ns;
    uint32_t in_flight; /* tasks taken and not yet answered */
};

struct worker;

/* Creates a worker and subscribes. `config` is copied; its pointers must outlive the worker. */
enum err_code worker_new(const struct worker_config *config, struct worker **out, struct err *err);
void worker_free(struct worker *worker);

/* Returns the schema of task->db in the form of schema_json, allocated with malloc, under the policy of the task and
 * the catalogue. The index comes from the cache, which may have to build it. No error text names a file or a server.
 * Returns ERR_DB_MISSING, or errors of db_open and schema_cache_get. Uses databases, schemas and limits of `config`.
 * Thread: any. */
enum err_code worker_describe(const struct worker_config *config, const struct msg_task *task, char **json,
                              struct err *err);

/* Runs on the calling thread and on slow_threads of its own until worker_stop. Taken tasks are then finished, and the
 * rest stays in the transport. Any code but ERR_OK is of class fatal. Thread: eval. */
enum err_code worker_run(struct worker *worker, struct err *err);
/* Ends worker_run, which finishes the taken tasks first. Thread: any. */
void worker_stop(struct worker *worker);
/* Stops the current statements of that request as far as possible now; its remaining tasks are answered with
 * ERR_CANCELLED. Only for requests of one partition, as in the local transport. Returns true if some still run, so that
 * another call may be needed. Thread: any. */
bool worker_stop_request(struct worker *worker, struct msg_key request);
/* Adds this worker's counts to `into`. Thread: any. */
void worker_stats(struct worker *worker, struct worker_stats *into);
/* Returns the current state. Thread: any. */
struct worker_liveness worker_liveness(const struct worker *worker);

#endif
