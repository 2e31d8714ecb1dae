/* Which entries of `deny_columns` match a column of a database: an entry that matches none denies nothing, and its
 * operator would not know. */
#ifndef ASSAY_LIB_SCHEMA_DENY_MATCH_H
#define ASSAY_LIB_SCHEMA_DENY_MATCH_H

#include "lib/db/db.h"

/* Sets matched[i] for each entry that can mean a column of the open database; leaves the others as they are. Reads the
 * catalogue alone, within the handle's limits. PostgreSQL lists columns and partitions that the role may not read too.
 * Malformed entries match nothing. Errors: those of db_scan, ERR_LIMIT_MEMORY. Thread: that of `db`. */
enum err_code deny_match(struct db *db, const char *const *entries, uint32_t n, bool *matched, struct err *err);

#endif
