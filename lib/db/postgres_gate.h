/* The gate before PostgreSQL. It decides which statements Assay sends to the server, whatever the role may do.
 *
 * A restricted role also protects the database (`assay doctor` checks it). READ ONLY transactions are not enough. In
 * one, a superuser can run COPY TO PROGRAM and read files. Any role can change settings that survive ROLLBACK, take
 * advisory locks, and end its own sessions.
 */
#ifndef ASSAY_LIB_DB_POSTGRES_GATE_H
#define ASSAY_LIB_DB_POSTGRES_GATE_H

#include "lib/db/postgres_calls.h"

#include <glib.h>

/* Returns ERR_OK if the statement may be sent to the server. Returns ERR_REFUSED if the statement, or a function or
 * table in it, is not allowed. Returns ERR_SYNTAX if it cannot be parsed; it must not run then, but the server may
 * prepare it to report the error. Other errors: ERR_LIMIT_*.
 *
 * On ERR_OK *calls has the names to be looked up in the server; free it with postgres_calls_clear. Appends the counts
 * to be capped to `counts` (struct size_count). `counts` may be NULL if the statement will not run. `sql` must be valid
 * UTF-8 without NUL. Thread: any.
 */
enum err_code postgres_gate(const char *sql, size_t len, const struct db_limits *limits, struct postgres_calls *calls,
                            GArray *counts, struct err *err);

/* Returns the allowed functions, sorted without case. For tests. */
const char *const *postgres_gate_functions(size_t *n);

#endif
