/* Describes a schema as text. */
#ifndef ASSAY_LIB_SCHEMA_DESCRIBE_H
#define ASSAY_LIB_SCHEMA_DESCRIBE_H

#include "lib/schema/schema.h"

struct schema_describe_options {
    bool values;                     /* true to show some values of each column */
    const char *const *deny_columns; /* "table.column" entries whose values are never shown */
    uint32_t n_deny_columns;
    size_t max_bytes; /* approximate maximum length of the text; the rest is left out */
};

/* Writes the tables with their rows, columns and references, one on each line, in valid UTF-8. A column has its type,
 * key, description and some frequent values. Returns NULL if the arena is full. Thread: any. */
const char *schema_describe(struct arena *arena, const struct schema_index *index,
                            const struct schema_describe_options *options);

#endif
