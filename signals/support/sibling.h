/* Relates a code to its name. Both are values of one row, either of one table or of two tables joined by a key. */
#ifndef ASSAY_SIGNALS_SUPPORT_SIBLING_H
#define ASSAY_SIGNALS_SUPPORT_SIBLING_H

#include "signals/vsig.h"

/* Tests whether a row has a_text in `a` and b_text in `b`. The row belongs to a table with both columns, or to a join
 * of two tables by the only key between them. Runs one bounded query, but none for tables with more than 200,000 rows.
 * Returns 1 if there is such a row and 0 if there is none. Returns -1 if this is unknown, for example without a
 * database. Texts must have their stored form. */
int vsig_stand_together(struct vsig_subject *subject, const struct schema_column *a, const char *a_text, size_t a_len,
                        const struct schema_column *b, const char *b_text);

/* Returns the only value of `a` in the rows with b_text in `b`, such as the code for a name. Returns NULL if there is
 * no value, more than one, or it is unknown. */
const char *vsig_sibling_of(struct vsig_subject *subject, const struct schema_column *a, const struct schema_column *b,
                            const char *b_text);

#endif
