/* Reads keys from a dbt project. */
#ifndef ASSAY_LIB_SCHEMA_DBT_H
#define ASSAY_LIB_SCHEMA_DBT_H

#include "lib/base/error.h"

#include <stdio.h>

/* Reads a dbt project's manifest.json and prints its keys as the section `keys` of words.yaml (keys.c). Keys come from
 * the constraints of models and from the tests `relationships`, `unique` and `dbt_utils.unique_combination_of_columns`.
 * Prints nothing if there are no keys. Sets *n to the number of keys. Errors: ERR_IO for an unreadable file,
 * ERR_LIMIT_BYTES above 256 MiB, ERR_MALFORMED for other contents. Thread: any. */
enum err_code schema_dbt_keys(const char *path, FILE *out, unsigned *n, struct err *err);

#endif
