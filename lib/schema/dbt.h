/* Reads keys from a dbt project. */
#ifndef ASSAY_LIB_SCHEMA_DBT_H
#define ASSAY_LIB_SCHEMA_DBT_H

#include "lib/base/error.h"

#include <stdio.h>

/* Reads manifest.json and prints the keys that the tests `relationships`, `unique` and
 * `dbt_utils.unique_combination_of_columns` state, and the constraints of the models, as the section `keys` of
 * words.yaml (keys.c). Prints nothing if there are none. Sets *n to the number of keys. Errors: ERR_IO for an
 * unreadable file, ERR_LIMIT_BYTES above 256 MiB, ERR_MALFORMED for other contents. Thread: any. */
enum err_code schema_dbt_keys(const char *path, FILE *out, unsigned *n, struct err *err);

#endif
