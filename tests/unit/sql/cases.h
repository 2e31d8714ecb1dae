/* Golden cases of lib/sql: blocks of `key: value` lines, separated by empty lines; # begins a comment line. The first
 * line of a block is `case: <description>`. A block may instead consist of `schema: ...` lines, which apply from there
 * on. */
#ifndef ASSAY_TESTS_UNIT_SQL_CASES_H
#define ASSAY_TESTS_UNIT_SQL_CASES_H

#include <stddef.h>

struct case_field {
    const char *key, *value;
};

struct golden_case {
    const char *file, *name, *schema; /* schema: all `schema:` values so far, one a line */
    int line;
    struct case_field *fields; /* without `case:` */
    size_t n_fields;
};

/* Reads TEST_DATA/sql/<file> and calls `each` for every case. Returns the number of cases. */
size_t cases_each(const char *file, void (*each)(const struct golden_case *c, void *self), void *self);

/* Returns the first field of that key, or NULL. */
const char *case_get(const struct golden_case *c, const char *key);

#endif
