/* Collects the names by which a statement could call a function: names of functions, operators and types, and a.b,
 * which may mean b(a).
 *
 * The server resolves a call by its name and argument types, in all schemas of the search path. So a name that looks
 * built in may call a user-defined function, operator or cast. The collected names are therefore looked up in the
 * catalogue, in the transaction of the statement (postgres_check.h). In doubt a name is collected. An unnecessary name
 * may cause a legitimate statement to be refused; a missing name may let a user-defined function run.
 */
#ifndef ASSAY_LIB_DB_POSTGRES_CALLS_H
#define ASSAY_LIB_DB_POSTGRES_CALLS_H

#include "lib/db/db.h"
#include "lib/sql/sql.h"

#include <glib.h>

/* Lists of char *. For a.b, ATTRIBUTES has b, and TABLES has at the same index a table that `a` may refer to. The table
 * is "" if `a` may be something else. */
enum calls_list {
    CALLS_NAMES,
    CALLS_OPERATORS,
    CALLS_TYPES,
    CALLS_ATTRIBUTES,
    CALLS_TABLES,
    CALLS_IN_CATALOG, /* f of pg_catalog.f(x), because a superuser may create functions there */
    CALLS_LISTS
};

struct postgres_calls {
    GPtrArray *lists[CALLS_LISTS];
    bool casts; /* the statement contains a cast */
};

/* Collects the names of a parsed statement into *out. Free with postgres_calls_clear, also after an error. Returns
 * ERR_LIMIT_COUNT if there are too many different names. Thread: any. */
enum err_code postgres_calls_of(const struct sql_stmt *stmt, struct postgres_calls *out, struct err *err);
/* Collects the names of a text that cannot be parsed. Each word counts as a function, an operator and a type. */
enum err_code postgres_calls_of_text(const char *sql, size_t len, struct postgres_calls *out, struct err *err);
void postgres_calls_clear(struct postgres_calls *calls);

/* True if the server would treat both as the same name. `a_quote` and `b_quote` are 0 for unquoted names, whose case is
 * ignored. */
bool postgres_same_name(const char *a, size_t a_len, char a_quote, const char *b, size_t b_len, char b_quote);

#endif
