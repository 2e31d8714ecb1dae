/* A circuit breaker (lib/base/breaker.h) for each database. While the circuit is open, no task uses the failing
 * database. The database can recover, and tasks do not spend their deadlines on repeated failures.
 *
 * A failure is an unreachable server, a dropped connection, or a timeout while connecting or reading the catalogue. A
 * candidate's own statement that exceeds its time limit is not a failure. Otherwise a few bad candidates would block a
 * healthy database for all.
 *
 * An abandoned statement (lib/db/db.h) is one that its server still runs although this process no longer waits for it.
 * It uses a core and a connection of the server. While two or more of them run on a database, its circuit is open,
 * until the server reports that they have ended.
 */
#ifndef ASSAY_WORKER_DB_BREAKERS_H
#define ASSAY_WORKER_DB_BREAKERS_H

#include "lib/base/breaker.h"
#include "lib/base/error.h"
#include "lib/db/db.h"

struct breakers_config {
    uint32_t failures; /* consecutive failures that open the circuit; 0: 5 */
    /* First and longest pause; pauses double from one to the other. 0: 1,000 and 30,000. Each pause varies randomly by
     * up to a quarter. */
    int64_t pause_ms, most_pause_ms;
    bool only_abandoned; /* ignore failures; only abandoned statements open the circuit */
    int64_t ask_ms;      /* interval of queries about abandoned statements; 0: 1,000 */
    /* Functions that count a database's abandoned statements and query its server about them. NULL: those of lib/db. */
    struct db_abandoned (*count)(const char *path);
    enum err_code (*ask)(const char *path, struct err *err);
};

struct breakers;

/* Creates breakers. `config` may be NULL. Returns NULL if memory is short. Free with breakers_free. */
struct breakers *breakers_new(const struct breakers_config *config);
void breakers_free(struct breakers *breakers);

/* Checks whether a task of this database may run. Returns ERR_OK if it may; the caller must then call breakers_report.
 * Otherwise returns ERR_DB_UNAVAILABLE (retry), and the time until the next attempt in *wait_ms. Thread: any. */
enum err_code breakers_admit(struct breakers *breakers, const char *db, int64_t *wait_ms, struct err *err);
void breakers_report(struct breakers *breakers, const char *db, enum breaker_outcome outcome);

/* Checks, after breakers_admit, that at most one abandoned statement still runs on the database. `path` is the argument
 * of db_open. Queries the server at most once every ask_ms, in the calling thread, for at most two seconds.
 *
 * Returns ERR_DB_UNAVAILABLE (retry) if more statements run, and the time until the next attempt in *wait_ms. Even
 * then, the caller must call breakers_report. Thread: any.
 */
enum err_code breakers_check_abandoned(struct breakers *breakers, const char *db, const char *path, int64_t *wait_ms,
                                       struct err *err);
/* Calls `each` for each database on which a statement was ever abandoned. `each` must not call functions of this
 * module. Thread: any. */
typedef void breakers_abandoned_fn(void *ctx, const char *db, const struct db_abandoned *count);
void breakers_abandoned(struct breakers *breakers, breakers_abandoned_fn *each, void *ctx);

/* Return how often a circuit opened, and the number of databases with an open circuit. Thread: any. */
uint64_t breakers_opened(struct breakers *breakers);
uint32_t breakers_open_now(struct breakers *breakers);

#endif
