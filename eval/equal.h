/* Decides whether two results are the same answer.
 *
 * The definition is that of the benchmarks' reference labeller: the same bag of rows under some permutation of the
 * columns. If the reference query has a top-level ORDER BY, the order must match too. Values compare as in Python, the
 * labeller's language. Rows must agree both as values and as text: 1 and 1.0 are the same number but differ as text, so
 * they do not agree. '1' is not 1. Text is compared without its invalid UTF-8. These rules are followed exactly,
 * because labels must not depend on the program that computed them.
 *
 * A fingerprint holds 128-bit hashes instead of values. So a reference result is hashed once for each question, and a
 * comparison reads no values. Thread: any; a fingerprint is read-only once created.
 */
#ifndef ASSAY_EVAL_EQUAL_H
#define ASSAY_EVAL_EQUAL_H

#include "lib/db/db.h"

#include <xxhash.h>

struct fingerprint {
    uint32_t n_rows, n_columns;
    XXH128_hash_t *values;  /* row-major; equal values have equal hashes */
    XXH128_hash_t *texts;   /* one for each row: the bag of its values in text form */
    XXH128_hash_t *sorted;  /* `texts`, sorted */
    XXH128_hash_t *columns; /* one for each column: the bag of its values */
    XXH128_hash_t bag;      /* hash of `sorted`; equal for results that a vote counts as the same */
};

/* Computes the fingerprint of a result. Returns false, with nothing to free, if memory is exhausted. Otherwise free
 * *out with fingerprint_free. */
bool fingerprint_make(const struct db_result *result, struct fingerprint *out);
void fingerprint_free(struct fingerprint *print);

/* True if `other` is the same answer as `gold`. With `ordered` the rows must be in the same order. */
bool fingerprint_equal(const struct fingerprint *gold, const struct fingerprint *other, bool ordered);

/* True if the text has an ORDER BY outside all parentheses. */
bool orders_at_top(const char *sql);

#endif
