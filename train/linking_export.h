/* What a schema linker is trained on and asked with: a question, the schema it is about, what of the schema its words
 * name, and which tables and columns its gold query uses. docs/linking.md has the format.
 */
#ifndef ASSAY_TRAIN_LINKING_EXPORT_H
#define ASSAY_TRAIN_LINKING_EXPORT_H

#include "lib/question/question.h"

#include <jansson.h>

/* What a query uses of a schema: a mark for each of its tables, and of its columns by id. */
struct linking_used {
    bool *tables, *columns;
};

/* In the arena. ERR_MALFORMED: the query does not parse, or names what the schema has not; ERR_LIMIT_MEMORY. Thread: any. */
enum err_code linking_used_by(struct arena *arena, const struct schema_index *schema, const char *sql,
                              struct linking_used *out, struct err *err);

struct linking_export {
    struct arena *arena;
    const struct schema_index *schema;
    const struct question *question; /* read with that schema */
    const char *id, *db;             /* id may be NULL */
    const char *gold;                /* the gold query; NULL: not known, and the line has no `gold` */
};

/* The line; the caller owes json_decref. NULL with err: the gold query does not parse or bind, or memory is short.
 * Thread: any, an arena at a time. */
json_t *linking_export_line(const struct linking_export *from, struct err *err);

#endif
