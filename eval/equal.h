/* When are two results the same answer?
 *
 * As the benchmarks' reference labeller has it: the same bag of rows under some permutation of the columns; in the same
 * order when the reference query has an ORDER BY at its top level. Values compare as in the labeller's language,
 * Python: 1 and 1.0 are one number but differ as text, and a row must agree both ways; '1' is not 1; text is compared
 * with its invalid UTF-8 dropped. Labels must not depend on the program that computed them, so these rules are followed
 * to the letter.
 *
 * A fingerprint holds 128-bit hashes in place of values, so a reference result is digested once a question and a
 * comparison costs no look at the values. Thread: any; a fingerprint is read-only once made.
 */
#ifndef ASSAY_EVAL_EQUAL_H
#define ASSAY_EVAL_EQUAL_H

#include "lib/db/db.h"

#include <xxhash.h>

struct fingerprint {
    uint32_t n_rows, n_columns;
    XXH128_hash_t *values;  /* row-major; equal values have equal hashes */
    XXH128_hash_t *texts;   /* one a row: the bag of its values in text form */
    XXH128_hash_t *sorted;  /* `texts`, sorted */
    XXH128_hash_t *columns; /* one a column: the bag of its values */
    XXH128_hash_t bag;      /* of `sorted`: equal for results that a vote counts as the same */
};

/* Digest a result. false when memory is short; nothing is owed then. Otherwise the caller owes fingerprint_free. */
bool fingerprint_make(const struct db_result *result, struct fingerprint *out);
void fingerprint_free(struct fingerprint *print);

/* Is `other` the same answer as `gold`? `ordered`: rows in this order. */
bool fingerprint_equal(const struct fingerprint *gold, const struct fingerprint *other, bool ordered);

/* Does the text order at top level: is there an ORDER BY outside all parentheses? */
bool orders_at_top(const char *sql);

#endif
