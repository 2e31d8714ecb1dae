/* Computes sets of values: those of one column or expression for which a condition is true.
 *
 * The values have SQLite's order: numbers before texts. NULL is not part of the order. A set is a list of disjoint
 * ranges in ascending order. Texts compare by bytes, but columns may have another collation. If the result would depend
 * on case, the calculation sets `failed`, and the caller must not report a finding. */
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
    const char *text; /* not NUL-terminated */
    size_t len;
};

struct vsig_range {
    struct vsig_point low, high;
    bool no_low, no_high;     /* the range has no bound on this side */
    bool low_open, high_open; /* the range excludes the bound itself */
};

struct vsig_domain {
    struct vsig_range *ranges;
    uint32_t n;
    bool null; /* true if the set contains NULL */
};

enum { VSIG_MAX_RANGES = 64 };

struct vsig_calc {
    struct arena *arena;
    bool failed; /* true if the arena is full, there are too many ranges, or the order of two texts depends on a
                  * collation */
};

struct vsig_domain vsig_domain_nothing(void);
struct vsig_domain vsig_domain_values(struct vsig_calc *calc); /* returns all values except NULL */
/* Returns the values v for which `v op point` is true; op is a comparison. */
struct vsig_domain vsig_domain_of(struct vsig_calc *calc, enum sql_op op, const struct vsig_point *point);
struct vsig_domain vsig_domain_between(struct vsig_calc *calc, const struct vsig_point *low,
                                       const struct vsig_point *high);
struct vsig_domain vsig_domain_and(struct vsig_calc *calc, const struct vsig_domain *a, const struct vsig_domain *b);
struct vsig_domain vsig_domain_or(struct vsig_calc *calc, const struct vsig_domain *a, const struct vsig_domain *b);
/* Returns the complement. It contains NULL if `a` does not. */
struct vsig_domain vsig_domain_not(struct vsig_calc *calc, const struct vsig_domain *a);

bool vsig_domain_is_empty(const struct vsig_domain *domain);
/* True if the set contains NULL, a text or a whole number, or has a range without a bound. */
bool vsig_domain_has_integer(const struct vsig_domain *domain);
/* Returns the only value of the set. Returns NULL if the set has no value or several. */
const struct vsig_point *vsig_domain_single(const struct vsig_domain *domain);

/* Returns a number below, equal to or above 0. The calculation fails if the texts differ only in case. */
int vsig_point_compare(struct vsig_calc *calc, const struct vsig_point *a, const struct vsig_point *b);

#endif
