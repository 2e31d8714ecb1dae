/* The gate before MariaDB. It decides which statements Assay sends to the server, whatever the account may do.
 *
 * Two other measures protect the database: an account that may only read (`assay doctor` checks it), and READ ONLY
 * transactions. Neither of them prevents SLEEP, GET_LOCK, LOAD_FILE, INTO OUTFILE, changes of session variables, or
 * calls of the database's own functions. The gate refuses these.
 */
#ifndef ASSAY_LIB_DB_MARIADB_GATE_H
#define ASSAY_LIB_DB_MARIADB_GATE_H

#include "lib/db/db.h"

#include <glib.h>

/* Byte range of a parameter in the text, and its number, counted from 0. */
struct mariadb_place {
    uint32_t start, end, number;
};

/* Edits of the text before it is sent: parameters are replaced by literals, and counts are capped. */
struct mariadb_edits {
    GArray *places; /* the parameters: struct mariadb_place */
    GArray *counts; /* the counts: struct size_count (size_bound.h) */
};

/* Returns ERR_OK if the statement may be sent to the server. Returns ERR_REFUSED if the statement, or a function or
 * table in it, is not allowed. Returns ERR_SYNTAX if it cannot be parsed; it must not run then. Other errors:
 * ERR_LIMIT_*.
 *
 * Sets *askable to true if all words before a parenthesis are harmless. The server may then prepare a statement with a
 * syntax error, to report the error. Appends the parameters, in text order, and the counts to `edits`. `database` is
 * the database of the connection; only its tables may be read. `sql` must be valid UTF-8 without NUL. Thread: any.
 */
enum err_code mariadb_gate(const char *sql, size_t len, const struct db_limits *limits, const char *database,
                           struct mariadb_edits *edits, bool *askable, struct err *err);

/* Flags of the server's global sql_mode, which determines how sessions interpret a statement by default. */
enum { MARIADB_ANSI_QUOTES = 1, MARIADB_PIPES_AS_CONCAT = 2, MARIADB_NO_BACKSLASH_ESCAPES = 4 };

/* Checks that sessions with the flags `modes` interpret a candidate in the same way as Assay's sessions, which set all
 * three flags. Returns ERR_REFUSED with the text that differs and its portable form. Thread: any. */
enum err_code mariadb_gate_portable(const char *sql, size_t len, unsigned modes, struct err *err);

/* Returns the allowed functions, sorted. For tests. */
const char *const *mariadb_gate_functions(size_t *n);

#endif
