/* The databases of a query log, each opened and indexed once, for benches. */
#ifndef ASSAY_BENCH_GROUND_H
#define ASSAY_BENCH_GROUND_H

#include "lib/db/db.h"
#include "lib/schema/schema.h"

#include <glib.h>

struct ground {
    struct db *db;
    struct schema_index *schema; /* NULL if the database cannot be read; stderr gives the reason once */
};

/* Database name → struct ground, which it owns. Free it with g_hash_table_unref. */
GHashTable *grounds_new(void);
/* The ground of <root>/<name>/<name>.sqlite, made on first use; never NULL. */
struct ground *ground_of(GHashTable *grounds, const char *root, const char *name);

#endif
