/* Computes digests of a result, row by row.
 *
 * The ordered digest depends on the order of rows and columns. The bag digest does not: it sorts the values of each row
 * and treats the rows as a bag. Values are equal if Python prints them alike, as in the reference labeller: 1 equals
 * '1', but not 1.0. Bytes that are not valid UTF-8 are ignored. Unlike in the labeller, NULL differs from 'None'. Any
 * two empty results are equal.
 */
#ifndef ASSAY_LIB_DB_DIGEST_H
#define ASSAY_LIB_DB_DIGEST_H

#include "lib/db/db.h"

#define XXH_STATIC_LINKING_ONLY /* makes XXH3_state_t a complete type */
#include <xxhash.h>

struct digest {
    XXH3_state_t ordered;
    uint64_t bag[2];
    uint64_t n_rows;
};

void digest_init(struct digest *digest);

/* Adds a row. `scratch` must hold n_columns hashes. */
void digest_row(struct digest *digest, const struct db_value *row, uint32_t n_columns, XXH128_hash_t *scratch);

void digest_finish(struct digest *digest, uint64_t bag[2], uint64_t ordered[2]);

#endif
