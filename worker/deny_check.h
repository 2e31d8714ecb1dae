/* Checks that the columns which the operator denies exist. An entry without a matching column would deny nothing,
 * without any notice. It is therefore an error at startup. */
#ifndef ASSAY_WORKER_DENY_CHECK_H
#define ASSAY_WORKER_DENY_CHECK_H

#include "worker/worker.h"

/* Configured entries, and the databases that they apply to. */
struct deny_scope {
    const char *owner;            /* origin of the entries, for messages: "fleet.yaml:12: database shop" */
    const char *const *databases; /* names, ending with NULL; a NULL pointer means all databases */
    const char *const *entries;
    uint32_t n;
};

/* Checks that every entry matches a column of at least one of its scope's databases. Opens the databases one after the
 * other until all entries have matched, and reads their catalogues.
 *
 * An unmatched entry is undecided if one of its databases is unreadable, or if no database exists. `warn` (may be NULL)
 * is then called with a sentence that names no location. Returns ERR_CONFIG for an unmatched or malformed entry; `err`
 * names the owner, the entry and a remedy. May return ERR_LIMIT_MEMORY. Takes at most 10 seconds plus the time of the
 * last database. Thread: any.
 */
enum err_code deny_check(const struct worker_databases *databases, const struct deny_scope *scopes, uint32_t n,
                         void (*warn)(const char *text), struct err *err);

#endif
