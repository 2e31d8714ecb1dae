/* Digests the result of a statement, so that tests can compare two statements. */
#ifndef ASSAY_TESTS_SUPPORT_ROW_DIGEST_H
#define ASSAY_TESTS_SUPPORT_ROW_DIGEST_H

#include <sqlite3.h>

/* Returns the number of rows and a digest of them, as text. The digest does not depend on the order of rows, and reads
 * real numbers to nine digits. Returns NULL if the statement fails, has 100,000 rows or more, or takes more than
 * 300,000 steps. Free with g_free. */
char *row_digest(sqlite3 *db, const char *sql);

#endif
