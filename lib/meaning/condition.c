/* Conditions in normal form.
 *
 * DESIGN. A negation is pushed down while a condition is read. NOT remains only before a term that is not a condition,
 * such as a call. The rules hold in three-valued logic: NOT (a AND b) is NOT a OR NOT b, and NOT a < b is a >= b. NOT x
 * IN (...) is `not in`. In a comparison the literal is on the right; otherwise the operand with the smaller hash is on
 * the left. Chains of AND and OR are flat, sorted, and without repeats. Two date bounds of the same subject become one
 * period (period.c). */
#include "lib/meaning/meaning_int.h"

#include <string.h>

/* --- AND, OR --- */

static uint32_t count_parts(const struct meaning_term *term, const char *name)
{
    return !term ? 0 : meaning_is_operation(term, name) ? term->n_parts : 1;
}

static void copy_parts(struct meaning_term *term, const char *name, struct meaning_term **to)
{
    uint32_t n = count_parts(term, name);
    if (meaning_is_operation(term, name))
        memcpy(to, term->parts, n * sizeof *to);
    else if (n)
        *to = term;
}

struct meaning_term *meaning_join_terms(struct meaning_reader *r, const char *name, struct meaning_term *a,
                                        struct meaning_term *b)
{
    if (!a || !b) return a ? a : b;
    uint32_t n_a = count_parts(a, name), n = n_a + count_parts(b, name);
    struct meaning_term **parts = arena_new_array(r->arena, n, struct meaning_term *);
    if (!parts) {
        r->failed = true;
        return a;
    }
    copy_parts(a, name, parts);
    copy_parts(b, name, parts + n_a);
    n = meaning_terms_sort(parts, n, true);
    return n == 1 ? parts[0] : meaning_term_make(r, MEANING_OPERATION, name, parts, n, NULL);
}

/* --- comparisons --- */

struct meaning_operator {
    uint8_t op;
    const char *name, *negated, *swapped;
};

static const struct meaning_operator comparisons[] = {
    {SQL_OP_EQ, "=", "<>", "="},
    {SQL_OP_NE, "<>", "=", "<>"},
    {SQL_OP_LT, "<", ">=", ">"},
    {SQL_OP_LE, "<=", ">", ">="},
    {SQL_OP_GT, ">", "<=", "<"},
    {SQL_OP_GE, ">=", "<", "<="},
    {SQL_OP_IS_DISTINCT, "is distinct from", "is not distinct from", "is distinct from"},
    {SQL_OP_IS_NOT_DISTINCT, "is not distinct from", "is distinct from", "is not distinct from"},
};

static const struct meaning_operator *find_operator(uint8_t op)
{
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (comparisons[i].op == op) return &comparisons[i];
    return NULL;
}

static const struct meaning_operator *find_operator_by_name(const char *name)
{
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
        if (strcmp(comparisons[i].name, name) == 0) return &comparisons[i];
    return &comparisons[0];
}

static bool must_swap(const struct meaning_term *left, const struct meaning_term *right)
{
    bool left_value = meaning_is_value(left, NULL), right_value = meaning_is_value(right, NULL);
    return left_value != right_value ? left_value : left->hash > right->hash;
}

struct meaning_term *meaning_compare_terms(struct meaning_reader *r, const char *name, struct meaning_term *left,
                                           struct meaning_term *right, const struct sql_node *node)
{
    if (must_swap(left, right)) {
        struct meaning_term *other = left;
        left = right;
        right = other;
        name = find_operator_by_name(name)->swapped;
    }
    struct meaning_term *period = meaning_period_condition(r, name, left, right);
    if (period) return period;
    return meaning_term_make(r, MEANING_OPERATION, name, (struct meaning_term *[]){left, right}, 2, node);
}

static struct meaning_term *read_comparison(struct meaning_reader *r, const struct sql_node *node, bool negated)
{
    const struct meaning_operator *op = find_operator(node->op);
    struct meaning_term *left = meaning_read_term(r, sql_kid(node, 0)), *right = meaning_read_term(r, sql_kid(node, 1));
    if (op) return meaning_compare_terms(r, negated ? op->negated : op->name, left, right, node);
    bool is_not = (node->op == SQL_OP_IS_NOT) != negated;
    if (meaning_is_value(right, "null"))
        return meaning_term_make(r, MEANING_OPERATION, is_not ? "is not null" : "is null", &left, 1, node);
    bool is_true = meaning_is_value(right, "true"), is_false = meaning_is_value(right, "false");
    if (is_true || is_false)
        return meaning_term_make(
            r, MEANING_OPERATION,
            is_true ? (is_not ? "is not true" : "is true") : (is_not ? "is not false" : "is false"), &left, 1, node);
    return meaning_compare_terms(r, is_not ? "is distinct from" : "is not distinct from", left, right, node);
}

static struct meaning_term *read_between(struct meaning_reader *r, const struct sql_node *node, bool negated)
{
    struct meaning_term *x = meaning_read_term(r, sql_kid(node, BETWEEN_VALUE)),
                        *low = meaning_read_term(r, sql_kid(node, BETWEEN_LOW)),
                        *high = meaning_read_term(r, sql_kid(node, BETWEEN_HIGH));
    if (node->flags & SQL_F_SYMMETRIC) return meaning_term_unknown(r, "BETWEEN SYMMETRIC", node);
    bool outside = negated != ((node->flags & SQL_F_NOT) != 0);
    struct meaning_term *first = meaning_compare_terms(r, outside ? "<" : ">=", x, low, node),
                        *second = meaning_compare_terms(r, outside ? ">" : "<=", x, high, node);
    return meaning_join_terms(r, outside ? "or" : "and", first, second);
}

/* Makes the condition `name` (exists, not exists) on the rows of a query. If `x` is not NULL, only rows whose first
 * output equals `x` count. */
static struct meaning_term *read_match(struct meaning_reader *r, const struct sql_node *node,
                                       const struct sql_node *query, const struct sql_node *x, const char *name)
{
    struct meaning_term *term = meaning_term_make(r, MEANING_QUERY, NULL, NULL, 0, node);
    if (r->failed) return term;
    term->relation = meaning_read_match(r, query, x);
    meaning_term_rehash(term);
    return meaning_term_make(r, MEANING_OPERATION, name, &term, 1, node);
}

static struct meaning_term *read_list(struct meaning_reader *r, const struct sql_node *node, bool negated)
{
    const struct sql_node *list = sql_kid(node, IN_RIGHT);
    struct meaning_term *x = meaning_read_term(r, sql_kid(node, IN_VALUE));
    bool outside = negated != ((node->flags & SQL_F_NOT) != 0);
    bool one_column = sql_is(list, SQL_SUBQUERY) && !sql_is(sql_kid(node, IN_VALUE), SQL_ROW);
    if (one_column && !outside && !r->as_value && !sql_kid(sql_kid(list, 0), QUERY_LIMIT))
        return read_match(r, node, sql_kid(list, 0), sql_kid(node, IN_VALUE), "exists");
    if (!sql_is(list, SQL_LIST)) {
        struct meaning_term *parts[] = {x, meaning_read_term(r, list)};
        return meaning_term_make(r, MEANING_OPERATION, outside ? "not in" : "in", parts, 2, node);
    }
    if (list->n_kids == 1)
        return meaning_compare_terms(r, outside ? "<>" : "=", x, meaning_read_term(r, list->kids[0]), node);
    struct meaning_term **parts = arena_new_array(r->arena, list->n_kids + 1, struct meaning_term *);
    if (!parts) {
        r->failed = true;
        return x;
    }
    parts[0] = x;
    for (uint32_t i = 0; i < list->n_kids; i++) parts[i + 1] = meaning_read_term(r, list->kids[i]);
    uint32_t n = meaning_terms_sort(parts + 1, list->n_kids, true);
    if (n == 1) return meaning_compare_terms(r, outside ? "<>" : "=", x, parts[1], node);
    return meaning_term_make(r, MEANING_OPERATION, outside ? "not in" : "in", parts, n + 1, node);
}

static struct meaning_term *read_like(struct meaning_reader *r, const struct sql_node *node, bool negated)
{
    static const struct {
        uint8_t op;
        const char *name, *negated;
    } rows[] = {{SQL_OP_LIKE, "like", "not like"},
                {SQL_OP_ILIKE, "ilike", "not ilike"},
                {SQL_OP_GLOB, "glob", "not glob"},
                {SQL_OP_REGEXP, "regexp", "not regexp"},
                {SQL_OP_SIMILAR, "similar to", "not similar to"},
                {SQL_OP_MATCH, "match", "not match"}};
    struct meaning_term *parts[3];
    bool outside = negated != ((node->flags & SQL_F_NOT) != 0);
    for (unsigned i = 0; i < 3; i++) parts[i] = sql_kid(node, i) ? meaning_read_term(r, sql_kid(node, i)) : NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].op != node->op) continue;
        struct meaning_term *period =
            !parts[2] && !outside ? meaning_period_condition(r, "like", parts[0], parts[1]) : NULL;
        if (period && node->op == SQL_OP_LIKE) return period;
        return meaning_term_make(r, MEANING_OPERATION, outside ? rows[i].negated : rows[i].name, parts,
                                 parts[2] ? 3 : 2, node);
    }
    return meaning_term_unknown(r, "a pattern operator", node);
}

/* --- any condition --- */

/* Reads an AND or OR chain. It leans to the left and is as deep as it is long, so its operands are collected in a
 * loop. */
static struct meaning_term *read_chain(struct meaning_reader *r, const struct sql_node *node, bool negated)
{
    const char *name = (node->op == SQL_OP_AND) != negated ? "and" : "or";
    uint32_t n = 1, total = 0;
    for (const struct sql_node *x = node; sql_is(x, SQL_BINARY) && x->op == node->op; x = sql_kid(x, 0)) n++;
    struct meaning_term **operands = arena_new_array(r->arena, n, struct meaning_term *);
    if (!operands) {
        r->failed = true;
        return meaning_term_unknown(r, "no memory", node);
    }
    const struct sql_node *x = node;
    for (uint32_t i = 0; i + 1 < n; i++, x = sql_kid(x, 0))
        operands[i] = meaning_read_condition(r, sql_kid(x, 1), negated);
    operands[n - 1] = meaning_read_condition(r, x, negated);
    for (uint32_t i = 0; i < n; i++) total += count_parts(operands[i], name);
    struct meaning_term **parts = arena_new_array(r->arena, total, struct meaning_term *);
    if (!parts) {
        r->failed = true;
        return operands[0];
    }
    for (uint32_t i = 0, at = 0; i < n; at += count_parts(operands[i++], name))
        copy_parts(operands[i], name, parts + at);
    total = meaning_terms_sort(parts, total, true);
    return total == 1 ? parts[0] : meaning_term_make(r, MEANING_OPERATION, name, parts, total, node);
}

static struct meaning_term *read_exists(struct meaning_reader *r, const struct sql_node *node, bool negated)
{
    return read_match(r, node, sql_kid(node, 0), NULL, negated ? "not exists" : "exists");
}

static struct meaning_term *read_other(struct meaning_reader *r, const struct sql_node *node, bool negated)
{
    struct meaning_term *term = meaning_read_term(r, node);
    return negated ? meaning_term_make(r, MEANING_OPERATION, "not", &term, 1, node) : term;
}

static struct meaning_term *read_unary(struct meaning_reader *r, const struct sql_node *node, bool negated)
{
    if (node->op == SQL_OP_NOT) return meaning_read_condition(r, sql_kid(node, 0), !negated);
    if (node->op != SQL_OP_ISNULL && node->op != SQL_OP_NOTNULL) return read_other(r, node, negated);
    bool is_not = (node->op == SQL_OP_NOTNULL) != negated;
    struct meaning_term *x = meaning_read_term(r, sql_kid(node, 0));
    return meaning_term_make(r, MEANING_OPERATION, is_not ? "is not null" : "is null", &x, 1, node);
}

static struct meaning_term *read_binary(struct meaning_reader *r, const struct sql_node *node, bool negated)
{
    if (node->op == SQL_OP_AND || node->op == SQL_OP_OR) return read_chain(r, node, negated);
    if (find_operator(node->op) || node->op == SQL_OP_IS || node->op == SQL_OP_IS_NOT)
        return read_comparison(r, node, negated);
    return read_other(r, node, negated);
}

struct meaning_term *meaning_read_condition(struct meaning_reader *r, const struct sql_node *node, bool negated)
{
    static struct meaning_term *(*const readers[SQL_KIND_COUNT])(struct meaning_reader *, const struct sql_node *,
                                                                 bool) = {
        [SQL_UNARY] = read_unary, [SQL_BINARY] = read_binary, [SQL_BETWEEN] = read_between,
        [SQL_IN] = read_list,     [SQL_LIKE] = read_like,     [SQL_EXISTS] = read_exists,
    };
    if (r->depth >= MEANING_MAX_DEPTH || r->n_terms >= MEANING_MAX_TERMS)
        return meaning_term_unknown(r, "the query is too large", node);
    r->depth++;
    struct meaning_term *term = (readers[node->kind] ? readers[node->kind] : read_other)(r, node, negated);
    r->depth--;
    return term;
}

/* --- conjuncts --- */

static bool merge_pair(struct meaning_reader *r, struct meaning_term **terms, uint32_t *n)
{
    for (uint32_t i = 0; i < *n; i++)
        for (uint32_t j = i + 1; j < *n; j++) {
            struct meaning_term *period = meaning_merge_bounds(r, terms[i], terms[j]);
            if (!period) continue;
            terms[i] = period;
            terms[j] = terms[--*n];
            return true;
        }
    return false;
}

uint32_t meaning_conjuncts(struct meaning_reader *r, struct meaning_term *condition, struct meaning_term ***out)
{
    uint32_t n = count_parts(condition, "and");
    *out = arena_new_array(r->arena, n, struct meaning_term *);
    if (!*out) {
        r->failed = true;
        return 0;
    }
    copy_parts(condition, "and", *out);
    while (n <= 64 && merge_pair(r, *out, &n)) continue;
    return meaning_terms_sort(*out, n, true);
}

struct meaning_term *meaning_from_conjuncts(struct meaning_reader *r, struct meaning_term **terms, uint32_t n)
{
    if (n == 0) return NULL;
    return n == 1 ? terms[0] : meaning_term_make(r, MEANING_OPERATION, "and", terms, n, NULL);
}
