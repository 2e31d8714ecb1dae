/* A small database for a test: made from SQL text, opened and indexed. */
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

/* Returns what is wrong (owed: g_free), or NULL. `descriptions` (may be NULL): text of the sidecar file `table`.csv. */
char *ground_open(struct ground *ground, const char *sql, const char *table, const char *descriptions);
void ground_close(struct ground *ground);

/* Parse, bind and run a query: a source in the arena. NULL when it cannot be parsed or bound; without a result when it
 * does not run. */
struct explain_source *ground_source(const struct ground *ground, struct arena *arena, const char *sql);

/* What must hold of every explanation: returns what does not, or NULL. */
const char *ground_check(const struct ground *ground, const struct explain_source *source,
                         const struct explain_options *options, const struct explanation *e);

#endif
