/* Functions on whole trees: equality, hashes, copies, checks, dumps. They do not recurse; see sql_walk. */
#include "lib/sql/sql.h"

#include <stdio.h>
#include <string.h>

#include <glib.h>

/* Flags that describe the spelling and have no effect on the meaning. */
static const uint32_t SPELLING = SQL_F_COMMA | SQL_F_FETCH | SQL_F_COLON | SQL_F_PAREN | SQL_F_AS | SQL_F_OUTER_KW |
                                 SQL_F_EQ2 | SQL_F_NESTED | SQL_F_PAREN_TWICE | SQL_F_TABLE | SQL_F_OPERATOR;

/* ---- equality and hashes --------------------------------------------------------------------------------------- */

/* True for a double-quoted word without a qualifier. It may be a string (SQLite), so it is compared like one. */
static bool may_be_string(const struct sql_node *n)
{
    return n->kind == SQL_COLUMN && n->quote == '"' && !n->text2;
}

/* True if the text is a value, which is compared with its case. */
static bool is_exact(const struct sql_node *n)
{
    bool paths = n->kind == SQL_FROM_CALL; /* the columns of JSON_TABLE */
    return may_be_string(n) || paths || (n->kind == SQL_LITERAL && n->op == SQL_LIT_STRING);
}

/* True if the text does not count: NULL and UNKNOWN are one value. */
static bool is_text_free(const struct sql_node *n)
{
    return n->kind == SQL_LITERAL && n->op == SQL_LIT_NULL;
}

static bool equal_names(const char *a, uint32_t a_len, const char *b, uint32_t b_len)
{
    if (!a || !b) return !a && !b;
    return sql_name_is(a, a_len, b, b_len);
}

static bool equal_texts(const struct sql_node *a, const struct sql_node *b)
{
    if (may_be_string(a) != may_be_string(b)) return false;
    if (is_exact(a)) return a->text_len == b->text_len && (!a->text_len || memcmp(a->text, b->text, a->text_len) == 0);
    return is_text_free(a) || equal_names(a->text, a->text_len, b->text, b->text_len);
}

static bool equal_nodes(const struct sql_node *a, const struct sql_node *b)
{
    if (a->kind != b->kind || a->op != b->op || ((a->flags ^ b->flags) & ~SPELLING) || a->n_kids != b->n_kids)
        return false;
    for (uint32_t i = 0; i < a->n_kids; i++)
        if (!a->kids[i] != !b->kids[i]) return false;
    return equal_texts(a, b) && equal_names(a->text2, a->text2_len, b->text2, b->text2_len) &&
           equal_names(a->text3, a->text3_len, b->text3, b->text3_len) &&
           equal_names(a->alias, a->alias_len, b->alias, b->alias_len);
}

/* Nodes are compared in preorder. Equal nodes have kids in the same slots, so the trees have the same shape. */
bool sql_equal(const struct sql_node *a, const struct sql_node *b)
{
    if (!a || !b) return a == b;
    const struct sql_node *x = a, *y = b;
    while (x && y && equal_nodes(x, y)) {
        x = sql_walk(a, x);
        y = sql_walk(b, y);
    }
    return !x && !y;
}

/* FNV-1a, 64 bits. */
static uint64_t mix(uint64_t hash, unsigned byte)
{
    return (hash ^ (byte & 0xff)) * 0x100000001b3U;
}

static uint64_t mix_text(uint64_t hash, const char *text, uint32_t len, bool exact)
{
    hash = mix(hash, text ? 1 : 2);
    for (uint32_t i = 0; text && i < len; i++) {
        bool upper = !exact && text[i] >= 'A' && text[i] <= 'Z';
        hash = mix(hash, (unsigned char)text[i] | (upper ? 32U : 0U));
    }
    return mix(hash, 0xff);
}

static uint64_t mix_node(uint64_t hash, const struct sql_node *n)
{
    uint32_t flags = n->flags & ~SPELLING;
    hash = mix(mix(mix(hash, n->kind), n->op), may_be_string(n));
    for (unsigned shift = 0; shift < 32; shift += 8) hash = mix(hash, flags >> shift);
    for (uint32_t i = 0; i < n->n_kids; i++) hash = mix(hash, n->kids[i] ? 3 : 4);
    if (!is_text_free(n)) hash = mix_text(hash, n->text, n->text_len, is_exact(n));
    hash = mix_text(hash, n->text2, n->text2_len, false);
    hash = mix_text(hash, n->text3, n->text3_len, false);
    return mix_text(hash, n->alias, n->alias_len, false);
}

uint64_t sql_hash(const struct sql_node *node)
{
    uint64_t hash = 0xcbf29ce484222325U;
    for (const struct sql_node *n = node; n; n = sql_walk(node, n)) hash = mix_node(hash, n);
    return hash;
}

/* ---- copies ---------------------------------------------------------------------------------------------------- */

static bool copy_text(struct arena *arena, const char **text, uint32_t len)
{
    return !*text || (*text = arena_strndup(arena, *text, len));
}

static struct sql_node *copy_node(struct arena *arena, const struct sql_node *node)
{
    struct sql_node *copy = arena_alloc(arena, sizeof *copy);
    if (!copy) return NULL;
    *copy = *node;
    copy->parent = NULL;
    copy->ref = NULL;
    copy->slot = 0;
    copy->clause = NULL;
    copy->cap_kids = node->n_kids;
    copy->kids = node->n_kids ? arena_new_array(arena, node->n_kids, struct sql_node *) : NULL;
    bool done = (copy->kids || !node->n_kids) && copy_text(arena, &copy->text, copy->text_len) &&
                copy_text(arena, &copy->text2, copy->text2_len) && copy_text(arena, &copy->text3, copy->text3_len) &&
                copy_text(arena, &copy->alias, copy->alias_len);
    return done ? copy : NULL;
}

struct sql_node *sql_copy(struct arena *arena, const struct sql_node *node)
{
    struct sql_node *root = node ? copy_node(arena, node) : NULL, *at = root;
    const struct sql_node *n = node, *next;
    while (at && (next = sql_walk(node, n))) {
        for (; at && n != next->parent; n = n->parent) at = at->parent;
        struct sql_node *kid = copy_node(arena, next);
        if (!kid) return NULL;
        sql_set_kid(at, sql_slot(next), kid);
        n = next;
        at = kid;
    }
    if (root) sql_renumber(root);
    return root;
}

/* ---- checks ---------------------------------------------------------------------------------------------------- */

#define SLOT(slot) (1U << (slot))

/* Slots that are never empty. */
static const unsigned char REQUIRED[SQL_KIND_COUNT] = {
    [SQL_QUERY] = SLOT(QUERY_BODY),
    [SQL_CTE] = SLOT(CTE_QUERY),
    [SQL_COMPOUND] = SLOT(0) | SLOT(1),
    [SQL_SELECT] = SLOT(SELECT_ITEMS),
    [SQL_ITEM] = SLOT(0),
    [SQL_JOIN] = SLOT(JOIN_LEFT) | SLOT(JOIN_RIGHT),
    [SQL_ON] = SLOT(0),
    [SQL_DERIVED] = SLOT(DERIVED_QUERY),
    [SQL_FROM_CALL] = SLOT(FROM_CALL_CALL),
    [SQL_FROM_PAREN] = SLOT(0),
    [SQL_WHERE] = SLOT(0),
    [SQL_HAVING] = SLOT(0),
    [SQL_TERM] = SLOT(0),
    [SQL_TYPED] = SLOT(0),
    [SQL_UNARY] = SLOT(0),
    [SQL_BINARY] = SLOT(0) | SLOT(1),
    [SQL_LIKE] = SLOT(LIKE_VALUE) | SLOT(LIKE_PATTERN),
    [SQL_BETWEEN] = SLOT(0) | SLOT(1) | SLOT(2),
    [SQL_IN] = SLOT(IN_VALUE) | SLOT(IN_RIGHT),
    [SQL_EXISTS] = SLOT(0),
    [SQL_SUBQUERY] = SLOT(0),
    [SQL_QUANTIFIED] = SLOT(0) | SLOT(1),
    [SQL_WHEN] = SLOT(0) | SLOT(1),
    [SQL_CAST] = SLOT(0),
    [SQL_CALL] = SLOT(CALL_ARGS),
    [SQL_FILTER] = SLOT(0),
    [SQL_EXTRACT] = SLOT(0),
    [SQL_COLLATE] = SLOT(0),
    [SQL_SUBSCRIPT] = SLOT(0),
    [SQL_FIELD] = SLOT(0),
};

static const char *check_kids(const struct sql_node *n)
{
    int slots = sql_kind_slots(n->kind);
    uint32_t free_slots = slots >= 0 ? n->n_kids : n->kind == SQL_CASE ? CASE_FIRST_WHEN : 0;
    if (slots >= 0 && n->n_kids != (uint32_t)slots) return "a node has not the slots of its kind";
    if (n->n_kids < free_slots || n->n_kids > n->cap_kids) return "a node's counts of kids are wrong";
    for (uint32_t i = 0; i < n->n_kids; i++) {
        const struct sql_node *kid = n->kids[i];
        if (!kid && i >= free_slots) return "a list has a gap";
        if (!kid && (REQUIRED[n->kind] & SLOT(i & 7))) return "a slot that must not be empty is";
        if (kid && (kid->parent != n || kid->slot != i)) return "a kid does not know its parent";
    }
    return NULL;
}

static bool is_made(const struct sql_node *n)
{
    return n->start == 0 && n->end == 0;
}

static const char *check_span(const struct sql_stmt *stmt, const struct sql_node *n)
{
    const struct sql_node *parent = n->parent;
    if (is_made(n)) return NULL;
    if (n->start > n->end || n->end > stmt->len) return "a span lies outside of the text";
    if (!parent || is_made(parent)) return NULL;
    return n->start < parent->start || n->end > parent->end ? "a span lies outside of its parent's" : NULL;
}

static const struct sql_node *clause_above(const struct sql_node *n)
{
    for (; n->parent; n = n->parent)
        if (n->kind == SQL_WINDOW || n->parent->kind == SQL_QUERY || n->parent->kind == SQL_SELECT ||
            n->parent->kind == SQL_VALUES)
            return n;
    return NULL;
}

const char *sql_check_tree(const struct sql_stmt *stmt)
{
    uint32_t n_nodes = 0;
    for (const struct sql_node *n = stmt->root; n; n = sql_walk(stmt->root, n)) {
        if (n->kind >= SQL_KIND_COUNT || n->op >= SQL_OP_COUNT) return "a node has no such kind or operator";
        const char *wrong = check_kids(n);
        if (!wrong) wrong = check_span(stmt, n);
        if (wrong) return wrong;
        if (n->id != n_nodes++) return "ids are not in preorder";
        if (n->clause != clause_above(n)) return "a node does not know its clause";
    }
    if (stmt->root && stmt->root->parent) return "the root has a parent";
    return n_nodes == stmt->n_nodes ? NULL : "n_nodes is not the number of nodes";
}

/* ---- dumps ----------------------------------------------------------------------------------------------------- */

static void dump_text(GString *out, const char *mark, const char *text, uint32_t len)
{
    if (text) g_string_append_printf(out, " %s%.*s", mark, (int)len, text);
}

static void dump_node(GString *out, const struct sql_node *n)
{
    g_string_append_printf(out, "(%s", sql_kind_name(n->kind));
    if (n->op) g_string_append_printf(out, " %s", sql_op_text(n->op));
    if (n->flags & ~SPELLING) g_string_append_printf(out, " +%x", n->flags & ~SPELLING);
    dump_text(out, "", n->text, n->text_len);
    dump_text(out, "of:", n->text2, n->text2_len);
    dump_text(out, "in:", n->text3, n->text3_len);
    dump_text(out, "as:", n->alias, n->alias_len);
}

/* Prints "-" for each empty slot, so that a missing kid does not change the place of the others. */
static void dump_gaps(GString *out, const struct sql_node *parent, uint32_t from, uint32_t to)
{
    for (; from < to; from++)
        if (!parent->kids[from]) g_string_append(out, " -");
}

char *sql_dump(struct arena *arena, const struct sql_node *node)
{
    GString *out = g_string_new(NULL);
    for (const struct sql_node *n = node, *next; n; n = next) {
        dump_node(out, n);
        next = sql_walk(node, n);
        const struct sql_node *up = n;
        uint32_t from = 0;
        while (up != (next ? next->parent : NULL)) {
            dump_gaps(out, up, from, up->n_kids);
            g_string_append_c(out, ')');
            if (up == node) break;
            from = sql_slot(up) + 1;
            up = up->parent;
        }
        if (!next) break;
        dump_gaps(out, up, from, sql_slot(next));
        g_string_append_c(out, ' ');
    }
    char *copy = arena_strndup(arena, out->str, out->len);
    g_string_free(out, TRUE);
    return copy;
}
