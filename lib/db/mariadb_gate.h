/* The gate in front of MariaDB: the statements that Assay refuses whatever the account may do.
 *
 * The first lock is an account that may only read (`assay doctor` checks it). The second is the READ ONLY transaction.
 * The gate covers the rest: SLEEP, GET_LOCK, LOAD_FILE, INTO OUTFILE, session variables, and the database's own
 * functions.
 */
#ifndef ASSAY_LIB_DB_MARIADB_GATE_H
#define ASSAY_LIB_DB_MARIADB_GATE_H

#include "lib/db/db.h"

#include <glib.h>

/* Byte range of a parameter in the text, and its number from 0. */
struct mariadb_place {
    uint32_t start, end, number;
};

/* Edits of the text before it is sent: parameters become literals, and counts are capped. */
struct mariadb_edits {
    GArray *places; /* struct mariadb_place */
    GArray *counts; /* struct size_count (size_bound.h) */
};

/* Returns ERR_OK if the server may receive the statement. ERR_REFUSED: the statement, or a function or table in it, is
 * not allowed. ERR_SYNTAX: the statement cannot be parsed, so it must not run. Other errors: ERR_LIMIT_*.
 *
 * *askable is true if all words before a parenthesis are harmless, so that the server may be asked for the syntax
 * error. `edits` receives the parameters in text order, and the counts. `database` is the connection's; only its tables
 * may be read. `sql` is valid UTF-8 without NUL. Thread: any.
 */
enum err_code mariadb_gate(const char *sql, size_t len, const struct db_limits *limits, const char *database,
                           struct mariadb_edits *edits, bool *askable, struct err *err);

/* Flags of the server's global sql_mode, which decides how its sessions read a statement by default. */
enum { MARIADB_ANSI_QUOTES = 1, MARIADB_PIPES_AS_CONCAT = 2, MARIADB_NO_BACKSLASH_ESCAPES = 4 };

/* Checks a candidate for text that sessions with `modes` read differently from Assay's sessions, which set all three
 * flags. ERR_REFUSED names the text and the portable form. Thread: any. */
enum err_code mariadb_gate_portable(const char *sql, size_t len, unsigned modes, struct err *err);

/* Returns the allowed functions, sorted. For tests. */
const char *const *mariadb_gate_functions(size_t *n);

#endif
