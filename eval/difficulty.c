/* Counts the parts of a query. Spider counts on its own tree, with one SELECT and flat lists of conditions. On the tree
 * of lib/sql, its rules become:
 *
 * - The first SELECT of a chain of set operations counts, and the rest of the chain is one nested query. An ORDER BY or
 *   LIMIT after the chain belongs to its last SELECT, and so does not count.
 * - A condition is an operand of AND, OR and a leading NOT, in ON, WHERE and HAVING, with or without parentheses.
 * - An aggregate in HAVING does not count as an aggregate. But each AND or OR in HAVING counts as one, and so does each
 *   negated condition of WHERE and HAVING. The published counting has this effect, because it inspects the first
 *   field of each entry of those lists.
 *
 * Spider's language has neither CTE nor EXISTS; here each counts as a nested query. A query in FROM does not, as in
 * Spider.
 */
#include "eval/difficulty.h"
#include "lib/sql/bind.h"

static const size_t arena_bytes = 16U << 20;

const char *difficulty_name(enum difficulty difficulty)
{
    static const char *const names[DIFFICULTY_COUNT] = {"easy", "medium", "hard", "extra", "unknown"};
    return names[difficulty];
}

/* --- conditions ------------------------------------------------------------------------------------------------- */

/* The conditions of one or more clauses. */
struct conditions {
    unsigned n, connectives, ors, likes, negated, nested;
};

static bool connects(const struct sql_node *n)
{
    bool both = n->kind == SQL_BINARY && (n->op == SQL_OP_AND || n->op == SQL_OP_OR);
    return both || (n->kind == SQL_UNARY && n->op == SQL_OP_NOT);
}

static void add_condition(struct conditions *c, const struct sql_node *n)
{
    c->n++;
    c->likes += n->kind == SQL_LIKE && (n->op == SQL_OP_LIKE || n->op == SQL_OP_ILIKE);
    c->negated += (n->flags & SQL_F_NOT) != 0;
    c->nested += n->kind == SQL_EXISTS;
    for (uint32_t i = 0; i < n->n_kids; i++) c->nested += sql_is(n->kids[i], SQL_SUBQUERY);
}

static void add_conditions(struct conditions *c, const struct sql_node *top)
{
    for (const struct sql_node *n = top; n;) {
        if (!connects(n)) {
            add_condition(c, n);
            n = sql_walk_over(top, n);
            continue;
        }
        c->connectives += n->kind == SQL_BINARY;
        c->ors += n->kind == SQL_BINARY && n->op == SQL_OP_OR;
        c->negated += n->kind == SQL_UNARY;
        n = sql_walk(top, n);
    }
}

/* --- clauses ---------------------------------------------------------------------------------------------------- */

static bool holds_query(const struct sql_node *n)
{
    return n->kind == SQL_SUBQUERY || n->kind == SQL_EXISTS || n->kind == SQL_DERIVED;
}

/* Counts the tables of FROM; adds the conditions of its joins to *on. */
static unsigned count_tables(const struct sql_node *from, struct conditions *on)
{
    unsigned tables = 0;
    for (const struct sql_node *n = from; n;) {
        bool table = n->kind == SQL_TABLE || n->kind == SQL_DERIVED || n->kind == SQL_FROM_CALL;
        tables += table;
        if (n->kind == SQL_ON) add_conditions(on, sql_kid(n, 0));
        n = table || n->kind == SQL_ON ? sql_walk_over(from, n) : sql_walk(from, n);
    }
    return tables;
}

/* Counts the entries of the list that contain an aggregate outside nested queries. */
static unsigned count_aggregates(const struct sql_node *list)
{
    unsigned found = 0;
    for (uint32_t i = 0; list && i < list->n_kids; i++) {
        bool here = false;
        const struct sql_node *top = list->kids[i];
        for (const struct sql_node *n = top; n && !here;) {
            here = n->kind == SQL_CALL && sql_is_aggregate(n);
            n = holds_query(n) ? sql_walk_over(top, n) : sql_walk(top, n);
        }
        found += here;
    }
    return found;
}

static unsigned present(const struct sql_node *clause)
{
    return clause ? 1 : 0;
}

static unsigned several(unsigned n)
{
    return n > 1 ? 1 : 0;
}

static unsigned length(const struct sql_node *list)
{
    return list ? list->n_kids : 0;
}

/* Returns the SELECT whose parts are counted. Sets *query to the query whose ORDER BY and LIMIT belong to it, or to
 * NULL after a set operation. */
static const struct sql_node *first_select(const struct sql_node *root, const struct sql_node **query, bool *compound)
{
    const struct sql_node *n = root;
    *query = root;
    *compound = false;
    while (n && n->kind != SQL_SELECT) {
        if (n->kind == SQL_COMPOUND) {
            *compound = true;
            *query = NULL;
        } else if (n->kind == SQL_QUERY) {
            *query = n;
        } else {
            return NULL;
        }
        n = sql_kid(n, n->kind == SQL_COMPOUND ? 0 : QUERY_BODY);
    }
    return n;
}

bool difficulty_count(const struct sql_node *root, struct difficulty_counts *out)
{
    const struct sql_node *query = NULL;
    bool compound = false;
    const struct sql_node *select = first_select(root, &query, &compound);
    if (!select) return false;
    const struct sql_node *where = sql_kid(select, SELECT_WHERE), *having = sql_kid(select, SELECT_HAVING);
    const struct sql_node *group = sql_kid(select, SELECT_GROUP), *items = sql_kid(select, SELECT_ITEMS);
    const struct sql_node *order = sql_kid(query, QUERY_ORDER);
    struct conditions on = {0}, in_where = {0}, in_having = {0};
    unsigned tables = count_tables(sql_kid(select, SELECT_FROM), &on);
    if (where) add_conditions(&in_where, sql_kid(where, 0));
    if (having) add_conditions(&in_having, sql_kid(having, 0));

    unsigned aggregates = count_aggregates(items) + count_aggregates(order) + in_where.negated + in_having.negated +
                          in_having.connectives;
    *out = (struct difficulty_counts){
        .component1 = present(where) + present(group) + present(order) + present(sql_kid(query, QUERY_LIMIT)) +
                      (tables ? tables - 1 : 0) + on.ors + in_where.ors + in_having.ors + on.likes + in_where.likes +
                      in_having.likes,
        .component2 =
            (compound ? 1 : 0) + on.nested + in_where.nested + in_having.nested + length(sql_kid(root, QUERY_WITH)),
        .others = several(aggregates) + several(length(items)) + several(in_where.n) + several(length(group)),
    };
    return true;
}

/* --- levels ----------------------------------------------------------------------------------------------------- */

/* The bounds of the levels. The first row that matches decides. */
static const struct {
    enum difficulty level;
    unsigned least1, most1, most2, least_others, most_others;
} levels[] = {
    {DIFFICULTY_EASY, 0, 1, 0, 0, 0},   {DIFFICULTY_MEDIUM, 0, 1, 0, 0, 2}, {DIFFICULTY_MEDIUM, 0, 2, 0, 0, 1},
    {DIFFICULTY_HARD, 0, 2, 0, 3, ~0U}, {DIFFICULTY_HARD, 3, 3, 0, 0, 2},   {DIFFICULTY_HARD, 0, 1, 1, 0, 0},
};

enum difficulty difficulty_level(const struct difficulty_counts *c)
{
    for (unsigned i = 0; i < sizeof levels / sizeof *levels; i++)
        if (c->component1 >= levels[i].least1 && c->component1 <= levels[i].most1 && c->component2 <= levels[i].most2 &&
            c->others >= levels[i].least_others && c->others <= levels[i].most_others)
            return levels[i].level;
    return DIFFICULTY_EXTRA;
}

enum difficulty difficulty_of(const char *sql, size_t len)
{
    struct arena arena;
    struct sql_stmt *stmt = NULL;
    struct difficulty_counts counts;
    arena_init(&arena, arena_bytes);
    bool counted = sql_parse(&arena, sql, len, NULL, &stmt) == ERR_OK && difficulty_count(stmt->root, &counts);
    arena_free(&arena);
    return counted ? difficulty_level(&counts) : DIFFICULTY_UNKNOWN;
}
