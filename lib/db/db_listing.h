/* Statements that list an engine's catalogue (tables, columns, keys). Their rows have the shape of SQLite's PRAGMAs, so
 * lib/schema reads one shape for all engines. db_scan runs them. */
#ifndef ASSAY_LIB_DB_DB_LISTING_H
#define ASSAY_LIB_DB_DB_LISTING_H

#include <stdbool.h>

/* Affinity of a column by its declared type, in SQLite's terms. */
enum db_affinity { DB_AFFINITY_TEXT, DB_AFFINITY_INTEGER, DB_AFFINITY_REAL, DB_AFFINITY_NUMERIC, DB_AFFINITY_BLOB };

/* The statement is `before`, the name, `after`. */
struct db_listing_sql {
    const char *before, *after;
};

struct db_listing {
    bool name_is_text; /* the quoted name is inserted as a text literal, which the statement casts */
    /* Columns of `tables`, in order:
     * - name
     * - type: 'table' or 'view'
     * - SQL, or NULL; of a view on a server its query
     * - comment, or NULL
     * - estimated rows
     * - schema, or NULL
     * - whether an unqualified name reaches the table; tables for which it does come last
     * - whether the table inherits columns
     */
    const char *tables;
    /* -, name, type, not null, -, position in the primary key, hidden as in SQLite (2, 3: generated), comment or NULL
     */
    struct db_listing_sql columns;
    struct db_listing_sql indexes;      /* -, name, unique, origin ('pk'), partial */
    struct db_listing_sql index;        /* -, -, column or NULL */
    struct db_listing_sql foreign_keys; /* id, schema if a text, table, from, to or NULL; the rows of a key are
                                         * adjacent */
    struct db_listing_sql origins; /* sources of an inherited or view column: column (NULL means all), schema, table,
                                    * column; `before` is NULL if the engine does not list them */
    const char *all_columns; /* schema or NULL, table, column: of all tables, including those that the role may not
                              * read; NULL if `tables` and `columns` list them all */
    bool comments;           /* columns have a comment */
    bool expressions;        /* columns have, after the comment, the expression of a generated column */
    bool folds; /* columns have, after that, whether equal texts may differ in case, accents or trailing blanks */
    struct db_listing_sql sample; /* text after FROM that samples a percentage of a large table's rows; `before` is
                                   * NULL if sampling is unsupported */
    enum db_affinity (*affinity)(const char *type);
};

#endif
