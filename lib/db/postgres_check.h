/* Checks whether a statement could run a user-defined function. The check runs in the statement's transaction, just
 * before the statement. It cannot detect an object that is created between the two.
 *
 * A function counts as user-defined if three conditions hold. Its object number is 16384 or more, so initdb did not
 * create it. The role may execute it. It does not belong to an extension of postgres_trusted.h. Functions are looked up
 * only by name (postgres_calls.h), because argument types would require the server's own resolution rules. So a
 * user-defined `length(int)` blocks every `length(...)`, unless EXECUTE is revoked from the role. The server checks
 * this right for calls, operators, casts and domain checks. `assay doctor` prints the REVOKE statements.
 *
 * One of three queries is sent with each statement. If the database has no user-defined functions, the first query
 * checks that this is still so. Otherwise the handle loads a list of these functions and the operators that call them.
 * If the statement contains none of the listed names, the second query checks that the list is still current. If it
 * contains one, the third query looks up all its names. The third query takes the server milliseconds to plan.
 *
 * Rejected:
 * - a search_path of only pg_catalog: table names would have to be qualified, and operators of an extension's types
 *   would silently be replaced (citext would be compared as text)
 * - debug_print_parse, which prints the numbers of all called functions: it writes each statement to the server's log
 * - EXPLAIN: planning runs IMMUTABLE functions
 * - loading the list once for each connection: detecting a change of the catalogue costs as much as the check
 */
#ifndef ASSAY_LIB_DB_POSTGRES_CHECK_H
#define ASSAY_LIB_DB_POSTGRES_CHECK_H

#include "lib/db/postgres_int.h"
#include "lib/db/postgres_trusted.h"

/* Queues the check; call it before the statement is queued. Does nothing if self->calls is NULL, because the statement
 * is then Assay's own. */
enum err_code check_queue(struct postgres_db *self, struct err *err);

/* Reads the result of the check; call it when that is the next result of the flight. Returns ERR_REFUSED if a
 * user-defined function could run. The server then skips the rest of the section. If self->stale is set, the list was
 * out of date: the caller must call check_load and check again. */
enum err_code check_read(struct postgres_db *self, struct err *err);

/* check_load loads the list of user-defined functions, in a separate flight. check_forget frees the list. */
enum err_code check_load(struct postgres_db *self, struct err *err);
void check_forget(struct postgres_db *self);

#endif
