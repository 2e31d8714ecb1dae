/* Would the statement run a function of the database's own? Asked of the server in the statement's own transaction,
 * just before it, so that the answer holds for it (what is created in the microseconds between the two is not seen).
 *
 * A function is the database's own if initdb did not make it (its object number is 16384 or more), the role may execute
 * it, and it belongs to none of the extensions of postgres_trusted.h. Functions are looked up by name alone
 * (postgres_calls.h), without argument types: resolving those would take the server's own rules. So a `length(int)` of
 * the database's own bars every `length(...)`. Revoking EXECUTE from the role lifts the bar, since the server checks
 * that right wherever a call, an operator, a cast or a domain's check runs; `assay doctor` prints the statements.
 *
 * Three questions. Whether the database has functions of its own at all goes with each statement, and is all there is
 * where it has none. Where it has, the handle lists their names, and those of the operators over them; a statement that
 * has none of those brings the question whether the list is still true, and one that has the precise question, which
 * takes the server milliseconds to plan.
 *
 * Rejected: a search_path of pg_catalog alone while the statement runs (its tables would have to be qualified by
 * rewriting it, and operators of an extension's types would be replaced silently: citext compared as text);
 * debug_print_parse, which shows the numbers of everything that is called (it writes each statement to the server's
 * log); EXPLAIN (planning runs IMMUTABLE functions); reading the list of own functions once for each connection (the
 * catalogue has no cheap sign of change, and finding a change costs as much as the check itself). */
#ifndef ASSAY_LIB_DB_POSTGRES_CHECK_H
#define ASSAY_LIB_DB_POSTGRES_CHECK_H

#include "lib/db/postgres_int.h"
#include "lib/db/postgres_trusted.h"

/* Nothing if self->calls is NULL: the statement is Assay's own. In the flight before the statement. */
enum err_code check_queue(struct postgres_db *self, struct err *err);

/* Its answer, in its turn. ERR_REFUSED: something of the database's own could run, and the rest of the section is
 * skipped. With self->stale that is not said of this statement: after check_load it may be asked again. */
enum err_code check_read(struct postgres_db *self, struct err *err);

/* List what is own, in a flight by itself. check_forget: drop the list. */
enum err_code check_load(struct postgres_db *self, struct err *err);
void check_forget(struct postgres_db *self);

#endif
