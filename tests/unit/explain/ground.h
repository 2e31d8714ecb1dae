/* Creates a small database from SQL text for a test, then opens and indexes it. */
#ifndef ASSAY_TESTS_UNIT_EXPLAIN_GROUND_H
#define ASSAY_TESTS_UNIT_EXPLAIN_GROUND_H

#include "lib/explain/explain.h"
#include "lib/explain/provenance.h"

#include <glib.h>

struct ground {
    char *folder, *path, *sidecar;
    struct db *db;
    struct schema_index *schema;
};

/* Creates and opens the database. Returns NULL, or the reason for a failure (free with g_free). `descriptions` is the
 * text of the sidecar file `table`.csv; it may be NULL. */
char *ground_open(struct ground *ground, const char *sql, const char *table, const char *descriptions);
void ground_close(struct ground *ground);

/* Parses, binds and runs a query, and returns what explanations need of it, in the arena. Returns NULL if the query
 * does not parse or bind. The returned source has no result if the query does not run. */
struct explain_source *ground_source(const struct ground *ground, struct arena *arena, const char *sql);

/* Checks the invariants of every explanation. Returns the text of a violated invariant, or NULL. */
const char *ground_check(const struct ground *ground, const struct explain_source *source,
                         const struct explain_options *options, const struct explanation *e);

#endif
