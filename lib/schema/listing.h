/* How each engine lists its catalogue: statements in the shape of SQLite's PRAGMAs, so that load.c reads one shape. */
#ifndef ASSAY_LIB_SCHEMA_LISTING_H
#define ASSAY_LIB_SCHEMA_LISTING_H

#include "lib/schema/schema.h"

/* A statement is before, the name, after. */
struct listing_sql {
    const char *before, *after;
};

struct listing_dialect {
    const char *engine;
    bool name_is_text; /* the name goes in as a literal of the quoted name, to be cast by the statement */
    /* name, type ('table' or 'view'), its SQL (of a view on a server: its query) or NULL, comment or NULL, rows
     * estimated, schema or NULL, does a name take it to reach the table (those that do last), does it inherit columns
     */
    const char *tables;
    /* -, name, type, not null, -, place in the primary key, hidden as SQLite says (2, 3: generated), comment or NULL */
    struct listing_sql columns;
    struct listing_sql indexes;      /* -, name, unique, origin ('pk'), partial */
    struct listing_sql index;        /* -, -, column or NULL */
    struct listing_sql foreign_keys; /* id, schema if a text, table, from, to or NULL; rows of one key together */
    struct listing_sql origins; /* what a table inherits and a view reads: column (NULL: all of them), schema, table,
                                   column; before NULL: the engine does not say */
    bool comments;              /* columns have the comment */
    bool expressions;           /* columns have what a generated one is computed by, after the comment */
    bool samples;               /* a large table is sampled: TABLESAMPLE SYSTEM */
    enum schema_affinity (*affinity)(const char *type);
};

/* Of the engine behind the handle. */
const struct listing_dialect *listing_of(const struct db *db);

#endif
