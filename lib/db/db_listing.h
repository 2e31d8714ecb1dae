/* How an engine lists its catalogue (tables, columns, keys): statements whose rows have the shape of SQLite's PRAGMAs,
 * so that lib/schema reads one shape whatever the engine. They are run by db_scan. */
#ifndef ASSAY_LIB_DB_DB_LISTING_H
#define ASSAY_LIB_DB_DB_LISTING_H

#include <stdbool.h>

/* What a column holds by its declared type, in SQLite's words. */
enum db_affinity { DB_AFFINITY_TEXT, DB_AFFINITY_INTEGER, DB_AFFINITY_REAL, DB_AFFINITY_NUMERIC, DB_AFFINITY_BLOB };

/* A statement is before, the name, after. */
struct db_listing_sql {
    const char *before, *after;
};

struct db_listing {
    bool name_is_text; /* the name goes in as a literal of the quoted name, to be cast by the statement */
    /* name, type ('table' or 'view'), its SQL (of a view on a server: its query) or NULL, comment or NULL, rows
     * estimated, schema or NULL, does a name take it to reach the table (those that do last), does it inherit columns
     */
    const char *tables;
    /* -, name, type, not null, -, place in the primary key, hidden as SQLite says (2, 3: generated), comment or NULL */
    struct db_listing_sql columns;
    struct db_listing_sql indexes;      /* -, name, unique, origin ('pk'), partial */
    struct db_listing_sql index;        /* -, -, column or NULL */
    struct db_listing_sql foreign_keys; /* id, schema if a text, table, from, to or NULL; rows of one key together */
    struct db_listing_sql origins; /* what a table inherits and a view reads: column (NULL: all of them), schema, table,
                                   column; before NULL: the engine does not say */
    const char
        *all_columns; /* schema or NULL, table, column: of all tables, those too that the role may not read; NULL:
                                tables and columns list them */
    bool comments;    /* columns have the comment */
    bool expressions; /* columns have what a generated one is computed by, after the comment */
    bool folds;       /* columns have, after that, whether texts in them may be equal that differ in case,
                                     accents or trailing blanks */
    struct db_listing_sql sample; /* after FROM: a large table's rows, this many in a hundred; NULL: there are none */
    enum db_affinity (*affinity)(const char *type);
};

#endif
