/* Names, and the questions that are answered by name. Names compare without case, ASCII only, as SQLite's do. */
#include "lib/schema/schema_int.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int compare_names(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int order = g_ascii_strncasecmp(a, b, MIN(a_len, b_len));
    return order ? order : (a_len > b_len) - (a_len < b_len);
}

static int compare_tables(const void *a, const void *b, void *ctx)
{
    const struct schema_table *tables = ctx;
    const char *x = tables[*(const uint32_t *)a].name, *y = tables[*(const uint32_t *)b].name;
    return compare_names(x, strlen(x), y, strlen(y));
}

static int compare_columns(const void *a, const void *b, void *ctx)
{
    const struct schema_column *columns = ctx;
    const char *x = columns[*(const uint32_t *)a].name, *y = columns[*(const uint32_t *)b].name;
    return compare_names(x, strlen(x), y, strlen(y));
}

static uint32_t *sorted(struct arena *arena, uint32_t n, int (*compare)(const void *, const void *, void *), void *ctx)
{
    uint32_t *order = arena_new_array(arena, n, uint32_t);
    for (uint32_t i = 0; order && i < n; i++) order[i] = i;
    if (order) qsort_r(order, n, sizeof *order, compare, ctx);
    return order;
}

enum err_code schema_sort_names(struct builder *builder)
{
    struct schema_index *index = builder->index;
    struct schema_private *priv = index->priv;
    priv->columns_by_name = arena_new_array(builder->arena, index->n_tables, uint32_t *);
    if (!priv->columns_by_name) return builder_full(builder);
    for (uint32_t t = 0; t < index->n_tables; t++) {
        struct schema_table *table = &index->tables[t];
        priv->columns_by_name[t] = sorted(builder->arena, table->n_columns, compare_columns, table->columns);
        if (!priv->columns_by_name[t]) return builder_full(builder);
    }
    priv->tables_by_name = sorted(builder->arena, index->n_tables, compare_tables, index->tables);
    return priv->tables_by_name ? ERR_OK : builder_full(builder);
}

int schema_find_table(const struct schema_index *index, const char *name, size_t len)
{
    uint32_t low = 0, high = index->n_tables;
    while (low < high) {
        uint32_t middle = (low + high) / 2, table = index->priv->tables_by_name[middle];
        const char *other = index->tables[table].name;
        int order = compare_names(name, len, other, strlen(other));
        if (order == 0) return (int)table;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

int schema_find_column(const struct schema_index *index, int table, const char *name, size_t len)
{
    if (table < 0 || (uint32_t)table >= index->n_tables) return -1;
    const struct schema_column *columns = index->tables[table].columns;
    uint32_t low = 0, high = index->tables[table].n_columns;
    while (low < high) {
        uint32_t middle = (low + high) / 2, column = index->priv->columns_by_name[table][middle];
        int order = compare_names(name, len, columns[column].name, strlen(columns[column].name));
        if (order == 0) return (int)column;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

const struct schema_column *schema_column_of(const struct schema_index *index, const struct sql_ref *ref)
{
    if (!ref || ref->table < 0 || ref->column < 0 || (uint32_t)ref->table >= index->n_tables) return NULL;
    const struct schema_table *table = &index->tables[ref->table];
    return (uint32_t)ref->column < table->n_columns ? &table->columns[ref->column] : NULL;
}

bool schema_column_is_denied(const struct schema_index *index, const struct schema_column *column,
                             const char *const *names, uint32_t n)
{
    const struct schema_table *table = &index->tables[column->table];
    for (uint32_t i = 0; i < n; i++) {
        const char *dot = strchr(names[i], '.'), *name = dot ? dot + 1 : names[i];
        bool here =
            !dot || table->is_view || sql_name_is(table->name, strlen(table->name), names[i], (size_t)(dot - names[i]));
        if (here && sql_name_is(column->name, strlen(column->name), name, strlen(name))) return true;
    }
    return false;
}

/* --- the catalogue for sql_bind ----------------------------------------------------------------------------------- */

static int catalog_find_table(const void *self, const char *name, size_t len)
{
    return schema_find_table(self, name, len);
}

static int catalog_find_column(const void *self, int table, const char *name, size_t len)
{
    return schema_find_column(self, table, name, len);
}

static int catalog_n_tables(const void *self)
{
    const struct schema_index *index = self;
    return (int)index->n_tables;
}

static int catalog_n_columns(const void *self, int table)
{
    const struct schema_index *index = self;
    return (int)index->tables[table].n_columns;
}

static const char *catalog_table_name(const void *self, int table)
{
    const struct schema_index *index = self;
    return index->tables[table].name;
}

static const char *catalog_column_name(const void *self, int table, int column)
{
    const struct schema_index *index = self;
    return index->tables[table].columns[column].name;
}

/* What either engine calls the schema that an unqualified name is looked for in; the engine knows which is right. */
static bool catalog_has_schema(const void *self, const char *name, size_t len)
{
    (void)self;
    return sql_name_is(name, len, "main", 4) || sql_name_is(name, len, "public", 6);
}

void schema_fill_catalog(struct schema_index *index)
{
    index->catalog = (struct sql_catalog){
        .self = index,
        .find_table = catalog_find_table,
        .find_column = catalog_find_column,
        .n_tables = catalog_n_tables,
        .n_columns = catalog_n_columns,
        .table_name = catalog_table_name,
        .column_name = catalog_column_name,
        .has_schema = catalog_has_schema,
    };
}
