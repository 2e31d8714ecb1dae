/* Inspects the logic of conditions: AND, OR and NOT, exclusions, sets, and keys that are compared by size.
 *
 * One walk over the tree visits each chain of one connective at its top, with at most MAX_PARTS conditions. Only
 * conditions on a plain column are compared with each other. The results are counts and the first node of each kind.
 * This file reports nothing; signals and features read the results. The checks for crossed keys and excluded rows also
 * need the schema and the joins. */
#include "signals/support/logic.h"

#include "signals/support/shape.h"

enum { MAX_PARTS = 32 };

/* The conditions that a chain of one connective combines. */
struct parts {
    const struct sql_node *items[MAX_PARTS];
    uint32_t n;
};

static bool joins_by(const struct sql_node *node, enum sql_op op)
{
    return sql_is(node, SQL_BINARY) && node->op == op;
}

static void collect(const struct sql_node *node, enum sql_op op, struct parts *out)
{
    for (; joins_by(node, op); node = sql_kid(node, 0)) {
        const struct sql_node *right = sql_kid(node, 1);
        if (joins_by(right, op))
            collect(right, op, out);
        else if (out->n < MAX_PARTS)
            out->items[out->n++] = right;
    }
    if (node && out->n < MAX_PARTS) out->items[out->n++] = node;
}

static void add(const struct sql_node *node, uint32_t *count, const struct sql_node **first)
{
    ++*count;
    if (!*first) *first = node;
}

/* Returns the plain column that a condition tests, or NULL. */
static const struct sql_ref *restricted(const struct sql_node *node)
{
    bool tests = (sql_is(node, SQL_BINARY) && sql_is_comparison((enum sql_op)node->op)) || sql_is(node, SQL_LIKE) ||
                 sql_is(node, SQL_BETWEEN) || sql_is(node, SQL_IN);
    const struct sql_node *side = tests ? sql_kid(node, 0) : NULL;
    return side ? sql_plain_column(side) : NULL;
}

static bool same_column(const struct sql_ref *a, const struct sql_ref *b)
{
    return a && b && a->source && a->source == b->source && a->column >= 0 && a->column == b->column;
}

static bool restricts(const struct parts *parts, const struct sql_ref *column, const struct sql_node **other)
{
    bool found = false;
    for (uint32_t i = 0; i < parts->n; i++) {
        const struct sql_ref *ref = restricted(parts->items[i]);
        if (same_column(ref, column))
            found = true;
        else if (ref)
            *other = parts->items[i];
    }
    return found;
}

/* True if two of the conditions satisfy `is` and test different columns. */
static bool two_columns(const struct parts *parts, bool (*is)(const struct sql_node *))
{
    const struct sql_ref *first = NULL;
    for (uint32_t i = 0; i < parts->n; i++) {
        const struct sql_ref *ref = is(parts->items[i]) ? restricted(parts->items[i]) : NULL;
        if (first && ref && !same_column(first, ref)) return true;
        if (!first) first = ref;
    }
    return false;
}

static bool is_test(const struct sql_node *node)
{
    return restricted(node) != NULL;
}

static bool is_order_of_two(const struct sql_node *node)
{
    bool order = sql_is(node, SQL_BINARY) && (node->op == SQL_OP_LT || node->op == SQL_OP_GT);
    return order && sql_plain_column(sql_kid(node, 0)) && sql_plain_column(sql_kid(node, 1));
}

/* Finds a = 1 OR a = 2 AND b = 3. Some alternative must test the same column a without b. */
static void look_or(const struct sql_node *node, struct vsig_logic *logic)
{
    struct parts choices = {.n = 0};
    collect(node, SQL_OP_OR, &choices);
    for (uint32_t i = 0; i < choices.n; i++) {
        struct parts parts = {.n = 0};
        if (!joins_by(choices.items[i], SQL_OP_AND)) continue;
        logic->or_over_and++;
        collect(choices.items[i], SQL_OP_AND, &parts);
        if (!logic->narrowed && two_columns(&parts, is_test)) logic->narrowed = choices.items[i];
    }
    for (uint32_t i = 0; i < choices.n && !logic->loose; i++) {
        if (!joins_by(choices.items[i], SQL_OP_AND)) continue;
        struct parts parts = {.n = 0};
        collect(choices.items[i], SQL_OP_AND, &parts);
        for (uint32_t k = 0; k < choices.n && !logic->loose; k++) {
            const struct sql_ref *column = restricted(choices.items[k]);
            const struct sql_node *bound = NULL;
            /* skip the sort order by a, then c: a < b OR a = b AND c < d */
            if (is_order_of_two(choices.items[k])) continue;
            if (k == i || !column || !restricts(&parts, column, &bound) || !bound) continue;
            logic->loose = choices.items[i];
            logic->bound = bound;
        }
    }
}

static bool is_membership(const struct sql_node *node)
{
    if (sql_is(node, SQL_UNARY) && node->op == SQL_OP_NOT) node = sql_kid(node, 0);
    return sql_is(node, SQL_EXISTS) || (sql_is(node, SQL_IN) && !sql_is(sql_kid(node, IN_RIGHT), SQL_LIST));
}

/* True for x <> 1, x NOT LIKE and x NOT IN (1, 2), which exclude rows by a literal. */
static bool leaves_out(const struct sql_node *node)
{
    if (sql_is(node, SQL_BINARY) && (node->op == SQL_OP_NE || node->op == SQL_OP_IS_NOT))
        return query_literal(sql_kid(node, 0), NULL) || query_literal(sql_kid(node, 1), NULL);
    bool negated = node && node->flags & SQL_F_NOT;
    return negated && (sql_is(node, SQL_LIKE) || (sql_is(node, SQL_IN) && sql_is(sql_kid(node, IN_RIGHT), SQL_LIST)));
}

/* Finds (a = 1 OR a = 2) AND b = 3, where the OR tests a single column. */
static void look_wide(const struct parts *parts, struct vsig_logic *logic)
{
    for (uint32_t i = 0; i < parts->n && !logic->wide; i++) {
        struct parts choices = {.n = 0};
        if (!joins_by(parts->items[i], SQL_OP_OR)) continue;
        collect(parts->items[i], SQL_OP_OR, &choices);
        const struct sql_ref *column = choices.n ? restricted(choices.items[0]) : NULL;
        for (uint32_t c = 1; column && c < choices.n; c++)
            if (!restricted(choices.items[c]) || !same_column(column, restricted(choices.items[c]))) column = NULL;
        for (uint32_t k = 0; column && k < parts->n; k++) {
            const struct sql_ref *other = restricted(parts->items[k]);
            if (k == i || !other || same_column(column, other)) continue;
            logic->wide = parts->items[i];
            logic->wide_bound = parts->items[k];
        }
    }
}

/* Inspects a chain of one connective: the rows that it excludes, and the sets that it combines. */
static void look_chain(const struct sql_node *node, struct vsig_logic *logic)
{
    enum sql_op op = (enum sql_op)node->op;
    struct parts parts = {.n = 0};
    uint32_t sets = 0;
    collect(node, op, &parts);
    for (uint32_t i = 0; i < parts.n; i++) {
        sets += is_membership(parts.items[i]);
        if (op == SQL_OP_AND) logic->and_over_or += joins_by(parts.items[i], SQL_OP_OR);
    }
    if (op == SQL_OP_AND) look_wide(&parts, logic);
    bool negated = sql_is(node->parent, SQL_UNARY) && node->parent->op == SQL_OP_NOT;
    bool out = negated ? two_columns(&parts, is_test) : two_columns(&parts, leaves_out);
    if (out && (op == SQL_OP_AND) == negated)
        logic->leaves_both++;
    else if (out)
        logic->leaves_each++;
    if (sets > 1 && op == SQL_OP_OR) add(node, &logic->any_of_sets, &logic->any_set);
    if (sets > 1 && op == SQL_OP_AND) logic->each_of_sets++;
}

static void look_compound(const struct sql_node *node, struct vsig_logic *logic)
{
    const struct sql_node *whole = node->clause; /* the topmost node of a chain of set operations */
    if (node->op == SQL_UNION && sql_up(whole, SQL_IN)) add(node, &logic->any_of_sets, &logic->any_set);
    logic->each_of_sets += node->op == SQL_INTERSECT;
    logic->sets_excluded += node->op == SQL_EXCEPT;
}

static bool is_key(const struct vsig_subject *subject, const struct schema_column *column)
{
    return column && (column->pk || schema_is_foreign_key(subject->schema, column->id));
}

static bool by_size(const struct sql_node *node)
{
    return sql_is(node, SQL_BINARY) &&
           (node->op == SQL_OP_LT || node->op == SQL_OP_LE || node->op == SQL_OP_GT || node->op == SQL_OP_GE);
}

/* True if the source is in a join pair of the block. */
static bool is_joined(const struct vsig_block_shape *home, const struct sql_source *source)
{
    for (uint32_t i = 0; i < home->n_pairs; i++)
        if (home->pairs[i]->left->source == source || home->pairs[i]->right->source == source) return true;
    return false;
}

/* True if join pairs connect both sources already. The <> then only requires different rows, which is correct. */
static bool both_joined(struct vsig_subject *subject, const struct sql_node *left, const struct sql_node *right)
{
    const struct vsig_shape *shape = vsig_shape(subject);
    const struct sql_source *a = sql_plain_column(left)->source, *b = sql_plain_column(right)->source;
    if (!shape || !a || !b || !a->block || a->block != b->block) return true;
    const struct vsig_block_shape *home = &shape->blocks[a->block->index];
    return is_joined(home, a) && is_joined(home, b);
}

static void look_keys(struct vsig_subject *subject, const struct sql_node *node, struct vsig_logic *logic)
{
    const struct sql_node *left = sql_kid(node, 0), *right = sql_kid(node, 1);
    const struct schema_column *a = query_column(subject, left), *b = query_column(subject, right);
    double number;
    if (by_size(node) && ((is_key(subject, a) && query_literal_number(right, &number)) ||
                          (is_key(subject, b) && query_literal_number(left, &number))))
        add(node, &logic->keys_sized, &logic->key_sized);
    if (node->op != SQL_OP_NE || !a || !b || a->table == b->table || logic->crossed) return;
    bool derived = false;
    if (!schema_join_between(subject->schema, a->id, b->id, &derived) && !derived) return;
    if (!both_joined(subject, left, right)) logic->crossed = node;
}

/* True if a displayed row stands for several of the rows that the condition tests, or if the condition is in a subquery
 * of IN. */
static bool looks_at_many(const struct sql_bound *bound, const struct vsig_shape *shape,
                          const struct schema_index *schema, const struct sql_ref *ref)
{
    const struct sql_block *block = ref->source->block;
    if (!block || block->index >= bound->n_blocks) return false;
    const struct vsig_block_shape *home = &shape->blocks[block->index];
    for (const struct sql_node *n = block->node; n; n = n->parent)
        if (sql_is(n, SQL_IN) && !(n->flags & SQL_F_NOT)) return true;
    if (home->shown & vsig_source_bit(block, ref->source)) return false;
    for (uint32_t i = 0; i < home->n_pairs; i++) {
        const struct sql_ref *left = home->pairs[i]->left, *right = home->pairs[i]->right;
        const struct schema_column *a = schema_column_of(schema, left), *b = schema_column_of(schema, right);
        if (!a || !b) continue;
        if ((home->shown & vsig_source_bit(block, left->source) && a->unique && !b->unique) ||
            (home->shown & vsig_source_bit(block, right->source) && b->unique && !a->unique))
            return true;
    }
    return false;
}

static void look_exclusion(struct vsig_subject *subject, const struct sql_node *node, struct vsig_logic *logic)
{
    const struct vsig_shape *shape = vsig_shape(subject);
    const struct sql_ref *ref = restricted(node);
    if (shape && ref && ref->source && looks_at_many(subject->bound, shape, subject->schema, ref))
        add(node, &logic->rows_excluded_joined, &logic->row_excluded);
}

void vsig_logic_look(struct vsig_subject *subject, struct vsig_logic *logic)
{
    const struct sql_node *root = subject->stmt->root;
    *logic = (struct vsig_logic){.loose = NULL};
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        bool chain = joins_by(n, SQL_OP_OR) || joins_by(n, SQL_OP_AND);
        bool top = chain && !joins_by(n->parent, (enum sql_op)n->op);
        if (top) look_chain(n, logic);
        if (top && n->op == SQL_OP_OR) look_or(n, logic);
        if (sql_is(n, SQL_COMPOUND)) look_compound(n, logic);
        if (sql_is(n, SQL_BINARY) && !chain) look_keys(subject, n, logic);
        if (leaves_out(n)) look_exclusion(subject, n, logic);
        if (is_membership(n) && !sql_is(n, SQL_UNARY))
            logic->sets_excluded += (n->flags & SQL_F_NOT) || query_is_excluded(n);
    }
}

/* --- comparison of a row with other rows --- */

static bool is_same_column(const struct vsig_subject *subject, const struct sql_node *a, const struct sql_node *b)
{
    if (!sql_is(a, SQL_COLUMN) || !sql_is(b, SQL_COLUMN) || !a->ref || !b->ref || a->ref->source == b->ref->source)
        return false;
    const struct schema_column *one = query_column(subject, a), *two = query_column(subject, b);
    if (one || two) return one == two;
    return a->text && b->text && sql_name_is(a->text, a->text_len, b->text, b->text_len);
}

const struct sql_node *vsig_compares_with_others(const struct vsig_subject *subject)
{
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n)) {
        bool orders = sql_is(n, SQL_BINARY) &&
                      (n->op == SQL_OP_LT || n->op == SQL_OP_LE || n->op == SQL_OP_GT || n->op == SQL_OP_GE);
        if (orders && is_same_column(subject, sql_kid(n, 0), sql_kid(n, 1))) return n;
    }
    return NULL;
}
