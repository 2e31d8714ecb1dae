/* Applies a script to a copy of `a`. The nodes of `b` supply only labels of updates and the content of insertions. */
#include "lib/sql/diff_tree.h"

#include <string.h>

/* A hash table with open addressing. It maps each node of `a` to its copy, and each inserted node of `b` to the new
 * node. */
struct copies {
    const struct sql_node **key;
    struct sql_node **copy;
    uint32_t mask;
};

static uint32_t slot_of(const struct copies *c, const struct sql_node *key)
{
    uint32_t at = (uint32_t)(((uintptr_t)key >> 4) * 0x9E3779B1U) & c->mask;
    while (c->key[at] && c->key[at] != key) at = (at + 1) & c->mask;
    return at;
}

static struct sql_node *copy_of(const struct copies *c, const struct sql_node *key)
{
    return key ? c->copy[slot_of(c, key)] : NULL;
}

static bool copies_init(struct arena *arena, struct copies *c, uint32_t n)
{
    uint32_t size = 16;
    while (size < 2 * n) size *= 2;
    c->mask = size - 1;
    c->key = arena_new_array(arena, size, const struct sql_node *);
    c->copy = arena_new_array(arena, size, struct sql_node *);
    return c->key && c->copy;
}

static void remember(struct copies *c, const struct sql_node *key, struct sql_node *copy)
{
    uint32_t at = slot_of(c, key);
    c->key[at] = key;
    c->copy[at] = copy;
}

/* Maps each node of `from` to its copy in `to`. sql_copy preserves the shape, so both trees are walked together. */
static void remember_all(struct copies *c, const struct sql_node *from, struct sql_node *to)
{
    remember(c, from, to);
    for (uint32_t i = 0; i < from->n_kids; i++)
        if (from->kids[i]) remember_all(c, from->kids[i], to->kids[i]);
}

/* Gives a node the label of `from`. Its position and its children stay. */
static void relabel(struct sql_node *n, const struct sql_node *from)
{
    struct sql_node old = *n;
    *n = *from;
    n->start = old.start;
    n->end = old.end;
    n->n_kids = old.n_kids;
    n->cap_kids = old.cap_kids;
    n->kids = old.kids;
    n->parent = old.parent;
    n->ref = NULL;
    n->id = old.id;
    n->slot = old.slot;
}

static uint32_t place_of(const struct sql_node *n)
{
    uint32_t i = 0;
    while (n->parent->kids[i] != n) i++;
    return i;
}

/* Detaches a node from its parent: a slot becomes empty, a list closes the gap. */
static void detach(struct sql_node *n)
{
    struct sql_node *parent = n->parent;
    if (!parent) return;
    uint32_t at = place_of(n);
    n->parent = NULL;
    parent->kids[at] = NULL;
    if (at < diff_slots(parent)) return;
    memmove(&parent->kids[at], &parent->kids[at + 1], (parent->n_kids - at - 1) * sizeof(struct sql_node *));
    parent->n_kids--;
}

/* Ensures that the list has capacity for one more entry. */
static bool widen(struct arena *arena, struct sql_node *list)
{
    if (list->n_kids < list->cap_kids) return true;
    uint32_t cap = list->n_kids < 4 ? 8 : list->n_kids * 2;
    struct sql_node **kids = arena_new_array(arena, cap, struct sql_node *);
    if (!kids) return false;
    if (list->n_kids) memcpy(kids, list->kids, list->n_kids * sizeof(struct sql_node *));
    list->kids = kids;
    list->cap_kids = cap;
    return true;
}

/* Attaches `kid` to a slot, or to a list before the entry that is now at `index`. */
static bool attach(struct arena *arena, struct sql_node *parent, uint32_t index, struct sql_node *kid)
{
    kid->parent = parent;
    if (index < diff_slots(parent) && index < parent->n_kids) {
        parent->kids[index] = kid;
        return true;
    }
    if (!widen(arena, parent)) return false;
    if (index > parent->n_kids) index = parent->n_kids;
    memmove(&parent->kids[index + 1], &parent->kids[index], (parent->n_kids - index) * sizeof(struct sql_node *));
    parent->kids[index] = kid;
    parent->n_kids++;
    return true;
}

/* Copies the subtree that an insertion adds, without the parts that moves bring into it later. */
static struct sql_node *bring(struct arena *arena, struct copies *copies, const struct copies *moved,
                              const struct sql_node *to)
{
    struct sql_node *n = arena_new(arena, struct sql_node);
    struct sql_node **kids = arena_new_array(arena, to->n_kids, struct sql_node *);
    if (!n || !kids) return NULL;
    *n = *to;
    n->ref = NULL;
    n->parent = NULL;
    n->start = n->end = 0;
    n->kids = kids;
    n->n_kids = 0;
    n->cap_kids = to->n_kids;
    uint32_t slots = diff_slots(to);
    for (uint32_t i = 0; i < to->n_kids; i++) {
        bool later = to->kids[i] && copy_of(moved, to->kids[i]);
        struct sql_node *kid = NULL;
        if (to->kids[i] && !later && !(kid = bring(arena, copies, moved, to->kids[i]))) return NULL;
        if (kid) kid->parent = n;
        if (kid || i < slots) kids[n->n_kids++] = kid;
    }
    remember(copies, to, n);
    return n;
}

struct apply {
    struct arena *arena;
    const struct sql_diff *diff;
    struct copies copies, moved;
    struct sql_node *root;
};

static void leave(struct apply *a)
{
    for (uint32_t i = 0; i < a->diff->n_edits; i++) {
        const struct sql_edit *edit = &a->diff->edits[i];
        struct sql_node *n = copy_of(&a->copies, edit->from);
        if (edit->kind == SQL_EDIT_UPDATE) relabel(n, edit->to);
        if (edit->kind == SQL_EDIT_MOVE) remember(&a->moved, edit->to, n);
        if (edit->kind != SQL_EDIT_MOVE && edit->kind != SQL_EDIT_DELETE) continue;
        if (n == a->root) a->root = NULL;
        detach(n);
    }
}

static bool arrive(struct apply *a)
{
    for (uint32_t i = 0; i < a->diff->n_edits; i++) {
        const struct sql_edit *edit = &a->diff->edits[i];
        if (edit->kind != SQL_EDIT_MOVE && edit->kind != SQL_EDIT_INSERT) continue;
        struct sql_node *n = edit->kind == SQL_EDIT_MOVE ? copy_of(&a->copies, edit->from)
                                                         : bring(a->arena, &a->copies, &a->moved, edit->to);
        if (!n) return false;
        struct sql_node *parent = copy_of(&a->copies, edit->parent_from ? edit->parent_from : edit->parent_to);
        if (!parent)
            a->root = n;
        else if (!attach(a->arena, parent, edit->index, n))
            return false;
    }
    return true;
}

struct sql_node *sql_diff_apply(struct arena *arena, const struct sql_diff *diff)
{
    struct apply a = {.arena = arena, .diff = diff, .root = sql_copy(arena, diff->a)};
    if (!a.root || !copies_init(arena, &a.copies, diff->nodes_a + diff->nodes_b)) return NULL;
    if (!copies_init(arena, &a.moved, diff->count[SQL_EDIT_MOVE])) return NULL;
    remember_all(&a.copies, diff->a, a.root);
    leave(&a);
    if (!arrive(&a)) return NULL;
    sql_renumber(a.root);
    return a.root;
}
