/* A code and its name: two values that stand in one row, of one table or of two that a key joins. */
#ifndef ASSAY_SIGNALS_SUPPORT_SIBLING_H
#define ASSAY_SIGNALS_SUPPORT_SIBLING_H

#include "signals/vsig.h"

/* Is there a row in which `a` holds a_text and `b` holds b_text: of the table that has both columns, or of the join of
 * theirs over one key? One bounded query, none for tables past 200,000 rows. 1 yes, 0 no, -1 not known: no database, no
 * such key. Texts are taken as stored. */
int vsig_stand_together(struct vsig_subject *subject, const struct schema_column *a, const char *a_text, size_t a_len,
                        const struct schema_column *b, const char *b_text);

/* What `a` holds in the rows in which `b` holds b_text, where that is one value: the code of a name. NULL: none, more
 * than one, or not known. */
const char *vsig_sibling_of(struct vsig_subject *subject, const struct schema_column *a, const struct schema_column *b,
                            const char *b_text);

#endif
