/* Narrates how the tables of a FROM clause are related.
 *
 * DESIGN (CycleSQL paper, "Join-related Semantics", and its error analysis, §V-A5). A first phrase names the topology
 * that the foreign keys of the query form. Topologies are an object and its attribute, subject - relationship - object
 * through a bridge table, a star, a chain, and a self-join. The paper's explanations only name the tables, so those of
 * two different joins may be equal. Therefore each joining condition has its own phrase here, which names the joined
 * row and the columns of both sides. The side that holds the foreign key refers to the other side. */
#include "lib/explain/narrator.h"

#include <string.h>

enum { MAX_SOURCES = 64, MAX_EDGES = 128 };

/* A foreign key between two FROM items of the block. A composite key counts once. */
struct join_edge {
    const struct sql_source *child, *parent;
    const struct schema_join *join;
};

struct joined {
    struct narrator *t;
    const struct sql_block *block;
    struct join_edge edges[MAX_EDGES];
    uint32_t n_edges;
    uint8_t group[MAX_SOURCES]; /* number of each source's group; a condition puts sources into one group */
    uint8_t degree[MAX_SOURCES];
};

/* --- joining conditions --- */

static bool has_outer_join(const struct sql_block *block)
{
    const struct sql_node *from = sql_kid(block->node, SELECT_FROM);
    for (const struct sql_node *n = from; n; n = sql_walk(from, n))
        if (n->kind == SQL_JOIN && n->op != SQL_JOIN_INNER && n->op != SQL_JOIN_CROSS) return true;
    return false;
}

static bool joins_here(const struct sql_join_pair *pair, const struct sql_block *block)
{
    const struct sql_source *left = pair->left->source, *right = pair->right->source;
    return pair->block == block && pair->conjunct && !pair->is_in && !pair->negated && left && right && left != right &&
           left->block == block && right->block == block;
}

/* True if the pair is narrated as a join. In a block with outer joins, a condition of WHERE is a filter, because it
 * drops rows that the outer join keeps. */
static bool is_told_here(const struct sql_join_pair *pair, const struct sql_block *block)
{
    return joins_here(pair, block) && !(sql_clause_of(pair->node) == SQL_CLAUSE_WHERE && has_outer_join(block));
}

bool narrate_is_join(const struct narrator *t, const struct sql_block *block, const struct sql_node *condition)
{
    for (uint32_t i = 0; i < t->n_pairs; i++)
        if (t->pairs[i].node == condition && is_told_here(&t->pairs[i], block)) return true;
    return false;
}

static bool refers(const struct schema_join *join, uint32_t from, uint32_t to)
{
    for (uint32_t i = 0; i < join->n_pairs; i++)
        if (join->from[i] == from && join->to[i] == to) return true;
    return false;
}

/* Returns the reference between the two columns of a pair, or NULL. *child gets the column that refers to the other
 * one. */
static const struct schema_join *reference(const struct narrator *t, const struct sql_join_pair *pair,
                                           const struct sql_ref **child, const struct sql_ref **parent, bool *derived)
{
    const struct schema_column *left = schema_column_of(t->index, pair->left),
                               *right = schema_column_of(t->index, pair->right);
    *derived = false;
    if (!left || !right || pair->left->kind == SQL_REF_ROWID || pair->right->kind == SQL_REF_ROWID) return NULL;
    const struct schema_join *join = schema_join_between(t->index, left->id, right->id, derived);
    if (!join || *derived) return NULL;
    bool left_refers = refers(join, left->id, right->id);
    *child = left_refers ? pair->left : pair->right;
    *parent = left_refers ? pair->right : pair->left;
    return join;
}

static void say_equality(struct narrator *t, struct say *out, const struct sql_join_pair *pair)
{
    say_ref(t, out, pair->left);
    say(out, " is equal to ");
    say_ref(t, out, pair->right);
}

/* Writes "each friend comes with the highschooler that its student id refers to". If the reference is not to the key of
 * the other side, writes "with the city whose name its city name refers to". */
static void say_reference_in_words(struct narrator *t, struct say *out, const struct sql_ref *child,
                                   const struct sql_ref *parent)
{
    const struct schema_column *from = schema_column_of(t->index, child), *to = schema_column_of(t->index, parent);
    say(out, "each ");
    say_source(t, out, child->source);
    say(out, " comes with the ");
    say_source(t, out, parent->source);
    say(out, to->pk ? " that its " : " whose ");
    if (!to->pk) {
        say_column_words(t, out, to);
        say(out, " its ");
    }
    say_column_words(t, out, from);
    say(out, narrate_column_is_plural(t, from) ? " refer to" : " refers to");
    narrate_column_used(t, from);
}

/* Writes "each friend is joined with the highschooler that friend.student_id refers to". */
static void say_reference(struct narrator *t, struct say *out, const struct sql_ref *child,
                          const struct sql_ref *parent, const struct schema_join *join)
{
    if (out->prose) {
        say_reference_in_words(t, out, child, parent);
        return;
    }
    say(out, "each ");
    say_source(t, out, child->source);
    say(out, " is joined with the ");
    say_source(t, out, parent->source);
    say(out, " that ");
    say_ref(t, out, child);
    say(out, " refers to (");
    say_ref(t, out, child);
    say(out, " is equal to ");
    say_ref(t, out, parent);
    if (!join->declared) say(out, ", an undeclared reference");
    if (join->n_pairs > 1) say(out, ", part of a composite key");
    say(out, ")");
}

static void say_pair(struct narrator *t, struct say *out, const struct sql_join_pair *pair)
{
    const struct sql_ref *child, *parent;
    bool derived;
    const struct schema_join *join = reference(t, pair, &child, &parent, &derived);
    say_within(t, out);
    if (join) {
        say_reference(t, out, child, parent, join);
        return;
    }
    say(out, "each ");
    say_source(t, out, pair->left->source);
    say_either(out, " is joined with every ", " comes with every ");
    say_source(t, out, pair->right->source);
    say(out, " where ");
    say_equality(t, out, pair);
    if (derived)
        say(out, " (both refer to the same key)");
    else
        say_either(out, " (no reference of the schema)", " (no such reference in the schema)");
}

/* --- edges and groups --- */

static void unite(struct joined *j, const struct sql_source *a, const struct sql_source *b)
{
    uint8_t keep = j->group[a->index], drop = j->group[b->index];
    for (uint32_t i = 0; i < j->block->n_sources; i++)
        if (j->group[i] == drop) j->group[i] = keep;
}

static void add_edge(struct joined *j, const struct sql_join_pair *pair)
{
    const struct sql_ref *child, *parent;
    bool derived;
    const struct schema_join *join = reference(j->t, pair, &child, &parent, &derived);
    if (!join || j->n_edges == MAX_EDGES) return;
    for (uint32_t i = 0; i < j->n_edges; i++)
        if (j->edges[i].child == child->source && j->edges[i].parent == parent->source && j->edges[i].join == join)
            return;
    j->edges[j->n_edges++] = (struct join_edge){child->source, parent->source, join};
    j->degree[child->source->index]++;
    j->degree[parent->source->index]++;
}

/* Puts the FROM items of a condition over two of them into one group, whatever the condition tests. */
static void relate(struct joined *j, const struct sql_node *clause)
{
    const struct sql_node **conditions;
    int n = clause ? sql_conjuncts(j->t->arena, clause->kids[0], &conditions) : 0;
    if (n < 0) j->t->full = true;
    for (int i = 0; i < n; i++) {
        const struct sql_source *first = NULL;
        for (const struct sql_node *c = conditions[i]; c; c = sql_walk(conditions[i], c)) {
            const struct sql_source *source = c->kind == SQL_COLUMN && c->ref ? c->ref->source : NULL;
            if (!source || source->block != j->block) continue;
            if (first) unite(j, first, source);
            first = source;
        }
    }
}

/* Groups items such as unnest(t.tags) or a LATERAL query with the earlier items whose columns they read. Their rows
 * belong to rows of these items. */
static void relate_calls(struct joined *j)
{
    for (uint32_t i = 0; i < j->block->n_sources; i++) {
        const struct sql_source *item = &j->block->sources[i];
        bool reads = sql_is(item->node, SQL_FROM_CALL) || sql_is(item->node, SQL_DERIVED);
        for (const struct sql_node *n = reads ? item->node : NULL; n; n = sql_walk(item->node, n)) {
            const struct sql_source *other = n->kind == SQL_COLUMN && n->ref ? n->ref->source : NULL;
            if (other && other != item && other->block == j->block) unite(j, item, other);
        }
    }
}

static void read_joins(struct joined *j)
{
    const struct sql_node *from = sql_kid(j->block->node, SELECT_FROM);
    for (uint32_t i = 0; i < j->block->n_sources; i++) j->group[i] = (uint8_t)i;
    for (uint32_t i = 0; i < j->t->n_pairs; i++) {
        const struct sql_join_pair *pair = &j->t->pairs[i];
        if (!joins_here(pair, j->block)) continue;
        unite(j, pair->left->source, pair->right->source);
        add_edge(j, pair);
    }
    relate_calls(j);
    relate(j, sql_kid(j->block->node, SELECT_WHERE));
    for (const struct sql_node *n = from; n; n = sql_walk(from, n))
        if (n->kind == SQL_ON) relate(j, n);
}

/* --- topology --- */

/* True for a table whose only purpose is to relate others: its key consists of references, or it has few other
 * columns. */
static bool is_bridge(const struct narrator *t, const struct sql_source *source)
{
    if (source->kind != SQL_SOURCE_TABLE || source->table < 0) return false;
    const struct schema_table *table = &t->index->tables[source->table];
    uint32_t references = 0, others = 0, key_references = 0;
    for (uint32_t i = 0; i < table->n_columns; i++) {
        const struct schema_column *column = &table->columns[i];
        bool refers = schema_is_foreign_key(t->index, column->id);
        references += refers;
        key_references += refers && column->pk;
        others += !refers && !column->pk;
    }
    return references >= 2 && ((table->n_pk >= 2 && key_references == table->n_pk) || others == 0);
}

static uint32_t parents_of(const struct joined *j, const struct sql_source *child)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->n_edges; i++) n += j->edges[i].child == child;
    return n;
}

/* Returns the bridge table of a block with three FROM items; NULL if there is none. */
static const struct sql_source *find_bridge(const struct joined *j)
{
    if (j->block->n_sources != 3 || j->n_edges != 2) return NULL;
    const struct sql_source *child = j->edges[0].child;
    return parents_of(j, child) == 2 && j->edges[0].parent != j->edges[1].parent && is_bridge(j->t, child) ? child
                                                                                                           : NULL;
}

static const struct sql_source *find_centre(const struct joined *j)
{
    uint32_t n = j->block->n_sources;
    for (uint32_t i = 0; i < n; i++)
        if (j->degree[i] == n - 1 && j->n_edges == n - 1) return &j->block->sources[i];
    return NULL;
}

static bool is_chain(const struct joined *j)
{
    uint32_t n = j->block->n_sources, ends = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (j->degree[i] > 2) return false;
        ends += j->degree[i] == 1;
    }
    return j->n_edges == n - 1 && ends == 2;
}

static const struct sql_source *other_end(const struct joined *j, const struct sql_source *at,
                                          const struct sql_source *from)
{
    for (uint32_t i = 0; i < j->n_edges; i++) {
        const struct join_edge *e = &j->edges[i];
        if (e->child == at && e->parent != from) return e->parent;
        if (e->parent == at && e->child != from) return e->child;
    }
    return NULL;
}

static void say_chain_of_sources(struct joined *j, struct say *out)
{
    const struct sql_source *at = NULL, *before = NULL;
    for (uint32_t i = 0; i < j->block->n_sources && !at; i++)
        if (j->degree[i] == 1) at = &j->block->sources[i];
    say(out, "the chain ");
    for (uint32_t told = 0; at && told < j->block->n_sources; told++) {
        const struct sql_source *next = other_end(j, at, before);
        if (told) say(out, " - ");
        say_source_name(j->t, out, at);
        before = at;
        at = next;
    }
}

/* Lists all FROM items except `but`; `but` may be NULL. */
static void say_others(struct joined *j, struct say *out, const struct sql_source *but)
{
    uint32_t told = 0, n = j->block->n_sources - (but != NULL);
    for (uint32_t i = 0; i < j->block->n_sources; i++) {
        const struct sql_source *source = &j->block->sources[i];
        if (source == but) continue;
        say_comma(out, told++, n);
        say_source_listed(j->t, out, source);
    }
}

/* Returns `their` for tables with a plural name, otherwise `its`. */
static const char *its_or_their(const struct joined *j, const struct say *out, const struct sql_source *source,
                                const char *its, const char *their)
{
    return out->prose && narrate_has_noun(j->t, source) ? their : its;
}

static void say_star_of_sources(struct joined *j, struct say *out, const struct sql_source *centre)
{
    bool refers_to_all = parents_of(j, centre) == j->block->n_sources - 1;
    say_source_listed(j->t, out, centre);
    say(out, refers_to_all ? its_or_their(j, out, centre, " with its ", " with their ") : ", joined with each of ");
    say_others(j, out, centre);
}

static void say_topology(struct joined *j, struct say *out)
{
    const struct sql_source *sources = j->block->sources;
    uint32_t n = j->block->n_sources;
    const struct sql_source *bridge = find_bridge(j), *centre = find_centre(j);
    say_within(j->t, out);
    say_either(out, "it reads ", "it looks at ");
    if (n == 2 && j->n_edges == 1 && sources[0].table == sources[1].table) {
        say_source_name(j->t, out, j->edges[0].child);
        say(out, " and ");
        say_source_name(j->t, out, j->edges[0].parent);
        say(out, ", rows of one table");
    } else if (n == 2 && j->n_edges == 1) {
        say_source_listed(j->t, out, j->edges[0].child);
        say(out, its_or_their(j, out, j->edges[0].child, " and its ", " and their "));
        (out->prose ? say_source_plural : say_source_name)(j->t, out, j->edges[0].parent);
    } else if (bridge) {
        say_source_listed(j->t, out, j->edges[0].parent);
        say(out, " and ");
        say_source_listed(j->t, out, j->edges[1].parent);
        say(out, " related through ");
        say_source_listed(j->t, out, bridge);
    } else if (centre && n > 2 && !(n == 3 && parents_of(j, centre) == 1)) {
        /* one reference in and one out would be a chain */
        say_star_of_sources(j, out, centre);
    } else if (n > 2 && is_chain(j)) {
        say_chain_of_sources(j, out);
    } else {
        say_others(j, out, NULL);
    }
}

static void say_many_sources(struct joined *j, struct say *out)
{
    say_within(j->t, out);
    say(out, "it reads ");
    say_counted(out, j->block->n_sources, "table", "tables");
    say(out, ": ");
    for (uint32_t i = 0; i < j->block->n_sources && i < NARRATE_MAX_LIST; i++) {
        say_comma(out, i, j->block->n_sources);
        say_source_name(j->t, out, &j->block->sources[i]);
    }
}

static void narrate_topology(struct joined *j)
{
    struct narrator *t = j->t;
    bool readable = j->block->n_sources <= 8;
    narrate_begin(t);
    (readable ? say_topology : say_many_sources)(j, &t->premise);
    (readable ? say_topology : say_many_sources)(j, &t->prose);
    narrate_end(t, EXPLAIN_JOIN, sql_kid(j->block->node, SELECT_FROM), false);
}

/* --- special features of a join --- */

static bool lies_below(const struct sql_node *n, const struct sql_node *top)
{
    while (n && n != top) n = n->parent;
    return n != NULL;
}

/* Lists the FROM items below one side of a join. */
static void say_side(struct narrator *t, struct say *out, const struct sql_block *block, const struct sql_node *side,
                     void (*say_one)(struct narrator *t, struct say *out, const struct sql_source *source))
{
    uint32_t n = 0, told = 0;
    for (uint32_t i = 0; i < block->n_sources; i++) n += lies_below(block->sources[i].node, side);
    for (uint32_t i = 0; i < block->n_sources; i++)
        if (lies_below(block->sources[i].node, side)) {
            say_comma(out, told++, n);
            say_one(t, out, &block->sources[i]);
        }
}

static void say_outer_join(struct narrator *t, struct say *out, const struct sql_node *join)
{
    const struct sql_block *block = sql_block_of(t->source->bound, join);
    bool left = join->op == SQL_JOIN_LEFT_OUTER, full = join->op == SQL_JOIN_FULL_OUTER;
    say_within(t, out);
    say_either(out, "rows of ", "");
    say_side(t, out, block, join->kids[left || full ? JOIN_LEFT : JOIN_RIGHT],
             out->prose ? say_source_plural : say_source_name);
    say(out, " without a match are kept, with NULL in the columns of ");
    say_side(t, out, block, join->kids[left || full ? JOIN_RIGHT : JOIN_LEFT], say_source_name);
    if (full) say(out, ", and the other way round");
}

static void say_match(struct narrator *t, struct say *out, const struct sql_node *condition)
{
    const struct sql_node *join = sql_up(condition, SQL_JOIN);
    bool outer = join && join->op != SQL_JOIN_INNER && join->op != SQL_JOIN_CROSS;
    say_within(t, out);
    say(out, outer ? "rows match only where " : "rows are joined only where ");
    say_expr(t, out, condition);
}

/* Narrates USING and NATURAL if their columns are not join pairs. Also narrates conditions that do not equate columns
 * of two tables. */
static void narrate_match_conditions(struct narrator *t, const struct sql_block *block, const struct sql_node *on)
{
    const struct sql_node **conditions;
    int n = sql_conjuncts(t->arena, on->kids[0], &conditions);
    if (n < 0) t->full = true;
    for (int i = 0; i < n; i++)
        if (!narrate_is_join(t, block, conditions[i])) {
            narrate_phrase(t, EXPLAIN_JOIN, conditions[i], say_match);
            narrate_stored_forms(t, conditions[i]);
        }
}

static void say_combined(struct joined *j, struct say *out)
{
    uint32_t n = 0, told = 0;
    bool first[MAX_SOURCES] = {false};
    for (uint32_t i = 0; i < j->block->n_sources; i++) {
        uint32_t k = 0;
        while (k < i && j->group[k] != j->group[i]) k++;
        first[i] = k == i;
        n += first[i];
    }
    if (n < 2) return;
    say_within(j->t, out);
    say(out, "nothing relates ");
    for (uint32_t i = 0; i < j->block->n_sources; i++)
        if (first[i]) {
            say_comma(out, told++, n);
            say_source_listed(j->t, out, &j->block->sources[i]);
        }
    say(out, ": every row of one is combined with every row of the other");
}

/* Narrates that the rows of two FROM items are multiplied, because both refer to the same row of a third item. */
static void say_multiplied(struct joined *j, struct say *out, const struct join_edge *a, const struct join_edge *b)
{
    say_within(j->t, out);
    say(out, "for one ");
    say_source(j->t, out, a->parent);
    say(out, ", every ");
    say_source(j->t, out, a->child);
    say(out, " is combined with every ");
    say_source(j->t, out, b->child);
}

static bool may_repeat(const struct narrator *t, const struct join_edge *e)
{
    const struct schema_column *column = t->index->columns[e->join->from[0]];
    return !(e->join->n_pairs == 1 && column->unique && !column->unique_measured);
}

static void narrate_multiplication(struct joined *j)
{
    for (uint32_t a = 0; a < j->n_edges; a++)
        for (uint32_t b = a + 1; b < j->n_edges; b++) {
            const struct join_edge *x = &j->edges[a], *y = &j->edges[b];
            if (x->parent != y->parent || x->child == y->child || !may_repeat(j->t, x) || !may_repeat(j->t, y))
                continue;
            narrate_begin(j->t);
            say_multiplied(j, &j->t->premise, x, y);
            say_multiplied(j, &j->t->prose, x, y);
            narrate_end(j->t, EXPLAIN_JOIN, y->child->node, false);
        }
}

static void narrate_joins(struct narrator *t, const struct sql_block *block)
{
    struct joined j = {.t = t, .block = block};
    const struct sql_node *from = sql_kid(block->node, SELECT_FROM);
    read_joins(&j);
    narrate_topology(&j);
    for (uint32_t i = 0; i < t->n_pairs; i++) {
        const struct sql_join_pair *pair = &t->pairs[i];
        if (!is_told_here(pair, block)) continue;
        narrate_begin(t);
        say_pair(t, &t->premise, pair);
        say_pair(t, &t->prose, pair);
        narrate_end(t, EXPLAIN_JOIN, pair->node, false);
    }
    for (const struct sql_node *n = from; n; n = sql_walk(from, n)) {
        if (sql_is(n, SQL_ON) && sql_block_of(t->source->bound, n) == block) narrate_match_conditions(t, block, n);
        if (sql_is(n, SQL_JOIN) && n->op != SQL_JOIN_INNER && n->op != SQL_JOIN_CROSS &&
            sql_block_of(t->source->bound, n) == block)
            narrate_phrase(t, EXPLAIN_JOIN, n, say_outer_join);
    }
    narrate_begin(t);
    say_combined(&j, &t->premise);
    say_combined(&j, &t->prose);
    narrate_end(t, EXPLAIN_JOIN, from, false);
    narrate_multiplication(&j);
}

/* --- FROM --- */

static void say_single(struct narrator *t, struct say *out, const struct sql_node *from)
{
    const struct sql_block *block = sql_block_of(t->source->bound, from);
    const struct sql_source *source = &block->sources[0];
    say_within(t, out);
    say_either(out, "it reads ", "it looks at ");
    say_source_listed(t, out, source);
    if (source->kind == SQL_SOURCE_TABLE) return;
    if (source->kind == SQL_SOURCE_DERIVED && source->name) {
        say(out, ", that is ");
        say_query(out, narrate_query_number(t, sql_kid(source->node, DERIVED_QUERY), source->node, NARRATE_DERIVED));
    }
}

static void say_nothing_read(struct narrator *t, struct say *out, const struct sql_node *select)
{
    (void)select;
    say_within(t, out);
    say(out, "it reads no table");
}

/* Numbers the queries of all derived tables, even if the phrases only mention their aliases. */
static void number_derived(struct narrator *t, const struct sql_block *block)
{
    for (uint32_t i = 0; i < block->n_sources; i++)
        if (block->sources[i].kind == SQL_SOURCE_DERIVED)
            narrate_query_number(t, sql_kid(block->sources[i].node, DERIVED_QUERY), block->sources[i].node,
                                 NARRATE_DERIVED);
}

void narrate_from(struct narrator *t, const struct sql_block *block)
{
    const struct sql_node *from = sql_kid(block->node, SELECT_FROM);
    if (!from || block->n_sources == 0) {
        narrate_phrase(t, EXPLAIN_FROM, block->node, say_nothing_read);
        return;
    }
    number_derived(t, block);
    if (block->n_sources == 1)
        narrate_phrase(t, EXPLAIN_FROM, from, say_single);
    else if (block->n_sources <= MAX_SOURCES)
        narrate_joins(t, block);
    else
        narrate_missing(t, "There are too many tables to tell how they are joined.");
}
