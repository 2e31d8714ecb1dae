/* Implements random_query.h. Each function builds one construct, with its own probabilities. */
#include "tests/unit/explain/random_query.h"

#include <stdio.h>
#include <string.h>

enum { MAX_FROM = 3, MAX_DEPTH = 2 };

struct from_item {
    const struct schema_table *table;
    char alias[8];
};

struct maker {
    const struct schema_index *index;
    uint64_t state;
    GString *sql;
    struct from_item from[MAX_FROM];
    unsigned n_from, depth, n_alias;
};

/* Returns a random number below `below`, by the generator Splitmix64. */
static uint32_t draw(struct maker *m, uint32_t below)
{
    uint64_t x = m->state += 0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
    return (uint32_t)((x ^ (x >> 31)) % below);
}

static bool chance(struct maker *m, unsigned percent)
{
    return draw(m, 100) < percent;
}

static void put(struct maker *m, const char *text)
{
    g_string_append(m->sql, text);
}

#define PICK(m, ...)                                                                                                   \
    ((const char *const[]){__VA_ARGS__}[draw((m), sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))])

/* ---- names and values ------------------------------------------------------------------------------------------- */

static const struct schema_column *put_column_of(struct maker *m, const struct from_item *item, uint32_t column)
{
    g_string_append_printf(m->sql, "%s.\"%s\"", item->alias, item->table->columns[column].name);
    return &item->table->columns[column];
}

static const struct schema_column *put_column(struct maker *m)
{
    const struct from_item *item = &m->from[draw(m, m->n_from)];
    return put_column_of(m, item, draw(m, item->table->n_columns));
}

static void put_value(struct maker *m, const struct schema_column *column)
{
    struct arena arena;
    arena_init(&arena, 0);
    const struct schema_stats *stats = &column->stats;
    if (stats->n_top && chance(m, 75))
        put(m, db_quote_value(&arena, &stats->top[draw(m, stats->n_top)].value));
    else
        put(m, PICK(m, "0", "1", "2", "-1", "2.5", "'x'", "''", "'a'", "NULL"));
    arena_free(&arena);
}

/* ---- conditions ------------------------------------------------------------------------------------------------- */

static void put_condition(struct maker *m);

/* Appends a FROM clause of one table, and perhaps a WHERE clause. Restores the FROM items of the outer query
 * afterwards. */
static void put_inner(struct maker *m, const char *function)
{
    struct maker outer = *m;
    m->from[0].table = &m->index->tables[draw(m, m->index->n_tables)];
    snprintf(m->from[0].alias, sizeof m->from[0].alias, "z%u", m->n_alias++ % 1000);
    m->n_from = 1;
    m->depth++;
    put(m, "(SELECT ");
    put(m, function);
    put(m, *function ? "(" : "");
    put_column(m);
    g_string_append_printf(m->sql, "%s FROM \"%s\" AS %s", *function ? ")" : "", m->from[0].table->name,
                           m->from[0].alias);
    if (chance(m, 60)) put(m, " WHERE "), put_condition(m);
    put(m, ")");
    outer.state = m->state;
    outer.n_alias = m->n_alias;
    *m = outer;
}

static void put_correlated(struct maker *m)
{
    const struct schema_table *table = &m->index->tables[draw(m, m->index->n_tables)];
    unsigned n = m->n_alias++ % 1000;
    const char *name = table->columns[draw(m, table->n_columns)].name;
    g_string_append_printf(m->sql,
                           "%sEXISTS (SELECT 1 FROM \"%s\" AS z%u WHERE z%u.\"%s\" = ", chance(m, 40) ? "NOT " : "",
                           table->name, n, n, name);
    put_column(m);
    put(m, ")");
}

static void put_connected(struct maker *m)
{
    m->depth++;
    put(m, "(");
    put_condition(m);
    put(m, PICK(m, " OR ", " AND "));
    put_condition(m);
    put(m, ")");
    m->depth--;
}

static void put_comparison(struct maker *m)
{
    const struct schema_column *column = put_column(m);
    switch (draw(m, 8)) {
    case 0: put(m, PICK(m, " IS NULL", " IS NOT NULL")); return;
    case 1: put(m, PICK(m, " LIKE '%a%'", " LIKE '%er%'", " LIKE 'x%'")); return;
    case 2: put(m, " BETWEEN "), put_value(m, column), put(m, " AND "), put_value(m, column); return;
    case 3: put(m, " IN ("), put_value(m, column), put(m, ", "), put_value(m, column), put(m, ")"); return;
    default: put(m, PICK(m, " = ", " <> ", " < ", " > ", " <= ", " >= ")), put_value(m, column);
    }
}

static void put_condition(struct maker *m)
{
    uint32_t kind = m->depth < MAX_DEPTH ? draw(m, 12) : 11;
    if (kind == 0) {
        put_connected(m);
    } else if (kind == 1) {
        put_column(m), put(m, PICK(m, " IN ", " IN ", " NOT IN ")), put_inner(m, "");
    } else if (kind == 2) {
        put_correlated(m);
    } else if (kind == 3) {
        put_column(m), put(m, PICK(m, " = ", " < ", " >= ")), put_inner(m, PICK(m, "max", "min", "avg"));
    } else if (kind == 4) {
        put(m, "NOT ("), m->depth++, put_condition(m), m->depth--, put(m, ")");
    } else {
        put_comparison(m);
    }
}

/* ---- FROM ------------------------------------------------------------------------------------------------------- */

/* Appends a join condition. It prefers two columns of equal names, one in an earlier item; otherwise it joins any two
 * columns. */
static void put_join_condition(struct maker *m, const struct from_item *item)
{
    uint32_t right = draw(m, item->table->n_columns);
    for (uint32_t tries = 0; tries < 20; tries++) {
        const struct from_item *left = &m->from[draw(m, m->n_from)];
        uint32_t column = draw(m, left->table->n_columns);
        int same = schema_find_column(m->index, (int)(item->table - m->index->tables),
                                      left->table->columns[column].name, strlen(left->table->columns[column].name));
        if (same < 0 && tries < 19) continue;
        put_column_of(m, left, column);
        put(m, " = ");
        put_column_of(m, item, same < 0 ? right : (uint32_t)same);
        return;
    }
}

static void put_from(struct maker *m)
{
    unsigned n = (unsigned)(PICK(m, "1", "1", "2", "2", "3")[0] - '0');
    put(m, " FROM ");
    for (m->n_from = 0; m->n_from < n; m->n_from++) {
        struct from_item *item = &m->from[m->n_from];
        item->table = &m->index->tables[draw(m, m->index->n_tables)];
        snprintf(item->alias, sizeof item->alias, "t%u", m->n_alias++ % 1000);
        if (m->n_from) put(m, PICK(m, " JOIN ", " JOIN ", " LEFT JOIN "));
        g_string_append_printf(m->sql, "\"%s\" AS %s", item->table->name, item->alias);
        if (m->n_from) put(m, " ON "), put_join_condition(m, item);
    }
}

/* ---- SELECT ----------------------------------------------------------------------------------------------------- */

static void put_value_item(struct maker *m)
{
    switch (draw(m, 12)) {
    case 0: put_column(m), put(m, " * 2"); return;
    case 1: put(m, "coalesce("), put_column(m), put(m, ", 0)"); return;
    case 2: put(m, "CASE WHEN "), put_condition(m), put(m, " THEN "), put_column(m), put(m, " ELSE 0 END"); return;
    case 3: put(m, PICK(m, "rank()", "row_number()")), put(m, " OVER (ORDER BY "), put_column(m), put(m, ")"); return;
    default: put_column(m);
    }
}

static void put_aggregate(struct maker *m)
{
    if (chance(m, 30)) {
        put(m, "count(*)");
        return;
    }
    put(m, PICK(m, "count(", "count(DISTINCT ", "sum(", "avg(", "min(", "max(", "total("));
    put_column(m);
    put(m, PICK(m, ")", ")", ") + 1", ") FILTER (WHERE 1)"));
}

/* Appends SELECT. Builds FROM first, because the select list uses its names, and inserts the select list before it. */
static void put_select(struct maker *m, uint32_t n_items)
{
    GString *whole = m->sql, *items = g_string_new(NULL), *rest = g_string_new(NULL);
    m->sql = rest;
    put_from(m);
    if (chance(m, 60)) put(m, " WHERE "), put_condition(m);
    bool aggregate = chance(m, 50), group = aggregate && chance(m, 60);
    GString *key = g_string_new(NULL);
    m->sql = key;
    if (group) put_column(m);
    m->sql = items;
    for (uint32_t i = 0; i < n_items; i++) {
        if (i) put(m, ", ");
        if (!aggregate)
            put_value_item(m);
        else if (group && chance(m, 40))
            put(m, key->str);
        else
            put_aggregate(m);
    }
    m->sql = rest;
    if (group) put(m, " GROUP BY "), put(m, key->str);
    if (group && chance(m, 40)) put(m, " HAVING "), put_aggregate(m), put(m, PICK(m, " > 1", " >= 2", " = 1", " < 3"));
    g_string_append_printf(whole, "SELECT %s%s%s", chance(m, 15) ? "DISTINCT " : "", items->str, rest->str);
    m->sql = whole;
    g_string_free(items, TRUE);
    g_string_free(rest, TRUE);
    g_string_free(key, TRUE);
}

static void put_set_operation(struct maker *m)
{
    uint32_t n_items = 1 + draw(m, 2), n = 2 + draw(m, 2);
    for (uint32_t i = 0; i < n; i++) {
        if (i) put(m, PICK(m, " UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT "));
        put_select(m, n_items);
    }
}

void random_query(const struct schema_index *index, uint64_t seed, GString *sql)
{
    struct maker m = {.index = index, .state = seed, .sql = sql};
    g_string_truncate(sql, 0);
    switch (draw(&m, 8)) {
    case 0: put_set_operation(&m); return;
    case 1: put(&m, "SELECT * FROM ("), put_select(&m, 1), put(&m, ") AS d"); return;
    case 2: put(&m, "WITH w(c) AS ("), put_select(&m, 1), put(&m, ") SELECT count(*), max(c) FROM w"); return;
    default: put_select(&m, 1 + draw(&m, 3));
    }
    if (chance(&m, 30)) put(&m, PICK(&m, " ORDER BY 1", " ORDER BY 1 DESC", " ORDER BY 1 LIMIT 1", " LIMIT 2"));
}
