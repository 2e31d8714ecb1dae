/* Makes the script from a matching, and lists the spans that the script changes. */
#include "lib/sql/diff_tree.h"

#include <stdlib.h>
#include <string.h>

const char *sql_edit_name(enum sql_edit_kind kind)
{
    static const char *const names[SQL_EDIT_KIND_COUNT] = {"update", "delete", "move", "insert"};
    return kind < SQL_EDIT_KIND_COUNT ? names[kind] : "?";
}

uint32_t diff_slots(const struct sql_node *node)
{
    int slots = sql_kind_slots((enum sql_kind)node->kind);
    if (node->kind == SQL_CASE) return CASE_FIRST_WHEN;
    return slots < 0 ? 0 : node->n_kids > (uint32_t)slots ? node->n_kids : (uint32_t)slots;
}

/* ---- trees as arrays ---- */

static struct sql_node alone(const struct sql_node *n)
{
    struct sql_node copy = *n;
    copy.n_kids = 0;
    copy.kids = NULL;
    return copy;
}

bool diff_same_label(const struct sql_node *x, const struct sql_node *y)
{
    struct sql_node a = alone(x), b = alone(y);
    return sql_equal(&a, &b);
}

static uint64_t mix(uint64_t h, uint64_t more)
{
    h ^= more + 0x9E3779B97F4A7C15ULL + (h << 6) + (h >> 2);
    h *= 0xFF51AFD7ED558CCDULL;
    return h ^ (h >> 33);
}

/* Fills the subtree of n from index `at`; returns the index after it. The parser's limit bounds the depth of the
 * recursion. */
static uint32_t fill(struct diff_tree *t, const struct sql_node *n, uint32_t at, int parent, uint32_t index)
{
    struct diff_node *d = &t->nodes[at];
    struct sql_node single = alone(n);
    *d = (struct diff_node){.node = n, .parent = parent, .partner = DIFF_NONE, .index = index};
    d->label = d->hash = sql_hash(&single);
    uint32_t next = at + 1;
    for (uint32_t i = 0; i < n->n_kids; i++) {
        if (!n->kids[i]) continue;
        uint32_t kid = next;
        next = fill(t, n->kids[i], kid, (int)at, i);
        d->hash = mix(mix(d->hash, i), t->nodes[kid].hash);
        if (t->nodes[kid].height > d->height) d->height = t->nodes[kid].height;
    }
    d->height++;
    d->size = next - at;
    return next;
}

static bool make_tree(struct arena *arena, struct diff_tree *t, const struct sql_node *root)
{
    t->n = 0;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) t->n++;
    if (t->n == 0) return false;
    t->nodes = arena_new_array(arena, t->n, struct diff_node);
    if (t->nodes) fill(t, root, 0, DIFF_NONE, 0);
    return t->nodes != NULL;
}

/* ---- nodes that stay in place ---- */

/* Finds the list entries of a matched parent that need not move, and marks them in `stays`, by index of b. They are the
 * longest run whose partners have the same order. Patience sorting: tails[k] is the end of the best run of length k +
 * 1. */
static bool keep_order(struct diff_mapping *p, int y, bool *stays)
{
    const struct diff_tree *b = &p->b;
    int x = b->nodes[y].partner;
    uint32_t slots = diff_slots(b->nodes[y].node), n = 0, length = 0;
    uint32_t width = b->nodes[y].node->n_kids;
    if (x == DIFF_NONE || slots >= width) return true;
    int *kid = arena_new_array(p->arena, width, int), *tails = arena_new_array(p->arena, width, int);
    int *before = arena_new_array(p->arena, width, int);
    if (!kid || !tails || !before) return false;
    for (int k = y + 1; k < y + (int)b->nodes[y].size; k += (int)b->nodes[k].size) {
        int partner = b->nodes[k].partner;
        if (b->nodes[k].index < slots || partner == DIFF_NONE || p->a.nodes[partner].parent != x) continue;
        if (p->a.nodes[partner].index < slots) continue;
        kid[n] = k;
        uint32_t low = 0, high = length;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (b->nodes[kid[tails[middle]]].partner < partner)
                low = middle + 1;
            else
                high = middle;
        }
        before[n] = low ? tails[low - 1] : -1;
        tails[low] = (int)n;
        if (low == length) length++;
        n++;
    }
    for (int at = length ? tails[length - 1] : -1; at >= 0; at = before[at]) stays[kid[at]] = true;
    return true;
}

/* Returns for each node of b whether its partner already has the right place. Returns NULL if the arena is full. */
static bool *find_staying(struct diff_mapping *p)
{
    bool *stays = arena_new_array(p->arena, p->b.n, bool);
    if (!stays) return NULL;
    for (int y = 0; y < (int)p->b.n; y++) {
        const struct diff_node *b = &p->b.nodes[y];
        if (b->partner == DIFF_NONE) continue;
        if (!keep_order(p, y, stays)) return NULL;
        const struct diff_node *a = &p->a.nodes[b->partner];
        if (b->parent == DIFF_NONE || a->parent == DIFF_NONE) {
            stays[y] = b->parent == a->parent;
        } else if (b->index < diff_slots(p->b.nodes[b->parent].node)) {
            stays[y] = p->b.nodes[b->parent].partner == a->parent && a->index == b->index;
        }
    }
    return stays;
}

/* ---- the script ---- */

struct script {
    struct diff_mapping *pair;
    struct sql_diff *diff;
    uint32_t cap;
};

static bool put(struct script *s, struct sql_edit edit)
{
    struct sql_diff *d = s->diff;
    if (d->n_edits == s->cap) {
        uint32_t cap = s->cap ? s->cap * 2 : 16;
        struct sql_edit *edits = arena_new_array(s->pair->arena, cap, struct sql_edit);
        if (!edits) return false;
        if (d->n_edits) memcpy(edits, d->edits, d->n_edits * sizeof *edits);
        d->edits = edits;
        s->cap = cap;
    }
    d->count[edit.kind]++;
    d->edits[d->n_edits++] = edit;
    return true;
}

/* Counts the nodes of the subtree that have no partner: one edit inserts or deletes all of them. */
static uint32_t free_size(const struct diff_tree *t, int at)
{
    uint32_t n = 0;
    for (int i = at; i < at + (int)t->nodes[at].size; i++) n += t->nodes[i].partner == DIFF_NONE;
    return n;
}

static bool has_partner(const struct diff_tree *t, int at)
{
    return at != DIFF_NONE && t->nodes[at].partner != DIFF_NONE;
}

static bool put_updates_and_deletes(struct script *s)
{
    const struct diff_tree *a = &s->pair->a, *b = &s->pair->b;
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->nodes[i].partner == DIFF_NONE) continue;
        const struct sql_node *to = b->nodes[a->nodes[i].partner].node;
        if (diff_same_label(a->nodes[i].node, to)) continue;
        if (!put(s, (struct sql_edit){.kind = SQL_EDIT_UPDATE, .from = a->nodes[i].node, .to = to, .size = 1}))
            return false;
    }
    for (int i = 0; i < (int)a->n; i++) {
        bool goes = a->nodes[i].partner == DIFF_NONE;
        bool top = a->nodes[i].parent == DIFF_NONE || has_partner(a, a->nodes[i].parent);
        if (!goes || !top) continue;
        struct sql_edit edit = {.kind = SQL_EDIT_DELETE, .from = a->nodes[i].node, .size = free_size(a, i)};
        if (!put(s, edit)) return false;
    }
    return true;
}

static bool put_arrivals(struct script *s, const bool *stays)
{
    const struct diff_tree *a = &s->pair->a, *b = &s->pair->b;
    for (int y = 0; y < (int)b->n; y++) {
        const struct diff_node *n = &b->nodes[y];
        bool comes = n->partner == DIFF_NONE;
        bool with_parent = comes && n->parent != DIFF_NONE && !has_partner(b, n->parent);
        if (with_parent || (!comes && stays[y])) continue;
        struct sql_edit edit = {.kind = comes ? SQL_EDIT_INSERT : SQL_EDIT_MOVE, .to = n->node, .index = n->index};
        edit.size = comes ? free_size(b, y) : n->size;
        if (!comes) edit.from = a->nodes[n->partner].node;
        if (has_partner(b, n->parent))
            edit.parent_from = a->nodes[b->nodes[n->parent].partner].node;
        else if (n->parent != DIFF_NONE)
            edit.parent_to = b->nodes[n->parent].node;
        if (!put(s, edit)) return false;
    }
    return true;
}

struct sql_diff *sql_diff(struct arena *arena, const struct sql_node *a, const struct sql_node *b)
{
    struct diff_mapping pair = {.arena = arena};
    struct sql_diff *diff = arena_new(arena, struct sql_diff);
    if (!diff || !make_tree(arena, &pair.a, a) || !make_tree(arena, &pair.b, b) || !diff_match(&pair)) return NULL;
    diff->a = a;
    diff->b = b;
    diff->nodes_a = pair.a.n;
    diff->nodes_b = pair.b.n;
    diff->capped = pair.capped;
    for (uint32_t i = 0; i < pair.a.n; i++) diff->matched += pair.a.nodes[i].partner != DIFF_NONE;
    struct script script = {.pair = &pair, .diff = diff};
    bool *stays = find_staying(&pair);
    if (!stays || !put_updates_and_deletes(&script) || !put_arrivals(&script, stays)) return NULL;
    return diff;
}

const struct sql_node **sql_diff_partners(struct arena *arena, const struct sql_node *a, const struct sql_node *b)
{
    struct diff_mapping pair = {.arena = arena};
    if (!make_tree(arena, &pair.a, a) || !make_tree(arena, &pair.b, b) || !diff_match(&pair)) return NULL;
    const struct sql_node **partners = arena_new_array(arena, pair.a.n, const struct sql_node *);
    for (uint32_t i = 0; partners && i < pair.a.n; i++)
        if (pair.a.nodes[i].partner != DIFF_NONE) partners[i] = pair.b.nodes[pair.a.nodes[i].partner].node;
    return partners;
}

/* ---- spans ---- */

/* Sets the span to the operator between two operands, which is all that an update changes. Returns false for other
 * nodes. */
static bool operator_span(const struct sql_node *n, struct sql_diff_span *span)
{
    if (n->kind != SQL_BINARY && n->kind != SQL_COMPOUND && n->kind != SQL_JOIN && n->kind != SQL_QUANTIFIED)
        return false;
    const struct sql_node *left = sql_kid(n, 0), *right = sql_kid(n, 1);
    if (!left || !right || left->end >= right->start) return false;
    span->start = left->end;
    span->end = right->start;
    return true;
}

/* Sets the span of an insertion: the parent in `a`, or the root if the parent is inserted, too. If that node is a
 * SELECT, a QUERY or a set operation, the clause is new; the span is then empty, at the node's end. */
static void insertion_span(const struct sql_edit *edit, const struct sql_node *root, struct sql_diff_span *span)
{
    const struct sql_node *at = edit->parent_from ? edit->parent_from : root;
    bool block = at->kind == SQL_SELECT || at->kind == SQL_QUERY || at->kind == SQL_COMPOUND;
    span->start = block ? at->end : at->start;
    span->end = at->end;
}

static int by_start(const void *x, const void *y)
{
    const struct sql_diff_span *a = x, *b = y;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

int sql_diff_spans(struct arena *arena, const struct sql_diff *diff, struct sql_diff_span **out)
{
    struct sql_diff_span *spans = arena_new_array(arena, diff->n_edits, struct sql_diff_span);
    *out = spans;
    if (!spans) return -1;
    for (uint32_t i = 0; i < diff->n_edits; i++) {
        const struct sql_edit *edit = &diff->edits[i];
        struct sql_diff_span *span = &spans[i];
        span->kind = edit->kind;
        span->node = edit->from ? edit->from : edit->to;
        span->clause = sql_clause_of(span->node);
        span->start = span->node->start;
        span->end = span->node->end;
        if (edit->kind == SQL_EDIT_UPDATE) operator_span(span->node, span);
        if (edit->kind == SQL_EDIT_INSERT) insertion_span(edit, diff->a, span);
    }
    qsort(spans, diff->n_edits, sizeof *spans, by_start);
    return (int)diff->n_edits;
}
