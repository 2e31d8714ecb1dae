/* Regroups a tree by the precedence of its engine.
 *
 * DESIGN. The grammar is the union of the engines' grammars, with one precedence: SQLite's. A chain is a tree of binary
 * operators without parentheses between them. It is flattened to its operands and operators, and grouped again by
 * LEVELS. Most chains have the same order of levels in both engines, and are skipped.
 *
 * SQLite groups set operations from left to right. In PostgreSQL and MariaDB, INTERSECT binds more tightly than UNION
 * and EXCEPT. An INTERSECT that is a right arm there becomes a query in parentheses.
 *
 * Sources: sqlite.org/lang_expr.html; PostgreSQL's manual, "Operator Precedence"; MariaDB's sql_yacc.yy, with
 * PIPES_AS_CONCAT as lib/db sets it. A live test compares random expressions with the servers (tests/live). */
#include "lib/sql/precedence.h"

#include "lib/sql/sql.h"

enum { MOST_LEVELS = 16 };

typedef unsigned char engine_levels[SQL_PRECEDENCES];

/* Levels of an operator in SQLite, PostgreSQL and MariaDB. A higher level binds more tightly. */
/* clang-format off */
static const engine_levels LEVELS[SQL_OP_COUNT] = {
    [SQL_OP_OR] = {1, 1, 1},
    [SQL_OP_AND] = {3, 3, 3},
    [SQL_OP_IS] = {4, 4, 5},
    [SQL_OP_IS_NOT] = {4, 4, 5},
    [SQL_OP_IS_DISTINCT] = {4, 4, 5},
    [SQL_OP_IS_NOT_DISTINCT] = {4, 4, 5},
    [SQL_OP_EQ] = {4, 5, 5},
    [SQL_OP_NE] = {4, 5, 5},
    [SQL_OP_LT] = {5, 5, 5},
    [SQL_OP_LE] = {5, 5, 5},
    [SQL_OP_GT] = {5, 5, 5},
    [SQL_OP_GE] = {5, 5, 5},
    [SQL_OP_BITOR] = {6, 7, 6},
    [SQL_OP_BITAND] = {6, 7, 7},
    [SQL_OP_BITXOR] = {6, 7, 6},
    [SQL_OP_SHL] = {6, 7, 8},
    [SQL_OP_SHR] = {6, 7, 8},
    [SQL_OP_OVERLAP] = {6, 7, 3}, /* && is AND in MariaDB */
    [SQL_OP_REMATCH] = {6, 7, 6},
    [SQL_OP_IREMATCH] = {6, 7, 6},
    [SQL_OP_NREMATCH] = {6, 7, 6},
    [SQL_OP_NIREMATCH] = {6, 7, 6},
    [SQL_OP_HASH_ARROW] = {6, 7, 6},
    [SQL_OP_HASH_ARROW2] = {6, 7, 6},
    [SQL_OP_CONTAINS] = {6, 7, 6},
    [SQL_OP_CONTAINED] = {6, 7, 6},
    [SQL_OP_OTHER] = {6, 7, 6},
    [SQL_OP_ADD] = {9, 9, 9},
    [SQL_OP_SUB] = {9, 9, 9},
    [SQL_OP_MUL] = {10, 10, 10},
    [SQL_OP_DIV] = {10, 10, 10},
    [SQL_OP_MOD] = {10, 10, 10},
    [SQL_OP_POW] = {11, 11, 11},
    [SQL_OP_CONCAT] = {12, 7, 12},
    [SQL_OP_ARROW] = {12, 7, 12},
    [SQL_OP_ARROW2] = {12, 7, 12},
};
/* clang-format on */

enum sql_precedence sql_precedence_of(const struct sql_catalog *catalog)
{
    if (catalog->alias_is_row) return SQL_PRECEDENCE_POSTGRES;
    return catalog->quotes_names ? SQL_PRECEDENCE_MARIADB : SQL_PRECEDENCE_SQLITE;
}

/* Memory for one chain, or one row of set operations. Each array has capacity for all nodes of the statement. */
struct regrouping {
    struct arena *arena;
    enum sql_precedence precedence;
    struct sql_node **operands, **operators; /* from left to right */
    uint32_t n;                              /* number of operators; there is one more operand */
    struct sql_node **pending, **values;     /* stacks */
    bool changed;
};

/* --- binary operators --- */

/* Returns the levels of a binary node. An operator that is not in the table has the levels 0. */
static const unsigned char *levels_of(const struct sql_node *node)
{
    static const engine_levels EXCLUSIVE_OR = {1, 1, 2};
    if (node->flags & SQL_F_OPERATOR) return LEVELS[SQL_OP_OTHER];
    if (node->op == SQL_OP_OTHER && node->text) { /* MariaDB's operators that are words */
        if (sql_name_is(node->text, node->text_len, "DIV", 3)) return LEVELS[SQL_OP_DIV];
        if (sql_name_is(node->text, node->text_len, "XOR", 3)) return EXCLUSIVE_OR;
    }
    return LEVELS[node->op];
}

static bool has_level(const struct sql_node *node)
{
    return sql_is(node, SQL_BINARY) && levels_of(node)[SQL_PRECEDENCE_SQLITE];
}

static bool goes_on(const struct sql_node *node)
{
    return has_level(node) && !(node->flags & SQL_F_PAREN);
}

/* Collects the operands and operators of a chain from left to right. */
static void read_chain(struct regrouping *r, struct sql_node *root)
{
    uint32_t n_open = 0;
    r->n = 0;
    for (struct sql_node *node = root;;) {
        while (node == root || goes_on(node)) {
            r->pending[n_open++] = node;
            node = node->kids[0];
        }
        r->operands[r->n] = node;
        if (!n_open) return;
        r->operators[r->n] = r->pending[--n_open];
        node = r->operators[r->n++]->kids[1];
    }
}

/* True if the levels of the chain's operators have another order than in SQLite. */
static bool changes_order(const struct regrouping *r)
{
    unsigned seen[MOST_LEVELS] = {0}; /* by SQLite's level: the engine's levels, as bits */
    for (uint32_t i = 0; i < r->n; i++) {
        const unsigned char *levels = levels_of(r->operators[i]);
        seen[levels[SQL_PRECEDENCE_SQLITE]] |= 1U << levels[r->precedence];
    }
    unsigned below = 0; /* the engine's levels of the operators with a lower level in SQLite */
    for (unsigned level = 0; level < MOST_LEVELS; level++) {
        if (!seen[level]) continue;
        unsigned lowest = seen[level] & -seen[level];
        /* the engine has several levels here, or one that is not above the lower ones */
        if ((seen[level] & ~lowest) || below >= lowest) return true;
        below |= seen[level];
    }
    return false;
}

/* Joins two operands. Marks an operand that SQLite would group otherwise with parentheses. */
static void join_operands(struct sql_node *binary, struct sql_node *left, struct sql_node *right)
{
    unsigned level = levels_of(binary)[SQL_PRECEDENCE_SQLITE];
    if (goes_on(left) && levels_of(left)[SQL_PRECEDENCE_SQLITE] < level) left->flags |= SQL_F_PAREN;
    if (goes_on(right) && levels_of(right)[SQL_PRECEDENCE_SQLITE] <= level) right->flags |= SQL_F_PAREN;
    binary->kids[0] = left;
    binary->kids[1] = right;
    binary->start = left->start;
    binary->end = right->end;
}

/* Groups a chain by the engine's levels; operators of one level group from left to right. Returns the new root. */
static struct sql_node *group_chain(struct regrouping *r)
{
    struct sql_node **values = r->values, **pending = r->pending; /* pending: operators without their right operand */
    uint32_t n = 0;
    values[0] = r->operands[0];
    for (uint32_t i = 0; i <= r->n; i++) {
        unsigned level = i < r->n ? levels_of(r->operators[i])[r->precedence] : 0;
        while (n && levels_of(pending[n - 1])[r->precedence] >= level) {
            n--;
            join_operands(pending[n], values[n], values[n + 1]);
            values[n] = pending[n];
        }
        if (i == r->n) break;
        pending[n++] = r->operators[i];
        values[n] = r->operands[i + 1];
    }
    return values[0];
}

/* The place of a root in the tree, which the new root takes. */
struct root_place {
    struct sql_node *parent;
    uint32_t slot, start, end, parens;
};

static struct root_place place_of(const struct sql_node *root)
{
    return (struct root_place){root->parent, root->slot, root->start, root->end, root->flags & SQL_F_PAREN};
}

static void put_root(const struct root_place *place, struct sql_node *root)
{
    root->flags = (root->flags & ~(uint32_t)SQL_F_PAREN) | place->parens;
    root->start = place->start;
    root->end = place->end;
    sql_set_kid(place->parent, place->slot, root);
}

static void regroup_chain(struct regrouping *r, struct sql_node *root)
{
    struct root_place place = place_of(root);
    read_chain(r, root);
    if (!changes_order(r)) return;
    for (uint32_t i = 0; i < r->n; i++) r->operators[i]->flags &= ~(uint32_t)SQL_F_PAREN;
    put_root(&place, group_chain(r));
    r->changed = true;
}

/* --- set operations --- */

static bool is_intersect(const struct sql_node *node)
{
    return node->op == SQL_INTERSECT || node->op == SQL_INTERSECT_ALL;
}

/* Collects a left-associative row of set operations, from left to right. Returns false if no INTERSECT follows another
 * operation. */
static bool read_row(struct regrouping *r, struct sql_node *root)
{
    bool follows = false, other = false;
    r->n = 0;
    for (struct sql_node *node = root; sql_is(node, SQL_COMPOUND); node = node->kids[0]) r->n++;
    uint32_t at = r->n;
    for (struct sql_node *node = root; sql_is(node, SQL_COMPOUND); node = node->kids[0]) r->operators[--at] = node;
    for (uint32_t i = 0; i < r->n; i++) {
        follows |= other && is_intersect(r->operators[i]);
        other |= !is_intersect(r->operators[i]);
    }
    return follows;
}

static struct sql_node *join_arms(struct sql_node *operation, struct sql_node *left, struct sql_node *right)
{
    operation->kids[0] = left;
    operation->kids[1] = right;
    operation->start = left->start;
    operation->end = right->end;
    return operation;
}

/* Wraps a right arm that is a set operation in a query in parentheses. Returns other arms unchanged. Returns NULL if
 * the arena is full. */
static struct sql_node *as_arm(struct arena *arena, struct sql_node *term)
{
    if (!sql_is(term, SQL_COMPOUND)) return term;
    struct sql_node *query = sql_make(arena, SQL_QUERY);
    if (!query) return NULL;
    sql_set_kid(query, QUERY_BODY, term);
    query->flags |= SQL_F_PAREN;
    query->start = term->start;
    query->end = term->end;
    return query;
}

/* Groups a row of set operations: INTERSECT takes its arms before the other operations. */
static enum err_code regroup_row(struct regrouping *r, struct sql_node *root)
{
    struct root_place place = place_of(root);
    if (!read_row(r, root)) return ERR_OK;
    struct sql_node *all = NULL, *open = NULL, *term = r->operators[0]->kids[0];
    for (uint32_t i = 0; i <= r->n; i++) {
        struct sql_node *right = i < r->n ? r->operators[i]->kids[1] : NULL;
        if (right && is_intersect(r->operators[i])) {
            term = join_arms(r->operators[i], term, right);
            continue;
        }
        struct sql_node *arm = open ? as_arm(r->arena, term) : term;
        if (!arm) return ERR_LIMIT_MEMORY;
        all = open ? join_arms(open, all, arm) : arm;
        open = i < r->n ? r->operators[i] : NULL;
        term = right;
    }
    put_root(&place, all);
    r->changed = true;
    return ERR_OK;
}

/* --- the statement --- */

/* True for the root of a chain or of a row of set operations. */
static bool is_root(const struct sql_node *node)
{
    if (sql_is(node, SQL_COMPOUND)) return !sql_is(node->parent, SQL_COMPOUND);
    return has_level(node) && !(goes_on(node) && has_level(node->parent));
}

static bool init_regrouping(struct regrouping *r, struct arena *arena, const struct sql_stmt *stmt,
                            enum sql_precedence precedence)
{
    size_t most = stmt->n_nodes + 1;
    struct sql_node **all = arena_new_array(arena, 4 * most, struct sql_node *);
    if (!all) return false;
    *r = (struct regrouping){.arena = arena,
                             .precedence = precedence,
                             .operands = all,
                             .operators = all + most,
                             .pending = all + 2 * most,
                             .values = all + 3 * most};
    return true;
}

enum err_code sql_regroup(struct arena *arena, struct sql_stmt *stmt, enum sql_precedence precedence)
{
    struct regrouping r;
    uint32_t n = 0;
    if (precedence == SQL_PRECEDENCE_SQLITE || !stmt->root) return ERR_OK;
    struct sql_node **roots = arena_new_array(arena, stmt->n_nodes + 1, struct sql_node *);
    if (!roots || !init_regrouping(&r, arena, stmt, precedence)) return ERR_LIMIT_MEMORY;
    for (struct sql_node *node = stmt->root; node; node = sql_walk(stmt->root, node))
        if (is_root(node)) roots[n++] = node;
    while (n-- > 0) { /* inner roots first, because regrouping does not update the parents inside a chain */
        if (!sql_is(roots[n], SQL_COMPOUND))
            regroup_chain(&r, roots[n]);
        else if (regroup_row(&r, roots[n]) != ERR_OK)
            return ERR_LIMIT_MEMORY;
    }
    if (r.changed) stmt->n_nodes = sql_renumber(stmt->root);
    for (struct sql_node *node = stmt->root; node && precedence == SQL_PRECEDENCE_MARIADB;
         node = sql_walk(stmt->root, node))
        if (sql_is(node, SQL_BINARY) && node->op == SQL_OP_OVERLAP) node->op = SQL_OP_AND;
    return ERR_OK;
}
