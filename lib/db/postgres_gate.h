/* The gate in front of PostgreSQL: the statements that Assay refuses whatever the role may do.
 *
 * The first lock is a restricted role (`assay doctor` checks it). The gate is the second, because READ ONLY is not a
 * sandbox. In it a superuser runs COPY TO PROGRAM and reads files. Any role changes settings that outlive ROLLBACK,
 * takes advisory locks and ends its own sessions.
 */
#ifndef ASSAY_LIB_DB_POSTGRES_GATE_H
#define ASSAY_LIB_DB_POSTGRES_GATE_H

#include "lib/db/postgres_calls.h"

#include <glib.h>

/* Returns ERR_OK if the server may receive the statement. ERR_REFUSED: the statement, or a function or table in it, is
 * not allowed. ERR_SYNTAX: the statement cannot be parsed, so it must not run; the server may report more when it
 * prepares the text. Other errors: ERR_LIMIT_*.
 *
 * On ERR_OK *calls holds the names to be looked up; free it with postgres_calls_clear. `counts` (struct size_count; may
 * be NULL) receives the counts to be capped before the statement runs. `sql` is valid UTF-8 without NUL. Thread: any.
 */
enum err_code postgres_gate(const char *sql, size_t len, const struct db_limits *limits, struct postgres_calls *calls,
                            GArray *counts, struct err *err);

/* Returns the allowed functions, sorted without case. For tests. */
const char *const *postgres_gate_functions(size_t *n);

#endif
