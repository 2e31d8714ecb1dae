/* Groups operators by the precedence of each engine. */
#ifndef ASSAY_LIB_SQL_PRECEDENCE_H
#define ASSAY_LIB_SQL_PRECEDENCE_H

#include "lib/sql/bind.h"

enum sql_precedence { SQL_PRECEDENCE_SQLITE, SQL_PRECEDENCE_POSTGRES, SQL_PRECEDENCE_MARIADB, SQL_PRECEDENCES };

/* Returns the precedence of the catalog's engine, which the catalog's rules for names reveal. Thread: any. */
enum sql_precedence sql_precedence_of(const struct sql_catalog *catalog);

/* Groups the binary operators and set operations of a parsed statement as the engine does. The grammar always groups
 * them as SQLite does. MariaDB's && becomes AND. Marks regrouped operands with SQL_F_PAREN, so that the printed text
 * means the same in all engines. Renumbers the tree if it changes. sql_bind calls it.
 *
 * LIKE, IN and BETWEEN keep the grouping of the grammar: in PostgreSQL, `a = b LIKE c` is read as `(a = b) LIKE c`.
 *
 * Returns ERR_OK, or ERR_LIMIT_MEMORY if the arena is full; the tree must not be used then. Thread: any. */
enum err_code sql_regroup(struct arena *arena, struct sql_stmt *stmt, enum sql_precedence precedence);

#endif
