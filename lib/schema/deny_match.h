/* Finds the entries of `deny_columns` that match a column of a database. An entry without a match denies nothing.
 * Without this check, a misspelled entry would go unnoticed. */
#ifndef ASSAY_LIB_SCHEMA_DENY_MATCH_H
#define ASSAY_LIB_SCHEMA_DENY_MATCH_H

#include "lib/db/db.h"

/* Sets matched[i] for each entry that can mean a column of the open database; leaves the others unchanged. Reads only
 * the catalogue, within the handle's limits. PostgreSQL also lists columns and partitions that the role may not read.
 * Malformed entries match nothing. Errors: those of db_scan, ERR_LIMIT_MEMORY. Thread: the one that uses `db`. */
enum err_code deny_match(struct db *db, const char *const *entries, uint32_t n, bool *matched, struct err *err);

#endif
