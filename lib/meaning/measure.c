/* Reads measures and ratios.
 *
 * A CASE or FILTER inside an aggregate becomes the condition on the rows of the measure, if the result is the same on
 * all data. This holds for COUNT of a CASE, and for SUM of a CASE that is 0 for the other rows of a group. Without rows
 * SUM is NULL and COUNT is 0; `or_zero` and `form` distinguish them. A quotient of measures is a ratio. A factor of 100
 * in its numerator becomes the scale, and casts to real numbers are removed. SUM(x) / COUNT(x) is AVG(x), unless the
 * engine cuts the quotient to an integer. */
#include "lib/meaning/meaning_int.h"

#include <string.h>

/* --- measures --- */

static struct meaning_term *make_measure(struct meaning_reader *r, const char *name, struct meaning_term *operand,
                                         struct meaning_term *rows, const struct sql_node *node)
{
    struct meaning_term *term = meaning_term_make(r, MEANING_MEASURE, name, &operand, operand ? 1 : 0, node);
    if (r->failed) return term;
    term->rows = rows;
    term->or_zero = strcmp(name, "count") == 0;
    meaning_term_rehash(term);
    return term;
}

/* True for a literal that is not NULL. A parameter does not count, because it may be NULL. */
static bool is_constant(const struct meaning_term *term)
{
    return meaning_is_value(term, NULL) && !meaning_is_value(term, "null") && !strchr(":@$?", term->name[0]);
}

static bool is_one(const struct meaning_term *term)
{
    return meaning_is_value(term, "1") || meaning_is_value(term, "1.0");
}

static bool is_zero(const struct meaning_term *term)
{
    return meaning_is_value(term, "0") || meaning_is_value(term, "0.0");
}

/* True for CASE WHEN c THEN x [ELSE y] END, with a single condition. */
static bool is_simple_case(const struct meaning_term *term)
{
    return term->kind == MEANING_CASE && (term->n_parts == 2 || term->n_parts == 3);
}

static struct meaning_term *and_rows(struct meaning_reader *r, struct meaning_term *a, struct meaning_term *b)
{
    return meaning_join_terms(r, "and", a, b);
}

/* Makes COUNT(x). A constant counts all rows. A CASE without ELSE counts the rows of its condition. */
static struct meaning_term *make_count(struct meaning_reader *r, struct meaning_term *x, struct meaning_term *rows,
                                       const struct sql_node *node)
{
    if (is_constant(x)) return make_measure(r, "count", NULL, rows, node);
    if (!is_simple_case(x)) return make_measure(r, "count", x, rows, node);
    struct meaning_term *then = x->parts[1], *otherwise = x->n_parts == 3 ? x->parts[2] : NULL;
    if (otherwise && is_constant(then) && is_constant(otherwise)) return make_measure(r, "count", NULL, rows, node);
    if (otherwise) return make_measure(r, "count", x, rows, node);
    return make_measure(r, "count", is_constant(then) ? NULL : then, and_rows(r, rows, x->parts[0]), node);
}

static struct meaning_term *make_sum(struct meaning_reader *r, struct meaning_term *x, struct meaning_term *rows,
                                     const struct sql_node *node)
{
    bool one_case = is_simple_case(x), to_zero = one_case && x->n_parts == 3 && meaning_is_value(x->parts[2], "0");
    /* without rows, one condition gives NULL and the other 0 */
    if (to_zero && rows) return make_measure(r, "sum", x, rows, node);
    if (meaning_is_value(x, "1") || (one_case && meaning_is_value(x->parts[1], "1") && (x->n_parts == 2 || to_zero))) {
        struct meaning_term *term =
            make_measure(r, "count", NULL, one_case ? and_rows(r, rows, x->parts[0]) : rows, node);
        if (r->failed) return term;
        term->or_zero = r->grouped && to_zero;
        if (to_zero && !term->or_zero) term->form = "else 0";
        meaning_term_rehash(term);
        return term;
    }
    if (!one_case || (x->n_parts == 3 && !to_zero)) return make_measure(r, "sum", x, rows, node);
    struct meaning_term *term = make_measure(r, "sum", x->parts[1], and_rows(r, rows, x->parts[0]), node);
    if (r->failed || !to_zero) return term;
    term->form = "else 0";
    meaning_term_rehash(term);
    return term;
}

static struct meaning_term *make_ratio(struct meaning_reader *r, struct meaning_term *numerator,
                                       struct meaning_term *denominator, const char *scale, bool integer,
                                       const struct sql_node *node)
{
    struct meaning_term *term =
        meaning_term_make(r, MEANING_RATIO, scale, (struct meaning_term *[]){numerator, denominator}, 2, node);
    if (r->failed) return term;
    term->integer = integer;
    meaning_term_rehash(term);
    return term;
}

/* Makes AVG(x). The average of a CASE of 1 (or 100) and 0 is a ratio, the share of the rows. */
static struct meaning_term *make_average(struct meaning_reader *r, struct meaning_term *x, struct meaning_term *rows,
                                         const struct sql_node *node)
{
    bool share = is_simple_case(x) && x->n_parts == 3 && is_zero(x->parts[2]);
    bool hundred = share && (meaning_is_value(x->parts[1], "100") || meaning_is_value(x->parts[1], "100.0"));
    if (!share || (!hundred && !is_one(x->parts[1]))) return make_measure(r, "avg", x, rows, node);
    return make_ratio(r, make_measure(r, "count", NULL, and_rows(r, rows, x->parts[0]), node),
                      make_measure(r, "count", NULL, rows, node), hundred ? "100" : "1", false, node);
}

/* Makes the measure of an aggregate with several arguments or an ORDER BY. The arguments and the keys of the order
 * become its parts. */
static struct meaning_term *make_other(struct meaning_reader *r, const struct sql_node *call, const char *name,
                                       struct meaning_term *rows)
{
    const struct sql_node *list = sql_kid(call, CALL_ARGS), *order = sql_kid(call, CALL_ORDER);
    uint32_t n_args = list ? list->n_kids : 0, n_order = order ? order->n_kids : 0;
    struct meaning_term **parts = arena_new_array(r->arena, n_args + n_order, struct meaning_term *);
    struct meaning_key *keys = NULL;
    if (!parts) {
        r->failed = true;
        return meaning_term_unknown(r, "no memory", call);
    }
    for (uint32_t i = 0; i < n_args; i++) parts[i] = meaning_read_term(r, list->kids[i]);
    n_order = meaning_read_order(r, order, &keys);
    static const char *const orders[2][3] = {{"ascending nulls first", "ascending", "ascending nulls last"},
                                             {"descending nulls first", "descending", "descending nulls last"}};
    for (uint32_t i = 0; i < n_order; i++)
        parts[n_args + i] = meaning_term_make(r, MEANING_OPERATION, orders[keys[i].descending][keys[i].nulls + 1],
                                              &keys[i].term, 1, call);
    struct meaning_term *term = meaning_term_make(r, MEANING_MEASURE, name, parts, n_args + n_order, call);
    if (r->failed) return term;
    term->rows = rows;
    term->distinct = call->flags & SQL_F_DISTINCT;
    meaning_term_rehash(term);
    return term;
}

struct meaning_term *meaning_read_measure(struct meaning_reader *r, const struct sql_node *call)
{
    const struct sql_node *list = sql_kid(call, CALL_ARGS), *filter = sql_kid(call, CALL_FILTER);
    const char *name = meaning_lower(r, call->text, call->text_len);
    struct meaning_term *rows = filter ? meaning_read_condition(r, sql_kid(filter, 0), false) : NULL;
    if (rows) {
        struct meaning_term **parts = NULL;
        uint32_t n = meaning_conjuncts(r, rows, &parts);
        rows = meaning_from_conjuncts(r, parts, n);
    }
    bool distinct = call->flags & SQL_F_DISTINCT, is_count = strcmp(name, "count") == 0;
    if (is_count && (call->flags & SQL_F_STAR || !list || list->n_kids == 0))
        return make_measure(r, name, NULL, rows, call);
    if (list->n_kids != 1 || sql_kid(call, CALL_ORDER)) return make_other(r, call, name, rows);
    struct meaning_term *x = meaning_read_term(r, list->kids[0]);
    if (distinct && strcmp(name, "min") != 0 && strcmp(name, "max") != 0) {
        struct meaning_term *term = make_measure(r, name, x, rows, call);
        if (r->failed) return term;
        term->distinct = true;
        meaning_term_rehash(term);
        return term;
    }
    if (is_count) return make_count(r, x, rows, call);
    if (strcmp(name, "sum") == 0) return make_sum(r, x, rows, call);
    return strcmp(name, "avg") == 0 ? make_average(r, x, rows, call) : make_measure(r, name, x, rows, call);
}

/* --- ratios --- */

struct meaning_scale {
    struct meaning_term *core;
    bool hundred, real;
};

static bool is_real_cast(const struct meaning_term *term)
{
    /* other types may round, or have no effect */
    static const char *const types[] = {"cast real", "cast float", "cast double"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (term->kind == MEANING_CALL && strncmp(term->name, types[i], strlen(types[i])) == 0) return true;
    return false;
}

/* Adds a factor to the scale. Returns false if it is neither 1 nor the first 100. */
static bool take_factor(struct meaning_scale *scale, const struct meaning_term *value)
{
    bool hundred = meaning_is_value(value, "100") || meaning_is_value(value, "100.0");
    if ((!hundred && !is_one(value)) || (hundred && scale->hundred)) return false;
    scale->hundred |= hundred;
    scale->real |= strchr(value->name, '.') != NULL;
    return true;
}

/* Removes casts to real numbers and factors of 1 and 100 from a term. Returns the remaining term and the scale. */
static struct meaning_scale find_scale(struct meaning_term *term)
{
    struct meaning_scale scale = {.core = term};
    for (;;) {
        struct meaning_term *x = scale.core;
        if (is_real_cast(x)) {
            scale.real = true;
            scale.core = x->parts[0];
        } else if (meaning_is_operation(x, "*") && take_factor(&scale, x->parts[0])) {
            scale.core = x->parts[1];
        } else if (meaning_is_operation(x, "*") && take_factor(&scale, x->parts[1])) {
            scale.core = x->parts[0];
        } else {
            return scale;
        }
    }
}

static bool is_measured(const struct meaning_term *term)
{
    return meaning_term_has_kind(term, MEANING_MEASURE) || meaning_term_has_kind(term, MEANING_WINDOW) ||
           meaning_term_has_kind(term, MEANING_QUERY);
}

/* Returns x for a denominator NULLIF(x, 0), and other denominators unchanged. Without NULLIF a division by 0 is NULL,
 * too, or an error of the engine. */
static struct meaning_term *strip_nullif(struct meaning_term *term)
{
    bool is_guard = term->kind == MEANING_CALL && strcmp(term->name, "nullif") == 0 && term->n_parts == 2;
    return is_guard && is_zero(term->parts[1]) ? term->parts[0] : term;
}

static uint64_t rows_hash(const struct meaning_term *term)
{
    return term->rows ? term->rows->hash : 0;
}

static bool is_average(const struct meaning_term *sum, const struct meaning_term *count)
{
    return sum->kind == MEANING_MEASURE && strcmp(sum->name, "sum") == 0 && count->kind == MEANING_MEASURE &&
           strcmp(count->name, "count") == 0 && !sum->distinct && !count->distinct && !sum->form && !sum->or_zero &&
           count->n_parts == 1 && sum->n_parts == 1 && sum->parts[0]->hash == count->parts[0]->hash &&
           rows_hash(sum) == rows_hash(count);
}

static struct meaning_term *rescale(struct meaning_reader *r, const struct meaning_term *ratio,
                                    const struct sql_node *node)
{
    return make_ratio(r, ratio->parts[0], ratio->parts[1], "100", false, node);
}

/* Reads 100 * (a / b) as a ratio. The quotient is computed first, so it must not be an integer division. */
static struct meaning_term *read_product(struct meaning_reader *r, struct meaning_term *left,
                                         struct meaning_term *right, const struct sql_node *node)
{
    for (int i = 0; i < 2; i++) {
        struct meaning_term *ratio = i ? right : left, *factor = i ? left : right;
        bool open = ratio->kind == MEANING_RATIO && !ratio->integer && strcmp(ratio->name, "1") == 0;
        if (open && (meaning_is_value(factor, "100") || meaning_is_value(factor, "100.0")))
            return rescale(r, ratio, node);
    }
    return NULL;
}

struct meaning_term *meaning_read_ratio(struct meaning_reader *r, const char *op, struct meaning_term *left,
                                        struct meaning_term *right, const struct sql_node *node)
{
    if (strcmp(op, "*") == 0) return read_product(r, left, right, node);
    if (strcmp(op, "/") != 0) return NULL;
    struct meaning_scale top = find_scale(left), bottom = find_scale(strip_nullif(right));
    struct meaning_term *denominator = strip_nullif(bottom.core);
    if (bottom.hundred || !is_measured(top.core) || !is_measured(denominator)) return NULL;
    bool real = top.real || bottom.real;
    if (real && !top.hundred && is_average(top.core, denominator)) {
        struct meaning_term *sum = top.core;
        return make_measure(r, "avg", sum->parts[0], sum->rows, node);
    }
    return make_ratio(r, top.core, denominator, top.hundred ? "100" : "1", !real, node);
}
