/* Reads a catalog directly from a SQLite file, for tests of lib/sql. The program itself uses the catalog of
 * lib/schema. */
#ifndef ASSAY_TESTS_SUPPORT_CATALOG_SQLITE_H
#define ASSAY_TESTS_SUPPORT_CATALOG_SQLITE_H

#include <sqlite3.h>

#include "lib/sql/mutate.h"

struct catalog_sqlite {
    sqlite3 *db; /* opened read-only */
    struct sql_catalog catalog;
    struct sql_mutate_env env; /* source of foreign keys, and of values of the tables */
    struct catalog_table *tables;
    int n_tables;
    struct sql_mutate_key *keys;
    void *by_name; /* GHashTable: lower-case name → table id + 1 */
    void *traits;  /* GHashTable: column → traits + 1, for columns requested so far */
};

/* Opens a file, or builds a database in memory from a script. Returns NULL if the file is absent or not a database.
 * Free with catalog_sqlite_free. */
struct catalog_sqlite *catalog_sqlite_open(const char *path);
struct catalog_sqlite *catalog_sqlite_script(const char *sql);
void catalog_sqlite_free(struct catalog_sqlite *c);

#endif
