/* In which state each database is that this process judges: told with every result, and published for coordinators that keep verdicts
 * (cache_verdicts.h).
 *
 * DESIGN. A state is a hash of all that a worker's answer rests on beside the task: the data and the schema, as db_fingerprint sees them, the
 * options of the index with the denied columns, the description files and this version (schema_blob_key), what may leave, the limits,
 * the signals and their options. Two workers that could answer otherwise have different states.
 *
 * A thread looks at each database of the last IDLE_MS once in LOOK_MS, through a handle of its own, and publishes its state, which expires
 * STATE_MS after that look. So a write is seen by who looks for verdicts LOOK_MS later, or, where the worker dies just then, STATE_MS later; and
 * where nothing is judged any more, since every verdict is found, the database is judged again after IDLE_MS. A database whose
 * fingerprint does not tell every change (db_tells_changes) has no state.
 *
 * Rejected: publishing with each task alone (a verdict that is found makes no task, so that writes would go unseen until
 * the state expires); looking from the coordinator (it opens no database).
 */
#ifndef ASSAY_WORKER_DB_STATES_H
#define ASSAY_WORKER_DB_STATES_H

#include "worker/cache_verdicts.h"
#include "worker/worker.h"

struct db_states;

/* Of `worker` it takes databases, schemas, signals and limits, which must outlive it; `redis` is copied. ERR_CONFIG as cache_open, ERR_NOMEM. */
enum err_code db_states_open(const struct cache_config *redis, const struct worker_config *worker,
                             struct db_states **out, struct err *err);
void db_states_close(struct db_states *states); /* NULL is fine */

/* The state of that database, of which the handle has seen this fingerprint; from now on it is looked at. False: it cannot be told. Thread: any. */
bool db_states_of(struct db_states *states, const struct db *db, const char *name, const char *path,
                  const char fingerprint[33], char out[STATE_TEXT]);

#endif
