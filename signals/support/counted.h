/* Compares the objects that a query counts with those that the question asks for. The query may count rows, while a
 * column already holds the number. */
#ifndef ASSAY_SIGNALS_SUPPORT_COUNTED_H
#define ASSAY_SIGNALS_SUPPORT_COUNTED_H

#include "signals/vsig.h"

struct vsig_counted_things {
    const struct sql_node *amounts;     /* the first COUNT of a column that holds amounts; NULL if there is none */
    const struct schema_column *amount; /* the column that `amounts` counts */
    const struct sql_node *rows;        /* the first COUNT of the query; NULL if there is none */
    const struct schema_column *held;   /* an unused column that holds the requested number; NULL if there is none */
    float asked;                        /* 0..1: how well the words for the counted things name a table; NAN if no word
                                         * asks for a count */
    float counted;                      /* 0..1: how well these words name the table whose rows the query counts; may be
                                         * NAN */
    int asked_table;                    /* the table that these words name best; -1 if there is none */
};

/* Fills `things`. Without a question, it sets only `amounts`, `amount` and `rows`. The work is bounded by the
 * statement's size and the question's mentions. */
void vsig_counted_look(const struct vsig_subject *subject, struct vsig_counted_things *things);

/* True for a column of amounts or counts: its numbers are not a key, code, year or rank. */
bool vsig_holds_amounts(const struct vsig_subject *subject, const struct schema_column *column);

#endif
