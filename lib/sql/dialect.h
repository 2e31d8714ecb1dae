/* Syntax that SQLite and MariaDB lack. The grammar also accepts the forms of other engines. These functions list such
 * forms in a tree, so a person reads "this is PostgreSQL" instead of the engine's "syntax error".
 *
 * The engine remains the authority: nothing here decides whether a statement is valid. Functions and names that SQLite
 * does not know (now(), ROLLUP) are not listed, because the engine names them itself. */
#ifndef ASSAY_LIB_SQL_DIALECT_H
#define ASSAY_LIB_SQL_DIALECT_H

#include "lib/sql/sql.h"

/* Returns one diagnostic (ERR_SYNTAX) for each form in the tree that SQLite's grammar lacks, in order of the text, at
 * most 16. Each span begins at the token at which SQLite's parser stops, if the tree can tell. Needs the spans of a
 * parsed tree. Returns NULL if there is no such form or the arena is full. Thread: any. */
struct sql_diag *sql_not_sqlite(struct arena *arena, const struct sql_stmt *stmt);

/* Returns the same for the common forms that MariaDB lacks. The span is that of the form; the server may stop later. */
struct sql_diag *sql_not_mariadb(struct arena *arena, const struct sql_stmt *stmt);

/* Returns the text with blanks in place of each comment that starts with #, as MariaDB reads it. All other bytes keep
 * their places. NUL-terminated; NULL if the arena is full. Thread: any. */
char *sql_blank_hash_comments(struct arena *arena, const char *text, size_t len);

#endif
