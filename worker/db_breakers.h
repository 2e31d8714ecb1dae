/* A circuit breaker (lib/base/breaker.h) for each database: one that does not answer is left alone, so that it can come
 * back and so that its tasks do not spend their deadlines on finding out again.
 *
 * What counts as a failure is that the server cannot be reached, drops the connection, takes too long to be connected
 * to, or does not let its catalogue be read in time. That a candidate's own statement runs into its time limit does
 * not: otherwise a few bad candidates would shut a healthy database for everybody.
 *
 * A statement that its server still runs after it was given up (lib/db/db.h) holds a core and a connection there. While two
 * of them run on a database it is left alone, until the server says that they are gone.
 */
#ifndef ASSAY_WORKER_DB_BREAKERS_H
#define ASSAY_WORKER_DB_BREAKERS_H

#include "lib/base/breaker.h"
#include "lib/base/error.h"
#include "lib/db/db.h"

struct breakers_config {
    uint32_t failures;               /* in a row; 0: 5 */
    int64_t pause_ms, most_pause_ms; /* of the first pause, and of all: doubling between; 0: 1,000 and 30,000. A pause
                                        is this, give or take a quarter */
    bool only_abandoned;             /* failures open nothing; statements that run on after they were given up do */
    int64_t ask_ms;                  /* between two questions whether these still run; 0: 1,000 */
    /* What is known of a database's abandoned statements, and the question to its server; NULL: those of lib/db. */
    struct db_abandoned (*count)(const char *path);
    enum err_code (*ask)(const char *path, struct err *err);
};

struct breakers;

/* NULL: no memory. `config` may be NULL. The caller owes breakers_free. */
struct breakers *breakers_new(const struct breakers_config *config);
void breakers_free(struct breakers *breakers);

/* May a task of this database be looked at? ERR_OK: yes, and breakers_report is owed. ERR_DB_UNAVAILABLE (retry): not
 * now; *wait_ms is when to ask again. Thread: any. */
enum err_code breakers_admit(struct breakers *breakers, const char *db, int64_t *wait_ms, struct err *err);
void breakers_report(struct breakers *breakers, const char *db, enum breaker_outcome outcome);

/* After breakers_admit: checks that at most one statement that was given up on the database still runs. `path` is what db_open
 * takes. Asks the server at most every ask_ms, in the calling thread, which takes two seconds at most. ERR_DB_UNAVAILABLE
 * (retry): they do, and *wait_ms is when to ask again; breakers_report is still owed. Thread: any. */
enum err_code breakers_check_abandoned(struct breakers *breakers, const char *db, const char *path, int64_t *wait_ms,
                                       struct err *err);
/* Calls `each` for each database on which a statement was ever given up so. `each` may not call this module. Thread: any. */
typedef void breakers_abandoned_fn(void *ctx, const char *db, const struct db_abandoned *count);
void breakers_abandoned(struct breakers *breakers, breakers_abandoned_fn *each, void *ctx);

/* Times that one opened, and databases that are open now. Thread: any. */
uint64_t breakers_opened(struct breakers *breakers);
uint32_t breakers_open_now(struct breakers *breakers);

#endif
