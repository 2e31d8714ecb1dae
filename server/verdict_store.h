/* Verdicts by id in a SQLite file, so that they can be asked for after a restart, and longer than memory holds them.
 *
 * DESIGN. One thread writes, in groups: whoever has a verdict hands it over and goes on. What is not yet written when the process is killed is lost
 * from here, and nothing else: the file is a convenience, and no promise rests on it. The newest verdicts of max_bytes are kept. When the disk does not
 * keep up, the queue is bounded and the newest is dropped; that is counted. The file holds questions, SQL and values that verdicts hold: it is made
 * readable by its owner alone. */
#ifndef ASSAY_SERVER_VERDICT_STORE_H
#define ASSAY_SERVER_VERDICT_STORE_H

#include "lib/base/error.h"

#include <glib.h>
#include <stdint.h>

struct verdict_store;

/* Opens the file, or makes it. ERR_IO, ERR_VERSION: no such file can be used; ERR_DB_LOCKED: another process keeps its verdicts
 * there. The lock holds until the store closes or the process ends, and no process that it starts inherits it. */
enum err_code verdict_store_open(const char *path, size_t max_bytes, struct verdict_store **out, struct err *err);
/* What was put is written first. NULL is fine. */
void verdict_store_close(struct verdict_store *store);

/* Keeps a verdict (JSON) under its tenant ("": none) and id, in place of an older one. It is copied, with a reference to its body. Thread: any. */
void verdict_store_put(struct verdict_store *store, const char *tenant, const char *id, GBytes *json);
/* A reference for the caller; NULL: there is none, or it cannot be read. Looks at the file. Thread: any. */
GBytes *verdict_store_find(struct verdict_store *store, const char *tenant, const char *id);

struct verdict_store_stats {
    uint64_t written, dropped, failed; /* verdicts */
    uint64_t bytes;                    /* in the file */
};
/* Thread: any. */
void verdict_store_get_stats(struct verdict_store *store, struct verdict_store_stats *out);

#endif
