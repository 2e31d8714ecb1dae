/* The lock in front of MariaDB: what Assay itself refuses, whatever the account may do.
 *
 * An account that may only read is the first lock (`assay doctor` checks it), the transaction that is READ ONLY another.
 * This is for what neither holds: SLEEP, GET_LOCK, LOAD_FILE, INTO OUTFILE, variables of the session, functions of the
 * database's own.
 */
#ifndef ASSAY_LIB_DB_MARIADB_GATE_H
#define ASSAY_LIB_DB_MARIADB_GATE_H

#include "lib/db/db.h"

#include <glib.h>

/* A parameter's place in the text, and its number from 0. */
struct mariadb_place {
    uint32_t start, end, number;
};

/* What changes in the text before it goes to the server: parameters get their values, counts are capped. */
struct mariadb_edits {
    GArray *places; /* struct mariadb_place */
    GArray *counts; /* struct size_count (size_bound.h) */
};

/* May the statement be given to the server? ERR_OK; ERR_REFUSED: it, or a function or table in it, is not allowed;
 * ERR_SYNTAX: it cannot be read here, so nothing is known of it and it must not run; ERR_LIMIT_*. *askable: all its
 * words before a parenthesis are harmless, so that the server may be asked what is wrong with it. `edits` gets the
 * parameters in order of the text, and the counts. `database`: the connection's, the only one whose tables may
 * be read. `sql` is valid UTF-8 without NUL. Thread: any. */
enum err_code mariadb_gate(const char *sql, size_t len, const struct db_limits *limits, const char *database,
                           struct mariadb_edits *edits, bool *askable, struct err *err);

/* How the sessions of a server read a statement, unless they say otherwise: its global sql_mode. */
enum { MARIADB_ANSI_QUOTES = 1, MARIADB_PIPES_AS_CONCAT = 2, MARIADB_NO_BACKSLASH_ESCAPES = 4 };

/* A candidate, beside that: is there something that those sessions would read otherwise than ours, which have all three?
 * ERR_REFUSED says what, and how to write it so that all read the same. Thread: any. */
enum err_code mariadb_gate_portable(const char *sql, size_t len, unsigned modes, struct err *err);

/* The functions that it lets through, sorted. For tests. */
const char *const *mariadb_gate_functions(size_t *n);

#endif
