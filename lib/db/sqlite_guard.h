/* Restricts untrusted SQL in SQLite by an authorizer with an allow list. Also classifies SQLite's errors. */
#ifndef ASSAY_LIB_DB_SQLITE_GUARD_H
#define ASSAY_LIB_DB_SQLITE_GUARD_H

#include "lib/base/error.h"
#include "lib/db/work.h"

#include <sqlite3.h>
#include <stdbool.h>

struct guard {
    bool trusted;     /* the statement is the program's own and may list the schema */
    bool is_query;    /* the authorizer has seen a SELECT or VALUES since guard_begin */
    bool varies;      /* the statement, or a view in it, calls a function that reads the clock or is random */
    char denied[128]; /* name of the operation refused since guard_begin; empty if none was */
};

/* Installs the guard and the replacement functions on a connection, and disables unsafe features of SQLite. The
 * functions charge their work to `work`. `guard` and `work` must outlive the connection. Returns a result code of
 * SQLite. */
int guard_install(sqlite3 *conn, struct guard *guard, struct work *work);

void guard_begin(struct guard *guard, bool trusted);

/* Registers replacements of instr, replace, trim, like, glob, printf and the collation NOCASE. A single call of the
 * built-in functions can run for minutes and cannot be stopped (sqlite_functions.c). Returns a result code of SQLite.
 */
int guard_add_functions(sqlite3 *conn, struct work *work);

/* Returns the error code for a result code and a message of SQLite. The caller must handle SQLITE_INTERRUPT and
 * SQLITE_AUTH before. */
enum err_code guard_classify(int rc, const char *message);

#endif
