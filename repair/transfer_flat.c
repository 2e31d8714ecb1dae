/* Flattens trees, so that conditions and tables become lists, and restores them.
 *
 *    WHERE, HAVING, ON   contain one LIST whose op is AND, even for one condition. AND and OR chains below it become
 *                        such LISTs too.
 *    FROM                becomes a list of JOINs without a left side, including one for the first table. Op NONE means
 *                        a comma. */
#include "repair/transfer_int.h"

#include <string.h>

/* --- to lists --- */

static bool is_logic(const struct sql_node *n)
{
    return sql_is(n, SQL_BINARY) && (n->op == SQL_OP_AND || n->op == SQL_OP_OR);
}

static bool is_condition_clause(const struct sql_node *n)
{
    return n->kind == SQL_WHERE || n->kind == SQL_HAVING || n->kind == SQL_ON;
}

static bool gather(struct arena *arena, struct sql_node *list, struct sql_node *part)
{
    if (!is_logic(part) || part->op != list->op) return sql_append(arena, list, part);
    return gather(arena, list, sql_kid(part, 0)) && gather(arena, list, sql_kid(part, 1));
}

/* Returns the operands of a chain of one operator as a LIST. Returns NULL if the arena is full. */
static struct sql_node *list_of(struct arena *arena, struct sql_node *chain, enum sql_op op)
{
    struct sql_node *list = sql_make(arena, SQL_LIST);
    if (!list) return NULL;
    list->op = (uint8_t)op;
    return gather(arena, list, chain) ? list : NULL;
}

static bool gather_tables(struct arena *arena, struct sql_node *from, struct sql_node *table, enum sql_op op)
{
    bool join = sql_is(table, SQL_JOIN);
    if (join && !gather_tables(arena, from, sql_kid(table, JOIN_LEFT), op)) return false;
    struct sql_node *entry = join ? table : sql_make(arena, SQL_JOIN);
    if (!entry) return false;
    if (!join) {
        entry->op = (uint8_t)op;
        sql_set_kid(entry, JOIN_RIGHT, table);
    }
    sql_set_kid(entry, JOIN_LEFT, NULL);
    return sql_append(arena, from, entry);
}

static bool flatten_from(struct arena *arena, struct sql_node *from)
{
    const struct sql_node old = *from;
    from->kids = NULL;
    from->n_kids = from->cap_kids = 0;
    for (uint32_t i = 0; i < old.n_kids; i++)
        if (!gather_tables(arena, from, old.kids[i], i ? SQL_OP_NONE : SQL_JOIN_INNER)) return false;
    return true;
}

static bool flatten(struct arena *arena, struct sql_node **place);

static bool flatten_kids(struct arena *arena, struct sql_node *n)
{
    for (uint32_t i = 0; i < n->n_kids; i++)
        if (n->kids[i] && !flatten(arena, &n->kids[i])) return false;
    return true;
}

/* Flattens the tree below *place, and sets *place to the node or its replacement. Returns false if the arena is
 * full. */
static bool flatten(struct arena *arena, struct sql_node **place)
{
    struct sql_node *n = *place, *list = NULL;
    if (is_logic(n)) {
        *place = list = list_of(arena, n, (enum sql_op)n->op);
        return list && flatten_kids(arena, list);
    }
    if (is_condition_clause(n)) {
        if (!(list = list_of(arena, sql_kid(n, 0), SQL_OP_AND))) return false;
        sql_set_kid(n, 0, list);
        return flatten_kids(arena, list);
    }
    return (n->kind != SQL_FROM || flatten_from(arena, n)) && flatten_kids(arena, n);
}

static struct sql_stmt *parse_and_bind(struct arena *arena, const char *sql, const struct sql_catalog *catalog,
                                       struct sql_bound **bound)
{
    struct sql_stmt *stmt = NULL;
    if (sql_parse(arena, sql, strlen(sql), NULL, &stmt) != ERR_OK) return NULL;
    enum err_code code = sql_bind(arena, stmt, catalog, bound);
    return code == ERR_OK || code == ERR_UNKNOWN_NAME || code == ERR_AMBIGUOUS_NAME ? stmt : NULL;
}

bool transfer_read(struct arena *arena, const char *sql, const struct sql_catalog *catalog, struct flat_tree *out)
{
    struct sql_bound *bound = NULL;
    struct sql_stmt *stmt = parse_and_bind(arena, sql, catalog, &bound);
    struct sql_node *normal = stmt ? sql_partly_normal_tree(arena, stmt->root) : NULL;
    out->text = normal ? sql_print(arena, normal) : NULL;
    out->stmt = out->text ? parse_and_bind(arena, out->text, catalog, &out->bound) : NULL;
    if (!out->stmt || !flatten(arena, &out->stmt->root)) return false;
    out->binds = !out->bound->diags;
    out->n = sql_renumber(out->stmt->root);
    out->nodes = arena_new_array(arena, out->n, struct sql_node *);
    for (struct sql_node *n = out->nodes ? out->stmt->root : NULL; n; n = sql_walk(out->stmt->root, n))
        out->nodes[n->id] = n;
    return out->nodes != NULL;
}

/* --- from lists --- */

static struct sql_node *fold(struct arena *arena, struct sql_node *n);

/* Folds the children of a node. A list drops the children of which nothing remains. */
static void fold_kids(struct arena *arena, struct sql_node *n)
{
    bool list = sql_kind_slots((enum sql_kind)n->kind) < 0 && n->kind != SQL_CASE;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n->n_kids; i++) {
        struct sql_node *kid = n->kids[i] ? fold(arena, n->kids[i]) : NULL;
        if (kid || !list) n->kids[kept++] = kid;
    }
    n->n_kids = kept;
}

static struct sql_node *chain_of(struct arena *arena, struct sql_node *list)
{
    struct sql_node *chain = list->n_kids ? list->kids[0] : NULL;
    for (uint32_t i = 1; chain && i < list->n_kids; i++) {
        struct sql_node *both = sql_make(arena, SQL_BINARY);
        if (!both) return NULL;
        both->op = list->op;
        sql_set_kid(both, 0, chain);
        sql_set_kid(both, 1, list->kids[i]);
        chain = both;
    }
    return chain;
}

/* Restores the left-deep JOINs. The first table has no join partner, so its join is dropped. */
static void fold_from(struct arena *arena, struct sql_node *from)
{
    struct sql_node *entries = arena_new(arena, struct sql_node);
    if (!entries) return;
    *entries = *from;
    from->kids = NULL;
    from->n_kids = from->cap_kids = 0;
    for (uint32_t i = 0; i < entries->n_kids; i++) {
        struct sql_node *join = entries->kids[i];
        if (!sql_is(join, SQL_JOIN) || !sql_kid(join, JOIN_RIGHT)) continue;
        bool alone = !from->n_kids || join->op == SQL_OP_NONE;
        if (alone && !sql_append(arena, from, sql_kid(join, JOIN_RIGHT))) return;
        if (alone) continue;
        sql_set_kid(join, JOIN_LEFT, from->kids[from->n_kids - 1]);
        from->kids[from->n_kids - 1] = join;
    }
}

/* Restores the parser's form of a node. Returns the node or its replacement; NULL if nothing remains. */
static struct sql_node *fold(struct arena *arena, struct sql_node *n)
{
    n->start = n->end = 0;
    fold_kids(arena, n);
    if (n->kind == SQL_LIST && (n->op == SQL_OP_AND || n->op == SQL_OP_OR)) return chain_of(arena, n);
    if (n->kind == SQL_FROM) fold_from(arena, n);
    bool may_be_empty = n->kind == SQL_ARGS || n->kind == SQL_DISTINCT || n->kind == SQL_ARRAY || n->kind == SQL_LIST;
    bool list = sql_kind_slots((enum sql_kind)n->kind) < 0;
    if (is_condition_clause(n) || n->kind == SQL_TERM || n->kind == SQL_ITEM) return sql_kid(n, 0) ? n : NULL;
    return list && !n->n_kids && !may_be_empty ? NULL : n;
}

const char *transfer_print(struct arena *arena, struct sql_node *root)
{
    root = root ? fold(arena, root) : NULL;
    if (!root) return NULL;
    struct sql_stmt made = {.text = "", .root = root, .n_nodes = sql_renumber(root)};
    return sql_check_tree(&made) ? NULL : sql_print(arena, root);
}
