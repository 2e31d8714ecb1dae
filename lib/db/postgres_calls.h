/* The names by which a statement could call something: functions, operators, types, and a.b that may be b(a).
 *
 * The server finds what is called by name and argument types, in all of its search path; so a function, operator or
 * cast of the database's own runs under a name that looks built in. What stands here is looked up in the catalogue in
 * the transaction of the statement (postgres_check.h). Names are listed generously: one too many costs a statement that
 * a hostile name could mean; one too few lets an own function run. */
#ifndef ASSAY_LIB_DB_POSTGRES_CALLS_H
#define ASSAY_LIB_DB_POSTGRES_CALLS_H

#include "lib/db/db.h"
#include "lib/sql/sql.h"

#include <glib.h>

/* Lists of char *. Two entries of ATTRIBUTES and TABLES belong together: a.b, and a table that a may be; "" if a may be
 * something else. */
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
    bool casts; /* is anything cast by name? */
};

/* Fills *out; the caller owes postgres_calls_clear, on failure too. ERR_LIMIT_COUNT: too many different ones. Thread:
 * any. */
enum err_code postgres_calls_of(const struct sql_stmt *stmt, struct postgres_calls *out, struct err *err);
/* For a text that is not parsed: each of its words may be a function, an operator or a type. */
enum err_code postgres_calls_of_text(const char *sql, size_t len, struct postgres_calls *out, struct err *err);
void postgres_calls_clear(struct postgres_calls *calls);

/* Is it the same name for the server? Unquoted ones have no case. */
bool postgres_same_name(const char *a, size_t a_len, char a_quote, const char *b, size_t b_len, char b_quote);

#endif
