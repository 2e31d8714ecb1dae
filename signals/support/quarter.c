#include "signals/support/quarter.h"

#include "signals/support/calendar.h"
#include "signals/support/query.h"
#include "signals/support/types.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { MAX_DEPTH = 6, MONTHS_OF_QUARTER = 3 };
enum rounding { ROUND_NONE, ROUND_DOWN, ROUND_UP };

static bool has_name(const struct sql_node *node, const char *const *names)
{
    for (; node && node->text && *names; names++)
        if (sql_name_is(node->text, node->text_len, *names, strlen(*names))) return true;
    return false;
}

/* True for a column with the numbers of months: it is named "month" and has values from 1 to 12. */
static bool holds_months(const struct schema_column *column)
{
    const struct schema_stats *stats = &column->stats;
    bool named = column->words.n == 1 && strcmp(column->words.items[0].stem, "month") == 0;
    return named && stats->min.type == DB_INT && stats->min.i >= 1 && stats->max.type == DB_INT && stats->max.i <= 12;
}

/* Reads an expression such as month, month + 2 or month - 1. *offset gets the added number. Returns false for other
 * expressions. */
static bool read_month(const struct vsig_subject *subject, const struct sql_node *expr, unsigned depth, double *offset)
{
    double number;
    if (!expr || depth > MAX_DEPTH) return false;
    if (vsig_extracts_month(expr)) return *offset = 0, true;
    const struct schema_column *column = query_column(subject, expr);
    if (column) return *offset = 0, holds_months(column);
    if (expr->kind == SQL_COLUMN) return expr->ref && read_month(subject, expr->ref->expr, depth + 1, offset);
    if (expr->kind == SQL_CAST) return read_month(subject, sql_kid(expr, 0), depth + 1, offset);
    if (expr->kind != SQL_BINARY || (expr->op != SQL_OP_ADD && expr->op != SQL_OP_SUB)) return false;
    unsigned literal = query_literal_number(expr->kids[1], &number) ? 1 : 0;
    if (!literal && (expr->op == SQL_OP_SUB || !query_literal_number(expr->kids[0], &number))) return false;
    if (!read_month(subject, expr->kids[1 - literal], depth + 1, offset)) return false;
    *offset += expr->op == SQL_OP_SUB ? -number : number;
    return true;
}

/* True if the engine drops the fraction of the quotient. SQLite treats texts of digits as whole numbers. */
static bool is_whole(const struct vsig_subject *subject, const struct sql_node *division)
{
    const struct schema_index *schema = subject->schema;
    const struct sql_node *divisor = sql_plain_literal(division->kids[1]);
    if (schema->divides_exactly || !divisor || divisor->op != SQL_LIT_INT) return false;
    enum vsig_type type = vsig_type_of(subject, division->kids[0]);
    return type == VSIG_TYPE_INT || (type == VSIG_TYPE_TEXT && !schema->alias_is_row);
}

static enum rounding rounding_of(const struct vsig_subject *subject, const struct sql_node *division)
{
    static const char *const DIV[] = {"div", NULL}, *const DOWN[] = {"floor", "trunc", "truncate", NULL};
    static const char *const UP[] = {"ceil", "ceiling", NULL};
    if (division->op == SQL_OP_OTHER) return has_name(division, DIV) ? ROUND_DOWN : ROUND_NONE;
    if (division->op != SQL_OP_DIV) return ROUND_NONE;
    if (is_whole(subject, division)) return ROUND_DOWN;
    const struct sql_node *parent = division->parent;
    bool lite = !subject->schema->alias_is_row && !subject->schema->divides_exactly;
    if (lite && sql_is(parent, SQL_CAST) && parent->text && g_ascii_strncasecmp(parent->text, "int", 3) == 0)
        return ROUND_DOWN;
    const struct sql_node *call = sql_is(parent, SQL_ARGS) ? parent->parent : NULL;
    return has_name(call, DOWN) ? ROUND_DOWN : has_name(call, UP) ? ROUND_UP : ROUND_NONE;
}

enum vsig_quarter vsig_quarter_of(const struct vsig_subject *subject, const struct sql_node *node)
{
    double divisor, offset;
    if (!sql_is(node, SQL_BINARY) || !query_literal_number(sql_kid(node, 1), &divisor)) return VSIG_QUARTER_NONE;
    if (fabs(divisor - MONTHS_OF_QUARTER) > 1e-9 || !read_month(subject, node->kids[0], 0, &offset))
        return VSIG_QUARTER_NONE;
    enum rounding rounding = rounding_of(subject, node);
    if (rounding == ROUND_NONE || fabs(offset - round(offset)) > 1e-9) return VSIG_QUARTER_NONE;
    int rest = (int)fmod(fmod(offset, MONTHS_OF_QUARTER) + MONTHS_OF_QUARTER + 0.5, MONTHS_OF_QUARTER);
    return rest == (rounding == ROUND_DOWN ? 2 : 0) ? VSIG_QUARTER_RIGHT : VSIG_QUARTER_WRONG;
}

/* True for a call that extracts a calendar part of a date as a whole number. The seconds since 1970 are not such a
 * part. */
static bool extracts_part(const struct sql_node *node)
{
    static const char *const CALLS[] = {"year",       "month", "day",     "hour",      "minute",  "dayofyear",
                                        "dayofmonth", "week",  "weekday", "dayofweek", "quarter", NULL};
    static const char *const FORMATS[] = {"%Y",   "%m",   "%d",     "%H",      "%M",   "%j",     "%W",
                                          "%w",   "year", "month",  "day",     "hour", "minute", "doy",
                                          "week", "dow",  "isodow", "quarter", NULL};
    static const char *const WITH_FORMAT[] = {"strftime", "date_part", NULL};
    if (sql_is(node, SQL_EXTRACT)) return has_name(node, FORMATS);
    if (!sql_is(node, SQL_CALL)) return false;
    if (has_name(node, CALLS)) return true;
    const struct sql_node *format = query_literal(sql_kid(sql_kid(node, CALL_ARGS), 0), NULL);
    return has_name(node, WITH_FORMAT) && has_name(format, FORMATS);
}

bool vsig_divides_date_part(const struct sql_node *division)
{
    const struct sql_node *dividend = sql_kid(division, 0);
    double number;
    bool found = false;
    if (!query_literal_number(sql_kid(division, 1), &number)) return false;
    for (const struct sql_node *n = dividend; n; n = sql_walk(dividend, n)) {
        if (n->kind != SQL_COLUMN) continue;
        const struct sql_node *outer = n;
        while (outer != dividend && !extracts_part(outer)) outer = outer->parent;
        if (!extracts_part(outer)) return false; /* the dividend has another column */
        found = true;
    }
    return found;
}
