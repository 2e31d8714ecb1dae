/* Probes are small bounded queries that a signal runs on the database to check a part of a candidate.
 *
 * A probe is built from the syntax tree (sql_print) and from quoted names, never from raw text of a request. It runs in
 * the same sandbox as the candidate, with its own time limit. A failed probe returns its reason. The caller then
 * becomes unavailable with that reason instead of silent. */
#ifndef ASSAY_SIGNALS_SUPPORT_PROBE_H
#define ASSAY_SIGNALS_SUPPORT_PROBE_H

#include "signals/support/shape.h"

enum { VSIG_PROBE_MS = 500 };

/* Runs `sql` and stops after `stop_rows` rows. Returns ERR_OK, or the error. Returns ERR_LIMIT_MEMORY if `sql` is
 * NULL. */
enum err_code vsig_probe(struct vsig_subject *subject, const char *sql, uint32_t stop_rows, struct db_result *out);

/* Returns 1 if the query returns a row, 0 if it returns none, and -1 if it fails. *code gets the error. */
int vsig_probe_any(struct vsig_subject *subject, const char *sql, enum err_code *code);

/* Returns the statement's WITH list, as the prefix of a probe that uses a part of the statement: "WITH a AS (...) ".
 * With `query`, returns "WITH a AS (...), name AS (query) ". Returns "" if the list is empty and NULL if the arena is
 * full. */
const char *vsig_probe_with(struct vsig_subject *subject, const char *name, const struct sql_node *query);

/* Returns 1 if the query returns a row, else 0. *code gets the error of a failed query. Returns 0 with ERR_OK for a
 * NULL `sql`, and for a schema without data. */
int vsig_probe_proves(struct vsig_subject *subject, const char *sql, enum err_code *code);

/* Returns "FROM ... WHERE ..." of a block as SQL text. Omits the conditions of WHERE that use a source in `without`,
 * and the condition `skipped`, which may be NULL. Returns NULL if the arena is full. */
const char *vsig_probe_rows(struct vsig_subject *subject, const struct vsig_block_shape *shape, vsig_sources without,
                            const struct sql_node *skipped);

/* Returns the quoted column of a FROM item: "c"."id". Returns NULL if the source has no name or the arena is full. */
const char *vsig_probe_column(struct vsig_subject *subject, const struct sql_source *source,
                              const struct schema_column *column);

/* True if `query` uses columns of enclosing queries. */
bool vsig_is_correlated(const struct vsig_subject *subject, const struct sql_node *query);

#endif
