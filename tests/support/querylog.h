/* Reads the query logs under ../shared/data, for tests that check every candidate. */
#ifndef ASSAY_TESTS_SUPPORT_QUERYLOG_H
#define ASSAY_TESTS_SUPPORT_QUERYLOG_H

#include <stdbool.h>
#include <stddef.h>

#include "tests/support/catalog_sqlite.h"

struct querylog_line {
    const char *log, *id, *db;
    const char *gold;              /* may be NULL */
    const char *const *candidates; /* SQL texts */
    size_t n_candidates;
    struct catalog_sqlite *catalog; /* catalog of the line's database; lives until querylog_each returns */
};

/* Calls `each` for every line of the logs whose name begins with `which` ("train.gold", "dev.", ...), or of all logs if
 * `which` is NULL. Leaves out lines whose database does not exist. Returns the number of lines; 0 if there are no
 * logs. */
size_t querylog_each(const char *which, void (*each)(const struct querylog_line *line, void *self), void *self);

#endif
