/* Relates a code to its name. Both are values of one row, either of one table or of two tables joined by a key. */
#ifndef ASSAY_SIGNALS_SUPPORT_SIBLING_H
#define ASSAY_SIGNALS_SUPPORT_SIBLING_H

#include "signals/vsig.h"

/* Tests whether a row has a_text in `a` and b_text in `b`, in a table with both columns or in a join over one key. Runs
 * one bounded query, and none for tables past 200,000 rows. Returns 1 if there is a row, 0 if not, and -1 if unknown:
 * no database, or no such key. Texts are as stored. */
int vsig_stand_together(struct vsig_subject *subject, const struct schema_column *a, const char *a_text, size_t a_len,
                        const struct schema_column *b, const char *b_text);

/* Returns the only value of `a` in the rows whose `b` is b_text: the code of a name. NULL if there is none, more than
 * one, or it is unknown. */
const char *vsig_sibling_of(struct vsig_subject *subject, const struct schema_column *a, const struct schema_column *b,
                            const char *b_text);

#endif
