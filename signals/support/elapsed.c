#include "signals/support/elapsed.h"

#include "signals/support/query.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { MAX_DEPTH = 6, AGE_SCALE = 10000 };

/* The kind of an expression's values. FORM_DATE_TEXT stands for dates that are stored as texts. */
enum form { FORM_OTHER, FORM_DATE, FORM_DATE_TEXT };

static bool has_name(const struct sql_node *node, const char *const *names)
{
    for (; node->text && *names; names++)
        if (sql_name_is(node->text, node->text_len, *names, strlen(*names))) return true;
    return false;
}

static bool is_date_type(const char *type, size_t len)
{
    static const char *const TYPES[] = {"date", "datetime", "timestamp"};
    for (size_t i = 0; type && i < G_N_ELEMENTS(TYPES); i++) {
        size_t n = strlen(TYPES[i]);
        if (len >= n && g_ascii_strncasecmp(type, TYPES[i], n) == 0 && (len == n || !g_ascii_isalpha(type[n])))
            return true;
    }
    return false;
}

/* Returns the form of the column's values. Of the engines that reach this check, only those that divide exactly
 * (schema->divides_exactly) have date types. The others store dates as texts. */
static enum form of_column(const struct vsig_subject *subject, const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    uint64_t values = stats->ints + stats->reals + stats->texts + stats->blobs;
    if (subject->schema->divides_exactly && is_date_type(column->type, strlen(column->type))) return FORM_DATE;
    return values && stats->date_texts == values ? FORM_DATE_TEXT : FORM_OTHER;
}

static enum form form_of(const struct vsig_subject *subject, const struct sql_node *expr, unsigned depth);

static enum form of_call(const struct vsig_subject *subject, const struct sql_node *call, unsigned depth)
{
    static const char *const DATES[] = {"date",      "datetime",          "now",       "curdate",        "current_date",
                                        "sysdate",   "current_timestamp", "localtime", "localtimestamp", "last_day",
                                        "timestamp", "str_to_date",       NULL};
    static const char *const SAME[] = {"min",      "max",    "lag",      "lead",  "first_value", "last_value",
                                       "coalesce", "ifnull", "greatest", "least", NULL};
    if (has_name(call, DATES)) return subject->schema->divides_exactly ? FORM_DATE : FORM_DATE_TEXT;
    return has_name(call, SAME) ? form_of(subject, sql_kid(sql_kid(call, CALL_ARGS), 0), depth + 1) : FORM_OTHER;
}

static enum form form_of(const struct vsig_subject *subject, const struct sql_node *expr, unsigned depth)
{
    if (!expr || depth > MAX_DEPTH) return FORM_OTHER;
    const struct schema_column *column = query_column(subject, expr);
    if (column) return of_column(subject, column);
    bool typed = subject->schema->divides_exactly;
    switch (expr->kind) {
    case SQL_COLUMN: return expr->ref && expr->ref->expr ? form_of(subject, expr->ref->expr, depth + 1) : FORM_OTHER;
    case SQL_CAST:
    case SQL_TYPED: return typed && is_date_type(expr->text, expr->text_len) ? FORM_DATE : FORM_OTHER;
    case SQL_LITERAL:
        if (expr->op != SQL_LIT_CURRENT) return FORM_OTHER;
        return typed ? FORM_DATE : FORM_DATE_TEXT;
    case SQL_CALL: return of_call(subject, expr, depth);
    default: return FORM_OTHER;
    }
}

/* True if only the sign of the difference matters, or if dividing the difference by 10,000 gives an age in years. */
static bool is_harmless(const struct sql_node *node)
{
    const struct sql_node *parent = node->parent;
    double number;
    if (!sql_is(parent, SQL_BINARY) || !query_literal_number(sql_kid(parent, node->slot == 0 ? 1 : 0), &number))
        return sql_is(parent, SQL_TERM);
    if (sql_is_comparison((enum sql_op)parent->op)) return fabs(number) < 1e-9;
    return (parent->op == SQL_OP_DIV || parent->op == SQL_OP_OTHER) && fabs(number - AGE_SCALE) < 1e-9;
}

enum vsig_elapsed vsig_elapsed_of(const struct vsig_subject *subject, const struct sql_node *node)
{
    const struct schema_index *schema = subject->schema;
    if (!sql_is(node, SQL_BINARY) || node->op != SQL_OP_SUB || is_harmless(node)) return VSIG_ELAPSED_NONE;
    if (schema->alias_is_row) return VSIG_ELAPSED_NONE; /* PostgreSQL returns days */
    enum form left = form_of(subject, node->kids[0], 0), right = form_of(subject, node->kids[1], 0);
    if (left == FORM_OTHER || right == FORM_OTHER) return VSIG_ELAPSED_NONE;
    return left == FORM_DATE && right == FORM_DATE ? VSIG_ELAPSED_DIGITS : VSIG_ELAPSED_YEARS;
}
