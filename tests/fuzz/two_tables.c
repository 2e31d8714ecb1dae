#include "tests/fuzz/two_tables.h"

#include <string.h>

static const char *const COLUMNS[] = {"a", "b", "id", "name"};
static const char *const TABLES[] = {"t", "u"};

static int pick(const char *const *names, int n, const char *name, size_t len)
{
    for (int i = 0; i < n; i++)
        if (sql_name_is(names[i], strlen(names[i]), name, len)) return i;
    return -1;
}

static int find_table(const void *self, const char *name, size_t len)
{
    return (void)self, pick(TABLES, 2, name, len);
}
static int find_column(const void *self, int t, const char *name, size_t len)
{
    return (void)self, (void)t, pick(COLUMNS, 4, name, len);
}
static int n_tables(const void *self)
{
    return (void)self, 2;
}
static int n_columns(const void *self, int t)
{
    return (void)self, (void)t, 4;
}
static const char *table_name(const void *self, int t)
{
    return (void)self, TABLES[t];
}
static const char *column_name(const void *self, int t, int c)
{
    return (void)self, (void)t, COLUMNS[c];
}

const struct sql_catalog two_tables = {.find_table = find_table,
                                       .find_column = find_column,
                                       .n_tables = n_tables,
                                       .n_columns = n_columns,
                                       .table_name = table_name,
                                       .column_name = column_name};
