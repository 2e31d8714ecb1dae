/* Queries one edit away from a query, on its database: slips for those who train, proposals for those who repair. */
#ifndef ASSAY_LIB_SCHEMA_EDITS_H
#define ASSAY_LIB_SCHEMA_EDITS_H

#include "lib/schema/schema.h"
#include "lib/sql/mutate.h"

/* Up to n edits (0: all) of `sql`, which must outlive the arena's use, drawn by `seed`; the same seed gives the same ones.
 * `values`: may they hold values of the data, as the index has them? Count; -1 with `err` set when the SQL does not
 * parse or bind, or memory is short. Thread: any. */
int schema_edits(struct arena *arena, const struct schema_index *index, bool values, const char *sql, size_t len,
                 uint64_t seed, uint32_t n, struct sql_mutation **out, struct err *err);

#endif
