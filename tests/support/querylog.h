/* Reading the query logs under ../shared/data, for tests that check something on every candidate. */
#ifndef ASSAY_TESTS_SUPPORT_QUERYLOG_H
#define ASSAY_TESTS_SUPPORT_QUERYLOG_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/support/catalog_sqlite.h"

struct querylog_line {
    const char *log, *id, *db;
    const char *gold;              /* may be NULL */
    const char *const *candidates; /* texts */
    size_t n_candidates;
    struct catalog_sqlite *catalog; /* of the line's database; lives as long as the whole reading */
};

/* Call `each` for every line of these logs, all if `which` is NULL ("train.gold", "dev.", ... : what the name begins
 * with). Lines whose database is absent are left out. Returns the number of lines; 0 when there are no logs. */
size_t querylog_each(const char *which, void (*each)(const struct querylog_line *line, void *self), void *self);

#endif
