/* Builds statements from parts of another statement.
 *
 * A rewritten tree borrows: its new nodes point at subtrees of the original, whose parent links do not change. So a
 * rewrite allocates only a few new nodes, and the result may only be printed. If the arena is full, the builders return
 * NULL and set arena->failed. The caller checks arena->failed once, when it prints. */
#ifndef ASSAY_LIB_EXPLAIN_REWRITE_H
#define ASSAY_LIB_EXPLAIN_REWRITE_H

#include "lib/db/db.h"
#include "lib/sql/bind.h"

/* Makes a node with n borrowed kids; NULL means an absent kid. Slots from n on are empty. */
struct sql_node *rewrite_node(struct arena *arena, enum sql_kind kind, struct sql_node *const *kids, uint32_t n);
#define REWRITE(arena, kind, ...)                                                                                      \
    rewrite_node((arena), SQL_##kind, (struct sql_node *[]){__VA_ARGS__},                                              \
                 sizeof((struct sql_node *[]){__VA_ARGS__}) / sizeof(struct sql_node *))

struct sql_node *rewrite_binary(struct arena *arena, enum sql_op op, struct sql_node *left, struct sql_node *right);
/* Returns left AND right; either may be NULL. */
struct sql_node *rewrite_and(struct arena *arena, struct sql_node *left, struct sql_node *right);
/* Makes a node that prints as `text`, such as a number. Does not copy `text`. */
struct sql_node *rewrite_verbatim(struct arena *arena, const char *text);
struct sql_node *rewrite_count(struct arena *arena, uint64_t number);
/* Returns instance.name, or only the name if `instance` is NULL. Does not copy the texts. */
struct sql_node *rewrite_column(struct arena *arena, const char *instance, size_t instance_len, const char *name,
                                size_t name_len);
/* Returns expression AS "label". */
struct sql_node *rewrite_item(struct arena *arena, struct sql_node *expr, const char *label);

/* Copies the tree with some nodes replaced. `replace` returns the replacement of a node, or the node itself. Unchanged
 * parts are borrowed. */
typedef struct sql_node *rewrite_fn(void *ctx, struct sql_node *node);
struct sql_node *rewrite_map(struct arena *arena, struct sql_node *node, rewrite_fn *replace, void *ctx);

/* Makes a node that prints the statement's own text of `node`. A derived table needs that text, because the engine
 * names columns without an alias after it. */
struct sql_node *rewrite_slice(struct arena *arena, const struct sql_stmt *stmt, const struct sql_node *node);

/* Combines all WITH clauses that are in scope at a node. Returns NULL if there are none. */
struct sql_node *rewrite_with(struct arena *arena, const struct sql_stmt *stmt, const struct sql_node *node);

/* Removes const, so that an original node can be a kid of a new node. No code writes to the original through it. */
static inline struct sql_node *rewrite_borrow(const struct sql_node *node)
{
    return (struct sql_node *)(uintptr_t)node;
}

/* Returns true if the subtree has a node that passes the test. */
typedef bool rewrite_test(const struct sql_node *node);
bool rewrite_any(const struct sql_node *top, rewrite_test *test);
bool rewrite_is_window(const struct sql_node *node);   /* true for a call with OVER */
bool rewrite_is_random(const struct sql_node *node);   /* true if its value may differ in the next run */
bool rewrite_is_subquery(const struct sql_node *node); /* true for a subquery, which has rows of its own */
bool rewrite_is_derived(const struct sql_node *node);  /* true for a subquery in FROM */

#endif
