/* Stores verdicts by id in a SQLite file, so that callers can read them after a restart and longer than memory allows.
 *
 * DESIGN. One thread writes in groups; a caller appends its verdict to a queue and does not wait. If the process is
 * killed, verdicts in the queue are missing from the file. No other component and no guarantee depends on the file. The
 * file contains the newest verdicts up to max_bytes. If the disk is too slow, the queue reaches its limit and further
 * verdicts are dropped and counted. The file contains questions, SQL and values, so only its owner may read it.
 */
#ifndef ASSAY_SERVER_VERDICT_STORE_H
#define ASSAY_SERVER_VERDICT_STORE_H

#include "lib/base/error.h"

#include <glib.h>
#include <stdint.h>

struct verdict_store;

/* Opens or creates the file. Returns ERR_IO or ERR_VERSION if it cannot be used, ERR_DB_LOCKED if another process uses
 * it. The lock lasts until the store closes or the process ends; child processes do not inherit it. */
enum err_code verdict_store_open(const char *path, size_t max_bytes, struct verdict_store **out, struct err *err);
/* Writes the queued verdicts and closes the file. NULL is allowed. */
void verdict_store_close(struct verdict_store *store);

/* Stores a verdict (JSON) under its tenant ("" without tenants) and id; replaces an older one. Copies the texts and
 * takes a reference to `json`. Thread: any. */
void verdict_store_put(struct verdict_store *store, const char *tenant, const char *id, GBytes *json);
/* Returns a reference to the verdict; NULL if there is none or it cannot be read. Reads the file. Thread: any. */
GBytes *verdict_store_find(struct verdict_store *store, const char *tenant, const char *id);

struct verdict_store_stats {
    uint64_t written, dropped, failed; /* numbers of verdicts */
    uint64_t bytes;                    /* size of the verdicts in the file */
};
/* Copies the counts. Thread: any. */
void verdict_store_get_stats(struct verdict_store *store, struct verdict_store_stats *out);

#endif
