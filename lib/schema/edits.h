/* Creates variants of a query that differ from it by one edit, on its database. They serve as wrong queries for
 * training and as proposals for repair.
 */
#ifndef ASSAY_LIB_SCHEMA_EDITS_H
#define ASSAY_LIB_SCHEMA_EDITS_H

#include "lib/schema/schema.h"
#include "lib/sql/mutate.h"

struct schema_edits_options {
    bool values;                     /* true to use values of the index */
    const char *const *deny_columns; /* "table.column" entries whose values are never used */
    uint32_t n_deny_columns;
    uint64_t seed;
    uint32_t n; /* maximum number; 0 means all */
};

/* Creates edits of `sql`, which must live as long as the arena's contents are used. The seed selects the edits: equal
 * options give equal edits. Returns their number. Returns -1 with `err` set if the SQL does not parse or bind, or
 * memory is exhausted. Thread: any. */
int schema_edits(struct arena *arena, const struct schema_index *index, const struct schema_edits_options *options,
                 const char *sql, size_t len, struct sql_mutation **out, struct err *err);

#endif
