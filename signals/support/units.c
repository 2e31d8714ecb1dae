#include "signals/support/units.h"

#include "signals/support/query.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum thing { TIME, LENGTH, WEIGHT, AMOUNT, AREA, MONEY };

/* clang-format off */
/* Units by their stems and short forms, in one unit of the same thing. Those of AMOUNT go with any other: a column that
 * says none counts ones. MONEY has no rates of exchange: all currencies are one. */
static const struct {
    const char *word;
    enum thing thing;
    double factor;
} UNITS[] = {
    {"millisecond", TIME, 1e-3}, {"ms", TIME, 1e-3}, {"second", TIME, 1}, {"sec", TIME, 1}, {"minut", TIME, 60},
    {"minute", TIME, 60}, {"hour", TIME, 3600}, {"day", TIME, 86400}, {"week", TIME, 604800},
    {"millimet", LENGTH, 1e-3}, {"mm", LENGTH, 1e-3}, {"centimet", LENGTH, 1e-2}, {"cm", LENGTH, 1e-2},
    {"met", LENGTH, 1}, {"m", LENGTH, 1}, {"meter", LENGTH, 1}, {"metr", LENGTH, 1}, {"kilomet", LENGTH, 1e3},
    {"kilometr", LENGTH, 1e3}, {"kilometer", LENGTH, 1e3}, {"km", LENGTH, 1e3}, {"centimetr", LENGTH, 1e-2},
    {"centimeter", LENGTH, 1e-2},
    {"mile", LENGTH, 1609.344}, {"foot", LENGTH, 0.3048}, {"feet", LENGTH, 0.3048}, {"ft", LENGTH, 0.3048},
    {"inch", LENGTH, 0.0254}, {"gram", WEIGHT, 1e-3}, {"kilogram", WEIGHT, 1}, {"kg", WEIGHT, 1}, {"ton", WEIGHT, 1e3},
    {"tonn", WEIGHT, 1e3}, {"pound", WEIGHT, 0.45359237}, {"lbs", WEIGHT, 0.45359237},
    {"hundred", AMOUNT, 1e2}, {"thousand", AMOUNT, 1e3}, {"million", AMOUNT, 1e6}, {"billion", AMOUNT, 1e9},
    {"trillion", AMOUNT, 1e12},
    {"hectar", AREA, 1e4}, {"acr", AREA, 4046.86},
    {"cent", MONEY, 1e-2}, {"penc", MONEY, 1e-2}, {"penni", MONEY, 1e-2}, {"euro", MONEY, 1}, {"eur", MONEY, 1},
    {"dollar", MONEY, 1}, {"usd", MONEY, 1}, {"gbp", MONEY, 1}, {"chf", MONEY, 1}, {"franc", MONEY, 1},
};
/* clang-format on */
static const double USUAL[] = {10, 12, 24, 60, 100, 1000, 1440, 3600, 86400, 1e6, 1e9, 7, 30, 365};
static const double NEAR = 0.02; /* people round: 1.6 kilometres a mile */

static int unit_of(const struct text_token *token)
{
    for (size_t i = 0; i < G_N_ELEMENTS(UNITS); i++)
        if (strcmp(token->stem, UNITS[i].word) == 0 || strcmp(token->norm, UNITS[i].word) == 0) return (int)i;
    return -1;
}

static bool near(double a, double b)
{
    return fabs(a - b) <= NEAR * fmax(fabs(a), fabs(b));
}

/* --- what is calculated ------------------------------------------------------------------------------------------- */

/* a * column + b, as far as an expression is that. */
struct linear {
    double slope, offset;
    const struct schema_column *column; /* NULL: a number */
    bool calculated;
};

enum { MAX_DEPTH = 8 };

static bool combine(enum sql_op op, const struct linear *x, const struct linear *y, struct linear *out)
{
    if ((x->column && y->column) || (op == SQL_OP_DIV && (y->column || y->offset == 0))) return false;
    const struct linear *with = x->column ? x : y, *plain = x->column ? y : x;
    *out = (struct linear){.column = with->column, .calculated = true};
    switch (op) {
    case SQL_OP_MUL:
        out->slope = with->slope * plain->offset;
        out->offset = with->offset * plain->offset;
        return true;
    case SQL_OP_DIV:
        out->slope = x->slope / y->offset;
        out->offset = x->offset / y->offset;
        return true;
    case SQL_OP_ADD:
    case SQL_OP_SUB: {
        double sign = op == SQL_OP_SUB ? -1 : 1;
        out->slope = x->slope + sign * y->slope;
        out->offset = x->offset + sign * y->offset;
        return true;
    }
    default: return false;
    }
}

/* An aggregate of values has their unit. */
static bool keeps_unit(const struct sql_node *call)
{
    enum query_aggregate of = query_aggregate_of(call);
    return of == QUERY_SUM || of == QUERY_AVG || of == QUERY_MIN || of == QUERY_MAX;
}

static bool linear_of(const struct vsig_subject *subject, const struct sql_node *expr, unsigned depth,
                      struct linear *out)
{
    *out = (struct linear){0};
    if (!expr || depth > MAX_DEPTH) return false;
    if ((out->column = query_column(subject, expr))) return out->slope = 1, true;
    if (query_literal_number(expr, &out->offset)) return true;
    if (sql_is(expr, SQL_CAST)) return linear_of(subject, sql_kid(expr, 0), depth + 1, out);
    if (keeps_unit(expr)) return linear_of(subject, sql_kid(sql_kid(expr, CALL_ARGS), 0), depth + 1, out);
    struct linear x, y;
    return sql_is(expr, SQL_BINARY) && linear_of(subject, sql_kid(expr, 0), depth + 1, &x) &&
           linear_of(subject, sql_kid(expr, 1), depth + 1, &y) && combine((enum sql_op)expr->op, &x, &y, out);
}

static void add(const struct vsig_subject *subject, const struct sql_node *node, const struct sql_node *left,
                const struct sql_node *right, struct vsig_threshold *out, uint32_t *n)
{
    struct linear x, y;
    if (*n == VSIG_MAX_THRESHOLDS || !linear_of(subject, left, 0, &x) || !linear_of(subject, right, 0, &y)) return;
    if (!x.column == !y.column) return;
    const struct linear *column = x.column ? &x : &y, *number = x.column ? &y : &x;
    if (column->slope == 0) return;
    out[(*n)++] = (struct vsig_threshold){node, column->column, (number->offset - column->offset) / column->slope,
                                          x.calculated || y.calculated};
}

uint32_t vsig_thresholds(const struct vsig_subject *subject, struct vsig_threshold out[VSIG_MAX_THRESHOLDS])
{
    uint32_t n = 0;
    const struct sql_node *root = subject->stmt->root;
    for (const struct sql_node *node = root; node; node = sql_walk(root, node)) {
        if (sql_is(node, SQL_BINARY) && sql_is_comparison((enum sql_op)node->op)) {
            add(subject, node, node->kids[0], node->kids[1], out, &n);
        } else if (sql_is(node, SQL_BETWEEN)) {
            add(subject, node, node->kids[BETWEEN_VALUE], node->kids[BETWEEN_LOW], out, &n);
            add(subject, node, node->kids[BETWEEN_VALUE], node->kids[BETWEEN_HIGH], out, &n);
        }
    }
    return n;
}

/* --- what is meant ------------------------------------------------------------------------------------------------ */

/* The unit that a column's name says; -1. A column of millions of dollars has the unit of millions. A column of hours
 * per week has the unit of hours. */
static int unit_of_column(const struct schema_column *column)
{
    int money = -1;
    uint32_t end = 0;
    while (end < column->words.n && strcmp(column->words.items[end].norm, "per") != 0) end++;
    for (uint32_t i = end; i-- > 0;) {
        int unit = unit_of(&column->words.items[i]);
        if (unit >= 0 && UNITS[unit].thing != MONEY) return unit;
        if (unit >= 0 && money < 0) money = unit;
    }
    return money;
}

/* The question's number with the words behind it: "20 billion", "ten minutes", "3 million metres", and "a billion", which
 * is a number by itself. *bare gets it as it stands: 20, 1. Words of money count only for a column in units of money. */
static double asked(const struct question *question, const struct question_value *value, bool money, int *unit,
                    double *bare)
{
    double number = value->number;
    int own = unit_of(&question->tokens.items[value->first]);
    *unit = own >= 0 && UNITS[own].thing == AMOUNT ? own : -1;
    *bare = *unit < 0 ? number : number / UNITS[own].factor;
    for (uint32_t i = value->first + 1; i < question->tokens.n && i < value->first + 4; i++) {
        int next = unit_of(&question->tokens.items[i]);
        if (next < 0 || (UNITS[next].thing == MONEY && !money)) break;
        *unit = next;
        if (UNITS[next].thing != AMOUNT) break;
        number *= UNITS[next].factor;
    }
    return number;
}

enum vsig_unit_verdict vsig_unit_of(const struct vsig_subject *subject, const struct vsig_threshold *threshold,
                                    const struct question_value *value, double *expected)
{
    int said, held = unit_of_column(threshold->column);
    double want = NAN, bare;
    if (expected) *expected = NAN;
    if (value->kind != QUESTION_VALUE_NUMBER) return VSIG_UNIT_NONE;
    bool money = held >= 0 && UNITS[held].thing == MONEY;
    double number = asked(subject->analysis, value, money, &said, &bare);
    if (said < 0 || number == 0) return VSIG_UNIT_NONE;
    enum thing thing = UNITS[said].thing;
    if (thing == AMOUNT && (held < 0 || UNITS[held].thing == AMOUNT))
        want = number / (held < 0 ? 1 : UNITS[held].factor);
    else if (held >= 0 && UNITS[held].thing == thing)
        want = number * UNITS[said].factor / UNITS[held].factor;
    if (expected) *expected = want;
    if (!isnan(want) && near(threshold->number, want)) return VSIG_UNIT_MET;
    double ratio = threshold->number / bare;
    bool same = near(ratio, 1), usual = false;
    for (size_t i = 0; i < G_N_ELEMENTS(USUAL); i++) usual |= near(ratio, USUAL[i]) || near(ratio, 1 / USUAL[i]);
    if (isnan(want)) return same ? VSIG_UNIT_UNKNOWN : usual ? VSIG_UNIT_SCALED : VSIG_UNIT_NONE;
    return same || usual || near(threshold->number, number) ? VSIG_UNIT_MISSED : VSIG_UNIT_NONE;
}
