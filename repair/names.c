/* Names that do not bind, as generators make them up: a column of a table that is not in FROM, one that several tables have, a
 * name near another one, "quantity" for the count that it stands for. One guess is made for all places of the same name. */
#include "repair/propose_int.h"

#include <glib.h>
#include <string.h>

enum { MAX_NAMES = 4, MAX_TEXT = 256 };

static bool is_name(const struct sql_diag *diag)
{
    return diag->code == ERR_UNKNOWN_NAME || diag->code == ERR_AMBIGUOUS_NAME;
}

static bool same_bytes(const struct proposals *p, const struct sql_diag *a, const struct sql_diag *b)
{
    return a->end - a->start == b->end - b->start &&
           memcmp(p->sql + a->start, p->sql + b->start, a->end - a->start) == 0;
}

/* The name replaced wherever it stands unbound, from the last place to the first, so that places before it stay right. */
static const char *renamed(const struct proposals *p, const struct sql_diag *first, const char *text)
{
    const struct sql_diag *places[16];
    uint32_t n = 0;
    const char *sql = p->sql;
    for (const struct sql_diag *d = first; d && n < G_N_ELEMENTS(places); d = d->next)
        if (is_name(d) && same_bytes(p, d, first)) places[n++] = d;
    while (n-- && sql) sql = repair_replaced(p->arena, sql, places[n]->start, places[n]->end, text);
    return sql;
}

/* Does the place stand behind ORDER BY or HAVING? By the words before it: the tree has no node for what does not bind. */
static bool orders(const struct proposals *p, const struct sql_diag *diag)
{
    char *before = g_ascii_strdown(p->sql, diag->start);
    const char *order = g_strrstr(before, "order by"), *having = g_strrstr(before, "having"),
               *select = g_strrstr(before, "select");
    bool found = MAX(order, having) > select;
    g_free(before);
    return found;
}

/* The column's own name: what stands behind the last point. */
static const char *column_name(const struct proposals *p, const struct sql_diag *diag)
{
    const char *name = arena_strndup(p->arena, p->sql + diag->start, diag->end - diag->start);
    const char *point = name ? strrchr(name, '.') : NULL;
    return point ? point + 1 : name;
}

static const struct schema_column *column_of(const struct schema_table *table, const char *name)
{
    for (uint32_t c = 0; c < table->n_columns; c++)
        if (g_ascii_strcasecmp(table->columns[c].name, name) == 0) return &table->columns[c];
    return NULL;
}

static const char *qualified(const struct proposals *p, const char *table, size_t len, const char *column)
{
    char text[MAX_TEXT];
    int n = g_snprintf(text, sizeof text, "%.*s.%s", (int)len, table, column);
    return n > 0 && (size_t)n < sizeof text ? arena_strdup(p->arena, text) : NULL;
}

/* One that several tables have, or another table than the one it is said to be of. */
static void qualify(struct proposals *p, const struct sql_bound *bound, const struct sql_diag *diag, const char *name)
{
    for (uint32_t b = 0; b < bound->n_blocks; b++)
        for (uint32_t s = 0; s < bound->blocks[b]->n_sources; s++) {
            const struct sql_source *source = &bound->blocks[b]->sources[s];
            if (source->table < 0 || !source->name || !column_of(&p->schema->tables[source->table], name)) continue;
            const char *text = qualified(p, source->name, source->name_len, name);
            if (text) repair_add(p, renamed(p, diag, text), diag->message);
        }
}

/* The end of a FROM item with the condition that joins it. */
static uint32_t end_of(const struct sql_source *source)
{
    return source->join ? MAX(source->join->end, source->node->end) : source->node->end;
}

/* " JOIN owner ON ..." behind the last item of the block's FROM, where one key leads from an item to the owner. */
static void join_owner(struct proposals *p, const struct sql_block *block, const struct sql_diag *diag,
                       const struct schema_table *owner, const char *name)
{
    for (uint32_t s = 0; s < block->n_sources; s++) {
        const struct sql_source *source = &block->sources[s];
        for (uint32_t j = 0; source->table >= 0 && source->name && j < p->schema->n_joins; j++) {
            const struct schema_join *join = &p->schema->joins[j];
            const struct schema_column *from = p->schema->columns[join->from[0]], *to = p->schema->columns[join->to[0]];
            bool forth = &p->schema->tables[join->to_table] == owner && (int)join->from_table == source->table;
            bool back = &p->schema->tables[join->from_table] == owner && (int)join->to_table == source->table;
            if (join->n_pairs != 1 || (!forth && !back)) continue;
            char text[2 * MAX_TEXT];
            int n = g_snprintf(text, sizeof text, " JOIN %s ON %.*s.%s = %s.%s", owner->name, (int)source->name_len,
                               source->name, (forth ? from : to)->name, owner->name, (forth ? to : from)->name);
            const char *column = qualified(p, owner->name, strlen(owner->name), name);
            uint32_t at = end_of(&block->sources[block->n_sources - 1]);
            if (n <= 0 || (size_t)n >= sizeof text || !column) continue;
            /* The name may stand on either side of FROM: the later place is written first. */
            const char *joined =
                repair_replaced(p->arena, diag->start > at ? renamed(p, diag, column) : p->sql, at, at, text);
            if (joined && diag->start <= at) {
                struct proposals shifted = *p;
                shifted.sql = joined;
                joined = renamed(&shifted, diag, column);
            }
            repair_add(p, joined, diag->message);
        }
    }
}

static void join_owners(struct proposals *p, const struct sql_bound *bound, const struct sql_diag *diag,
                        const char *name)
{
    const struct sql_block *block = NULL; /* the innermost one around the place */
    for (uint32_t b = 0; b < bound->n_blocks; b++)
        if (bound->blocks[b]->node->start <= diag->start && diag->end <= bound->blocks[b]->node->end)
            block = bound->blocks[b];
    for (uint32_t t = 0; block && block->n_sources && t < p->schema->n_tables; t++)
        if (column_of(&p->schema->tables[t], name)) join_owner(p, block, diag, &p->schema->tables[t], name);
}

void repair_propose_names(struct proposals *p, const struct sql_bound *bound)
{
    const struct sql_diag *diag = bound->diags;
    while (diag && !is_name(diag)) diag = diag->next;
    const char *name = diag ? column_name(p, diag) : NULL;
    if (!name) return;
    qualify(p, bound, diag, name);
    if (orders(p, diag)) repair_add(p, renamed(p, diag, "COUNT(*)"), diag->message);
    join_owners(p, bound, diag, name);
    for (uint32_t i = 0; i < diag->n_expected && i < MAX_NAMES; i++)
        repair_add(p, renamed(p, diag, diag->expected[i]), diag->message);
}
