/* Golden cases of lib/sql: blocks of `key: value` lines, separated by empty lines; # begins a comment line. The first
 * line of a block is `case: <description>`. A block may instead consist of `schema: ...` lines, which apply to all
 * later cases. */
#ifndef ASSAY_TESTS_UNIT_SQL_CASES_H
#define ASSAY_TESTS_UNIT_SQL_CASES_H

#include <stddef.h>

struct case_field {
    const char *key, *value;
};

struct golden_case {
    const char *file, *name, *schema; /* `schema` has all `schema:` values up to this case, one on a line */
    int line;
    struct case_field *fields; /* all fields except `case:` */
    size_t n_fields;
};

/* Reads TEST_DATA/sql/<file> and calls `each` for every case. Returns the number of cases. */
size_t cases_each(const char *file, void (*each)(const struct golden_case *c, void *self), void *self);

/* Returns the first value with that key, or NULL. */
const char *case_get(const struct golden_case *c, const char *key);

#endif
