/* Do the operator's denied columns exist? An entry that matches no column would deny nothing in silence, so that it is
 * an error before anything is judged. */
#ifndef ASSAY_WORKER_DENY_CHECK_H
#define ASSAY_WORKER_DENY_CHECK_H

#include "worker/worker.h"

/* Entries that somebody wrote down, and the databases that they are for. */
struct deny_scope {
    const char *owner;            /* for messages: "fleet.yaml:12: database shop" */
    const char *const *databases; /* names; ends with NULL. NULL: all */
    const char *const *entries;
    uint32_t n;
};

/* Checks that every entry matches a column of at least one of its scope's databases. Opens the databases one after the
 * other until all entries have matched, and reads their catalogues. An entry stays undecided if it matched nowhere and
 * one of its databases cannot be read, or none of them exists: `warn` (may be NULL) is called with a sentence that
 * names no location. ERR_CONFIG: `err` names the owner, the entry and a way out; also if an entry is malformed.
 * ERR_LIMIT_MEMORY. Thread: any. Takes 10 seconds and the time of the last database at most. */
enum err_code deny_check(const struct worker_databases *databases, const struct deny_scope *scopes, uint32_t n,
                         void (*warn)(const char *text), struct err *err);

#endif
