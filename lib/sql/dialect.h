/* What SQLite and MariaDB lack: the grammar accepts the others' forms as well, and this tells which of them a tree holds, so that
 * a person reads "this is PostgreSQL" where the engine says "syntax error".
 *
 * The engine stays the authority: nothing here decides whether a statement is valid. Forms that are merely functions or
 * names that SQLite does not know (now(), ROLLUP) are not listed; the engine names them itself. */
#ifndef ASSAY_LIB_SQL_DIALECT_H
#define ASSAY_LIB_SQL_DIALECT_H

#include "lib/sql/sql.h"

/* One diagnostic (ERR_SYNTAX) for each form in the tree that SQLite's grammar lacks, in order of the text, at most 16.
 * Its span begins at the token at which SQLite's parser stops, as far as the tree tells. Needs the spans of a parsed
 * tree. NULL: none, or the arena is full. Thread: any. */
struct sql_diag *sql_not_sqlite(struct arena *arena, const struct sql_stmt *stmt);

/* The same of MariaDB, for what is commonly written; the span is where the form is, which the server may see later. */
struct sql_diag *sql_not_mariadb(struct arena *arena, const struct sql_stmt *stmt);

#endif
