#include "tests/live/expressions.h"

#include "lib/sql/sql.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

enum { MOST_OPERATORS = 6, LARGEST = 9 };

static char *random_expression(GRand *random, const char *const *operators, unsigned n_operators)
{
    GString *text = g_string_new("SELECT ");
    int n = g_rand_int_range(random, 2, MOST_OPERATORS + 1);
    for (int i = 0; i <= n; i++) {
        const char *before = i ? operators[g_rand_int_range(random, 0, (gint32)n_operators)] : "";
        const char *quote = g_rand_int_range(random, 0, 4) ? "" : "'"; /* a number written as text */
        g_string_append_printf(text, "%s%s%s%s%d%s", i ? " " : "", before, i ? " " : "", quote,
                               g_rand_int_range(random, 1, LARGEST + 1), quote);
    }
    return g_string_free(text, FALSE);
}

/* Returns the text with parentheses around each operator, as the parse tree groups them. */
static const char *in_full_parentheses(struct arena *arena, const char *sql, enum sql_precedence precedence)
{
    struct sql_stmt *stmt;
    cr_assert_eq(sql_parse(arena, sql, strlen(sql), NULL, &stmt), ERR_OK, "%s", sql);
    cr_assert_eq(sql_regroup(arena, stmt, precedence), ERR_OK, "%s", sql);
    for (struct sql_node *n = stmt->root; n; n = sql_walk(stmt->root, n))
        if (n->kind == SQL_BINARY) n->flags |= SQL_F_PAREN;
    return sql_print(arena, stmt->root);
}

/* Returns the value as text; NULL for an error. */
static const char *value_of(struct db *db, struct arena *arena, const char *sql)
{
    struct db_result result;
    struct err err = {0};
    if (db_query(db, arena, sql, strlen(sql), NULL, 0, 0, &result, &err) != ERR_OK) return NULL;
    cr_assert(result.n_rows == 1 && result.n_columns == 1, "%s", sql);
    const struct db_value *value = result.values;
    switch (value->type) {
    case DB_NULL: return "NULL";
    case DB_INT: return arena_printf(arena, "%" G_GINT64_FORMAT, (gint64)value->i);
    case DB_FLOAT: return arena_printf(arena, "%.9g", value->f);
    default: return arena_printf(arena, "'%.*s'", (int)value->len, value->text);
    }
}

void expressions_compare(struct db *db, struct arena *arena, enum sql_precedence precedence,
                         const char *const *operators, unsigned n_operators, unsigned n)
{
    unsigned with_value = 0;
    GRand *random = g_rand_new_with_seed(1);
    for (unsigned i = 0; i < n; i++) {
        arena_reset(arena);
        char *sql = random_expression(random, operators, n_operators);
        const char *full = in_full_parentheses(arena, sql, precedence);
        const char *plain = value_of(db, arena, sql), *grouped = value_of(db, arena, full);
        cr_expect_str_eq(plain ? plain : "error", grouped ? grouped : "error", "%s is not %s", sql, full);
        with_value += plain != NULL;
        g_free(sql);
    }
    cr_expect_gt(with_value, n / 4, "%u of %u expressions have a value", with_value, n);
    g_rand_free(random);
}
