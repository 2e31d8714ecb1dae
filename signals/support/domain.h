/* Sets of values: the values of one column (or expression) for which a condition is true.
 *
 * The values are ordered as SQLite orders them, numbers before texts, and NULL apart. A set is a list of disjoint
 * ranges in rising order. Texts compare by bytes, but columns may have another collation. If the result would depend on
 * case, the calculation sets `failed`, and its user reports nothing instead of an error. */
#ifndef ASSAY_SIGNALS_SUPPORT_DOMAIN_H
#define ASSAY_SIGNALS_SUPPORT_DOMAIN_H

#include "lib/base/arena.h"
#include "lib/sql/ast.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vsig_point {
    bool is_text;
    double number;
    const char *text; /* not terminated */
    size_t len;
};

struct vsig_range {
    struct vsig_point low, high;
    bool no_low, no_high;     /* unbounded on that side */
    bool low_open, high_open; /* the bound itself is excluded */
};

struct vsig_domain {
    struct vsig_range *ranges;
    uint32_t n;
    bool null; /* NULL is in the set */
};

enum { VSIG_MAX_RANGES = 64 };

struct vsig_calc {
    struct arena *arena;
    bool failed; /* arena full, too many ranges, or the order of two texts depends on a collation */
};

struct vsig_domain vsig_domain_nothing(void);
struct vsig_domain vsig_domain_values(struct vsig_calc *calc); /* all values except NULL */
/* Returns the values v for which `v op point` holds; op is a comparison. */
struct vsig_domain vsig_domain_of(struct vsig_calc *calc, enum sql_op op, const struct vsig_point *point);
struct vsig_domain vsig_domain_between(struct vsig_calc *calc, const struct vsig_point *low,
                                       const struct vsig_point *high);
struct vsig_domain vsig_domain_and(struct vsig_calc *calc, const struct vsig_domain *a, const struct vsig_domain *b);
struct vsig_domain vsig_domain_or(struct vsig_calc *calc, const struct vsig_domain *a, const struct vsig_domain *b);
/* Returns the complement; NULL is in the result if it is not in `a`. */
struct vsig_domain vsig_domain_not(struct vsig_calc *calc, const struct vsig_domain *a);

bool vsig_domain_is_empty(const struct vsig_domain *domain);
/* True if it contains a whole number or a text. */
bool vsig_domain_has_integer(const struct vsig_domain *domain);
/* Returns the only value, or NULL. */
const struct vsig_point *vsig_domain_single(const struct vsig_domain *domain);

/* Returns <0, 0 or >0; a difference only in case fails the calculation. */
int vsig_point_compare(struct vsig_calc *calc, const struct vsig_point *a, const struct vsig_point *b);

#endif
