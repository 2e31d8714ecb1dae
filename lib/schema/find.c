/* Looks up tables and columns by name. Names compare without case, ASCII only, as in SQLite. */
#include "lib/schema/schema_int.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static int compare_names(const char *a, size_t a_len, const char *b, size_t b_len)
{
    int order = g_ascii_strncasecmp(a, b, MIN(a_len, b_len));
    return order ? order : (a_len > b_len) - (a_len < b_len);
}

/* Orders tables by name. Tables that require a schema come last. */
static int compare_tables(const void *a, const void *b, void *ctx)
{
    const struct schema_table *tables = ctx, *x = &tables[*(const uint32_t *)a], *y = &tables[*(const uint32_t *)b];
    int far = (x->name != x->bare) - (y->name != y->bare);
    return far ? far : compare_names(x->bare, strlen(x->bare), y->bare, strlen(y->bare));
}

static int compare_in_schemas(const void *a, const void *b, void *ctx)
{
    const struct schema_table *tables = ctx, *x = &tables[*(const uint32_t *)a], *y = &tables[*(const uint32_t *)b];
    int order = compare_names(x->schema, strlen(x->schema), y->schema, strlen(y->schema));
    return order ? order : compare_names(x->bare, strlen(x->bare), y->bare, strlen(y->bare));
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
    for (uint32_t t = 0; t < index->n_tables; t++)
        priv->n_tables_by_name += index->tables[t].name == index->tables[t].bare;
    bool schemas = index->n_tables && index->tables[0].schema;
    if (schemas) priv->tables_by_schema = sorted(builder->arena, index->n_tables, compare_in_schemas, index->tables);
    return priv->tables_by_name && (!schemas || priv->tables_by_schema) ? ERR_OK : builder_full(builder);
}

/* Finds a table that requires no schema, by its name. */
static int find_reachable(const struct schema_index *index, const char *name, size_t len)
{
    uint32_t low = 0, high = index->priv->n_tables_by_name;
    while (low < high) {
        uint32_t middle = (low + high) / 2, table = index->priv->tables_by_name[middle];
        const char *other = index->tables[table].bare;
        int order = compare_names(name, len, other, strlen(other));
        if (order == 0) return (int)table;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

static int find_in_schema(const struct schema_index *index, const char *schema, size_t schema_len, const char *name,
                          size_t len)
{
    uint32_t low = 0, high = index->priv->tables_by_schema ? index->n_tables : 0;
    while (low < high) {
        uint32_t middle = (low + high) / 2, number = index->priv->tables_by_schema[middle];
        const struct schema_table *table = &index->tables[number];
        int order = compare_names(schema, schema_len, table->schema, strlen(table->schema));
        if (order == 0) order = compare_names(name, len, table->bare, strlen(table->bare));
        if (order == 0) return (int)number;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

int schema_find_listed(const struct schema_index *index, const struct db_value *schema, const struct db_value *name)
{
    if (name->type != DB_TEXT) return -1;
    if (schema->type != DB_TEXT) return find_reachable(index, name->text, name->len);
    return find_in_schema(index, schema->text, schema->len, name->text, name->len);
}

int schema_find_table(const struct schema_index *index, const char *name, size_t len)
{
    int table = find_reachable(index, name, len);
    if (!index->priv->tables_by_schema) return table;
    for (size_t dot = 1; table < 0 && dot < len; dot++) /* table and schema names may contain dots */
        if (name[dot] == '.') table = find_in_schema(index, name, dot, name + dot + 1, len - dot - 1);
    return table;
}

char *schema_quote_table(struct arena *arena, const struct schema_table *table)
{
    char *bare = db_quote_name(arena, table->bare, strlen(table->bare));
    if (table->name == table->bare) return bare;
    char *schema = db_quote_name(arena, table->schema, strlen(table->schema));
    return bare && schema ? arena_printf(arena, "%s.%s", schema, bare) : NULL;
}

bool schema_reads_unread(const struct schema_index *index, const struct sql_bound *bound)
{
    for (uint32_t i = 0; !index->no_data && i < bound->n_refs; i++) {
        const struct sql_ref *ref = bound->refs[i];
        bool table = ref->kind == SQL_REF_TABLE && ref->source && ref->source->table >= 0;
        if (table && !index->tables[ref->source->table].scannable) return true;
    }
    return false;
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

/* --- the catalogue for sql_bind ----------------------------------------------------------------------------------- */

static int catalog_find_table(const void *self, const char *name, size_t len)
{
    return find_reachable(self, name, len);
}

/* Finds a table by its schema and name. The schema of a database file is "main". The engine decides whether a statement
 * may write "main" or "public". */
static int catalog_find_in_schema(const void *self, const char *schema, size_t schema_len, const char *name, size_t len)
{
    const struct schema_index *index = self;
    if (index->priv->tables_by_schema) return find_in_schema(index, schema, schema_len, name, len);
    bool known = sql_name_is(schema, schema_len, "main", 4) || sql_name_is(schema, schema_len, "public", 6);
    return known ? find_reachable(index, name, len) : -1;
}

static const char *catalog_table_schema(const void *self, int table)
{
    const struct schema_table *of = &((const struct schema_index *)self)->tables[table];
    return of->name == of->bare ? NULL : of->schema;
}

static int catalog_find_column(const void *self, int table, const char *name, size_t len)
{
    return schema_find_column(self, table, name, len);
}

/* True for the system columns that PostgreSQL gives each table. */
static bool is_system_column(const char *name, size_t len)
{
    static const char *const names[] = {"ctid", "xmin", "xmax", "cmin", "cmax", "tableoid"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (sql_name_is(name, len, names[i], strlen(names[i]))) return true;
    return false;
}

static enum sql_hidden catalog_find_hidden(const void *self, int number, const char *name, size_t len)
{
    const struct schema_index *index = self;
    const struct schema_table *table = &index->tables[number];
    if (index->catalog.alias_is_row) return is_system_column(name, len) ? SQL_HIDDEN_SYSTEM : SQL_HIDDEN_NONE;
    for (uint32_t i = 0; i < table->n_hidden; i++)
        if (sql_name_is(table->hidden[i], strlen(table->hidden[i]), name, len)) return SQL_HIDDEN_ROW;
    return SQL_HIDDEN_NONE;
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
        .find_in_schema = catalog_find_in_schema,
        .table_schema = catalog_table_schema,
        .find_hidden = catalog_find_hidden,
        .alias_is_row = index->alias_is_row,
        .quotes_names = index->quotes_names,
    };
}
