/* Regroups a tree by the precedence of its engine.
 *
 * DESIGN. The grammar is the union of the engines' grammars, with one precedence: SQLite's. A chain is a tree of binary
 * operators without parentheses between them. It is flattened to its operands and operators, and grouped anew by the
 * levels of LEVELS. Chains whose levels have the same order in both engines are skipped, which are nearly all.
 *
 * Set operations are likewise: SQLite groups them from left to right. In PostgreSQL and MariaDB, INTERSECT binds its
 * arms more tightly than UNION and EXCEPT. Its arms become a query in parentheses.
 *
 * Sources: sqlite.org/lang_expr.html; PostgreSQL's manual, "Operator Precedence"; MariaDB's sql_yacc.yy, with
 * PIPES_AS_CONCAT as lib/db sets it. A live test compares random expressions with the servers (tests/live). */
#include "lib/sql/precedence.h"

#include "lib/sql/sql.h"

#include <string.h>

enum { MAX_CHAIN = 256 }; /* operands of a chain; a longer one keeps its grouping */

/* Levels of an operator in SQLite, PostgreSQL and MariaDB. A higher level binds more tightly. */
/* clang-format off */
static const unsigned char LEVELS[SQL_OP_COUNT][SQL_PRECEDENCES] = {
    [SQL_OP_OR] = {1, 1, 1},
    [SQL_OP_AND] = {2, 2, 2},
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
    [SQL_OP_OVERLAP] = {6, 7, 2}, /* && is AND in MariaDB */
    [SQL_OP_SHL] = {6, 7, 8},
    [SQL_OP_SHR] = {6, 7, 8},
    [SQL_OP_BITXOR] = {6, 7, 6},
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

/* --- binary operators --- */

struct chain {
    struct sql_node *operands[MAX_CHAIN], *operators[MAX_CHAIN];
    uint32_t n; /* operators; there is one more operand */
};

/* True for an operator of LEVELS. DIV and XOR of MariaDB have no level, as other operators that only one engine has. */
static bool has_level(const struct sql_node *node)
{
    return sql_is(node, SQL_BINARY) && LEVELS[node->op][0] && !node->text;
}

static bool goes_on(const struct sql_node *node)
{
    return has_level(node) && !(node->flags & SQL_F_PAREN);
}

/* Collects a chain from left to right. Returns false if it is too long. */
static bool read_chain(struct sql_node *root, struct chain *chain)
{
    struct sql_node *open[MAX_CHAIN];
    uint32_t n_open = 0;
    chain->n = 0;
    for (struct sql_node *node = root;;) {
        while (node == root || goes_on(node)) {
            if (n_open == MAX_CHAIN) return false;
            open[n_open++] = node;
            node = node->kids[0];
        }
        chain->operands[chain->n] = node;
        if (!n_open) return true;
        if (chain->n + 1 == MAX_CHAIN) return false;
        struct sql_node *outer = open[--n_open];
        chain->operators[chain->n++] = outer;
        node = outer->kids[1];
    }
}

/* True if two operators of the chain have another order of levels than in SQLite. */
static bool changes_order(const struct chain *chain, enum sql_precedence precedence)
{
    unsigned seen[16] = {0}; /* bits of the engine's levels, by SQLite's level */
    for (uint32_t i = 0; i < chain->n; i++) {
        const unsigned char *levels = LEVELS[chain->operators[i]->op];
        seen[levels[0]] |= 1U << levels[precedence];
    }
    unsigned below = 0; /* the engine's levels of what binds less tightly in SQLite */
    for (unsigned level = 0; level < 16; level++) {
        if (!seen[level]) continue;
        unsigned lowest = seen[level] & -seen[level];
        if ((seen[level] & ~lowest) || below >= lowest) return true; /* several levels, or not above the others */
        below |= seen[level];
    }
    return false;
}

/* Joins operands. One that SQLite would group otherwise gets parentheses. */
static void join_operands(struct sql_node *binary, struct sql_node *left, struct sql_node *right)
{
    unsigned level = LEVELS[binary->op][SQL_PRECEDENCE_SQLITE];
    if (goes_on(left) && LEVELS[left->op][SQL_PRECEDENCE_SQLITE] < level) left->flags |= SQL_F_PAREN;
    if (goes_on(right) && LEVELS[right->op][SQL_PRECEDENCE_SQLITE] <= level) right->flags |= SQL_F_PAREN;
    binary->kids[0] = left;
    binary->kids[1] = right;
    binary->start = left->start;
    binary->end = right->end;
}

/* Groups a chain by the engine's levels; operators of one level group from left to right. Returns the new root. */
static struct sql_node *group_chain(const struct chain *chain, enum sql_precedence precedence)
{
    struct sql_node *operands[MAX_CHAIN], *operators[MAX_CHAIN];
    uint32_t n = 0; /* operators without their right operand yet */
    operands[0] = chain->operands[0];
    for (uint32_t i = 0; i <= chain->n; i++) {
        unsigned level = i < chain->n ? LEVELS[chain->operators[i]->op][precedence] : 0;
        while (n && LEVELS[operators[n - 1]->op][precedence] >= level) {
            n--;
            join_operands(operators[n], operands[n], operands[n + 1]);
            operands[n] = operators[n];
        }
        if (i == chain->n) break;
        operators[n++] = chain->operators[i];
        operands[n] = chain->operands[i + 1];
    }
    return operands[0];
}

/* Puts `with` where `root` is in its parent, with the span and parentheses of `root`. */
static void replace_root(struct sql_node *parent, uint32_t slot, uint32_t start, uint32_t end, uint32_t parens,
                         struct sql_node *with)
{
    with->flags = (with->flags & ~(uint32_t)SQL_F_PAREN) | parens;
    with->start = start;
    with->end = end;
    parent->kids[slot] = with;
    with->parent = parent;
    with->slot = slot;
}

static bool regroup_chain(struct sql_node *root, enum sql_precedence precedence)
{
    struct chain chain;
    struct sql_node *parent = root->parent;
    uint32_t start = root->start, end = root->end, parens = root->flags & SQL_F_PAREN, slot = root->slot;
    if (!parent || !read_chain(root, &chain) || !changes_order(&chain, precedence)) return false;
    for (uint32_t i = 0; i < chain.n; i++) chain.operators[i]->flags &= ~(uint32_t)SQL_F_PAREN;
    replace_root(parent, slot, start, end, parens, group_chain(&chain, precedence));
    return true;
}

/* --- set operations --- */

static bool is_intersect(const struct sql_node *node)
{
    return node->op == SQL_INTERSECT || node->op == SQL_INTERSECT_ALL;
}

/* Collects the operations of a left-associative row of them, from left to right. Returns false if there are too many,
 * or if no INTERSECT follows another operation. */
static bool read_row(struct sql_node *root, struct sql_node *operations[MAX_CHAIN], uint32_t *n)
{
    bool follows = false, plain = false;
    uint32_t size = 0;
    for (struct sql_node *node = root; sql_is(node, SQL_COMPOUND); node = node->kids[0]) size++;
    *n = size;
    if (size > MAX_CHAIN) return false;
    for (struct sql_node *node = root; sql_is(node, SQL_COMPOUND); node = node->kids[0]) operations[--size] = node;
    for (uint32_t i = 0; i < *n; i++) {
        follows |= plain && is_intersect(operations[i]);
        plain |= !is_intersect(operations[i]);
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

/* Makes a query in parentheses of a set operation that is a right arm; returns other arms as they are. NULL if the
 * arena is full. */
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

/* Gives INTERSECT its arms before other operations. *changed is set if the row changes. */
static enum err_code regroup_row(struct arena *arena, struct sql_node *root, bool *changed)
{
    struct sql_node *operations[MAX_CHAIN], *parent = root->parent;
    uint32_t n, start = root->start, end = root->end, slot = root->slot;
    if (!parent || !read_row(root, operations, &n)) return ERR_OK;
    struct sql_node *all = NULL, *open = NULL, *term = operations[0]->kids[0];
    for (uint32_t i = 0; i <= n; i++) {
        struct sql_node *right = i < n ? operations[i]->kids[1] : NULL;
        if (right && is_intersect(operations[i])) {
            term = join_arms(operations[i], term, right);
            continue;
        }
        struct sql_node *arm = open ? as_arm(arena, term) : term;
        if (!arm) return ERR_LIMIT_MEMORY;
        all = open ? join_arms(open, all, arm) : arm;
        open = i < n ? operations[i] : NULL;
        term = right;
    }
    replace_root(parent, slot, start, end, 0, all);
    *changed = true;
    return ERR_OK;
}

/* True for the root of a chain or of a row of set operations. */
static bool is_root(const struct sql_node *node)
{
    if (sql_is(node, SQL_COMPOUND)) return !sql_is(node->parent, SQL_COMPOUND);
    return has_level(node) && !(goes_on(node) && has_level(node->parent));
}

enum err_code sql_regroup(struct arena *arena, struct sql_stmt *stmt, enum sql_precedence precedence)
{
    uint32_t n = 0;
    bool changed = false;
    if (precedence == SQL_PRECEDENCE_SQLITE || !stmt->root) return ERR_OK;
    for (struct sql_node *node = stmt->root; node; node = sql_walk(stmt->root, node)) n += is_root(node);
    struct sql_node **roots = arena_new_array(arena, n + 1, struct sql_node *);
    if (!roots) return ERR_LIMIT_MEMORY;
    n = 0;
    for (struct sql_node *node = stmt->root; node; node = sql_walk(stmt->root, node))
        if (is_root(node)) roots[n++] = node;
    while (n-- > 0) { /* inner ones first: regrouping leaves the parents inside a chain as they were */
        enum err_code code = ERR_OK;
        if (sql_is(roots[n], SQL_COMPOUND))
            code = regroup_row(arena, roots[n], &changed);
        else
            changed |= regroup_chain(roots[n], precedence);
        if (code != ERR_OK) return code;
    }
    if (changed) stmt->n_nodes = sql_renumber(stmt->root);
    for (struct sql_node *node = stmt->root; node && precedence == SQL_PRECEDENCE_MARIADB;
         node = sql_walk(stmt->root, node))
        if (sql_is(node, SQL_BINARY) && node->op == SQL_OP_OVERLAP) node->op = SQL_OP_AND;
    return ERR_OK;
}
