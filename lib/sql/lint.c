/* Lint: forms that the grammar accepts but no author intends. Lint inspects the tree and not the tokens, so a statement
 * and its printed form get the same diagnostics. */
#include "lib/sql/parser.h"

#include "lib/sql/grammar.h"

enum { MAX_NAMES = 64 }; /* maximum number of tables inspected in a statement */

struct lint_tables {
    const struct sql_node *tables[MAX_NAMES];
    unsigned n;
};

static bool is_table(const struct sql_node *n)
{
    return sql_is(n, SQL_TABLE) || sql_is(n, SQL_DERIVED) || sql_is(n, SQL_FROM_CALL) || sql_is(n, SQL_FROM_PAREN);
}

static void collect(const struct sql_node *root, struct lint_tables *names)
{
    for (const struct sql_node *n = root; n && names->n < MAX_NAMES; n = sql_walk(root, n))
        if (is_table(n) && (n->alias || sql_is(n, SQL_TABLE))) names->tables[names->n++] = n;
}

static bool is_name_of(const struct sql_node *table, const char *text, size_t len)
{
    bool own = sql_is(table, SQL_TABLE) && sql_name_is(table->text, table->text_len, text, len);
    return own || (table->alias && sql_name_is(table->alias, table->alias_len, text, len));
}

static bool names_table(const struct lint_tables *names, const struct sql_node *call)
{
    for (unsigned i = 0; i < names->n; i++)
        if (is_name_of(names->tables[i], call->text2, call->text2_len)) return true;
    return false;
}

/* Returns the opening parenthesis of a call. */
static struct sql_token parenthesis(const struct sql_parser *p, const struct sql_node *call)
{
    uint32_t low = 0, high = p->n_tokens;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->tokens[middle].start < call->start)
            low = middle + 1;
        else
            high = middle;
    }
    while (low < p->n_tokens && p->tokens[low].code != T_LP) low++;
    return p->tokens[low];
}

/* Reports a call such as table.count(*), at its parenthesis as SQLite does. schema.function(...) is valid in
 * PostgreSQL. */
static void find_methods(struct sql_parser *p, const struct sql_node *root)
{
    struct lint_tables names = {.n = 0};
    collect(root, &names);
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        if (!sql_is(n, SQL_CALL) || !n->text2 || sql_is(n->parent, SQL_FROM_CALL) || !names_table(&names, n)) continue;
        struct sql_token at = parenthesis(p, n);
        sql_diag_add(p, ERR_SYNTAX, at.start, at.start + at.len,
                     "a table has no functions; write f(table.column) instead of table.f(column)");
    }
}

void sql_lint(struct sql_parser *p)
{
    if (p->has_qualified_call && p->stmt->root) find_methods(p, p->stmt->root);
}
