/* Writes the input of a schema linker, for training and for use: a question and its schema. A line also lists the parts
 * of the schema that words of the question name, and the tables and columns of the gold query. The format is in
 * docs/linking.md. */
#ifndef ASSAY_TRAIN_LINKING_EXPORT_H
#define ASSAY_TRAIN_LINKING_EXPORT_H

#include "lib/question/question.h"

#include <jansson.h>

/* The tables and columns that a query uses: one flag for each table, and one for each column, by its id. */
struct linking_used {
    bool *tables, *columns;
};

/* Finds the tables and columns of a query, in the arena. Returns ERR_MALFORMED if the query does not parse or has names
 * that are not in the schema, or ERR_LIMIT_MEMORY. Thread: any. */
enum err_code linking_used_by(struct arena *arena, const struct schema_index *schema, const char *sql,
                              struct linking_used *out, struct err *err);

struct linking_export {
    struct arena *arena;
    const struct schema_index *schema;
    const struct question *question; /* read with that schema */
    const char *id, *db;             /* id may be NULL */
    const char *gold;                /* the gold query; NULL if unknown, and the line has no `gold` */
};

/* Returns the line. Release with json_decref. Returns NULL with `err` set if the gold query does not parse or bind, or
 * memory runs out. Thread: any, with a separate arena. */
json_t *linking_export_line(const struct linking_export *from, struct err *err);

#endif
