#include "eval/exact.h"

#include <string.h>

/* True for a literal whose value is ignored. NULL is not ignored, nor is a number in ORDER BY or GROUP BY, which names
 * a column. */
static bool is_value(const struct sql_node *n)
{
    if (n->kind == SQL_COLUMN) return n->ref && n->ref->kind == SQL_REF_STRING;
    bool ordinal = sql_is(n->parent, SQL_TERM) || sql_is(n->parent, SQL_GROUP);
    return n->kind == SQL_LITERAL && n->op != SQL_LIT_NULL && !ordinal;
}

static void mask(struct sql_node *n)
{
    static const char any[] = "value";
    n->kind = SQL_LITERAL;
    n->op = SQL_LIT_STRING;
    n->quote = '\'';
    n->text = any;
    n->text_len = sizeof any - 1;
    n->text2 = n->text3 = NULL;
    n->text2_len = n->text3_len = 0;
    n->ref = NULL;
}

const char *exact_form(struct arena *arena, const struct sql_catalog *catalog, const char *sql, size_t len)
{
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    if (sql_parse(arena, sql, len, NULL, &stmt) != ERR_OK || sql_bind(arena, stmt, catalog, &bound) != ERR_OK)
        return NULL;
    for (struct sql_node *n = stmt->root; n; n = sql_walk(stmt->root, n))
        if (is_value(n)) mask(n);
    return sql_normal_form(arena, stmt->root);
}
