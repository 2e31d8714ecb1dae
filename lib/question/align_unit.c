/* Checks units: the result must have the unit that the question requests, and sums and comparisons must not mix units.
 *
 * The unit of an amount is the unit of its column, which the column's name states. A factor such as 100 or 60 converts
 * the unit; another factor, such as a tax rate, does not. An amount that mixes two units, or comes from an unknown
 * function, has no known unit. */
#include "lib/question/align_int.h"
#include "lib/text/units.h"

#include <glib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEVELS = 12 };

/* The unit of a term. `thing` is -1 for a number without a unit. `known` is false for an unknown unit. */
struct amount {
    bool known, is_constant;
    int thing;
    double factor;   /* number of base units in one of this unit */
    double constant; /* value of a constant */
};

struct unit_reader {
    struct aligner *a;
    const struct meaning_term *mixed; /* a sum of two different units of one quantity; NULL if there is none */
};

static const struct amount unknown_amount = {.thing = -1}, plain_amount = {.known = true, .thing = -1, .factor = 1};

/* True if the constant converts a unit. Powers of ten convert any unit, 60 and 24 convert units of time, and 1024
 * converts units of data. */
static bool converts(double constant, int thing)
{
    static const struct {
        double factor;
        int thing; /* -1 for any quantity */
    } usual[] = {{10, -1},
                 {100, -1},
                 {1000, -1},
                 {1e4, -1},
                 {1e5, -1},
                 {1e6, -1},
                 {1e9, -1},
                 {60, TEXT_UNIT_TIME},
                 {3600, TEXT_UNIT_TIME},
                 {24, TEXT_UNIT_TIME},
                 {1440, TEXT_UNIT_TIME},
                 {86400, TEXT_UNIT_TIME},
                 {36e5, TEXT_UNIT_TIME},
                 {6e4, TEXT_UNIT_TIME},
                 {1024, TEXT_UNIT_DATA},
                 {1048576, TEXT_UNIT_DATA},
                 {100, TEXT_UNIT_SHARE},
                 {10000, TEXT_UNIT_SHARE}};
    for (size_t i = 0; i < G_N_ELEMENTS(usual); i++)
        if ((usual[i].thing < 0 || usual[i].thing == thing) &&
            (text_unit_near(constant, usual[i].factor) || text_unit_near(constant, 1 / usual[i].factor)))
            return true;
    return false;
}

static struct amount amount_of(struct unit_reader *u, const struct meaning_term *term, unsigned levels);

static struct amount amount_of_value(const struct meaning_term *term)
{
    char *end;
    double number = strtod(term->name, &end);
    if (end == term->name || *end) return unknown_amount;
    return (struct amount){.known = true, .is_constant = true, .thing = -1, .factor = 1, .constant = number};
}

static bool is_percentage(const struct schema_column *column)
{
    static const char *const words[] = {"pct", "percent", "percentage"};
    for (uint32_t i = 0; i < column->words.n; i++)
        for (size_t w = 0; w < G_N_ELEMENTS(words); w++)
            if (g_str_equal(column->words.items[i].norm, words[w])) return true;
    return false;
}

static struct amount amount_of_column(const struct unit_reader *u, const struct meaning_term *term)
{
    const struct schema_column *column = align_column(u->a, term);
    if (!column) return unknown_amount;
    const struct text_unit *unit = text_unit_of_name(&column->words);
    if (!unit && is_percentage(column)) return (struct amount){.known = true, .thing = -1, .factor = 0.01};
    if (!unit || unit->thing == TEXT_UNIT_AMOUNT) return plain_amount;
    return (struct amount){.known = true, .thing = (int)unit->thing, .factor = unit->factor};
}

/* Returns x * y, or x / y with `divide`. */
static struct amount multiply_amounts(struct amount x, struct amount y, bool divide)
{
    if (!x.known || !y.known) return unknown_amount;
    if (x.is_constant && y.is_constant) {
        x.constant = divide ? x.constant / y.constant : x.constant * y.constant;
        return x;
    }
    if (y.is_constant || (x.is_constant && !divide)) {
        struct amount with = y.is_constant ? x : y;
        double constant = y.is_constant ? y.constant : x.constant;
        if (converts(constant, with.thing)) with.factor *= divide ? constant : 1 / constant;
        return with;
    }
    if (divide && y.thing >= 0) return x.thing == y.thing ? plain_amount : unknown_amount;
    if (x.thing >= 0 && y.thing >= 0) return unknown_amount;
    /* keeps the conversions of numbers without a unit */
    double factor = divide ? x.factor / y.factor : x.factor * y.factor;
    return (struct amount){.known = true, .thing = MAX(x.thing, y.thing), .factor = factor};
}

/* Returns x + y or x - y. If both measure one quantity in two units, records the term in u->mixed. */
static struct amount add_amounts(struct unit_reader *u, const struct meaning_term *term, struct amount x,
                                 struct amount y)
{
    if (!x.known || !y.known) return unknown_amount;
    if (x.is_constant || y.is_constant) return x.is_constant ? y : x;
    if (x.thing < 0 || x.thing != y.thing) return x.thing == y.thing ? x : unknown_amount;
    if (text_unit_near(x.factor, y.factor)) return x;
    if (!u->mixed) u->mixed = term;
    return unknown_amount;
}

static struct amount amount_of_operation(struct unit_reader *u, const struct meaning_term *term, unsigned levels)
{
    if (!term->n_parts) return unknown_amount;
    bool times = g_str_equal(term->name, "*"), by = g_str_equal(term->name, "/"), plus = g_str_equal(term->name, "+"),
         minus = g_str_equal(term->name, "-"), negative = g_str_equal(term->name, "negative");
    if (!times && !by && !plus && !minus && !negative) return unknown_amount;
    struct amount sum = amount_of(u, term->parts[0], levels);
    for (uint32_t i = 1; i < term->n_parts; i++) {
        struct amount next = amount_of(u, term->parts[i], levels);
        sum = times || by ? multiply_amounts(sum, next, by) : add_amounts(u, term, sum, next);
    }
    return sum;
}

static struct amount amount_of_case(struct unit_reader *u, const struct meaning_term *term, unsigned levels)
{
    struct amount all = unknown_amount;
    for (uint32_t i = 0; i < term->n_parts; i++) {
        bool result = i % 2 == 1 || (i + 1 == term->n_parts && i % 2 == 0);
        struct amount one = result ? amount_of(u, term->parts[i], levels) : unknown_amount;
        if (!result || one.is_constant) continue;
        if (!one.known || (all.known && (all.thing != one.thing || !text_unit_near(all.factor, one.factor))))
            return unknown_amount;
        all = one;
    }
    return all;
}

static bool keeps_unit(const struct meaning_term *term)
{
    static const char *const names[] = {"round",   "coalesce", "ifnull", "abs",         "cast",       "nullif",
                                        "measure", "lag",      "lead",   "first_value", "last_value", "sum",
                                        "avg",     "min",      "max",    "total",       "median"};
    for (size_t i = 0; term->n_parts && i < G_N_ELEMENTS(names); i++)
        if (g_str_equal(term->name, names[i])) return true;
    return false;
}

static struct amount amount_of(struct unit_reader *u, const struct meaning_term *term, unsigned levels)
{
    term = meaning_follow(term, NULL);
    if (!levels) return unknown_amount;
    if (meaning_is_subquery(term))
        return term->relation->n_outputs == 1 ? amount_of(u, term->relation->outputs[0].term, levels - 1)
                                              : unknown_amount;
    switch (term->kind) {
    case MEANING_VALUE: return amount_of_value(term);
    case MEANING_COLUMN: return amount_of_column(u, term);
    case MEANING_OPERATION: return amount_of_operation(u, term, levels - 1);
    case MEANING_CASE: return amount_of_case(u, term, levels - 1);
    case MEANING_RATIO: {
        struct amount ratio =
            multiply_amounts(amount_of(u, term->parts[0], levels - 1), amount_of(u, term->parts[1], levels - 1), true);
        if (ratio.known && ratio.thing >= 0) ratio.factor /= strtod(term->name, NULL);
        return ratio;
    }
    case MEANING_MEASURE:
        if (align_is(term, MEANING_MEASURE, "count")) return plain_amount;
        return keeps_unit(term) ? amount_of(u, term->parts[0], levels - 1) : unknown_amount;
    case MEANING_CALL:
    case MEANING_WINDOW: return keeps_unit(term) ? amount_of(u, term->parts[0], levels - 1) : unknown_amount;
    default: return unknown_amount;
    }
}

/* --- the question --- */

static bool is_word(const struct aligner *a, uint32_t token, const char *const *words, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (text_same(a->question->tokens.items[token].norm, words[i])) return true;
    return false;
}

/* Returns the unit that the question requests at a token: "in euros", "how many kilograms", ", cents". Returns NULL for
 * days and longer units, which are usually periods. */
static const struct text_unit *unit_asked_at(const struct aligner *a, uint32_t token)
{
    static const char *const before[] = {"in", "as", "many", ",", "(", ":"};
    const struct text_unit *unit = text_unit_of(&a->question->tokens.items[token], false);
    if (!unit || unit->thing == TEXT_UNIT_AMOUNT || (unit->thing == TEXT_UNIT_TIME && unit->factor >= 86400))
        return NULL;
    return token > 0 && is_word(a, token - 1, before, G_N_ELEMENTS(before)) ? unit : NULL;
}

/* Returns the unit in which the question requests a quantity; *token gets its token. Returns NULL if it requests no
 * unit, or several. */
static const struct text_unit *unit_asked(const struct aligner *a, int thing, uint32_t *token)
{
    const struct text_unit *found = NULL;
    for (uint32_t i = 0; i < a->question->tokens.n; i++) {
        const struct text_unit *unit = unit_asked_at(a, i);
        if (!unit || (int)unit->thing != thing) continue;
        if (found && !text_unit_near(found->factor, unit->factor)) return NULL;
        found = unit;
        *token = i;
    }
    return found;
}

static bool is_key(const struct meaning *m, const struct meaning_term *term)
{
    for (uint32_t i = 0; i < m->n_keys; i++)
        if (m->keys[i]->hash == term->hash) return true;
    return false;
}

/* True if two factors belong to the same unit. A megabyte may have 1,000 or 1,024 kilobytes. */
static bool is_same_unit(double one, double two, int thing)
{
    static const double BINARY = 0.1; /* 1,024 to the fourth power is 10 % more than 1,000 to the fourth */
    return text_unit_near(one, two) || (thing == TEXT_UNIT_DATA && fabs(one - two) <= BINARY * fmax(one, two));
}

static void check_outputs(struct unit_reader *u)
{
    struct aligner *a = u->a;
    const struct meaning_term *other = NULL;
    uint32_t token = 0;
    for (uint32_t i = 0; i < a->meaning->n_outputs; i++) {
        const struct meaning_term *term = a->meaning->outputs[i].term;
        struct amount amount = amount_of(u, term, LEVELS);
        if (!amount.known || amount.thing < 0 || is_key(a->meaning, term)) continue;
        const struct text_unit *asked = unit_asked(a, amount.thing, &token);
        if (!asked) continue;
        if (is_same_unit(asked->factor, amount.factor, amount.thing)) {
            align_agree(a, ALIGN_UNIT, &(struct frame_element){.first = token, .n_tokens = 1}, term);
            return;
        }
        if (!other) other = term;
    }
    if (other)
        align_differ(a, ALIGN_UNIT, &(struct frame_element){.first = token, .n_tokens = 1}, other, true,
                     "the result has another unit than the question asks for");
}

static uint32_t count_columns(const struct meaning_term *term, unsigned levels)
{
    uint32_t n = term->kind == MEANING_COLUMN;
    for (uint32_t i = 0; levels && i < term->n_parts; i++) n += count_columns(term->parts[i], levels - 1);
    return n;
}

/* Returns a number of the question converted to the unit of an amount. Returns NAN if it has no unit, or a unit of
 * another quantity. */
static double number_in_unit(const struct aligner *a, const struct question_value *value, const struct amount *amount)
{
    uint32_t next = value->first + value->n_tokens;
    if (value->kind != QUESTION_VALUE_NUMBER || next >= a->question->tokens.n) return NAN;
    const struct text_unit *unit = text_unit_of(&a->question->tokens.items[next], false);
    return unit && (int)unit->thing == amount->thing ? value->number * unit->factor / amount->factor : NAN;
}

/* Checks a comparison of two amounts, or of an amount made from several columns with a number. The signal unit_mismatch
 * checks comparisons of a single column. */
static void check_comparison(struct unit_reader *u, const struct meaning_term *condition)
{
    struct amount left = amount_of(u, condition->parts[0], LEVELS), right = amount_of(u, condition->parts[1], LEVELS);
    if (!left.known || !right.known || left.thing < 0) return;
    if (left.thing == right.thing && !text_unit_near(left.factor, right.factor)) {
        align_differ(u->a, ALIGN_UNIT, NULL, condition, true, "the comparison is of two different units");
        return;
    }
    if (!right.is_constant || count_columns(condition->parts[0], LEVELS) < 2) return;
    for (uint32_t v = 0; v < u->a->question->n_values; v++) {
        const struct question_value *value = &u->a->question->values[v];
        double wanted = number_in_unit(u->a, value, &left);
        if (isnan(wanted) || text_unit_near(wanted, value->number) || !text_unit_near(value->number, right.constant))
            continue;
        align_differ(u->a, ALIGN_UNIT, &(struct frame_element){.first = value->first, .n_tokens = value->n_tokens},
                     condition, true,
                     "the number of the question has another unit than the amount it is compared with");
        return;
    }
}

/* --- percent or fraction --- */

/* True for "in percent" and "what percentage". False for "more than 20 percent" and for percentage points. */
static bool asks_for_percent(const struct aligner *a, uint32_t *token)
{
    static const char *const words[] = {"percent", "percentage", "percentages", "%", "pct"};
    static const char *const points[] = {"point", "points"};
    const struct text_tokens *tokens = &a->question->tokens;
    for (uint32_t i = 0; i < tokens->n; i++) {
        bool bound = i > 0 && (tokens->items[i - 1].is_number || text_same(tokens->items[i - 1].norm, "hundred"));
        bool counted = i + 1 < tokens->n && is_word(a, i + 1, points, G_N_ELEMENTS(points));
        if (bound || counted || !is_word(a, i, words, G_N_ELEMENTS(words))) continue;
        *token = i;
        return true;
    }
    return false;
}

/* True if the question or its evidence says "as a fraction", "between 0 and 1" or "from 0 to 1". */
static bool asks_for_fraction(const struct aligner *a, uint32_t *token)
{
    const struct text_tokens *lists[] = {&a->question->tokens, &a->question->evidence};
    for (size_t l = 0; l < G_N_ELEMENTS(lists); l++)
        for (uint32_t i = 0; i + 2 < lists[l]->n; i++) {
            const struct text_token *at = &lists[l]->items[i];
            bool as =
                text_same(at->norm, "as") && (text_same(at[1].norm, "fraction") || text_same(at[2].norm, "fraction"));
            bool range = at[0].is_number && at[2].is_number && at[0].number <= 0 && at[0].number >= 0 &&
                         text_unit_near(at[2].number, 1) &&
                         (text_same(at[1].norm, "and") || text_same(at[1].norm, "to") || text_same(at[1].norm, "-"));
            if (!as && !range) continue;
            *token = l ? 0 : i;
            return true;
        }
    return false;
}

/* Returns the ratio that an output shows, possibly rounded. Returns NULL if it shows no ratio. */
static const struct meaning_term *ratio_shown(const struct meaning_term *term)
{
    term = meaning_follow(term, NULL);
    if (align_is(term, MEANING_CALL, "round") && term->n_parts) term = meaning_follow(term->parts[0], NULL);
    return term->kind == MEANING_RATIO ? term : NULL;
}

/* True if a part of the ratio is in percent already: it has a factor of 100, or a column in percent or basis points. */
static bool is_scaled_inside(const struct aligner *a, const struct meaning_term *term, unsigned levels)
{
    term = meaning_follow(term, NULL);
    if (term->kind == MEANING_VALUE) {
        double number = fabs(strtod(term->name, NULL));
        return text_unit_near(number, 100) || text_unit_near(number, 10000) || text_unit_near(number, 0.01);
    }
    if (term->kind == MEANING_RATIO && !g_str_equal(term->name, "1")) return true;
    const struct schema_column *column = align_column(a, term);
    const struct text_unit *unit = column ? text_unit_of_name(&column->words) : NULL;
    if (column && (is_percentage(column) || (unit && unit->thing == TEXT_UNIT_SHARE))) return true;
    for (uint32_t i = 0; levels && term->kind != MEANING_QUERY && i < term->n_parts; i++)
        if (is_scaled_inside(a, term->parts[i], levels - 1)) return true;
    return false;
}

/* Checks that the ratios in the result have the requested scale: percent or fraction. */
static void check_scale(struct aligner *a)
{
    uint32_t percent_at = 0, fraction_at = 0;
    bool percent = asks_for_percent(a, &percent_at), fraction = asks_for_fraction(a, &fraction_at);
    const struct meaning_term *other = NULL;
    if (percent == fraction) return;
    for (uint32_t i = 0; i < a->meaning->n_outputs; i++) {
        const struct meaning_term *ratio = ratio_shown(a->meaning->outputs[i].term);
        if (!ratio) continue;
        bool hundred = g_str_equal(ratio->name, "100"), one = g_str_equal(ratio->name, "1");
        if ((percent && hundred) || (fraction && one) || (!hundred && !one)) return;
        if (is_scaled_inside(a, ratio->parts[0], LEVELS) || is_scaled_inside(a, ratio->parts[1], LEVELS)) return;
        other = ratio;
    }
    if (other)
        align_differ(a, ALIGN_UNIT, &(struct frame_element){.first = percent ? percent_at : fraction_at, .n_tokens = 1},
                     other, true,
                     percent ? "the question asks for percent, but the result is a fraction of 1"
                             : "the question asks for a fraction, but the result is in percent");
}

void align_unit(struct aligner *a)
{
    struct unit_reader u = {.a = a};
    check_outputs(&u);
    check_scale(a);
    for (uint32_t i = 0; i < a->comparisons.n; i++) check_comparison(&u, a->comparisons.items[i].term);
    for (uint32_t i = 0; i < a->minuses.n && !u.mixed; i++) amount_of(&u, a->minuses.items[i].term, LEVELS);
    if (u.mixed)
        align_differ(a, ALIGN_UNIT, NULL, u.mixed, true, "the query adds or subtracts amounts of different units");
}
