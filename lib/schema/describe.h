/* A schema as text. */
#ifndef ASSAY_LIB_SCHEMA_DESCRIBE_H
#define ASSAY_LIB_SCHEMA_DESCRIBE_H

#include "lib/schema/schema.h"

struct schema_describe_options {
    bool values;                     /* may some values of each column be shown? */
    const char *const *deny_columns; /* "table.column": none of theirs */
    uint32_t n_deny_columns;
    size_t max_bytes; /* of the text, about; what does not fit is left out */
};

/* Tables with their rows, columns with type, key, some frequent values and description, and what refers to what, a line each; valid
 * UTF-8. NULL when the arena is full. Thread: any. */
const char *schema_describe(struct arena *arena, const struct schema_index *index,
                            const struct schema_describe_options *options);

#endif
