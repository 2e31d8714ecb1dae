/* Probes: small bounded queries that a signal asks the database about a part of a candidate.
 *
 * A probe is written from the tree (sql_print) and from quoted names, never from raw text of a request, and runs
 * through the same sandbox as the candidate with a time limit of its own. A probe that fails says why; its caller
 * becomes unavailable with that reason rather than silent.
 */
#ifndef ASSAY_SIGNALS_SUPPORT_PROBE_H
#define ASSAY_SIGNALS_SUPPORT_PROBE_H

#include "signals/vsig.h"

enum { VSIG_PROBE_MS = 500 };

/* Run `sql` and stop after `stop_rows`. ERR_OK or the reason; NULL sql is ERR_LIMIT_MEMORY. */
enum err_code vsig_probe(struct vsig_subject *subject, const char *sql, uint32_t stop_rows, struct db_result *out);

/* Does it give a row? 1 yes, 0 no, -1 not known and *code says why. */
int vsig_probe_any(struct vsig_subject *subject, const char *sql, enum err_code *code);

/* The statement's own WITH list, ready to stand before a probe that uses a part of the statement: "WITH a AS (...) "
 * or, with `name`, "WITH a AS (...), name AS (query) ". "" when there is nothing to write. NULL when the arena is full.
 */
const char *vsig_probe_with(struct vsig_subject *subject, const char *name, const struct sql_node *query);

/* Do columns of enclosing blocks stand below `query`? */
bool vsig_is_correlated(const struct vsig_subject *subject, const struct sql_node *query);

#endif
