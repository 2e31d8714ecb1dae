/* Digests of a result, computed row by row.
 *
 * The bag digest ignores the order of rows and columns: the values of each row are sorted, and the rows are compared as
 * a bag. Values are compared as Python prints them, as the reference labeller does: 1 and '1' are equal, 1 and 1.0 are
 * not. Bytes that are not valid UTF-8 are ignored. Unlike in the labeller, NULL differs from 'None'. Two empty results
 * are equal whatever their columns.
 */
#ifndef ASSAY_LIB_DB_DIGEST_H
#define ASSAY_LIB_DB_DIGEST_H

#include "lib/db/db.h"

#define XXH_STATIC_LINKING_ONLY /* declares the streaming state, to embed it by value */
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
