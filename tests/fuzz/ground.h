/* A small SQLite database for fuzz targets, in a file that is unlinked at once. */
#ifndef ASSAY_TESTS_FUZZ_GROUND_H
#define ASSAY_TESTS_FUZZ_GROUND_H

#include "lib/schema/schema.h"

/* Returns a database that `script` creates, and its index. The first call creates both; later calls return the same
 * ones. Statements take at most 20 ms. Aborts on any failure. */
void fuzz_ground(const char *script, struct db **db, struct schema_index **schema);

#endif
