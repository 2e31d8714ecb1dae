/* A worker: takes tasks of its families, runs their signals, answers with results.
 *
 * It knows databases by the name in the task and finds their files under its own roots, so that no message can name a
 * path. It keeps, for itself, a few open databases, the analysis of the last question and the last parsed candidate, so
 * that the families of one candidate and the candidates of one request share that work when they come together.
 */
#ifndef ASSAY_WORKER_WORKER_H
#define ASSAY_WORKER_WORKER_H

#include "lib/db/db.h"
#include "lib/schema/schema.h"
#include "proto/transport.h"
#include "signals/vsig.h"

/* A database that is not under a root. */
struct worker_database {
    const char *name, *path;
};

struct worker_databases {
    const char *const *roots; /* <root>/<db>/<db>.sqlite, else <root>/<db>.sqlite; the first that exists */
    uint32_t n_roots;
    const struct worker_database *files; /* looked at first */
    uint32_t n_files;
};

/* The file of a database, malloc'd into *path. ERR_DB_MISSING: none; also for names that could leave the root (empty, a
 * slash, a leading dot, control characters, more than MSG_MAX_NAME bytes). Thread: any. */
enum err_code worker_database_path(const struct worker_databases *databases, const char *name, char **path,
                                   struct err *err);

/* Does a statement use one of these columns ("table.column", or "column"), whose values are never shown? A star, and
 * what did not bind, count as if. Thread: any. */
bool worker_uses_denied(const struct schema_index *schema, const struct sql_bound *bound, const char *const *names,
                        uint32_t n);

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
    int64_t explain_ms;     /* for all statements that explaining one candidate runs; 0: 1,000 */
    uint32_t sample_rows;   /* shown where the policy exposes rows; 0: 5 */
};

struct worker_stats {
    uint64_t tasks, late, retried, dead, failed;
    int64_t busy_ns; /* wall clock inside tasks */
    int64_t signal_ns[VSIG_ID_END];
    uint64_t signal_runs[VSIG_ID_END];
    int64_t parse_ns, execute_ns, prepare_ns; /* shared work: parsing and binding; running and preparing candidates */
    uint64_t candidates, executed;
};

struct worker;

/* Subscribes. `config` is copied, its pointers must outlive the worker. */
enum err_code worker_new(const struct worker_config *config, struct worker **out, struct err *err);
void worker_free(struct worker *worker);

/* Run on the calling thread until worker_stop: what was taken is finished, the rest stays with the transport. Anything
 * but ERR_OK is of class fatal. Thread: eval. */
enum err_code worker_run(struct worker *worker, struct err *err);
/* Thread: any. */
void worker_stop(struct worker *worker);
/* Add this worker's counts to `into`. Thread: any. */
void worker_stats(struct worker *worker, struct worker_stats *into);

#endif
