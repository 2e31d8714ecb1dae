/* Set operations on sorted lists of disjoint ranges of values.
 *
 * All results are allocated in the arena of the calculation. A failure sets `failed`, and the results are then not
 * usable. Causes are a full arena, too many ranges, and an order that depends on the collation. An intersection takes
 * one pass over both lists. A complement lists the gaps. A union is the complement of the intersection of the
 * complements. */
#include "signals/support/domain.h"

#include <math.h>
#include <string.h>
#include <strings.h>

int vsig_point_compare(struct vsig_calc *calc, const struct vsig_point *a, const struct vsig_point *b)
{
    if (a->is_text != b->is_text) return a->is_text ? 1 : -1;
    if (!a->is_text) return a->number < b->number ? -1 : a->number > b->number;
    size_t len = a->len < b->len ? a->len : b->len;
    int order = memcmp(a->text, b->text, len);
    if (order == 0) order = a->len < b->len ? -1 : a->len > b->len;
    if (order != 0 && a->len == b->len && strncasecmp(a->text, b->text, len) == 0) calc->failed = true;
    return order;
}

/* True if the text has only digits and punctuation that sort before the letters, as in dates and numbers. All
 * collations of SQLite sort such texts in the same order. Only ranges need this check, not single points. */
static bool orders_alike(const struct vsig_point *point)
{
    for (size_t i = 0; point->is_text && i < point->len; i++)
        if ((unsigned char)point->text[i] >= 0x40) return false;
    return true;
}

static struct vsig_domain room(struct vsig_calc *calc, uint32_t n)
{
    struct vsig_domain domain = {0};
    if (n > VSIG_MAX_RANGES) {
        calc->failed = true;
        return domain;
    }
    domain.ranges = arena_alloc(calc->arena, (n ? n : 1) * sizeof *domain.ranges);
    if (!domain.ranges) calc->failed = true;
    return domain;
}

struct vsig_domain vsig_domain_nothing(void)
{
    return (struct vsig_domain){0};
}

static struct vsig_domain one_range(struct vsig_calc *calc, struct vsig_range range)
{
    struct vsig_domain domain = room(calc, 1);
    if (domain.ranges) domain.ranges[domain.n++] = range;
    return domain;
}

struct vsig_domain vsig_domain_values(struct vsig_calc *calc)
{
    return one_range(calc, (struct vsig_range){.no_low = true, .no_high = true});
}

struct vsig_domain vsig_domain_of(struct vsig_calc *calc, enum sql_op op, const struct vsig_point *point)
{
    struct vsig_range range = {.low = *point, .high = *point};
    if (op == SQL_OP_EQ) return one_range(calc, range);
    if (op == SQL_OP_NE) {
        struct vsig_domain equal = one_range(calc, range), others = vsig_domain_not(calc, &equal);
        others.null = false;
        return others;
    }
    if (!orders_alike(point)) calc->failed = true;
    range.no_low = op == SQL_OP_LT || op == SQL_OP_LE;
    range.no_high = !range.no_low;
    range.low_open = op == SQL_OP_GT;
    range.high_open = op == SQL_OP_LT;
    return one_range(calc, range);
}

struct vsig_domain vsig_domain_between(struct vsig_calc *calc, const struct vsig_point *low,
                                       const struct vsig_point *high)
{
    if (!orders_alike(low) || !orders_alike(high)) calc->failed = true;
    if (vsig_point_compare(calc, low, high) > 0) return vsig_domain_nothing();
    return one_range(calc, (struct vsig_range){.low = *low, .high = *high});
}

/* Compare the lower bounds of two ranges, and their upper bounds. */
static int compare_lows(struct vsig_calc *calc, const struct vsig_range *a, const struct vsig_range *b)
{
    if (a->no_low || b->no_low) return (int)b->no_low - (int)a->no_low;
    int order = vsig_point_compare(calc, &a->low, &b->low);
    return order ? order : (int)a->low_open - (int)b->low_open;
}

static int compare_highs(struct vsig_calc *calc, const struct vsig_range *a, const struct vsig_range *b)
{
    if (a->no_high || b->no_high) return (int)a->no_high - (int)b->no_high;
    int order = vsig_point_compare(calc, &a->high, &b->high);
    return order ? order : (int)b->high_open - (int)a->high_open;
}

static bool is_void(struct vsig_calc *calc, const struct vsig_range *range)
{
    if (range->no_low || range->no_high) return false;
    int order = vsig_point_compare(calc, &range->low, &range->high);
    return order > 0 || (order == 0 && (range->low_open || range->high_open));
}

struct vsig_domain vsig_domain_and(struct vsig_calc *calc, const struct vsig_domain *a, const struct vsig_domain *b)
{
    struct vsig_domain both = room(calc, a->n + b->n);
    both.null = a->null && b->null;
    for (uint32_t i = 0, k = 0; both.ranges && i < a->n && k < b->n;) {
        const struct vsig_range *x = &a->ranges[i], *y = &b->ranges[k];
        struct vsig_range cut = *x;
        if (compare_lows(calc, y, x) > 0) {
            cut.low = y->low;
            cut.no_low = y->no_low;
            cut.low_open = y->low_open;
        }
        bool x_ends_first = compare_highs(calc, x, y) <= 0;
        if (!x_ends_first) {
            cut.high = y->high;
            cut.no_high = y->no_high;
            cut.high_open = y->high_open;
        }
        if (!is_void(calc, &cut)) both.ranges[both.n++] = cut;
        if (x_ends_first)
            i++;
        else
            k++;
    }
    return both;
}

/* The result has the gaps between the ranges of `a`, before the first one and after the last one. */
struct vsig_domain vsig_domain_not(struct vsig_calc *calc, const struct vsig_domain *a)
{
    struct vsig_domain rest = room(calc, a->n + 1);
    rest.null = !a->null;
    if (!rest.ranges) return rest;
    struct vsig_range gap = {.no_low = true};
    for (uint32_t i = 0; i < a->n; i++) {
        const struct vsig_range *range = &a->ranges[i];
        gap.high = range->low;
        gap.high_open = !range->low_open;
        gap.no_high = false;
        if (!range->no_low && !is_void(calc, &gap)) rest.ranges[rest.n++] = gap;
        gap = (struct vsig_range){.low = range->high, .low_open = !range->high_open};
        if (range->no_high) return rest;
    }
    gap.no_high = true;
    rest.ranges[rest.n++] = gap;
    return rest;
}

struct vsig_domain vsig_domain_or(struct vsig_calc *calc, const struct vsig_domain *a, const struct vsig_domain *b)
{
    struct vsig_domain not_a = vsig_domain_not(calc, a), not_b = vsig_domain_not(calc, b);
    struct vsig_domain neither = vsig_domain_and(calc, &not_a, &not_b);
    return vsig_domain_not(calc, &neither);
}

bool vsig_domain_is_empty(const struct vsig_domain *domain)
{
    return domain->n == 0 && !domain->null;
}

static bool range_has_integer(const struct vsig_range *range)
{
    if (range->no_low || range->no_high || range->low.is_text || range->high.is_text) return true;
    double low = ceil(range->low.number), high = floor(range->high.number);
    if (range->low_open && low == range->low.number) low += 1;
    if (range->high_open && high == range->high.number) high -= 1;
    return low <= high;
}

bool vsig_domain_has_integer(const struct vsig_domain *domain)
{
    for (uint32_t i = 0; i < domain->n; i++)
        if (range_has_integer(&domain->ranges[i])) return true;
    return domain->null;
}

const struct vsig_point *vsig_domain_single(const struct vsig_domain *domain)
{
    if (domain->n != 1 || domain->null) return NULL;
    const struct vsig_range *range = &domain->ranges[0];
    struct vsig_calc calc = {0};
    if (range->no_low || range->no_high || range->low_open || range->high_open) return NULL;
    return vsig_point_compare(&calc, &range->low, &range->high) == 0 ? &range->low : NULL;
}
