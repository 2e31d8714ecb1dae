/* Queries one edit away from a query, on its database: slips for those who train, proposals for those who repair. */
#ifndef ASSAY_LIB_SCHEMA_EDITS_H
#define ASSAY_LIB_SCHEMA_EDITS_H

#include "lib/schema/schema.h"
#include "lib/sql/mutate.h"

struct schema_edits_options {
    bool values;                     /* may they hold values of the data, as the index has them? */
    const char *const *deny_columns; /* "table.column": those lend none */
    uint32_t n_deny_columns;
    uint64_t seed;
    uint32_t n; /* at most; 0: all */
};

/* Edits of `sql`, which must outlive the arena's use, drawn by the seed; the same options give the same ones. Count; -1 with
 * `err` set when the SQL does not parse or bind, or memory is short. Thread: any. */
int schema_edits(struct arena *arena, const struct schema_index *index, const struct schema_edits_options *options,
                 const char *sql, size_t len, struct sql_mutation **out, struct err *err);

#endif
