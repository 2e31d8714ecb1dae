/* The state of each database that this process judges. Every result contains it. It is also published for coordinators
 * that cache verdicts (cache_verdicts.h).
 *
 * DESIGN: a state is a hash of all inputs of a worker's answer besides the task. The data and the schema are covered by
 * db_fingerprint. The index options, with the denied columns, the description files and this version, are covered by
 * schema_blob_key. The hash also covers the exposure, the limits, the signals and their options. Workers that could
 * answer differently have different states.
 *
 * A thread inspects each database used in the last IDLE_MS once in LOOK_MS, through its own handle. It publishes the
 * state, which expires STATE_MS after that inspection. Verdict lookups therefore notice a write after LOOK_MS, or after
 * STATE_MS if the worker dies in between. If all verdicts are cache hits, no task arrives. After IDLE_MS the thread
 * then stops inspecting, the state expires, and the next request is judged. A database whose fingerprint does not show
 * every change (db_tells_changes) has no state.
 *
 * Rejected: publishing only with tasks. A cache hit sends no task, so a write would be unnoticed until the state
 * expires. Rejected: inspecting from the coordinator, which opens no database.
 */
#ifndef ASSAY_WORKER_DB_STATES_H
#define ASSAY_WORKER_DB_STATES_H

#include "worker/cache_verdicts.h"
#include "worker/worker.h"

struct db_states;

/* Starts inspecting. Uses databases, schemas, signals and limits of `worker`, which must outlive the object. `redis` is
 * copied. Returns ERR_CONFIG as cache_open does, or ERR_NOMEM. */
enum err_code db_states_open(const struct cache_config *redis, const struct worker_config *worker,
                             struct db_states **out, struct err *err);
void db_states_close(struct db_states *states); /* NULL is allowed */

/* Writes the state of a database with this fingerprint, and inspects the database from now on. Returns false if the
 * state is unknown. Thread: any. */
bool db_states_of(struct db_states *states, const struct db *db, const char *name, const char *path,
                  const char fingerprint[33], char out[STATE_TEXT]);

#endif
