#include "signals/support/units.h"

#include "lib/text/units.h"
#include "signals/support/query.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static const double USUAL[] = {10, 12, 24, 60, 100, 1000, 1440, 3600, 86400, 1e6, 1e9, 7, 30, 365};

/* --- numbers with calculations ------------------------------------------------------------------------------------ */

/* An expression of the form slope * column + offset. */
struct linear {
    double slope, offset;
    const struct schema_column *column; /* NULL if the expression is a number */
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

/* True for an aggregate whose result has the same unit as its argument. */
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

/* --- numbers of the question -------------------------------------------------------------------------------------- */

/* Returns a number of the question multiplied by the words after it: "20 billion", "ten minutes", "3 million metres".
 * "A billion" is one value, whose word is both number and unit. *unit gets the unit, or NULL. *bare gets the number as
 * written, such as 20, or 1 for "a billion". Words for money count only if `money` is true: the column has a unit of
 * money. */
static double asked(const struct question *question, const struct question_value *value, bool money,
                    const struct text_unit **unit, double *bare)
{
    double number = value->number;
    const struct text_unit *own = text_unit_of(&question->tokens.items[value->first], false);
    *unit = own && own->thing == TEXT_UNIT_AMOUNT ? own : NULL;
    *bare = *unit ? number / own->factor : number;
    for (uint32_t i = value->first + 1; i < question->tokens.n && i < value->first + 4; i++) {
        const struct text_unit *next = text_unit_of(&question->tokens.items[i], false);
        if (!next || (next->thing == TEXT_UNIT_MONEY && !money)) break;
        *unit = next;
        if (next->thing != TEXT_UNIT_AMOUNT) break;
        number *= next->factor;
    }
    return number;
}

enum vsig_unit_verdict vsig_unit_of(const struct vsig_subject *subject, const struct vsig_threshold *threshold,
                                    const struct question_value *value, double *expected)
{
    const struct text_unit *said, *held = text_unit_of_name(&threshold->column->words);
    double want = NAN, bare;
    if (expected) *expected = NAN;
    if (value->kind != QUESTION_VALUE_NUMBER) return VSIG_UNIT_NONE;
    bool money = held && held->thing == TEXT_UNIT_MONEY;
    double number = asked(subject->analysis, value, money, &said, &bare);
    if (!said || number == 0) return VSIG_UNIT_NONE;
    if (said->thing == TEXT_UNIT_SHARE && (!held || held->thing != TEXT_UNIT_SHARE)) return VSIG_UNIT_NONE;
    if (said->thing == TEXT_UNIT_AMOUNT && (!held || held->thing == TEXT_UNIT_AMOUNT))
        want = number / (held ? held->factor : 1);
    else if (held && held->thing == said->thing)
        want = number * said->factor / held->factor;
    if (expected) *expected = want;
    if (!isnan(want) && text_unit_near(threshold->number, want)) return VSIG_UNIT_MET;
    double ratio = threshold->number / bare;
    bool same = text_unit_near(ratio, 1), usual = false;
    for (size_t i = 0; i < G_N_ELEMENTS(USUAL); i++)
        usual |= text_unit_near(ratio, USUAL[i]) || text_unit_near(ratio, 1 / USUAL[i]);
    if (isnan(want)) return same ? VSIG_UNIT_UNKNOWN : usual ? VSIG_UNIT_SCALED : VSIG_UNIT_NONE;
    return same || usual || text_unit_near(threshold->number, number) ? VSIG_UNIT_MISSED : VSIG_UNIT_NONE;
}
