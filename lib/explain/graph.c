/* Builds the provenance graph (CycleSQL paper, §IV-C): tables, their columns, and the values of the traced rows.
 * Phrases annotate the nodes. */
#include "lib/explain/narrator.h"

#include <string.h>

enum { MAX_VALUES = 64, NONE = UINT32_MAX };

struct drawing {
    struct narrator *t;
    struct explain_node *nodes;
    struct explain_edge *edges;
    uint32_t n_nodes, n_edges, cap_nodes, cap_edges;
    uint32_t *table_node, *column_node; /* by table number, by column id: index of the node + 1, or 0 if absent */
};

static uint32_t add_node(struct drawing *d, enum explain_node_kind kind, const char *name, uint32_t id)
{
    if (d->n_nodes == d->cap_nodes) return NONE;
    d->nodes[d->n_nodes] = (struct explain_node){.kind = kind, .name = name, .id = id};
    return d->n_nodes++;
}

static void add_edge(struct drawing *d, enum explain_edge_kind kind, uint32_t from, uint32_t to)
{
    if (d->n_edges < d->cap_edges && from != NONE && to != NONE)
        d->edges[d->n_edges++] = (struct explain_edge){kind, from, to};
}

static uint32_t node_of_column(struct drawing *d, const struct schema_column *column)
{
    const struct schema_index *index = d->t->index;
    if (d->column_node[column->id]) return d->column_node[column->id] - 1;
    if (!d->table_node[column->table]) {
        uint32_t table = add_node(d, EXPLAIN_NODE_TABLE, index->tables[column->table].name, column->table);
        if (table == NONE) return NONE;
        d->table_node[column->table] = table + 1;
    }
    uint32_t node = add_node(d, EXPLAIN_NODE_COLUMN, column->name, column->id);
    if (node == NONE) return NONE;
    d->column_node[column->id] = node + 1;
    add_edge(d, EXPLAIN_HAS_ATTRIBUTE, d->table_node[column->table] - 1, node);
    return node;
}

static void draw_phrase(struct drawing *d, const struct explain_phrase *phrase)
{
    uint32_t before = NONE;
    for (uint32_t i = 0; i < phrase->n_columns; i++) {
        uint32_t node = node_of_column(d, d->t->index->columns[phrase->columns[i]]);
        if (phrase->kind == EXPLAIN_JOIN && phrase->n_columns == 2) add_edge(d, EXPLAIN_JOINS, before, node);
        before = node;
    }
}

static const char *value_text(struct narrator *t, const struct db_value *value)
{
    struct say out;
    if (!say_init(&out, t->arena, 128, false)) {
        t->full = true;
        return "";
    }
    say_value(&out, value);
    return out.text;
}

static void draw_values(struct drawing *d, const struct prov_arm *arm)
{
    struct narrator *t = d->t;
    uint32_t rows = t->options->expose == EXPLAIN_ROWS ? t->options->max_rows : 1, told = 0;
    for (uint32_t r = 0; r < arm->n_rows && r < rows; r++)
        for (uint32_t c = 0; c < arm->n_columns && told < MAX_VALUES; c++) {
            const struct schema_column *column = arm->columns[c].column;
            if (!column || narrate_denied(t, column)) continue;
            uint32_t from = node_of_column(d, column);
            uint32_t to = add_node(d, EXPLAIN_NODE_VALUE, value_text(t, &arm->values[r * arm->n_columns + c]), r);
            add_edge(d, EXPLAIN_HAS_VALUE, from, to);
            told++;
        }
}

/* Attaches each phrase to the columns that it names. */
static bool annotate(struct drawing *d)
{
    const struct narrator *t = d->t;
    uint32_t *counts = arena_new_array(t->arena, d->n_nodes + 1, uint32_t);
    uint32_t **lists = arena_new_array(t->arena, d->n_nodes + 1, uint32_t *);
    if (!counts || !lists) return false;
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t p = 0; p < t->n_phrases; p++)
            for (uint32_t i = 0; i < t->phrases[p].n_columns; i++) {
                uint32_t node = d->column_node[t->phrases[p].columns[i]];
                if (!node) continue;
                if (pass)
                    lists[node - 1][d->nodes[node - 1].n_phrases++] = p;
                else
                    counts[node - 1]++;
            }
        for (uint32_t n = 0; !pass && n < d->n_nodes; n++) {
            if (counts[n] && !(lists[n] = arena_new_array(t->arena, counts[n], uint32_t))) return false;
            d->nodes[n].phrases = lists[n];
        }
    }
    return true;
}

static uint32_t count_columns(const struct narrator *t, const struct provenance *provenance)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_phrases; i++) n += t->phrases[i].n_columns;
    for (uint32_t i = 0; provenance && i < provenance->n_arms; i++) n += provenance->arms[i].n_columns;
    return n;
}

const struct explain_graph *narrate_graph(struct narrator *t, const struct provenance *provenance)
{
    struct explain_graph *graph = arena_new(t->arena, struct explain_graph);
    uint32_t n = count_columns(t, provenance);
    struct drawing d = {.t = t, .cap_nodes = 2 * n + MAX_VALUES, .cap_edges = 2 * n + MAX_VALUES};
    d.nodes = arena_alloc(t->arena, d.cap_nodes * sizeof *d.nodes);
    d.edges = arena_alloc(t->arena, d.cap_edges * sizeof *d.edges);
    d.table_node = arena_new_array(t->arena, t->index->n_tables + 1, uint32_t);
    d.column_node = arena_new_array(t->arena, t->index->n_columns + 1, uint32_t);
    if (!graph || !d.nodes || !d.edges || !d.table_node || !d.column_node) return NULL;
    for (uint32_t i = 0; i < t->n_phrases; i++) draw_phrase(&d, &t->phrases[i]);
    for (uint32_t i = 0; provenance && t->options->expose != EXPLAIN_NONE && i < provenance->n_arms; i++)
        draw_values(&d, &provenance->arms[i]);
    if (!annotate(&d)) return NULL;
    *graph = (struct explain_graph){d.nodes, d.n_nodes, d.edges, d.n_edges};
    return graph;
}
