/* Matches two trees: finds the corresponding nodes. */
#include "lib/sql/diff_tree.h"

#include <stdlib.h>

enum { SMALLEST_IDENTICAL = 3 }; /* smaller equal subtrees are weak evidence: `t.id` occurs everywhere */
static const double LEAST_DICE = 0.3;

static bool spend(struct diff_mapping *p, uint32_t work)
{
    if (p->work > SQL_DIFF_BUDGET) {
        p->capped = true;
        return false;
    }
    p->work += work;
    return true;
}

static void pair_up(struct diff_mapping *p, int x, int y)
{
    p->a.nodes[x].partner = y;
    p->b.nodes[y].partner = x;
}

/* Pairs two equal subtrees node by node. Nodes that already have a partner keep it. */
static void pair_subtrees(struct diff_mapping *p, int x, int y)
{
    uint32_t size = p->a.nodes[x].size;
    for (int i = 0; i < (int)size; i++)
        if (p->a.nodes[x + i].partner == DIFF_NONE && p->b.nodes[y + i].partner == DIFF_NONE) pair_up(p, x + i, y + i);
}

static bool both_free(const struct diff_mapping *p, int x, int y)
{
    return p->a.nodes[x].partner == DIFF_NONE && p->b.nodes[y].partner == DIFF_NONE;
}

static bool is_logic(const struct sql_node *n)
{
    return n->kind == SQL_BINARY && (n->op == SQL_OP_AND || n->op == SQL_OP_OR);
}

/* True if the nodes may be partners. A comparison and an AND / OR chain are both BINARY, but they are never
 * partners. */
static bool compatible(const struct sql_node *x, const struct sql_node *y)
{
    return x->kind == y->kind && is_logic(x) == is_logic(y);
}

/* ---- equal subtrees ---- */

struct by_hash {
    uint64_t hash;
    int at;
};

static int compare_hash(const void *x, const void *y)
{
    const struct by_hash *a = x, *b = y;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static struct by_hash *sorted_hashes(struct diff_mapping *p, const struct diff_tree *tree)
{
    struct by_hash *list = arena_new_array(p->arena, tree->n, struct by_hash);
    for (uint32_t i = 0; list && i < tree->n; i++) list[i] = (struct by_hash){tree->nodes[i].hash, (int)i};
    if (list) qsort(list, tree->n, sizeof *list, compare_hash);
    return list;
}

static uint32_t first_of(const struct by_hash *list, uint32_t n, uint64_t hash)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (list[middle].hash < hash)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns a score for the similarity of two nodes' ancestors. Ancestors of the same kind and slot count, from the
 * parent upwards. */
static int context(struct diff_mapping *p, int x, int y)
{
    int score = 0;
    for (int depth = 0; depth < 8; depth++) {
        const struct diff_node *a = &p->a.nodes[x], *b = &p->b.nodes[y];
        if (a->parent == DIFF_NONE || b->parent == DIFF_NONE) return score + (a->parent == b->parent);
        const struct diff_node *pa = &p->a.nodes[a->parent], *pb = &p->b.nodes[b->parent];
        if (pa->node->kind != pb->node->kind) return score;
        score += 2 + (a->index == b->index) + (pa->partner == b->parent ? 4 : 0);
        x = a->parent;
        y = b->parent;
    }
    return score;
}

/* Returns the free node of b with this hash whose ancestors fit best, or DIFF_NONE. With `only`, returns DIFF_NONE if
 * there are several. */
static int best_twin(struct diff_mapping *p, int x, const struct by_hash *twins, uint32_t n, bool only)
{
    int best = DIFF_NONE, best_score = -1;
    uint64_t hash = p->a.nodes[x].hash;
    for (uint32_t i = first_of(twins, n, hash); i < n && twins[i].hash == hash; i++) {
        int y = twins[i].at;
        if (!spend(p, 4)) return DIFF_NONE;
        if (p->b.nodes[y].partner != DIFF_NONE || p->b.nodes[y].size != p->a.nodes[x].size) continue;
        if (only && best != DIFF_NONE) return DIFF_NONE;
        int score = context(p, x, y);
        if (score > best_score) {
            best_score = score;
            best = y;
        }
    }
    return best;
}

static uint32_t twins_at_home(const struct by_hash *own, uint32_t n, uint64_t hash)
{
    uint32_t first = first_of(own, n, hash), i = first;
    while (i < n && own[i].hash == hash && i < first + 2) i++;
    return i - first;
}

static int by_size(const void *x, const void *y, void *tree)
{
    const struct diff_node *nodes = tree;
    int a = *(const int *)x, b = *(const int *)y;
    if (nodes[a].size != nodes[b].size) return nodes[a].size > nodes[b].size ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Matches equal subtrees, the largest first. Pairs that are unique in both trees come before those with several
 * candidates. */
static bool match_identical(struct diff_mapping *p)
{
    struct by_hash *own = sorted_hashes(p, &p->a), *twins = sorted_hashes(p, &p->b);
    int *order = arena_new_array(p->arena, p->a.n, int);
    if (!own || !twins || !order) return false;
    for (uint32_t i = 0; i < p->a.n; i++) order[i] = (int)i;
    qsort_r(order, p->a.n, sizeof *order, by_size, p->a.nodes);
    for (int only = 1; only >= 0; only--)
        for (uint32_t i = 0; i < p->a.n && p->a.nodes[order[i]].size >= SMALLEST_IDENTICAL; i++) {
            int x = order[i];
            if (p->a.nodes[x].partner != DIFF_NONE) continue;
            if (only && twins_at_home(own, p->a.n, p->a.nodes[x].hash) > 1) continue;
            int y = best_twin(p, x, twins, p->b.n, only);
            if (y != DIFF_NONE) pair_subtrees(p, x, y);
        }
    return true;
}

/* ---- containers ---- */

/* Returns the free container of b that has the highest Dice coefficient with x, by the matched nodes below both.
 * Returns DIFF_NONE if none exceeds LEAST_DICE. `common` counts the shared nodes by node of b; it is zero before and
 * after the call. */
static int best_container(struct diff_mapping *p, int x, uint32_t *common, int *touched)
{
    const struct diff_node *a = &p->a.nodes[x];
    uint32_t n_touched = 0;
    for (int i = x + 1; i < x + (int)a->size; i++) {
        int y = p->a.nodes[i].partner;
        if (y == DIFF_NONE) continue;
        for (y = p->b.nodes[y].parent; y != DIFF_NONE && spend(p, 1); y = p->b.nodes[y].parent) {
            if (p->b.nodes[y].partner != DIFF_NONE || !compatible(a->node, p->b.nodes[y].node)) continue;
            if (common[y]++ == 0) touched[n_touched++] = y;
        }
    }
    int best = DIFF_NONE;
    double best_dice = LEAST_DICE;
    for (uint32_t i = 0; i < n_touched; i++) {
        int y = touched[i];
        double dice = 2.0 * common[y] / (double)(a->size - 1 + p->b.nodes[y].size - 1);
        if (dice > best_dice || (best != DIFF_NONE && dice >= best_dice && y > best)) {
            best_dice = dice;
            best = y;
        }
        common[y] = 0;
    }
    return best;
}

static bool match_containers(struct diff_mapping *p)
{
    uint32_t *common = arena_new_array(p->arena, p->b.n, uint32_t);
    int *touched = arena_new_array(p->arena, p->b.n, int);
    if (!common || !touched) return false;
    for (int x = (int)p->a.n - 1; x > 0 && !p->capped; x--) { /* children come after their parents: this is bottom-up */
        if (p->a.nodes[x].partner != DIFF_NONE || p->a.nodes[x].size == 1) continue;
        int y = best_container(p, x, common, touched);
        if (y != DIFF_NONE) pair_up(p, x, y);
    }
    return true;
}

/* ---- kids of matched nodes ---- */

/* Returns the index of the kid of `parent` after the kid at `at`, or DIFF_NONE. */
static int next_kid(const struct diff_tree *t, int parent, int at)
{
    int next = at + (int)t->nodes[at].size;
    return next < parent + (int)t->nodes[parent].size ? next : DIFF_NONE;
}

static int first_kid(const struct diff_tree *t, int parent)
{
    return t->nodes[parent].size > 1 ? parent + 1 : DIFF_NONE;
}

/* Returns the percentage of nodes with an equal label in the other subtree. Only the first 64 nodes of each are
 * compared. */
static int likeness(struct diff_mapping *p, int x, int y)
{
    uint32_t n = p->a.nodes[x].size, m = p->b.nodes[y].size, common = 0;
    if (n > 64) n = 64;
    if (m > 64) m = 64;
    if (!spend(p, n * m)) return 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < m; j++)
            if (p->a.nodes[x + (int)i].label == p->b.nodes[y + (int)j].label) {
                common++;
                break;
            }
    return (int)(100 * common / (n > m ? n : m));
}

struct few {
    int *at;
    uint32_t n;
};

/* Pairs the free members of two groups: first equal ones, then similar ones in steps of decreasing similarity, last any
 * compatible ones. */
static void match_groups(struct diff_mapping *p, struct few xs, struct few ys)
{
    for (int least = 100; least >= 0; least -= 25)
        for (uint32_t i = 0; i < xs.n; i++) {
            int x = xs.at[i], best = DIFF_NONE, best_score = -1;
            if (p->a.nodes[x].partner != DIFF_NONE) continue;
            for (uint32_t j = 0; j < ys.n && spend(p, 1); j++) {
                int y = ys.at[j];
                if (!both_free(p, x, y) || !compatible(p->a.nodes[x].node, p->b.nodes[y].node)) continue;
                int score = p->a.nodes[x].hash == p->b.nodes[y].hash ? 101 : likeness(p, x, y);
                if (score >= least && score > best_score) {
                    best = y;
                    best_score = score;
                }
            }
            if (best == DIFF_NONE) continue;
            if (best_score > 100)
                pair_subtrees(p, x, best);
            else
                pair_up(p, x, best);
        }
}

static struct few list_kids(struct diff_mapping *p, const struct diff_tree *t, int parent)
{
    struct few few = {.at = arena_new_array(p->arena, t->nodes[parent].node->n_kids + 1, int)};
    for (int k = first_kid(t, parent); few.at && k != DIFF_NONE; k = next_kid(t, parent, k))
        if (t->nodes[k].index >= diff_slots(t->nodes[parent].node)) few.at[few.n++] = k;
    return few;
}

/* Returns the conditions of an AND / OR chain, or its connectives (the AND and OR nodes). */
static struct few chain_parts(struct diff_mapping *p, const struct diff_tree *t, int top, bool connectives)
{
    struct few few = {.at = arena_new_array(p->arena, t->nodes[top].size, int)};
    int end = top + (int)t->nodes[top].size;
    for (int i = top; few.at && i < end;) {
        bool logic = is_logic(t->nodes[i].node);
        if (logic == connectives) few.at[few.n++] = i;
        i += logic ? 1 : (int)t->nodes[i].size;
    }
    return few;
}

static void match_chains(struct diff_mapping *p, int x, int y)
{
    struct few ops_a = chain_parts(p, &p->a, x, true), ops_b = chain_parts(p, &p->b, y, true);
    struct few conditions_a = chain_parts(p, &p->a, x, false), conditions_b = chain_parts(p, &p->b, y, false);
    match_groups(p, conditions_a, conditions_b);
    for (uint32_t i = 0; i < ops_a.n && i < ops_b.n; i++)
        if (both_free(p, ops_a.at[i], ops_b.at[i])) pair_up(p, ops_a.at[i], ops_b.at[i]);
}

/* Matches two kids in the same slot. */
static void match_slot(struct diff_mapping *p, int x, int y)
{
    const struct sql_node *a = p->a.nodes[x].node, *b = p->b.nodes[y].node;
    if (is_logic(a) || is_logic(b)) {
        match_chains(p, x, y);
    } else if (both_free(p, x, y)) {
        if (p->a.nodes[x].hash == p->b.nodes[y].hash)
            pair_subtrees(p, x, y);
        else if (compatible(a, b))
            pair_up(p, x, y);
    }
}

static int kid_in_slot(const struct diff_tree *t, int parent, uint32_t slot)
{
    for (int k = first_kid(t, parent); k != DIFF_NONE; k = next_kid(t, parent, k)) {
        if (t->nodes[k].index == slot) return k;
        if (t->nodes[k].index > slot) break;
    }
    return DIFF_NONE;
}

/* Matches the operands of two binary nodes crosswise: `a = b` may have become `b = a`. */
static void match_crosswise(struct diff_mapping *p, int x, int y)
{
    for (uint32_t side = 0; side < 2; side++) {
        int left = kid_in_slot(&p->a, x, side), right = kid_in_slot(&p->b, y, 1 - side);
        if (left == DIFF_NONE || right == DIFF_NONE || !both_free(p, left, right)) continue;
        if (p->a.nodes[left].hash == p->b.nodes[right].hash) pair_subtrees(p, left, right);
    }
}

static void match_kids(struct diff_mapping *p, int x, int y)
{
    const struct sql_node *a = p->a.nodes[x].node;
    uint32_t slots = diff_slots(a);
    bool same_sides = kid_in_slot(&p->a, x, 0) == DIFF_NONE || kid_in_slot(&p->b, y, 0) == DIFF_NONE ||
                      p->a.nodes[kid_in_slot(&p->a, x, 0)].hash == p->b.nodes[kid_in_slot(&p->b, y, 0)].hash;
    if (a->kind == SQL_BINARY && !is_logic(a) && !same_sides) match_crosswise(p, x, y);
    for (uint32_t slot = 0; slot < slots; slot++) {
        int left = kid_in_slot(&p->a, x, slot), right = kid_in_slot(&p->b, y, slot);
        if (left != DIFF_NONE && right != DIFF_NONE) match_slot(p, left, right);
    }
    if (slots < a->n_kids || kid_in_slot(&p->b, y, slots) != DIFF_NONE)
        match_groups(p, list_kids(p, &p->a, x), list_kids(p, &p->b, y));
}

/* Walks top-down, so pairs made here are visited later in the same walk. */
static void match_inside(struct diff_mapping *p)
{
    for (int x = 0; x < (int)p->a.n && !p->capped; x++) {
        int y = p->a.nodes[x].partner;
        bool logic_below = is_logic(p->a.nodes[x].node); /* chains are matched as a whole */
        if (y != DIFF_NONE && !logic_below && p->a.nodes[x].hash != p->b.nodes[y].hash)
            match_kids(p, x, y);
        else if (y != DIFF_NONE && logic_below && p->a.nodes[x].hash != p->b.nodes[y].hash)
            match_chains(p, x, y);
    }
}

/* ---- nodes without a partner ---- */

static bool same_table(const struct sql_node *x, const struct sql_node *y)
{
    return x->kind == SQL_TABLE && y->kind == SQL_TABLE && sql_name_is(x->text, x->text_len, y->text, y->text_len);
}

/* Matches free nodes inside two matched clauses: equal subtrees, or references to the same table (under a new
 * alias). */
static void match_leftover(struct diff_mapping *p, int x, int y, bool tables)
{
    int x_end = x + (int)p->a.nodes[x].size, y_end = y + (int)p->b.nodes[y].size;
    for (int i = x + 1; i < x_end; i++) {
        if (p->a.nodes[i].partner != DIFF_NONE) continue;
        for (int j = y + 1; j < y_end && spend(p, 1); j++) {
            if (p->b.nodes[j].partner != DIFF_NONE) continue;
            bool equal = p->a.nodes[i].hash == p->b.nodes[j].hash;
            if (!equal && !(tables && same_table(p->a.nodes[i].node, p->b.nodes[j].node))) continue;
            if (equal)
                pair_subtrees(p, i, j);
            else
                pair_up(p, i, j);
            break;
        }
    }
}

static bool is_clause(const struct sql_node *n)
{
    switch (n->kind) {
    case SQL_ITEMS:
    case SQL_FROM:
    case SQL_WHERE:
    case SQL_GROUP:
    case SQL_HAVING:
    case SQL_ORDER:
    case SQL_LIMIT: return true;
    default: return false;
    }
}

static void match_leftovers(struct diff_mapping *p)
{
    for (int tables = 0; tables < 2; tables++)
        for (int x = 0; x < (int)p->a.n && !p->capped; x++) {
            int y = p->a.nodes[x].partner;
            if (y != DIFF_NONE && is_clause(p->a.nodes[x].node)) match_leftover(p, x, y, tables);
        }
}

bool diff_match(struct diff_mapping *pair)
{
    if (pair->a.nodes[0].node->kind == pair->b.nodes[0].node->kind) {
        if (pair->a.nodes[0].hash == pair->b.nodes[0].hash) {
            pair_subtrees(pair, 0, 0);
            return true;
        }
        pair_up(pair, 0, 0);
    }
    if (!match_identical(pair) || !match_containers(pair)) return false;
    match_inside(pair);
    match_leftovers(pair);
    if (!match_containers(pair)) return false;
    match_inside(pair);
    return true;
}
