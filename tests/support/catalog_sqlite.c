/* A catalog that reads tables, columns, foreign keys and value traits directly from a SQLite file. Tests of lib/sql
 * bind against it without a schema index. Traits are read on the first request for a column and cached. */
#include "tests/support/catalog_sqlite.h"

#include <glib.h>
#include <string.h>

struct catalog_table {
    char *name;
    GPtrArray *columns;  /* char *: names */
    GHashTable *by_name; /* lower-case column name → index + 1 */
};

static int find(GHashTable *table, const char *name, size_t len)
{
    char *key = g_ascii_strdown(name, (gssize)len);
    int found = GPOINTER_TO_INT(g_hash_table_lookup(table, key)) - 1;
    g_free(key);
    return found;
}

static int find_table(const void *self, const char *name, size_t len)
{
    return find(((const struct catalog_sqlite *)self)->by_name, name, len);
}

static int find_column(const void *self, int table, const char *name, size_t len)
{
    return find(((const struct catalog_sqlite *)self)->tables[table].by_name, name, len);
}

static int n_tables(const void *self)
{
    return ((const struct catalog_sqlite *)self)->n_tables;
}

static int n_columns(const void *self, int table)
{
    return (int)((const struct catalog_sqlite *)self)->tables[table].columns->len;
}

static const char *table_name(const void *self, int table)
{
    return ((const struct catalog_sqlite *)self)->tables[table].name;
}

static const char *column_name(const void *self, int table, int column)
{
    return g_ptr_array_index(((const struct catalog_sqlite *)self)->tables[table].columns, (guint)column);
}

static const char *sample_value(const void *self, struct arena *arena, int table, int column, uint64_t draw)
{
    const struct catalog_sqlite *c = self;
    char *sql =
        sqlite3_mprintf("SELECT quote(x) FROM (SELECT DISTINCT \"%w\" AS x FROM \"%w\" WHERE x IS NOT NULL LIMIT 50) "
                        "LIMIT 1 OFFSET %d",
                        column_name(c, table, column), table_name(c, table), (int)(draw % 7));
    sqlite3_stmt *stmt = NULL;
    const char *value = NULL;
    if (sqlite3_prepare_v2(c->db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
        value = arena_strdup(arena, (const char *)sqlite3_column_text(stmt, 0));
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return value;
}

static bool holds(const struct catalog_sqlite *c, const char *format, int table, int column)
{
    const char *x = column_name(c, table, column), *t = table_name(c, table);
    char *sql = sqlite3_mprintf(format, x, t);
    sqlite3_stmt *stmt = NULL;
    bool yes = sqlite3_prepare_v2(c->db, sql, -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW &&
               sqlite3_column_int(stmt, 0) > 0;
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
    return yes;
}

static unsigned read_traits(const struct catalog_sqlite *c, int table, int column)
{
    unsigned few = holds(c, "SELECT count(DISTINCT \"%w\") BETWEEN 2 AND 8 FROM \"%w\"", table, column);
    few = few ? SQL_TRAIT_FEW : 0;
    for (uint32_t i = 0; i < c->env.n_keys; i++) {
        const struct sql_mutate_key *key = &c->keys[i];
        bool from = key->table == table && key->column == column;
        if (from || (key->ref_table == table && key->ref_column == column)) return few | SQL_TRAIT_KEY;
    }
    if (holds(c, "SELECT max(\"%w\") LIKE '____-__-__%%' FROM \"%w\"", table, column)) return few | SQL_TRAIT_DATE;
    bool text = holds(c, "SELECT typeof(max(\"%w\")) = 'text' FROM \"%w\"", table, column);
    return few | (text ? SQL_TRAIT_TEXT : SQL_TRAIT_NUMBER);
}

/* Reads the traits of a column once and caches them, because operators request them very often. */
static unsigned traits(const void *self, int table, int column)
{
    const struct catalog_sqlite *c = self;
    gpointer key = GINT_TO_POINTER((table << 12) + column), known = g_hash_table_lookup(c->traits, key);
    if (!known) {
        known = GUINT_TO_POINTER(read_traits(c, table, column) + 1);
        g_hash_table_insert(c->traits, key, known);
    }
    return GPOINTER_TO_UINT(known) - 1;
}

static void read_columns(struct catalog_sqlite *c, struct catalog_table *t)
{
    char *sql = sqlite3_mprintf("PRAGMA table_xinfo(\"%w\")", t->name);
    sqlite3_stmt *stmt = NULL;
    sqlite3_prepare_v2(c->db, sql, -1, &stmt, NULL);
    while (stmt && sqlite3_step(stmt) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(stmt, 1);
        g_ptr_array_add(t->columns, g_strdup(name));
        g_hash_table_insert(t->by_name, g_ascii_strdown(name, -1), GINT_TO_POINTER((int)t->columns->len));
    }
    sqlite3_finalize(stmt);
    sqlite3_free(sql);
}

static void read_tables(struct catalog_sqlite *c)
{
    GArray *tables = g_array_new(FALSE, TRUE, sizeof(struct catalog_table));
    sqlite3_stmt *stmt = NULL;
    sqlite3_prepare_v2(c->db, "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY rowid", -1,
                       &stmt, NULL);
    while (stmt && sqlite3_step(stmt) == SQLITE_ROW) {
        struct catalog_table t = {.name = g_strdup((const char *)sqlite3_column_text(stmt, 0)),
                                  .columns = g_ptr_array_new_with_free_func(g_free),
                                  .by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
        g_array_append_val(tables, t);
        g_hash_table_insert(c->by_name, g_ascii_strdown(t.name, -1), GINT_TO_POINTER((int)tables->len));
    }
    sqlite3_finalize(stmt);
    c->n_tables = (int)tables->len;
    c->tables = (struct catalog_table *)(void *)g_array_free(tables, FALSE);
    for (int i = 0; i < c->n_tables; i++) read_columns(c, &c->tables[i]);
}

static void read_keys(struct catalog_sqlite *c)
{
    GArray *keys = g_array_new(FALSE, TRUE, sizeof(struct sql_mutate_key));
    for (int i = 0; i < c->n_tables; i++) {
        char *sql = sqlite3_mprintf("PRAGMA foreign_key_list(\"%w\")", c->tables[i].name);
        sqlite3_stmt *stmt = NULL;
        sqlite3_prepare_v2(c->db, sql, -1, &stmt, NULL);
        while (stmt && sqlite3_step(stmt) == SQLITE_ROW) {
            const char *table = (const char *)sqlite3_column_text(stmt, 2);
            const char *from = (const char *)sqlite3_column_text(stmt, 3),
                       *to = (const char *)sqlite3_column_text(stmt, 4);
            struct sql_mutate_key key = {.table = i, .ref_table = find_table(c, table, strlen(table))};
            if (key.ref_table < 0 || !from || !to) continue;
            key.column = find_column(c, i, from, strlen(from));
            key.ref_column = find_column(c, key.ref_table, to, strlen(to));
            if (key.column >= 0 && key.ref_column >= 0) g_array_append_val(keys, key);
        }
        sqlite3_finalize(stmt);
        sqlite3_free(sql);
    }
    c->env.n_keys = keys->len;
    c->keys = (struct sql_mutate_key *)(void *)g_array_free(keys, FALSE);
}

static struct catalog_sqlite *read_catalog(sqlite3 *db)
{
    struct catalog_sqlite *c = g_new0(struct catalog_sqlite, 1);
    c->db = db;
    c->by_name = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    c->traits = g_hash_table_new(g_direct_hash, g_direct_equal);
    read_tables(c);
    read_keys(c);
    c->catalog = (struct sql_catalog){.self = c,
                                      .find_table = find_table,
                                      .find_column = find_column,
                                      .n_tables = n_tables,
                                      .n_columns = n_columns,
                                      .table_name = table_name,
                                      .column_name = column_name};
    c->env.catalog = &c->catalog;
    c->env.keys = c->keys;
    c->env.self = c;
    c->env.sample_value = sample_value;
    c->env.traits = traits;
    return c;
}

struct catalog_sqlite *catalog_sqlite_open(const char *path)
{
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK ||
        sqlite3_exec(db, "SELECT 1 FROM sqlite_master", NULL, NULL, NULL) != SQLITE_OK) {
        sqlite3_close(db);
        return NULL;
    }
    return read_catalog(db);
}

struct catalog_sqlite *catalog_sqlite_script(const char *sql)
{
    sqlite3 *db = NULL;
    if (sqlite3_open(":memory:", &db) != SQLITE_OK || sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        sqlite3_close(db);
        return NULL;
    }
    return read_catalog(db);
}

void catalog_sqlite_free(struct catalog_sqlite *c)
{
    if (!c) return;
    for (int i = 0; i < c->n_tables; i++) {
        g_free(c->tables[i].name);
        g_ptr_array_free(c->tables[i].columns, TRUE);
        g_hash_table_destroy(c->tables[i].by_name);
    }
    g_free(c->tables);
    g_free(c->keys);
    g_hash_table_destroy(c->by_name);
    g_hash_table_destroy(c->traits);
    sqlite3_close(c->db);
    g_free(c);
}
