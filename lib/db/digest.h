/* Digests of a result, built row by row.
 *
 * Two results have the same bag digest when they are the same bag of rows once the values of each row are sorted, so
 * that neither the order of rows nor that of columns counts. Values are compared as Python prints them, which is what
 * the reference labeller does: 1 and '1' are equal, 1 and 1.0 are not. Bytes of a text that are not UTF-8 do not count.
 * Unlike there, NULL differs from 'None'. Two empty results are equal whatever their columns.
 */
#ifndef ASSAY_LIB_DB_DIGEST_H
#define ASSAY_LIB_DB_DIGEST_H

#include "lib/db/db.h"

#define XXH_STATIC_LINKING_ONLY /* the streaming state by value */
#include <xxhash.h>

struct digest {
    XXH3_state_t ordered;
    uint64_t bag[2];
    uint64_t n_rows;
};

void digest_init(struct digest *digest);

/* Add a row. `scratch` has room for n_columns hashes. */
void digest_row(struct digest *digest, const struct db_value *row, uint32_t n_columns, XXH128_hash_t *scratch);

void digest_finish(struct digest *digest, uint64_t bag[2], uint64_t ordered[2]);

#endif
