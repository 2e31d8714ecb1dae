/* Opens and indexes each database of a query log once, for benches. */
#ifndef ASSAY_BENCH_GROUND_H
#define ASSAY_BENCH_GROUND_H

#include "lib/db/db.h"
#include "lib/schema/schema.h"

#include <glib.h>

struct ground {
    struct db *db;
    struct schema_index *schema; /* NULL if the database cannot be read; stderr then gives the reason, once */
};

/* Returns an empty table: database name → struct ground, which the table owns. Free with g_hash_table_unref. */
GHashTable *grounds_new(void);
/* Returns the database <root>/<name>/<name>.sqlite, opened and indexed on first use; never NULL. */
struct ground *ground_of(GHashTable *grounds, const char *root, const char *name);

#endif
