/* Probes: small bounded queries that a signal runs on the database about a part of a candidate.
 *
 * A probe is written from the tree (sql_print) and from quoted names, never from raw text of a request. It runs through
 * the same sandbox as the candidate, with a time limit of its own. A failed probe returns its reason, and its caller
 * becomes unavailable with that reason instead of silent. */
#ifndef ASSAY_SIGNALS_SUPPORT_PROBE_H
#define ASSAY_SIGNALS_SUPPORT_PROBE_H

#include "signals/support/shape.h"

enum { VSIG_PROBE_MS = 500 };

/* Runs `sql` and stops after `stop_rows`. Returns ERR_OK or the reason; a NULL `sql` is ERR_LIMIT_MEMORY. */
enum err_code vsig_probe(struct vsig_subject *subject, const char *sql, uint32_t stop_rows, struct db_result *out);

/* Returns 1 if the query gives a row, 0 if not, and -1 with the reason in *code if unknown. */
int vsig_probe_any(struct vsig_subject *subject, const char *sql, enum err_code *code);

/* Returns the statement's WITH list, as the prefix of a probe that uses a part of the statement: "WITH a AS (...) " or,
 * with `name`, "WITH a AS (...), name AS (query) ". "" if it is empty. NULL if the arena is full. */
const char *vsig_probe_with(struct vsig_subject *subject, const char *name, const struct sql_node *query);

/* Returns 1 if the query gives a row, else 0. A query that is refused, takes too long or has no data proves nothing,
 * and the other checks of the signal still count. Any other failure is in *code. A NULL `sql` gives 0. */
int vsig_probe_proves(struct vsig_subject *subject, const char *sql, enum err_code *code);

/* Returns "FROM ... WHERE ..." of a block as printed. Leaves out the conditions of WHERE that use a source of
 * `without`, and the condition `skipped`, which may be NULL. NULL if the arena is full. */
const char *vsig_probe_rows(struct vsig_subject *subject, const struct vsig_block_shape *shape, vsig_sources without,
                            const struct sql_node *skipped);

/* Returns the quoted column of a FROM item: "c"."id". NULL if the source has no name, or the arena is full. */
const char *vsig_probe_column(struct vsig_subject *subject, const struct sql_source *source,
                              const struct schema_column *column);

/* True if `query` uses columns of enclosing blocks. */
bool vsig_is_correlated(const struct vsig_subject *subject, const struct sql_node *query);

#endif
