/* A circuit breaker (lib/base/breaker.h) for each database. A failing database is not called for a while, so that it
 * can recover and its tasks do not spend their deadlines on repeated failures.
 *
 * A failure is an unreachable server, a dropped connection, or a timeout while connecting or reading the catalogue. A
 * candidate's own statement that exceeds its time limit is not a failure. Otherwise a few bad candidates would block a
 * healthy database for all.
 *
 * A statement that its server still runs after it was abandoned (lib/db/db.h) holds a core and a connection there.
 * While two of them run, the circuit of their database is open, until the server reports that they have ended.
 */
#ifndef ASSAY_WORKER_DB_BREAKERS_H
#define ASSAY_WORKER_DB_BREAKERS_H

#include "lib/base/breaker.h"
#include "lib/base/error.h"
#include "lib/db/db.h"

struct breakers_config {
    uint32_t failures; /* in a row; 0: 5 */
    /* First and longest pause, doubling between; 0: 1,000 and 30,000. A pause varies by a quarter. */
    int64_t pause_ms, most_pause_ms;
    bool only_abandoned; /* ignore failures; only abandoned statements open the circuit */
    int64_t ask_ms;      /* interval of queries about abandoned statements; 0: 1,000 */
    /* Count a database's abandoned statements, and query its server about them; NULL: the functions of lib/db. */
    struct db_abandoned (*count)(const char *path);
    enum err_code (*ask)(const char *path, struct err *err);
};

struct breakers;

/* Creates breakers. `config` may be NULL. Returns NULL if memory is short. Free with breakers_free. */
struct breakers *breakers_new(const struct breakers_config *config);
void breakers_free(struct breakers *breakers);

/* Tells whether a task of this database may run. Returns ERR_OK if so; the caller must then call breakers_report.
 * Returns ERR_DB_UNAVAILABLE (retry) otherwise, with the time until the next attempt in *wait_ms. Thread: any. */
enum err_code breakers_admit(struct breakers *breakers, const char *db, int64_t *wait_ms, struct err *err);
void breakers_report(struct breakers *breakers, const char *db, enum breaker_outcome outcome);

/* Checks, after breakers_admit, that at most one abandoned statement still runs on the database. `path` is the argument
 * of db_open. Queries the server at most every ask_ms, in the calling thread, for at most two seconds. Returns
 * ERR_DB_UNAVAILABLE (retry) if more run, with the time until the next attempt in *wait_ms. The caller must still call
 * breakers_report. Thread: any. */
enum err_code breakers_check_abandoned(struct breakers *breakers, const char *db, const char *path, int64_t *wait_ms,
                                       struct err *err);
/* Calls `each` for each database on which a statement was ever abandoned. `each` must not call this module. Thread:
 * any. */
typedef void breakers_abandoned_fn(void *ctx, const char *db, const struct db_abandoned *count);
void breakers_abandoned(struct breakers *breakers, breakers_abandoned_fn *each, void *ctx);

/* Return how often a circuit opened, and the number of databases with an open circuit. Thread: any. */
uint64_t breakers_opened(struct breakers *breakers);
uint32_t breakers_open_now(struct breakers *breakers);

#endif
