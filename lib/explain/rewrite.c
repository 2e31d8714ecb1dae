/* Builds statements from parts of another statement. New nodes borrow the subtrees of the original and never write to
 * them. If the arena is full, builders return NULL. A NULL argument gives NULL, or an absent part. */
#include "lib/explain/rewrite.h"

#include <inttypes.h>
#include <string.h>

struct sql_node *rewrite_node(struct arena *arena, enum sql_kind kind, struct sql_node *const *kids, uint32_t n)
{
    struct sql_node *node = sql_make(arena, kind);
    if (!node) return NULL;
    if (n > node->cap_kids) {
        node->kids = arena_new_array(arena, n, struct sql_node *);
        if (!node->kids) return NULL;
        node->cap_kids = n;
    }
    if (n) memcpy(node->kids, kids, n * sizeof(struct sql_node *));
    if (node->n_kids < n) node->n_kids = n;
    return node;
}

struct sql_node *rewrite_binary(struct arena *arena, enum sql_op op, struct sql_node *left, struct sql_node *right)
{
    struct sql_node *node = REWRITE(arena, BINARY, left, right);
    if (node) node->op = op & 0xff;
    return node;
}

struct sql_node *rewrite_and(struct arena *arena, struct sql_node *left, struct sql_node *right)
{
    if (!left || !right) return left ? left : right;
    bool chain = right->kind == SQL_BINARY && right->op == SQL_OP_AND && !(right->flags & SQL_F_PAREN);
    if (chain) /* nests to the left like a parsed chain, so it needs no parentheses */
        return rewrite_binary(arena, SQL_OP_AND, rewrite_and(arena, left, right->kids[0]), right->kids[1]);
    return rewrite_binary(arena, SQL_OP_AND, left, right);
}

struct sql_node *rewrite_verbatim(struct arena *arena, const char *text)
{
    struct sql_node *node = text ? sql_make(arena, SQL_LITERAL) : NULL;
    if (!node) return NULL;
    node->op = SQL_LIT_INT;
    node->text = text;
    node->text_len = (uint32_t)strlen(text);
    return node;
}

struct sql_node *rewrite_count(struct arena *arena, uint64_t number)
{
    return rewrite_verbatim(arena, arena_printf(arena, "%" PRIu64, number));
}

struct sql_node *rewrite_column(struct arena *arena, const char *instance, size_t instance_len, const char *name,
                                size_t name_len)
{
    struct sql_node *node = sql_make(arena, SQL_COLUMN);
    if (!node) return NULL;
    node->text = name;
    node->text_len = (uint32_t)name_len;
    node->text2 = instance;
    node->text2_len = instance ? (uint32_t)instance_len : 0;
    return node;
}

struct sql_node *rewrite_item(struct arena *arena, struct sql_node *expr, const char *label)
{
    struct sql_node *item = REWRITE(arena, ITEM, expr);
    if (!item) return NULL;
    item->text = label;
    item->text_len = (uint32_t)strlen(label);
    item->quote = '"';
    return item;
}

static struct sql_node *own_copy(struct arena *arena, const struct sql_node *node)
{
    struct sql_node *copy = arena_new(arena, struct sql_node);
    struct sql_node **kids = arena_new_array(arena, node->n_kids, struct sql_node *);
    if (!copy || !kids) return NULL;
    *copy = *node;
    memcpy(kids, node->kids, node->n_kids * sizeof(struct sql_node *));
    copy->kids = kids;
    copy->cap_kids = node->n_kids;
    return copy;
}

/* Recursion is as deep as the parsed tree: at most SQL_MAX_DEPTH small frames. */
struct sql_node *rewrite_map(struct arena *arena, struct sql_node *node, rewrite_fn *replace, void *ctx)
{
    struct sql_node *other = node ? replace(ctx, node) : NULL;
    if (!node || other != node) return other;
    struct sql_node *copy = NULL;
    for (uint32_t i = 0; i < node->n_kids; i++) {
        struct sql_node *kid = rewrite_map(arena, node->kids[i], replace, ctx);
        if (kid == node->kids[i]) continue;
        if (!copy) copy = own_copy(arena, node);
        if (!copy) return NULL;
        copy->kids[i] = kid;
    }
    return copy ? copy : node;
}

struct sql_node *rewrite_slice(struct arena *arena, const struct sql_stmt *stmt, const struct sql_node *node)
{
    if (node->end <= node->start || node->end > stmt->len) return rewrite_borrow(node);
    return rewrite_verbatim(arena, arena_strndup(arena, stmt->text + node->start, node->end - node->start));
}

static uint32_t count_ctes(const struct sql_node *node)
{
    uint32_t n = 0;
    for (; node; node = node->parent) {
        const struct sql_node *with = node->kind == SQL_QUERY ? sql_kid(node, QUERY_WITH) : NULL;
        n += with ? with->n_kids : 0;
    }
    return n;
}

static bool has_name(struct sql_node *const *ctes, uint32_t n, const struct sql_node *cte)
{
    for (uint32_t i = 0; i < n; i++)
        if (sql_name_is(ctes[i]->text, ctes[i]->text_len, cte->text, cte->text_len)) return true;
    return false;
}

struct sql_node *rewrite_with(struct arena *arena, const struct sql_stmt *stmt, const struct sql_node *node)
{
    uint32_t room = count_ctes(node), n = 0, flags = 0;
    struct sql_node **ctes = room ? arena_new_array(arena, room, struct sql_node *) : NULL;
    if (!ctes) return NULL;
    const struct sql_node *only = sql_kid(stmt->root, QUERY_WITH);
    if (only && only->n_kids == room) return rewrite_slice(arena, stmt, only);
    for (; node; node = node->parent) {
        const struct sql_node *with = node->kind == SQL_QUERY ? sql_kid(node, QUERY_WITH) : NULL;
        uint32_t inner = n;
        if (with) flags |= with->flags;
        for (uint32_t i = 0; with && i < with->n_kids; i++)
            if (!has_name(ctes, inner, with->kids[i])) ctes[n++] = with->kids[i]; /* an inner CTE hides an outer one */
    }
    struct sql_node *all = rewrite_node(arena, SQL_WITH, ctes, n);
    if (all) all->flags = flags;
    return all;
}

bool rewrite_any(const struct sql_node *top, rewrite_test *test)
{
    for (const struct sql_node *n = top; n; n = sql_walk(top, n))
        if (test(n)) return true;
    return false;
}

bool rewrite_is_window(const struct sql_node *node)
{
    return sql_kid(sql_is(node, SQL_CALL) ? node : NULL, CALL_WINDOW) != NULL;
}

bool rewrite_is_random(const struct sql_node *node)
{
    static const char *const names[] = {"random",        "randomblob",        "rand",   "changes",
                                        "total_changes", "last_insert_rowid", "sysdate"};
    if (sql_is(node, SQL_LITERAL)) /* true for CURRENT_DATE, false for the DAY of MariaDB's TIMESTAMPDIFF */
        return node->op == SQL_LIT_CURRENT && node->text_len > 7 && sql_name_is(node->text, 7, "current", 7);
    for (size_t i = 0; sql_is(node, SQL_CALL) && i < sizeof names / sizeof *names; i++)
        if (sql_name_is(node->text, node->text_len, names[i], strlen(names[i]))) return true;
    return false;
}

bool rewrite_is_derived(const struct sql_node *node)
{
    return node->kind == SQL_DERIVED;
}

bool rewrite_is_subquery(const struct sql_node *node)
{
    return node->kind == SQL_QUERY;
}
