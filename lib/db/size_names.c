/* Maps names to maximum sizes (size_names.h). Each source of FROM or WITH exports names. Each export is visible in a
 * range of node numbers. A lookup returns the largest size of all exports that are visible to the column, so the size
 * of an ambiguous name is never too small. */
#include "lib/db/size_names.h"

#include <math.h>
#include <string.h>

enum { MOST_EXPORTS = 64 }; /* if a name has this many exports, all of them count as visible */

struct export
{
    const struct sql_node *exporter;
    struct size size, before; /* current size; size before the pass */
    double grew;              /* bytes that it grew in the previous pass */
    bool settled;
};

/* The nodes in which the columns of an exporter are visible, `first` to `last`, and their qualifier. */
struct source {
    const struct sql_node *exporter;
    uint32_t first, last;
    const char *alias; /* qualifier of the columns; NULL means any */
    size_t alias_len;
};

struct size_names {
    const struct sql_node *const *nodes;
    uint32_t n;
    uint32_t *last;      /* for each node, by id: the last node below it */
    GHashTable *exports; /* name in lower case → GArray of struct export */
    GHashTable *sources; /* node of an exporter → GArray of struct source */
    GHashTable *aliases; /* aliases of sources, in lower case */
    struct size star;
    bool grown;
};

static char *key_of(const char *text, size_t len)
{
    return g_ascii_strdown(text ? text : "", (gssize)(text ? len : 0));
}

/* --- sources ------------------------------------------------------------------------------------------------------ */

static void find_last(struct size_names *names)
{
    for (uint32_t i = names->n; i-- > 0;) {
        const struct sql_node *parent = names->nodes[i]->parent;
        names->last[i] = MAX(names->last[i], i);
        if (parent && parent->id < i) names->last[parent->id] = MAX(names->last[parent->id], names->last[i]);
    }
}

static void add_source(struct size_names *names, const struct sql_node *exporter, const struct sql_node *range,
                       const char *alias, size_t alias_len)
{
    if (!range) return;
    GArray *list = g_hash_table_lookup(names->sources, exporter);
    if (!list) {
        list = g_array_new(FALSE, FALSE, sizeof(struct source));
        g_hash_table_insert(names->sources, (void *)exporter, list);
    }
    struct source source = {exporter, range->id, names->last[range->id], alias, alias_len};
    g_array_append_val(list, source);
}

/* Makes a FROM item visible in its SELECT and in the ORDER BY of the query, but not in its WITH. */
static void add_from(struct size_names *names, const struct sql_node *exporter, const struct sql_node *item,
                     const char *alias, size_t alias_len)
{
    const struct sql_node *select = sql_up(item, SQL_SELECT);
    add_source(names, exporter, select, alias, alias_len);
    if (select && sql_is(select->parent, SQL_QUERY))
        add_source(names, exporter, sql_kid(select->parent, QUERY_ORDER), alias, alias_len);
}

static void add_alias(struct size_names *names, const char *text, size_t len)
{
    if (text) g_hash_table_add(names->aliases, key_of(text, len));
}

static void add_table(struct size_names *names, const struct sql_node *table, GHashTable *ctes)
{
    const char *alias = table->alias ? table->alias : table->text;
    size_t alias_len = table->alias ? table->alias_len : table->text_len;
    char *key = key_of(table->text, table->text_len);
    for (GSList *cte = g_hash_table_lookup(ctes, key); cte; cte = cte->next)
        add_from(names, cte->data, table, alias, alias_len);
    add_from(names, table, table, NULL, 0);
    add_alias(names, alias, alias_len);
    g_free(key);
}

static void add_select(struct size_names *names, const struct sql_node *select)
{
    const struct sql_node *query = select->parent;
    while (sql_is(query, SQL_COMPOUND)) query = query->parent;
    add_source(names, select, sql_kid(select, SELECT_GROUP), NULL, 0);
    add_source(names, select, sql_kid(select, SELECT_HAVING), NULL, 0);
    if (sql_is(query, SQL_QUERY)) add_source(names, select, sql_kid(query, QUERY_ORDER), NULL, 0);
}

static void add_sources(struct size_names *names, GHashTable *ctes)
{
    for (uint32_t i = 0; i < names->n; i++) {
        const struct sql_node *n = names->nodes[i];
        if (n->kind == SQL_TABLE) add_table(names, n, ctes);
        if (n->kind == SQL_SELECT) add_select(names, n);
        if (n->kind != SQL_DERIVED && n->kind != SQL_FROM_CALL) continue;
        add_from(names, n, n, NULL, 0);
        add_alias(names, n->alias, n->alias_len);
    }
}

static void free_list(void *list)
{
    g_slist_free(list);
}

static void free_array(void *array)
{
    g_array_free(array, TRUE);
}

struct size_names *size_names_new(const struct sql_node *const *nodes, uint32_t n)
{
    struct size_names *names = g_new0(struct size_names, 1);
    *names = (struct size_names){.nodes = nodes, .n = n, .star = {.data = SIZE_COLUMN, .number = INFINITY}};
    names->last = g_new0(uint32_t, n + 1);
    names->exports = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_array);
    names->sources = g_hash_table_new_full(NULL, NULL, NULL, free_array);
    names->aliases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    find_last(names);
    GHashTable *ctes = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, free_list);
    for (uint32_t i = 0; i < n; i++) {
        if (nodes[i]->kind != SQL_CTE) continue;
        char *key = key_of(nodes[i]->text, nodes[i]->text_len);
        GSList *before = g_hash_table_lookup(ctes, key);
        if (before)
            before = g_slist_insert(before, (void *)nodes[i], 1);
        else
            g_hash_table_insert(ctes, g_strdup(key), g_slist_prepend(NULL, (void *)nodes[i]));
        g_free(key);
    }
    add_sources(names, ctes);
    g_hash_table_destroy(ctes);
    return names;
}

void size_names_free(struct size_names *names)
{
    g_hash_table_destroy(names->exports);
    g_hash_table_destroy(names->sources);
    g_hash_table_destroy(names->aliases);
    g_free(names->last);
    g_free(names);
}

/* --- sizes -------------------------------------------------------------------------------------------------------- */

static bool exceeds(struct size a, struct size b)
{
    return a.fixed > b.fixed || a.data > b.data || (a.grown && !b.grown) || (a.computed && !b.computed);
}

static struct export *find_export(const GArray *list, const struct sql_node *exporter)
{
    for (guint i = 0; list && i < list->len; i++) {
        struct export *export = &g_array_index(list, struct export, i);
        if (export->exporter == exporter) return export;
    }
    return NULL;
}

void size_names_raise(struct size_names *names, const struct sql_node *exporter, const char *text, size_t len,
                      struct size size)
{
    static const struct size plain = {.data = SIZE_COLUMN};
    if (!text || !exceeds(size, plain)) return;
    char *key = key_of(text, len);
    GArray *list = g_hash_table_lookup(names->exports, key);
    if (!list) {
        list = g_array_new(FALSE, TRUE, sizeof(struct export));
        g_hash_table_insert(names->exports, g_strdup(key), list);
    }
    g_free(key);
    struct export *export =
        list->len < MOST_EXPORTS ? find_export(list, exporter) : &g_array_index(list, struct export, 0);
    if (!export) {
        struct export fresh = {.exporter = exporter};
        g_array_append_val(list, fresh);
        export = &g_array_index(list, struct export, list->len - 1);
    }
    if (export->settled || !exceeds(size, export->size)) return;
    export->size = size_larger(export->size, size);
    export->size.number = INFINITY;
    if (exporter->kind != SQL_SELECT) names->star = size_larger(names->star, export->size);
    names->grown = true;
}

/* True if the column is below a FROM item that cannot see the source. No item sees itself. A derived table sees the
 * other items of the same FROM only if it is LATERAL. */
static bool is_beside(const struct sql_node *column, const struct source *source)
{
    for (const struct sql_node *n = column->parent; n && n->id > source->first; n = n->parent) {
        if (n == source->exporter) return true;
        bool apart = n->kind == SQL_DERIVED && !(n->flags & SQL_F_LATERAL);
        if (apart && sql_up(n, SQL_SELECT)->id == source->first) return true;
    }
    return false;
}

static bool sees(const struct sql_node *column, const struct source *source, bool qualified)
{
    if (column->id < source->first || column->id > source->last) return false;
    const struct sql_node *own = source->exporter;
    const char *alias = source->alias ? source->alias : own->alias;
    size_t alias_len = source->alias ? source->alias_len : own->alias_len;
    if (qualified && alias && !sql_name_is(alias, alias_len, column->text2, column->text2_len)) return false;
    return !is_beside(column, source);
}

static bool is_visible(const struct size_names *names, const struct sql_node *column, const struct export *export,
                       bool qualified)
{
    const GArray *list = g_hash_table_lookup(names->sources, export->exporter);
    for (guint i = 0; list && i < list->len; i++)
        if (sees(column, &g_array_index(list, struct source, i), qualified)) return true;
    return false;
}

struct size size_names_find(const struct size_names *names, const struct sql_node *column)
{
    struct size size = {.data = SIZE_COLUMN, .number = INFINITY};
    if (!g_hash_table_size(names->exports)) return size;
    char *key = key_of(column->text, column->text_len);
    const GArray *list = g_hash_table_lookup(names->exports, key);
    g_free(key);
    if (!list) return size;
    key = key_of(column->text2, column->text2_len);
    bool qualified = column->text2 && g_hash_table_contains(names->aliases, key), all = list->len >= MOST_EXPORTS;
    g_free(key);
    for (guint i = 0; i < list->len; i++) {
        const struct export *export = &g_array_index(list, struct export, i);
        if (all || is_visible(names, column, export, qualified)) size = size_larger(size, export->size);
    }
    size.number = INFINITY;
    return size;
}

struct size size_names_star(const struct size_names *names)
{
    return names->star;
}

/* A name may refer to a whole row: c in SELECT c FROM c. */
struct size size_names_row(const struct size_names *names, const struct sql_node *table, const struct size *sizes)
{
    struct size size = {.data = SIZE_COLUMN, .number = INFINITY};
    for (uint32_t i = 0; i < names->n; i++) {
        const struct sql_node *cte = names->nodes[i];
        if (cte->kind == SQL_CTE && sql_name_is(cte->text, cte->text_len, table->text, table->text_len))
            size = size_larger(size, sizes[i]);
    }
    return size;
}

/* --- passes ------------------------------------------------------------------------------------------------------- */

static void each_export(struct size_names *names, void (*each)(struct size_names *names, struct export *export))
{
    GHashTableIter iter;
    void *list;
    g_hash_table_iter_init(&iter, names->exports);
    while (g_hash_table_iter_next(&iter, NULL, &list))
        for (guint i = 0; i < ((GArray *)list)->len; i++) each(names, &g_array_index((GArray *)list, struct export, i));
}

static void begin_export(struct size_names *names, struct export *export)
{
    (void)names;
    export->grew = size_total(export->size) - size_total(export->before);
    export->before = export->size;
}

void size_names_begin(struct size_names *names)
{
    names->grown = false;
    each_export(names, begin_export);
}

bool size_names_have_grown(const struct size_names *names)
{
    return names->grown;
}

static void settle_export(struct size_names *names, struct export *export)
{
    double fixed = export->size.fixed - export->before.fixed, data = export->size.data - export->before.data;
    if (export->settled || !(fixed + data > 0 || isnan(fixed + data))) return;
    bool slow = fixed + data <= export->grew && fixed <= SIZE_ROUND_FIXED && data <= SIZE_ROUND_DATA;
    export->size.fixed = slow ? export->size.fixed + fixed * SIZE_ROUNDS : INFINITY;
    export->size.data += slow ? data * SIZE_ROUNDS : 0;
    export->size.grown = export->settled = true;
    names->star = size_larger(names->star, export->size);
}

void size_names_settle(struct size_names *names)
{
    each_export(names, settle_export);
}
