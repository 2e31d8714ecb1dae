/* Generates random expressions, to compare how our parser and a server group operators (lib/sql/precedence.h). */
#ifndef ASSAY_TESTS_LIVE_EXPRESSIONS_H
#define ASSAY_TESTS_LIVE_EXPRESSIONS_H

#include "lib/db/db.h"
#include "lib/sql/precedence.h"

/* Compares `n` random expressions without parentheses with fully parenthesised ones, grouped as `precedence` does.
 * `operators` lists n_operators operators of the server. Asserts that the server returns the same value for both, or an
 * error for both. Also asserts that at least a quarter of them return a value. */
void expressions_compare(struct db *db, struct arena *arena, enum sql_precedence precedence,
                         const char *const *operators, unsigned n_operators, unsigned n);

#endif
