/* Detects whether a statement would run a user-defined function. The check runs in the statement's own transaction,
 * just before it, so its result applies to the statement. An object created in the microseconds between the two is not
 * seen.
 *
 * A function is user-defined if its object number is 16384 or more (initdb did not create it), the role may execute it,
 * and it belongs to no extension of postgres_trusted.h. Functions are looked up by name alone (postgres_calls.h):
 * argument types would need the server's own resolution rules. So a user-defined `length(int)` blocks every
 * `length(...)`. Revoking EXECUTE from the role lifts the block. The server checks that right for calls, operators,
 * casts and domain checks. `assay doctor` prints the statements.
 *
 * There are three queries. The first, whether the database has any user-defined functions, accompanies each statement
 * while the database has none. Otherwise the handle lists the names of these functions and of the operators over them.
 * A statement without any of these names is accompanied by the second query, whether the list is still current. A
 * statement with one is accompanied by the third, the exact query, which takes the server milliseconds to plan.
 *
 * Rejected:
 * - a search_path of pg_catalog alone: tables would have to be qualified by rewriting, and operators of an extension's
 *   types would be replaced silently (citext compared as text)
 * - debug_print_parse, which shows the numbers of all called functions: it writes each statement to the server's log
 * - EXPLAIN: planning runs IMMUTABLE functions
 * - reading the list once for each connection: the catalogue has no cheap sign of change, and detecting a change costs
 *   as much as the check
 */
#ifndef ASSAY_LIB_DB_POSTGRES_CHECK_H
#define ASSAY_LIB_DB_POSTGRES_CHECK_H

#include "lib/db/postgres_int.h"
#include "lib/db/postgres_trusted.h"

/* Queues the check, in the flight before the statement. Queues nothing if self->calls is NULL: the statement is then
 * Assay's own. */
enum err_code check_queue(struct postgres_db *self, struct err *err);

/* Reads the result of the check; call it in the order of the flight. ERR_REFUSED: a user-defined function could run,
 * and the server skips the rest of the section. If self->stale is set, the list was out of date: call check_load and
 * check again. */
enum err_code check_read(struct postgres_db *self, struct err *err);

/* check_load lists the user-defined functions, in a separate flight. check_forget drops the list. */
enum err_code check_load(struct postgres_db *self, struct err *err);
void check_forget(struct postgres_db *self);

#endif
