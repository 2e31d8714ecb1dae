/* The lock in front of PostgreSQL: what Assay itself refuses, whatever the role may do.
 *
 * A restricted role is the first lock (`assay doctor` checks it). This is the second, for READ ONLY is no sandbox: in
 * it a superuser runs COPY TO PROGRAM and reads files, and any role changes settings that outlive ROLLBACK, takes
 * advisory locks and ends sessions of its own.
 */
#ifndef ASSAY_LIB_DB_POSTGRES_GATE_H
#define ASSAY_LIB_DB_POSTGRES_GATE_H

#include "lib/db/postgres_calls.h"

#include <glib.h>

/* May the statement be given to the server? ERR_OK; ERR_REFUSED: it, or a function or table in it, is not allowed;
 * ERR_SYNTAX: it cannot be read here, so nothing is known of it and it must not run (the server may say more by
 * preparing it); ERR_LIMIT_*. With ERR_OK *calls has the names that are to be looked up, and the caller owes
 * postgres_calls_clear; `counts` (struct size_count; may be NULL) gets the counts to be capped before the statement runs.
 * `sql` is valid UTF-8 without NUL. Thread: any. */
enum err_code postgres_gate(const char *sql, size_t len, const struct db_limits *limits, struct postgres_calls *calls,
                            GArray *counts, struct err *err);

/* The functions that it lets through, sorted without case. For tests. */
const char *const *postgres_gate_functions(size_t *n);

#endif
