/* Makes, links and walks nodes. All walks are iterative: they climb by parent and slot. */
#include "lib/sql/sql.h"

#include <string.h>

static const struct {
    const char *name;
    int slots;
} KINDS[SQL_KIND_COUNT] = {
#define X(kind, name, slots) [SQL_##kind] = {name, slots},
    SQL_KINDS(X)
#undef X
};

static const char *const OPS[SQL_OP_COUNT] = {
#define X(op, text) [SQL_##op] = text,
    SQL_OPS(X)
#undef X
};

const char *sql_kind_name(enum sql_kind kind)
{
    return (unsigned)kind < SQL_KIND_COUNT ? KINDS[kind].name : "?";
}

const char *sql_op_text(enum sql_op op)
{
    return (unsigned)op < SQL_OP_COUNT ? OPS[op] : "?";
}

int sql_kind_slots(enum sql_kind kind)
{
    return (unsigned)kind < SQL_KIND_COUNT ? KINDS[kind].slots : 0;
}

static inline unsigned char lower(char c)
{
    return (unsigned char)(c >= 'A' && c <= 'Z' ? c | 32 : c);
}

bool sql_name_is(const char *a, size_t a_len, const char *b, size_t b_len)
{
    if (a_len != b_len) return false;
    for (size_t i = 0; i < a_len; i++)
        if (lower(a[i]) != lower(b[i])) return false;
    return true;
}

bool sql_is_comparison(enum sql_op op)
{
    return op >= SQL_OP_EQ && op <= SQL_OP_GE;
}

bool sql_is_truth(const struct sql_node *expr)
{
    if (!expr) return false;
    enum sql_op op = expr->op;
    switch (expr->kind) {
    case SQL_IN:
    case SQL_LIKE:
    case SQL_BETWEEN:
    case SQL_EXISTS: return true;
    case SQL_UNARY: return op == SQL_OP_NOT || op == SQL_OP_ISNULL || op == SQL_OP_NOTNULL;
    case SQL_BINARY:
        return sql_is_comparison(op) || op == SQL_OP_AND || op == SQL_OP_OR || op == SQL_OP_IS || op == SQL_OP_IS_NOT;
    default: return false;
    }
}

bool sql_is_grouping_call(const struct sql_node *key)
{
    static const char *const names[] = {"grouping sets", "rollup", "cube"};
    for (size_t i = 0; sql_is(key, SQL_CALL) && i < sizeof names / sizeof *names; i++)
        if (sql_name_is(key->text, key->text_len, names[i], strlen(names[i]))) return true;
    return false;
}

enum sql_op sql_op_swap(enum sql_op op)
{
    switch (op) {
    case SQL_OP_LT: return SQL_OP_GT;
    case SQL_OP_LE: return SQL_OP_GE;
    case SQL_OP_GT: return SQL_OP_LT;
    case SQL_OP_GE: return SQL_OP_LE;
    case SQL_OP_EQ:
    case SQL_OP_NE:
    case SQL_OP_IS:
    case SQL_OP_IS_NOT:
    case SQL_OP_IS_DISTINCT:
    case SQL_OP_IS_NOT_DISTINCT:
    case SQL_OP_ADD:
    case SQL_OP_MUL:
    case SQL_OP_BITAND:
    case SQL_OP_BITOR:
    case SQL_OP_BITXOR:
    case SQL_OP_OVERLAP: return op;
    case SQL_OP_CONTAINS: return SQL_OP_CONTAINED;
    case SQL_OP_CONTAINED: return SQL_OP_CONTAINS;
    default: return SQL_OP_NONE;
    }
}

enum sql_op sql_op_negate(enum sql_op op)
{
    switch (op) {
    case SQL_OP_EQ: return SQL_OP_NE;
    case SQL_OP_NE: return SQL_OP_EQ;
    case SQL_OP_LT: return SQL_OP_GE;
    case SQL_OP_GE: return SQL_OP_LT;
    case SQL_OP_GT: return SQL_OP_LE;
    case SQL_OP_LE: return SQL_OP_GT;
    case SQL_OP_IS: return SQL_OP_IS_NOT;
    case SQL_OP_IS_NOT: return SQL_OP_IS;
    case SQL_OP_IS_DISTINCT: return SQL_OP_IS_NOT_DISTINCT;
    case SQL_OP_IS_NOT_DISTINCT: return SQL_OP_IS_DISTINCT;
    case SQL_OP_ISNULL: return SQL_OP_NOTNULL;
    case SQL_OP_NOTNULL: return SQL_OP_ISNULL;
    case SQL_OP_REMATCH: return SQL_OP_NREMATCH;
    case SQL_OP_NREMATCH: return SQL_OP_REMATCH;
    case SQL_OP_IREMATCH: return SQL_OP_NIREMATCH;
    case SQL_OP_NIREMATCH: return SQL_OP_IREMATCH;
    default: return SQL_OP_NONE;
    }
}

/* Returns the number of slots of a kind. CASE is a list whose first two entries are slots. */
static unsigned fixed_kids(enum sql_kind kind)
{
    int slots = KINDS[kind].slots;
    if (slots >= 0) return (unsigned)slots;
    return kind == SQL_CASE ? CASE_FIRST_WHEN : 0;
}

/* One allocation holds the node and its slots; a list that grows gets a new array elsewhere. */
struct sql_node *sql_make(struct arena *arena, enum sql_kind kind)
{
    unsigned fixed = fixed_kids(kind), room = KINDS[kind].slots < 0 ? fixed + 2 : fixed;
    size_t size = sizeof(struct sql_node) + room * sizeof(struct sql_node *);
    struct sql_node *node = arena_alloc(arena, size);
    if (!node) return NULL;
    struct sql_node **kids = (struct sql_node **)(node + 1);
    *node = (struct sql_node){.kind = kind & 0xff, .n_kids = fixed, .cap_kids = room, .kids = room ? kids : NULL};
    for (unsigned i = 0; i < room; i++) kids[i] = NULL;
    return node;
}

struct sql_node *sql_make_text(struct arena *arena, enum sql_kind kind, const char *text)
{
    struct sql_node *node = sql_make(arena, kind);
    char *copy = arena_strdup(arena, text);
    if (!node || !copy) return NULL;
    node->text = copy;
    node->text_len = (uint32_t)strlen(copy);
    return node;
}

bool sql_append(struct arena *arena, struct sql_node *list, struct sql_node *kid)
{
    if (!list || !kid) return false;
    if (list->n_kids == list->cap_kids) {
        uint32_t cap = list->cap_kids < 4 ? 8 : list->cap_kids * 2;
        struct sql_node **kids = arena_new_array(arena, cap, struct sql_node *);
        if (!kids) return false;
        if (list->n_kids) memcpy(kids, list->kids, list->n_kids * sizeof(struct sql_node *));
        list->kids = kids;
        list->cap_kids = cap;
    }
    kid->parent = list;
    kid->slot = list->n_kids;
    list->kids[list->n_kids++] = kid;
    return true;
}

void sql_set_kid(struct sql_node *node, unsigned slot, struct sql_node *kid)
{
    if (!node || slot >= node->n_kids) return;
    node->kids[slot] = kid;
    if (!kid) return;
    kid->parent = node;
    kid->slot = slot;
}

uint32_t sql_slot(const struct sql_node *kid)
{
    const struct sql_node *parent = kid->parent;
    if (!parent) return 0;
    if (kid->slot < parent->n_kids && parent->kids[kid->slot] == kid) return kid->slot;
    uint32_t slot = 0;
    while (slot < parent->n_kids && parent->kids[slot] != kid) slot++;
    return slot;
}

static void remove_entry(struct sql_node *list, uint32_t slot)
{
    list->n_kids--;
    for (uint32_t i = slot; i < list->n_kids; i++) {
        list->kids[i] = list->kids[i + 1];
        list->kids[i]->slot = i;
    }
}

void sql_replace(struct sql_node *old, struct sql_node *with)
{
    struct sql_node *parent = old ? old->parent : NULL;
    if (!parent) return;
    uint32_t slot = sql_slot(old);
    if (slot >= parent->n_kids) return;
    if (!with && slot >= fixed_kids(parent->kind))
        remove_entry(parent, slot);
    else
        sql_set_kid(parent, slot, with);
    old->parent = NULL;
}

struct sql_node *sql_walk_over(const struct sql_node *top, const struct sql_node *n)
{
    while (n && n != top && n->parent) {
        const struct sql_node *parent = n->parent;
        for (uint32_t i = sql_slot(n) + 1; i < parent->n_kids; i++)
            if (parent->kids[i]) return parent->kids[i];
        n = parent;
    }
    return NULL;
}

struct sql_node *sql_walk(const struct sql_node *top, const struct sql_node *n)
{
    if (!n) return NULL;
    for (uint32_t i = 0; i < n->n_kids; i++)
        if (n->kids[i]) return n->kids[i];
    return sql_walk_over(top, n);
}

struct sql_node *sql_up(const struct sql_node *n, enum sql_kind kind)
{
    while (n && n->kind != kind) n = n->parent;
    return (struct sql_node *)(uintptr_t)n;
}

static bool has_clauses(const struct sql_node *n)
{
    return n->kind == SQL_QUERY || n->kind == SQL_SELECT || n->kind == SQL_VALUES;
}

void sql_number(struct sql_node *node, uint32_t id)
{
    const struct sql_node *parent = node->parent;
    bool begins = parent && (node->kind == SQL_WINDOW || has_clauses(parent));
    node->id = id;
    node->clause = begins ? node : parent ? parent->clause : NULL;
}

/* Sets parent and slot of the kids of one node. */
static void adopt(struct sql_node *node)
{
    for (uint32_t i = 0; i < node->n_kids; i++) {
        if (!node->kids[i]) continue;
        node->kids[i]->parent = node;
        node->kids[i]->slot = i;
    }
}

uint32_t sql_renumber(struct sql_node *root)
{
    uint32_t n = 0;
    for (struct sql_node *node = root; node; node = sql_walk(root, node)) {
        adopt(node);
        sql_number(node, n++);
    }
    return n;
}

struct sql_node *sql_and(struct arena *arena, struct sql_node *left, struct sql_node *right)
{
    if (!left || !right) return left ? left : right;
    struct sql_node *both = sql_make(arena, SQL_BINARY);
    if (!both) return NULL;
    both->op = SQL_OP_AND;
    sql_set_kid(both, 0, left);
    sql_set_kid(both, 1, right);
    return both;
}
