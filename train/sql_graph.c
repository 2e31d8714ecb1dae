/* Builds the graph of a statement (sql_graph.h): numbers the nodes in preorder, drops those that add nothing, then adds
 * the edges. */
#include "train/sql_graph.h"

#include <stdlib.h>
#include <string.h>

/* Kinds that add nothing to the graph if they have at most one child. */
static const bool hands_on[SQL_KIND_COUNT] = {
    [SQL_QUERY] = true, [SQL_ITEMS] = true, [SQL_ITEM] = true,       [SQL_ARGS] = true,    [SQL_SUBQUERY] = true,
    [SQL_LIST] = true,  [SQL_ROW] = true,   [SQL_FROM_PAREN] = true, [SQL_DERIVED] = true, [SQL_TERM] = true,
};

/* Kinds that are omitted with their whole subtree. */
static const bool is_constraint[SQL_KIND_COUNT] = {[SQL_ON] = true, [SQL_USING] = true};

static unsigned count_kids(const struct sql_node *node)
{
    unsigned n = 0;
    for (uint32_t i = 0; i < node->n_kids; i++) n += node->kids[i] && !is_constraint[node->kids[i]->kind];
    return n;
}

static bool says_something(const struct sql_node *node)
{
    bool ascending = node->op == SQL_OP_NONE || node->op == SQL_ASC;
    bool plain = node->kind != SQL_TERM || (ascending && !node->text_len);
    return !hands_on[node->kind] || !plain || count_kids(node) > 1;
}

static bool take_nodes(struct arena *arena, const struct sql_node *root, struct sql_graph *out)
{
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) out->n++;
    out->nodes = arena_new_array(arena, out->n + 1, const struct sql_node *);
    out->parent = arena_new_array(arena, out->n + 1, int64_t);
    out->kept = arena_new_array(arena, out->n + 1, bool);
    out->edges = arena_new_array(arena, 2 * (size_t)out->n + 2, struct sql_graph_edge);
    if (!out->nodes || !out->parent || !out->kept || !out->edges) return false;
    uint32_t at = 0;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) out->nodes[at++] = n;
    return true;
}

/* Sets the parent of each node. Parents precede their children. So the parent is found by a walk up from the node
 * before. */
static void set_parents(struct sql_graph *graph)
{
    graph->parent[0] = -1;
    for (uint32_t i = 1; i < graph->n; i++) {
        int64_t at = (int64_t)i - 1;
        while (at >= 0 && graph->nodes[at] != graph->nodes[i]->parent) at = graph->parent[at];
        graph->parent[i] = at;
    }
}

/* Sets `kept`: false for nodes in omitted subtrees, and for nodes that add nothing. Parents come before their
 * children. */
static void set_kept(struct arena *arena, struct sql_graph *graph)
{
    bool *out = arena_new_array(arena, graph->n + 1, bool);
    for (uint32_t i = 0; out && i < graph->n; i++) {
        const struct sql_node *node = graph->nodes[i];
        out[i] = is_constraint[node->kind] || (graph->parent[i] >= 0 && out[graph->parent[i]]);
        graph->kept[i] = !out[i] && says_something(node);
    }
}

static int by_place(const void *a, const void *b)
{
    const struct sql_graph_edge *x = a, *y = b; /* `from` is the start of an edge, `to` its end */
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* Returns the nearest kept ancestor; -1 if there is none. */
static int64_t kept_parent(const struct sql_graph *graph, uint32_t i)
{
    int64_t at = graph->parent[i];
    while (at >= 0 && !graph->kept[at]) at = graph->parent[at];
    return at;
}

/* Fills the edges of the graph. Returns false if the arena is full. */
static bool set_edges(struct arena *arena, struct sql_graph *graph)
{
    bool *inner = arena_new_array(arena, graph->n + 1, bool);
    struct sql_graph_edge *leaves = arena_new_array(arena, graph->n + 1, struct sql_graph_edge);
    uint32_t n = 0;
    if (!inner || !leaves) return false;
    for (uint32_t i = 0; i < graph->n; i++) {
        int64_t above = graph->kept[i] ? kept_parent(graph, i) : -1;
        if (above < 0) continue;
        inner[above] = true;
        graph->edges[graph->n_edges++] = (struct sql_graph_edge){(uint32_t)above, i};
    }
    for (uint32_t i = 0; i < graph->n; i++)
        if (graph->kept[i] && !inner[i]) leaves[n++] = (struct sql_graph_edge){graph->nodes[i]->start, i};
    qsort(leaves, n, sizeof *leaves, by_place);
    for (uint32_t i = 0; i + 1 < n; i++)
        graph->edges[graph->n_edges++] = (struct sql_graph_edge){leaves[i].to, leaves[i + 1].to};
    graph->n_chained = n ? n - 1 : 0;
    return true;
}

bool sql_graph_make(struct arena *arena, const struct sql_stmt *stmt, struct sql_graph *out)
{
    *out = (struct sql_graph){0};
    if (!stmt || !stmt->root || !take_nodes(arena, stmt->root, out)) return false;
    set_parents(out);
    set_kept(arena, out);
    return set_edges(arena, out);
}

const char *sql_graph_type(struct arena *arena, const struct sql_node *node)
{
    static const bool has_op[SQL_KIND_COUNT] = {
        [SQL_COMPOUND] = true, [SQL_JOIN] = true, [SQL_TERM] = true,    [SQL_UNARY] = true,
        [SQL_BINARY] = true,   [SQL_LIKE] = true, [SQL_LITERAL] = true, [SQL_QUANTIFIED] = true};
    const char *op = has_op[node->kind] && node->op ? sql_op_text((enum sql_op)node->op) : "";
    char *call = node->kind == SQL_CALL ? arena_strndup(arena, node->text, node->text_len) : NULL;
    if (node->kind == SQL_CALL && !call) return NULL;
    for (char *c = call; c && *c; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
    return arena_printf(arena, "%s%s%s%s%s%s%s", sql_kind_name((enum sql_kind)node->kind), *op ? " " : "", op,
                        call ? " " : "", call ? call : "", node->flags & SQL_F_NOT ? " not" : "",
                        node->flags & SQL_F_DISTINCT ? " distinct" : "");
}
