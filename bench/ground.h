/* What a bench over a query log stands on: each database opened and indexed once. */
#ifndef ASSAY_BENCH_GROUND_H
#define ASSAY_BENCH_GROUND_H

#include "lib/db/db.h"
#include "lib/schema/schema.h"

#include <glib.h>

struct ground {
    struct db *db;
    struct schema_index *schema; /* NULL: the database cannot be read; stderr says why, once */
};

/* Database name → struct ground, which it owns. Free it with g_hash_table_unref. */
GHashTable *grounds_new(void);
/* The ground of <root>/<name>/<name>.sqlite, made on first use; never NULL. */
struct ground *ground_of(GHashTable *grounds, const char *root, const char *name);

#endif
