/* Repairs names that do not bind, which generators invent. Such a name may be a column of a table that FROM lacks, or a
 * column of several tables. It may also be a misspelled name, or a word such as "quantity" for a count. A repair
 * replaces all occurrences of a name in the same way. */
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

/* Replaces all unbound occurrences of the name, from the last one, so that earlier offsets stay valid. */
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

/* True if the name occurs after ORDER BY or HAVING. Searches the text before it, because the tree has no node for an
 * unbound name. */
static bool orders(const struct proposals *p, const struct sql_diag *diag)
{
    char *before = g_ascii_strdown(p->sql, diag->start);
    const char *order = g_strrstr(before, "order by"), *having = g_strrstr(before, "having"),
               *select = g_strrstr(before, "select");
    bool found = MAX(order, having) > select;
    g_free(before);
    return found;
}

/* Returns the name of the column, after the last dot. */
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

/* Adds the table to a column that several tables have, or replaces a wrong table. */
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

uint32_t repair_end_of_from(const struct sql_block *block)
{
    return sql_kid(block->node, SELECT_FROM)->end;
}

/* Returns " JOIN table ON ..." for a key of one column between the source and the table. Returns NULL if the key does
 * not connect them. */
static const char *join_by(const struct proposals *p, const struct sql_source *source, const struct schema_table *table,
                           const struct schema_join *join)
{
    const struct schema_index *schema = p->schema;
    const struct schema_column *from = schema->columns[join->from[0]], *to = schema->columns[join->to[0]];
    bool forth = &schema->tables[join->to_table] == table && (int)join->from_table == source->table;
    bool back = &schema->tables[join->from_table] == table && (int)join->to_table == source->table;
    if (join->n_pairs != 1 || (!forth && !back)) return NULL;
    const char *own = sql_print_name(p->arena, (forth ? from : to)->name);
    const char *other = sql_print_name(p->arena, (forth ? to : from)->name);
    return own && other ? arena_printf(p->arena, " JOIN %s ON %.*s.%s = %s.%s", table->name, (int)source->name_len,
                                       source->name, own, table->name, other)
                        : NULL;
}

uint32_t repair_joins_to(const struct proposals *p, const struct sql_block *block, const struct schema_table *table,
                         const char *out[REPAIR_MAX_JOINS])
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < block->n_sources; s++)
        for (uint32_t j = 0; j < p->schema->n_joins && n < REPAIR_MAX_JOINS; j++) {
            const struct sql_source *source = &block->sources[s];
            if (source->table < 0 || !source->name) continue;
            out[n] = join_by(p, source, table, &p->schema->joins[j]);
            n += out[n] != NULL;
        }
    return n;
}

/* Proposes to join the table that has the column to the block. */
static void join_owner(struct proposals *p, const struct sql_block *block, const struct sql_diag *diag,
                       const struct schema_table *owner, const char *name)
{
    const char *joins[REPAIR_MAX_JOINS];
    uint32_t n = repair_joins_to(p, block, owner, joins), at = repair_end_of_from(block);
    const char *column = qualified(p, owner->name, strlen(owner->name), name);
    for (uint32_t i = 0; i < n && column; i++) {
        /* The name may be before or after the end of FROM. The later position is changed first. */
        const char *sql = diag->start > at ? renamed(p, diag, column) : p->sql;
        const char *joined = sql ? repair_replaced(p->arena, sql, at, at, joins[i]) : NULL;
        if (joined && diag->start <= at) {
            struct proposals shifted = *p;
            shifted.sql = joined;
            joined = renamed(&shifted, diag, column);
        }
        repair_add(p, joined, diag->message);
    }
}

static void join_owners(struct proposals *p, const struct sql_bound *bound, const struct sql_diag *diag,
                        const char *name)
{
    const struct sql_block *block = NULL; /* the innermost block that contains the name */
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
