/* Random expressions, to compare our grouping of operators with that of a server (lib/sql/precedence.h). */
#ifndef ASSAY_TESTS_LIVE_EXPRESSIONS_H
#define ASSAY_TESTS_LIVE_EXPRESSIONS_H

#include "lib/db/db.h"
#include "lib/sql/precedence.h"

/* Compares `n` random expressions without parentheses with the same ones in full parentheses, as `precedence` groups
 * them. `operators` (n_operators of them) are those of the server. Asserts that the server returns the same value for
 * both, or an error for both, and that a quarter of them return a value. */
void expressions_compare(struct db *db, struct arena *arena, enum sql_precedence precedence,
                         const char *const *operators, unsigned n_operators, unsigned n);

#endif
