/* A small database for fuzz targets, in a file that goes away at once. */
#ifndef ASSAY_TESTS_FUZZ_GROUND_H
#define ASSAY_TESTS_FUZZ_GROUND_H

#include "lib/schema/schema.h"

/* Made by `script`, once; statements take 20 ms at most. Aborts on any failure. */
void fuzz_ground(const char *script, struct db **db, struct schema_index **schema);

#endif
