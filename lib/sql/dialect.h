/* Finds syntax that SQLite or MariaDB lacks. The grammar accepts the syntax of all engines. These functions list the
 * foreign forms in a tree, so that a message names the other engine instead of reporting a "syntax error".
 *
 * The engine remains the authority: nothing here decides whether a statement is valid. Functions and names that SQLite
 * does not know (now(), ROLLUP) are not listed, because the engine names them in its own message. */
#ifndef ASSAY_LIB_SQL_DIALECT_H
#define ASSAY_LIB_SQL_DIALECT_H

#include "lib/sql/sql.h"

/* Returns one diagnostic (ERR_SYNTAX) for each form in the tree that SQLite's grammar lacks, in order of the text, at
 * most 16. Each span begins at the token at which SQLite's parser stops, if the tree determines it. The tree must have
 * the spans of the parser. Returns NULL if there is no such form or the arena is full. Thread: any. */
struct sql_diag *sql_not_sqlite(struct arena *arena, const struct sql_stmt *stmt);

/* Returns such diagnostics for the common forms that MariaDB lacks. Each span begins at the form; the server may stop
 * later. */
struct sql_diag *sql_not_mariadb(struct arena *arena, const struct sql_stmt *stmt);

/* Returns the text with blanks in place of each comment that starts with #, as in MariaDB. All other bytes keep their
 * offsets. The result is NUL-terminated, or NULL if the arena is full. Thread: any. */
char *sql_blank_hash_comments(struct arena *arena, const char *text, size_t len);

#endif
