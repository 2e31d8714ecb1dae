/* A digest of the result of a statement, to compare two statements. */
#ifndef ASSAY_TESTS_SUPPORT_ROW_DIGEST_H
#define ASSAY_TESTS_SUPPORT_ROW_DIGEST_H

#include <sqlite3.h>

/* Returns the number of rows and a digest of them, independent of their order, with real numbers to nine digits.
 * Returns NULL if the statement fails, has 100,000 rows or more, or takes more than 300,000 steps. Free with g_free. */
char *row_digest(sqlite3 *db, const char *sql);

#endif
