/* The names by which a statement could call a function: functions, operators, types, and a.b, which may mean b(a).
 *
 * The server resolves a call by name and argument types along its whole search path. So a user-defined function,
 * operator or cast can run under a name that looks built in. The names listed here are looked up in the catalogue, in
 * the transaction of the statement (postgres_check.h). The list errs on the side of too many names. An extra name can
 * refuse a legitimate statement; a missing one lets a user-defined function run.
 */
#ifndef ASSAY_LIB_DB_POSTGRES_CALLS_H
#define ASSAY_LIB_DB_POSTGRES_CALLS_H

#include "lib/db/db.h"
#include "lib/sql/sql.h"

#include <glib.h>

/* Lists of char *. An entry of ATTRIBUTES and the entry of TABLES at the same index form a pair: a.b, and a table that
 * `a` may be. The table is "" if `a` may be something else. */
enum calls_list {
    CALLS_NAMES,
    CALLS_OPERATORS,
    CALLS_TYPES,
    CALLS_ATTRIBUTES,
    CALLS_TABLES,
    CALLS_IN_CATALOG, /* pg_catalog.f(x): a superuser may put functions there */
    CALLS_LISTS
};

struct postgres_calls {
    GPtrArray *lists[CALLS_LISTS];
    bool casts; /* true if the statement names a cast */
};

/* Collects the names of a parsed statement into *out. Free with postgres_calls_clear, on failure too. ERR_LIMIT_COUNT:
 * too many different names. Thread: any. */
enum err_code postgres_calls_of(const struct sql_stmt *stmt, struct postgres_calls *out, struct err *err);
/* Collects names of a text that cannot be parsed: each word may be a function, an operator or a type. */
enum err_code postgres_calls_of_text(const char *sql, size_t len, struct postgres_calls *out, struct err *err);
void postgres_calls_clear(struct postgres_calls *calls);

/* True if the server reads both as the same name. Unquoted names are compared without case. */
bool postgres_same_name(const char *a, size_t a_len, char a_quote, const char *b, size_t b_len, char b_quote);

#endif
