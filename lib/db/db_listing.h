/* Statements that list an engine's catalogue: tables, columns and keys. db_scan runs them. Their rows have the columns
 * of SQLite's PRAGMAs for every engine, so lib/schema reads one format. */
#ifndef ASSAY_LIB_DB_DB_LISTING_H
#define ASSAY_LIB_DB_DB_LISTING_H

#include <stdbool.h>

/* SQLite's affinities of a column, which its declared type determines. */
enum db_affinity { DB_AFFINITY_TEXT, DB_AFFINITY_INTEGER, DB_AFFINITY_REAL, DB_AFFINITY_NUMERIC, DB_AFFINITY_BLOB };

/* A statement about one object: the text `before`, the object's name and the text `after`. */
struct db_listing_sql {
    const char *before, *after;
};

struct db_listing {
    bool name_is_text; /* the quoted name is inserted as a text literal, otherwise as an identifier */
    /* Columns of `tables`, in order:
     * - name
     * - type: 'table' or 'view'
     * - SQL or NULL; for a view on a server its query
     * - comment, or NULL
     * - estimated rows
     * - schema, or NULL
     * - whether the unqualified name refers to the table; such tables come last
     * - whether the table inherits columns */
    const char *tables;
    /* Columns: unused, name, type, not null, unused, position in the primary key, hidden as in SQLite (2 and 3 mean
     * generated), comment or NULL. */
    struct db_listing_sql columns;
    struct db_listing_sql indexes;      /* unused, name, unique, origin ('pk'), partial */
    struct db_listing_sql index;        /* unused, unused, column or NULL */
    struct db_listing_sql foreign_keys; /* id, schema (if it is a text), table, from, to or NULL; the rows of a key are
                                         * adjacent */
    struct db_listing_sql origins; /* sources of the columns of a view or of inherited columns: column (NULL means all),
                                    * schema, table, column of the source. `before` is NULL if the engine does not list
                                    * them */
    const char *all_columns; /* lists schema or NULL, table and column for all tables, including those that the role may
                              * not read; NULL if `tables` and `columns` already list all */
    bool comments;           /* `columns` lists comments */
    bool expressions;        /* `columns` then lists the expression of a generated column */
    bool folds; /* `columns` then lists whether equal texts may differ in case, accents or trailing blanks */
    struct db_listing_sql sample; /* text of a FROM clause that samples rows of a large table; `before` is NULL if the
                                   * engine cannot sample */
    enum db_affinity (*affinity)(const char *type);
};

#endif
