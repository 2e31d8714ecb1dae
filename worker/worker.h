/* A worker: takes tasks of its families, runs their signals, answers with results.
 *
 * It knows databases by the name in the task and finds their files under its own roots, so that no message can name a
 * path. It keeps, for itself, a few open databases, the analysis of the last question and the last parsed candidate, so
 * that the families of one candidate and the candidates of one request share that work when they come together.
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

/* What becomes of a statement that reads a denied column: it is not run, or it runs and what it returns is hidden. Only
 * refusing is a boundary: a filter on a hidden column still tells what the column holds. */
enum worker_deny { WORKER_DENY_UNSET, WORKER_DENY_REFUSE, WORKER_DENY_HIDE };

/* A database of the catalogue: one that is not under a root, and what its owner allows. Zero is the default. */
struct worker_database {
    const char *name, *path;         /* a file, or a connection string, which may hold a secret */
    const char *descriptions;        /* folder; NULL: as the schema cache has it */
    enum msg_expose expose;          /* the most that may leave, whatever a request asks for; unset: what it asks for */
    const char *const *deny_columns; /* likewise, beside a request's own */
    uint32_t n_deny_columns;
    enum worker_deny deny_mode; /* unset: as of all databases */
    uint32_t max_statements;    /* at a time, of the whole fleet (permits.h); 0: any number */
    struct db_limits limits;    /* zeros: the worker's */
};

struct worker_databases {
    const char *const *roots; /* <root>/<db>/<db>.sqlite, else <root>/<db>.sqlite; the first that exists */
    uint32_t n_roots;
    const struct worker_database *files; /* looked at first */
    uint32_t n_files;
    const char *const *deny_columns; /* of all of them */
    uint32_t n_deny_columns;
    enum worker_deny deny_mode; /* unset: statements that read a denied column are not run */
};

/* The entry of that name; NULL: it is none of the catalogue's. Thread: any. */
const struct worker_database *worker_database_find(const struct worker_databases *databases, const char *name);

/* The names of all of them, sorted, once each: of the catalogue, and of what lies under the roots now; at most
 * WORKER_MAX_NAMES. Reads folders. Text is the arena's. ERR_LIMIT_MEMORY. Thread: any. */
enum { WORKER_MAX_NAMES = 10000 };
enum err_code worker_databases_names(const struct worker_databases *databases, struct arena *arena,
                                     const char *const **names, uint32_t *n, struct err *err);

/* Have a schema cache build each index as its entry says: without the values of denied columns, with its descriptions,
 * and, where nothing may be exposed, kept in this process alone. `base` holds for the rest, and for databases under a
 * root, as the cache was made with it. Once, before the first worker. `databases` and `arena` (of joined lists; may be
 * NULL where `databases` denies no columns of its own) must outlive the cache. ERR_NOMEM. */
enum err_code worker_databases_apply(const struct worker_databases *databases, struct schema_cache *schemas,
                                     const struct schema_options *base, struct arena *arena, struct err *err);

/* The less exposed of what is asked for and what the entry of that name, if there is one, allows. Thread: any. */
enum msg_expose worker_expose(const struct worker_databases *databases, const char *name, enum msg_expose requested);

/* True if the operator has denied columns of that database hidden; false if statements that read one are not run. No request
 * has a say in it. Thread: any. */
bool worker_hides_denied(const struct worker_databases *databases, const char *name);

/* INVARIANT stricter: make the task's policy the stricter of what the request asks for and what the entry allows:
 * least exposed, all columns denied by either. Whatever writes a result looks at the task alone. Text and lists are the
 * arena's. ERR_LIMIT_MEMORY. Thread: any. */
enum err_code worker_policy(const struct worker_databases *databases, struct arena *arena, struct msg_task *task,
                            struct err *err);

/* The file of a database, malloc'd into *path. ERR_DB_MISSING: none; also for names that could leave the root (empty, a
 * slash, a leading dot, control characters, more than MSG_MAX_NAME bytes). Thread: any. */
enum err_code worker_database_path(const struct worker_databases *databases, const char *name, char **path,
                                   struct err *err);

/* Logs why a database cannot be used, for the operator alone: the text may name its location. The name of a database
 * that does not exist is the requester's word, and not shown. Thread: any. */
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
    uint32_t max_databases; /* open at a time; 0: 16 */
    uint32_t max_attempts;  /* of a task whose failure may pass (a locked database); 0: 5 */
    int64_t retry_ms;       /* before the first new attempt, doubling; 0: 20 */
    uint32_t slow_threads;  /* that go on with slow candidates while others are judged; 0: none */
    int64_t slow_ms;        /* a candidate that takes longer is slow; 0: 20 */
    int64_t explain_ms;     /* for all statements that explaining one candidate runs; 0: 1,000 */
    uint32_t sample_rows;   /* shown where the policy exposes rows; 0: 5 */
    const char *executor; /* the program in whose processes statements on SQLite run (lib/db/executor.h); NULL: here */

    /* Shared by the threads of a process; NULL: none. */
    struct llm *llm;           /* that the family llm asks; without it that family is not served */
    struct examples *examples; /* whose edits are tried on a query that is to be repaired */
    struct breakers *breakers; /* a database that does not answer is left alone */
    struct permits *permits;   /* holds max_statements of the catalogue's entries */
    struct db_states *states;  /* of its databases, for results to tell */
    struct tracer *tracer;     /* of tasks that come with a trace */

    /* Judge a task, as its bytes came, in a process of its own (isolated.h), within limit_ms; its result is encoded in
     * *result. Called for tasks that were delivered to max_crashes (0: 2) processes that died. NULL: nobody is
     * suspected. Thread: eval. */
    enum err_code (*evaluate_isolated)(void *ctx, const void *task, size_t len, int64_t limit_ms,
                                       struct msg_buffer *result, struct err *err);
    void *isolated_ctx;
    uint32_t max_crashes;

    /* Failures are answered with the text of whatever failed, which names files and servers: for a user who named them
     * on the command line. False: with the database's name and the code's meaning. */
    bool shows_locations;
};

struct worker_stats {
    uint64_t tasks, answered, late, retried, dead, failed; /* failed: answered as unavailable, or not at all */
    int64_t busy_ns;                                       /* wall clock inside tasks */
    int64_t signal_ns[VSIG_ID_END];
    uint64_t signal_runs[VSIG_ID_END];
    uint64_t signal_fired[VSIG_ID_END], signal_unavailable[VSIG_ID_END]; /* of these */
    int64_t parse_ns, execute_ns, prepare_ns; /* shared work: parsing and binding; running and preparing candidates */
    uint64_t candidates, executed;
    struct executor_stats executors; /* processes in which statements ran */
    uint64_t slow;                   /* candidates that were judged aside, as they took longer than slow_ms */
    uint32_t slow_running;           /* of these now */
    uint64_t isolated;               /* tasks judged in a process of their own */
    uint64_t dead_by[ERR_COUNT];     /* of dead, by what was wrong with them */
    struct metrics_histogram families[VSIG_FAMILY_COUNT]; /* from taking a task up to its answer or failure */
    struct metrics_histogram task_reads;                  /* from a task's arrival in its topic until it was taken up */
};

/* How a worker is right now. */
struct worker_liveness {
    /* When it last took or polled a task, on clock_now_ns's clock: of its threads at work the one for which that is
     * longest ago. 0: it has not run. */
    int64_t heartbeat_ns;
    uint32_t in_flight; /* tasks taken and not yet answered */
};

struct worker;

/* Subscribes. `config` is copied, its pointers must outlive the worker. */
enum err_code worker_new(const struct worker_config *config, struct worker **out, struct err *err);
void worker_free(struct worker *worker);

/* The schema of task->db as schema_json has it, from malloc, with what the task and the catalogue allow; the index is that of the cache, which may have
 * to build it. No text of an error names a file or a server. ERR_DB_MISSING, errors of db_open and schema_cache_get. Of
 * `config` it takes databases, schemas and limits. Thread: any. */
enum err_code worker_describe(const struct worker_config *config, const struct msg_task *task, char **json,
                              struct err *err);

/* Run on the calling thread, and slow_threads of its own, until worker_stop: what was taken is finished, the rest stays
 * with the transport. Anything but ERR_OK is of class fatal. Thread: eval. */
enum err_code worker_run(struct worker *worker, struct err *err);
/* Thread: any. */
void worker_stop(struct worker *worker);
/* Stops what the worker has in hand of that request, as far as it can be stopped now; the rest of it is answered with
 * ERR_CANCELLED. For requests of one partition, as the local transport has. True: some is still in hand, so that
 * another call may be needed. Thread: any. */
bool worker_stop_request(struct worker *worker, struct msg_key request);
/* Add this worker's counts to `into`. Thread: any. */
void worker_stats(struct worker *worker, struct worker_stats *into);
/* Thread: any. */
struct worker_liveness worker_liveness(const struct worker *worker);

#endif
