/* The join graph: tables are nodes, and joins are edges, whether declared or inferred.
 *
 * schema_steiner finds the smallest connected set of tables that contains the terminals. All edges have length 1, so
 * this is a Steiner tree with the fewest edges. The exact method is Dreyfus and Wagner (1971), over subsets of the
 * terminals. Larger inputs use Takahashi and Matsuyama (1980), which repeatedly adds the shortest path to the nearest
 * remaining terminal. The result has at most twice the fewest edges.
 */
#include "lib/schema/schema_int.h"

#include <string.h>

enum { EXACT_TERMINALS = 10, FAR = UINT16_MAX };
static const size_t EXACT_CELLS = 8U << 20; /* maximum of subsets times tables */

/* --- building ----------------------------------------------------------------------------------------------------- */

static uint32_t root_of(uint32_t *roots, uint32_t column)
{
    while (roots[column] != column) column = roots[column] = roots[roots[column]];
    return column;
}

static enum err_code link_keys(struct builder *builder)
{
    struct schema_index *index = builder->index;
    uint32_t *roots = arena_new_array(builder->arena, index->n_columns, uint32_t);
    if (!roots) return builder_full(builder);
    for (uint32_t i = 0; i < index->n_columns; i++) roots[i] = i;
    for (uint32_t i = 0; i < index->n_joins; i++)
        for (uint32_t j = 0; j < index->joins[i].n_pairs; j++)
            roots[root_of(roots, index->joins[i].from[j])] = root_of(roots, index->joins[i].to[j]);
    /* Compress the paths, so that readers never write. */
    for (uint32_t i = 0; i < index->n_columns; i++) roots[i] = root_of(roots, i);
    index->priv->key_root = roots;
    return ERR_OK;
}

enum err_code schema_link_graph(struct builder *builder)
{
    struct schema_index *index = builder->index;
    uint32_t n = index->n_tables;
    uint32_t *first = arena_new_array(builder->arena, (size_t)n + 2, uint32_t);
    uint32_t *neighbours = arena_new_array(builder->arena, 2 * (size_t)index->n_joins, uint32_t);
    if (!first || !neighbours) return builder_full(builder);
    for (uint32_t i = 0; i < index->n_joins; i++) {
        first[index->joins[i].from_table + 2]++;
        first[index->joins[i].to_table + 2]++;
    }
    for (uint32_t t = 2; t < n + 2; t++) first[t] += first[t - 1];
    for (uint32_t i = 0; i < index->n_joins; i++) {
        const struct schema_join *join = &index->joins[i];
        neighbours[first[join->from_table + 1]++] = join->to_table;
        neighbours[first[join->to_table + 1]++] = join->from_table;
    }
    index->priv->first_neighbour = first;
    index->priv->neighbours = neighbours;
    return link_keys(builder);
}

/* --- edges -------------------------------------------------------------------------------------------------------- */

static bool has_pair(const struct schema_join *join, uint32_t a, uint32_t b)
{
    for (uint32_t i = 0; i < join->n_pairs; i++)
        if ((join->from[i] == a && join->to[i] == b) || (join->from[i] == b && join->to[i] == a)) return true;
    return false;
}

static bool touches(const struct schema_join *join, uint32_t column)
{
    for (uint32_t i = 0; i < join->n_pairs; i++)
        if (join->from[i] == column || join->to[i] == column) return true;
    return false;
}

const struct schema_join *schema_join_between(const struct schema_index *index, uint32_t column_a, uint32_t column_b,
                                              bool *derived)
{
    *derived = false;
    for (uint32_t i = 0; i < index->n_joins; i++)
        if (has_pair(&index->joins[i], column_a, column_b)) return &index->joins[i];
    const uint32_t *roots = index->priv->key_root;
    if (roots[column_a] != roots[column_b] || column_a == column_b) return NULL;
    for (uint32_t i = 0; i < index->n_joins; i++)
        if (touches(&index->joins[i], column_a)) {
            *derived = true;
            return &index->joins[i];
        }
    return NULL;
}

bool schema_is_foreign_key(const struct schema_index *index, uint32_t column)
{
    return index->priv->is_foreign[column];
}

bool schema_is_reference(const struct schema_index *index, uint32_t column)
{
    for (uint32_t i = 0; i < index->n_joins; i++)
        for (uint32_t k = 0; k < index->joins[i].n_pairs; k++)
            if (index->joins[i].from[k] == column) return true;
    return false;
}

/* --- the exact Steiner tree --------------------------------------------------------------------------------------- */

/* The smallest tree that connects a set of terminals and a table: its number of edges and its last step. */
struct cell {
    uint16_t cost;
    bool merged;   /* the tree joins two smaller trees at this table; `from` is the terminal set of one of them */
    uint32_t from; /* otherwise the other table of the last edge, or the table itself for a single terminal */
};

struct steiner {
    const struct schema_index *index;
    uint32_t n;         /* number of tables */
    struct cell *cells; /* index: set * n + table */
    uint32_t *heads;    /* lists of tables by cost, as position + 1; a cost is below n */
    uint32_t *links;    /* 2n items: two slots for each table */
};

static struct cell *cell_of(const struct steiner *s, uint32_t set, uint32_t table)
{
    return &s->cells[(size_t)set * s->n + table];
}

static void push(struct steiner *s, uint32_t place, uint32_t cost)
{
    s->links[place] = s->heads[cost];
    s->heads[cost] = place + 1;
}

/* Spreads costs along edges, cheapest first. Each table is pushed at most twice: with its initial cost and when its
 * cost falls. The cost falls at most once, because costs are processed in rising order. */
static void spread(struct steiner *s, uint32_t set)
{
    const struct schema_private *priv = s->index->priv;
    memset(s->heads, 0, (s->n + 1) * sizeof *s->heads);
    for (uint32_t t = 0; t < s->n; t++)
        if (cell_of(s, set, t)->cost < s->n) push(s, t, cell_of(s, set, t)->cost);
    for (uint32_t cost = 0; cost < s->n; cost++)
        while (s->heads[cost]) {
            uint32_t place = s->heads[cost] - 1, table = place % s->n;
            s->heads[cost] = s->links[place];
            if (cell_of(s, set, table)->cost != cost) continue;
            for (uint32_t i = priv->first_neighbour[table]; i < priv->first_neighbour[table + 1]; i++) {
                uint32_t next = priv->neighbours[i];
                struct cell *cell = cell_of(s, set, next);
                if (cell->cost <= cost + 1) continue;
                *cell = (struct cell){(uint16_t)(cost + 1), false, table};
                push(s, next + s->n, cost + 1);
            }
        }
}

/* Merges pairs of trees that meet in one table and whose terminals together are the set. */
static void merge(struct steiner *s, uint32_t set)
{
    for (uint32_t part = (set - 1) & set; part > (set ^ part); part = (part - 1) & set)
        for (uint32_t t = 0; t < s->n; t++) {
            unsigned cost = (unsigned)cell_of(s, part, t)->cost + cell_of(s, set ^ part, t)->cost;
            if (cost < cell_of(s, set, t)->cost) *cell_of(s, set, t) = (struct cell){(uint16_t)cost, true, part};
        }
}

static void collect(const struct steiner *s, uint32_t set, uint32_t table, bool *chosen)
{
    for (;;) {
        chosen[table] = true;
        const struct cell *cell = cell_of(s, set, table);
        if (cell->merged) {
            collect(s, set ^ cell->from, table, chosen); /* recursion is at most as deep as the number of terminals */
            set = cell->from;
        } else if (cell->from == table) {
            return;
        } else {
            table = cell->from;
        }
    }
}

/* Marks the tables of the exact tree in `chosen`. Returns false if the terminals are not connected. */
static bool steiner_exact(struct steiner *s, const uint32_t *terminals, uint32_t n, bool *chosen)
{
    uint32_t n_sets = 1U << (n - 1), root = terminals[n - 1];
    for (uint32_t set = 1; set < n_sets; set++) {
        for (uint32_t t = 0; t < s->n; t++) *cell_of(s, set, t) = (struct cell){FAR, false, t};
        if (set & (set - 1)) {
            merge(s, set);
        } else {
            uint32_t terminal = terminals[__builtin_ctz(set)];
            cell_of(s, set, terminal)->cost = 0;
        }
        spread(s, set);
    }
    if (cell_of(s, n_sets - 1, root)->cost == FAR) return false;
    collect(s, n_sets - 1, root, chosen);
    return true;
}

/* --- the approximation -------------------------------------------------------------------------------------------- */

/* Searches from all chosen tables to the nearest wanted table, and adds the path to the tree. Returns false if no
 * wanted table is reachable. */
static bool grow_tree(const struct schema_index *index, bool *chosen, const bool *wanted, uint32_t *queue,
                      uint32_t *parent)
{
    const struct schema_private *priv = index->priv;
    uint32_t n = index->n_tables, head = 0, tail = 0;
    for (uint32_t t = 0; t < n; t++) {
        parent[t] = chosen[t] ? t : UINT32_MAX;
        if (chosen[t]) queue[tail++] = t;
    }
    while (head < tail) {
        uint32_t table = queue[head++];
        if (wanted[table] && !chosen[table]) {
            for (; !chosen[table]; table = parent[table]) chosen[table] = true;
            return true;
        }
        for (uint32_t i = priv->first_neighbour[table]; i < priv->first_neighbour[table + 1]; i++) {
            uint32_t next = priv->neighbours[i];
            if (parent[next] != UINT32_MAX) continue;
            parent[next] = table;
            queue[tail++] = next;
        }
    }
    return false;
}

static bool steiner_near(const struct schema_index *index, const uint32_t *terminals, uint32_t n, bool *chosen)
{
    bool *wanted = g_new0(bool, index->n_tables);
    uint32_t *queue = g_new(uint32_t, index->n_tables), *parent = g_new(uint32_t, index->n_tables);
    for (uint32_t i = 0; i < n; i++) wanted[terminals[i]] = true;
    chosen[terminals[0]] = true;
    bool connected = true;
    for (uint32_t i = 0; i < n; i++)
        while (connected && !chosen[terminals[i]]) connected = grow_tree(index, chosen, wanted, queue, parent);
    g_free(wanted);
    g_free(queue);
    g_free(parent);
    return connected;
}

/* --- choice of the method ----------------------------------------------------------------------------------------- */

static bool try_exact(const struct schema_index *index, const uint32_t *terminals, uint32_t n, bool *chosen)
{
    size_t n_cells = ((size_t)1 << (n - 1)) * index->n_tables;
    struct steiner s = {.index = index, .n = index->n_tables};
    s.cells = g_new0(struct cell, n_cells);
    s.heads = g_new(uint32_t, (size_t)s.n + 1);
    s.links = g_new(uint32_t, 2 * (size_t)s.n);
    bool connected = steiner_exact(&s, terminals, n, chosen);
    g_free(s.cells);
    g_free(s.heads);
    g_free(s.links);
    return connected;
}

/* Lists each terminal once in *kept (free with g_free). Returns their number, or 0 if a terminal is not a table. */
static uint32_t distinct_terminals(const struct schema_index *index, const uint32_t *terminals, uint32_t n,
                                   uint32_t **kept)
{
    bool *seen = g_new0(bool, index->n_tables);
    uint32_t n_kept = 0;
    bool known = true;
    *kept = g_new(uint32_t, n);
    for (uint32_t i = 0; known && i < n; i++) {
        known = terminals[i] < index->n_tables;
        if (!known || seen[terminals[i]]) continue;
        seen[terminals[i]] = true;
        (*kept)[n_kept++] = terminals[i];
    }
    g_free(seen);
    return known ? n_kept : 0;
}

uint32_t schema_steiner(const struct schema_index *index, const uint32_t *terminals, uint32_t n, uint32_t *tables,
                        bool *exact)
{
    uint32_t *kept, n_kept = distinct_terminals(index, terminals, n, &kept), n_tables = 0;
    *exact = n_kept <= EXACT_TERMINALS && (size_t)index->n_tables << (n_kept ? n_kept - 1 : 0) <= EXACT_CELLS &&
             index->n_tables < FAR;
    bool *chosen = g_new0(bool, index->n_tables);
    bool connected = false;
    if (n_kept == 1)
        connected = chosen[kept[0]] = true;
    else if (n_kept)
        connected = (*exact ? try_exact : steiner_near)(index, kept, n_kept, chosen);
    for (uint32_t t = 0; connected && t < index->n_tables; t++)
        if (chosen[t]) tables[n_tables++] = t;
    g_free(chosen);
    g_free(kept);
    return n_tables;
}
