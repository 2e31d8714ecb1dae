/* The objects of a count: rows, where a column holds the number that the question asks for. */
#ifndef ASSAY_SIGNALS_SUPPORT_COUNTED_H
#define ASSAY_SIGNALS_SUPPORT_COUNTED_H

#include "signals/vsig.h"

struct vsig_counted_things {
    const struct sql_node *amounts;     /* first COUNT of a column that holds amounts; NULL */
    const struct schema_column *amount; /* that column */
    const struct sql_node *rows;        /* the first COUNT of rows or keys; NULL */
    const struct schema_column *held;   /* an unused column that holds the requested number; NULL */
    float asked;                        /* how well the counted thing names a table: 0..1; NAN if there is no cue */
    float counted;                      /* how well it names the table whose rows are counted */
    int asked_table;                    /* the table that it names best; -1 */
};

/* Fills `things`. Without a question, only amounts and rows are set. Bounded by the statement and the question's
 * mentions. */
void vsig_counted_look(const struct vsig_subject *subject, struct vsig_counted_things *things);

/* True for a column of amounts or counts: its numbers are not a key, code, year or rank. */
bool vsig_holds_amounts(const struct vsig_subject *subject, const struct schema_column *column);

#endif
