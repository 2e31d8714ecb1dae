/* Translates conditions into sets of values, with the three-valued logic of SQL.
 *
 * A term is a column or a deterministic expression. A condition on one term has two sets: the values for which it is
 * true, and those for which it is false. NULL is in neither set if it makes the condition unknown. AND and OR of
 * conditions on the same term combine the sets. Conditions on several terms are MIXED. Literals are converted as the
 * engine converts them for the affinity of the column. The sets of a result that is not exact may be too large. */
#include "signals/support/truth.h"

#include "signals/support/names.h"
#include "signals/support/shape.h"
#include "signals/support/types.h"

#include <stdlib.h>
#include <string.h>

void vsig_terms_init(struct vsig_terms *terms, struct vsig_subject *subject, const struct sql_block *block)
{
    terms->subject = subject;
    terms->block = block;
    terms->calc = (struct vsig_calc){.arena = subject->arena};
    terms->n = 0;
}

/* --- terms --- */

/* True if the expression depends on a row, and always has the same value for the same row. */
static bool is_steady(const struct sql_node *expr)
{
    static const char *const FICKLE[] = {"random",        "randomblob",        "changes",
                                         "total_changes", "last_insert_rowid", "now"};
    bool about_rows = false;
    for (const struct sql_node *n = expr; n; n = sql_walk(expr, n)) {
        if (n->kind == SQL_QUERY || n->kind == SQL_PARAM || n->kind == SQL_COLLATE || n->kind == SQL_ERROR)
            return false;
        if (n->kind == SQL_COLUMN && n->ref && n->ref->kind != SQL_REF_STRING) about_rows = true;
        if (n->kind != SQL_CALL) continue;
        if (sql_is_aggregate(n)) about_rows = true;
        for (size_t i = 0; i < sizeof FICKLE / sizeof FICKLE[0]; i++)
            if (sql_name_is(n->text, n->text_len, FICKLE[i], strlen(FICKLE[i]))) return false;
    }
    return about_rows;
}

static bool may_be_term(const struct sql_node *expr)
{
    switch (expr->kind) {
    case SQL_CALL:
    case SQL_CAST:
    case SQL_EXTRACT: return is_steady(expr);
    case SQL_BINARY: return expr->op >= SQL_OP_ADD && expr->op <= SQL_OP_CONCAT && is_steady(expr);
    default: return false;
    }
}

static bool is_call_of(const struct sql_node *expr, const char *name)
{
    return sql_is(expr, SQL_CALL) && sql_name_is(expr->text, expr->text_len, name, strlen(name));
}

static void describe_column(struct vsig_terms *terms, struct vsig_term *term, const struct sql_ref *ref)
{
    term->source = ref->source;
    term->output = ref->output;
    term->column = vsig_column_at(terms->subject, ref->source, ref->output);
    const struct schema_column *column = term->column;
    if (ref->kind == SQL_REF_ROWID) {
        term->integer = term->filled = true;
    } else if (column && ref->source->kind == SQL_SOURCE_TABLE) {
        term->integer = column->affinity == SCHEMA_INTEGER && vsig_type_of_column(column) == VSIG_TYPE_INT;
        bool none_seen = column->stats.rows > 0 && column->stats.nulls == 0 && !column->stats.sampled;
        term->filled = column->not_null || none_seen;
    }
    term->never_null = term->filled && !ref->source->nullable;
}

/* Describes COUNT, whose values are whole numbers from 0, or from 1 for COUNT(*) of a group. Ignores other
 * expressions. */
static void describe_count(struct vsig_terms *terms, struct vsig_term *term)
{
    if (!is_call_of(term->expr, "count") || !sql_is_aggregate(term->expr)) return;
    bool of_rows = (term->expr->flags & SQL_F_STAR) && terms->block->grouped && !sql_kid(term->expr, CALL_FILTER);
    struct vsig_point least = {.number = of_rows ? 1 : 0};
    term->integer = term->never_null = true;
    term->start = vsig_domain_of(&terms->calc, SQL_OP_GE, &least);
}

static bool same_term(const struct vsig_term *term, const struct sql_ref *ref, const struct sql_node *expr)
{
    if (ref) return term->source == ref->source && term->output == ref->output;
    return !term->source && sql_equal(term->expr, expr);
}

int vsig_term_of(struct vsig_terms *terms, const struct sql_node *expr)
{
    while (sql_is(expr, SQL_UNARY) && expr->op == SQL_OP_PLUS) expr = sql_kid(expr, 0);
    if (!expr) return -1;
    const struct sql_ref *ref = vsig_plain_column(expr);
    if (!ref && sql_is(expr, SQL_COLUMN) && expr->ref && expr->ref->kind == SQL_REF_ALIAS && expr->ref->expr &&
        expr->ref->expr->kind != SQL_COLUMN)
        return vsig_term_of(terms, expr->ref->expr);
    if (!ref && !may_be_term(expr)) return -1;
    for (uint32_t i = 0; i < terms->n; i++)
        if (same_term(&terms->items[i], ref, expr)) return (int)i;
    if (terms->n == VSIG_MAX_TERMS) return -1;
    struct vsig_term *term = &terms->items[terms->n];
    *term = (struct vsig_term){.expr = expr, .output = -1, .start = vsig_domain_values(&terms->calc)};
    if (ref)
        describe_column(terms, term, ref);
    else
        describe_count(terms, term);
    term->start.null = !term->never_null;
    return (int)terms->n++;
}

/* --- literals --- */

static bool as_number(const char *text, size_t len, double *number)
{
    char copy[64];
    while (len && *text == ' ') text++, len--;
    while (len && text[len - 1] == ' ') len--;
    if (len == 0 || len >= sizeof copy) return false;
    for (size_t i = 0; i < len; i++)
        if (!strchr("0123456789+-.eE", text[i])) return false; /* rejects hex numbers, inf and nan */
    memcpy(copy, text, len);
    copy[len] = '\0';
    char *end;
    *number = strtod(copy, &end);
    return *end == '\0';
}

static bool is_negated(const struct sql_node *expr)
{
    bool negated = false;
    for (; sql_is(expr, SQL_UNARY); expr = sql_kid(expr, 0)) negated ^= expr->op == SQL_OP_NEG;
    return negated;
}

static bool is_null(const struct sql_node *expr)
{
    return sql_is(expr, SQL_LITERAL) && expr->op == SQL_LIT_NULL;
}

/* Reads the value of a literal as written, before the affinity of a column converts it. */
static bool read_point(const struct sql_node *expr, struct vsig_point *point)
{
    const struct sql_node *literal = sql_plain_literal(expr);
    if (!literal) return false;
    *point = (struct vsig_point){0};
    if (literal->kind == SQL_COLUMN || literal->op == SQL_LIT_STRING) {
        *point = (struct vsig_point){.is_text = true, .text = literal->text, .len = literal->text_len};
        return !is_negated(expr);
    }
    if (literal->op == SQL_LIT_TRUE || literal->op == SQL_LIT_FALSE) {
        point->number = literal->op == SQL_LIT_TRUE;
        return true;
    }
    if (literal->op != SQL_LIT_INT && literal->op != SQL_LIT_FLOAT) return false;
    if (!as_number(literal->text, literal->text_len, &point->number)) return false;
    if (is_negated(expr)) point->number = -point->number;
    return true;
}

static bool has_numeric_affinity(const struct schema_column *column)
{
    return column->affinity == SCHEMA_INTEGER || column->affinity == SCHEMA_REAL || column->affinity == SCHEMA_NUMERIC;
}

/* Converts the literal as the engine does: a number to text for a text column, and a numeric text to a number for a
 * numeric column. */
static void apply_affinity(struct vsig_calc *calc, const struct vsig_term *term, struct vsig_point *point)
{
    if (!term->column) return;
    if (point->is_text && has_numeric_affinity(term->column)) {
        double number;
        if (as_number(point->text, point->len, &number)) *point = (struct vsig_point){.number = number};
    } else if (!point->is_text && term->column->affinity == SCHEMA_TEXT) {
        bool whole = point->number == (double)(long long)point->number;
        const char *text = arena_printf(calc->arena, whole ? "%.0f" : "%.15g", point->number);
        if (!text)
            calc->failed = true;
        else
            *point = (struct vsig_point){.is_text = true, .text = text, .len = strlen(text)};
    }
}

/* --- conditions --- */

static struct vsig_truth mixed(void)
{
    return (struct vsig_truth){.term = VSIG_TRUTH_MIXED};
}

enum logic { LOGIC_FALSE, LOGIC_TRUE, LOGIC_NULL };

static struct vsig_truth constant(struct vsig_calc *calc, enum logic value)
{
    struct vsig_domain all = vsig_domain_values(calc);
    all.null = true;
    struct vsig_truth truth = {.term = VSIG_TRUTH_CONSTANT, .exact = true};
    if (value == LOGIC_TRUE) truth.yes = all;
    if (value == LOGIC_FALSE) truth.no = all;
    return truth;
}

static struct vsig_truth swap(struct vsig_truth truth)
{
    struct vsig_domain yes = truth.yes;
    truth.yes = truth.no;
    truth.no = yes;
    return truth;
}

static struct vsig_truth combine(struct vsig_terms *terms, const struct sql_node *node)
{
    struct vsig_truth a = vsig_truth_of(terms, node->kids[0]), b = vsig_truth_of(terms, node->kids[1]);
    if (a.term == VSIG_TRUTH_MIXED || b.term == VSIG_TRUTH_MIXED) return mixed();
    if (a.term >= 0 && b.term >= 0 && a.term != b.term) return mixed();
    struct vsig_calc *calc = &terms->calc;
    struct vsig_truth both = {.term = a.term >= 0 ? a.term : b.term, .exact = a.exact && b.exact};
    if (node->op == SQL_OP_AND) {
        both.yes = vsig_domain_and(calc, &a.yes, &b.yes);
        both.no = vsig_domain_or(calc, &a.no, &b.no);
    } else {
        both.yes = vsig_domain_or(calc, &a.yes, &b.yes);
        both.no = vsig_domain_and(calc, &a.no, &b.no);
    }
    return both;
}

static struct vsig_truth one_term(int term, struct vsig_domain yes, struct vsig_domain no)
{
    return (struct vsig_truth){.term = term, .yes = yes, .no = no, .exact = true};
}

static struct vsig_truth compare_points(struct vsig_terms *terms, enum sql_op op, const struct vsig_point *a,
                                        const struct vsig_point *b)
{
    int order = vsig_point_compare(&terms->calc, a, b);
    bool holds = (op == SQL_OP_EQ && order == 0) || (op == SQL_OP_NE && order != 0) || (op == SQL_OP_LT && order < 0) ||
                 (op == SQL_OP_LE && order <= 0) || (op == SQL_OP_GT && order > 0) || (op == SQL_OP_GE && order >= 0);
    return constant(&terms->calc, holds ? LOGIC_TRUE : LOGIC_FALSE);
}

static struct vsig_truth compare(struct vsig_terms *terms, enum sql_op op, const struct sql_node *left,
                                 const struct sql_node *right)
{
    struct vsig_calc *calc = &terms->calc;
    if (is_null(left) || is_null(right)) return constant(calc, LOGIC_NULL);
    struct vsig_point a, b;
    bool left_is_point = read_point(left, &a), right_is_point = read_point(right, &b);
    if (left_is_point && right_is_point) return compare_points(terms, op, &a, &b);
    if (left_is_point) return compare(terms, sql_op_swap(op), right, left);
    int term = vsig_term_of(terms, left);
    if (term < 0) return mixed();
    if (right_is_point) {
        apply_affinity(calc, &terms->items[term], &b);
        return one_term(term, vsig_domain_of(calc, op, &b), vsig_domain_of(calc, sql_op_negate(op), &b));
    }
    if (vsig_term_of(terms, right) != term) return mixed();
    bool holds = op == SQL_OP_EQ || op == SQL_OP_LE || op == SQL_OP_GE; /* a column compared with itself */
    struct vsig_domain values = vsig_domain_values(calc), none = vsig_domain_nothing();
    return holds ? one_term(term, values, none) : one_term(term, none, values);
}

static struct vsig_truth test_null(struct vsig_terms *terms, const struct sql_node *expr)
{
    int term = vsig_term_of(terms, expr);
    if (term < 0) return mixed();
    struct vsig_domain null = {.null = true};
    return one_term(term, null, vsig_domain_values(&terms->calc));
}

/* Handles IS, which compares like = except that NULL IS NULL is true. */
static struct vsig_truth test_is(struct vsig_terms *terms, const struct sql_node *left, const struct sql_node *right)
{
    if (is_null(right)) return test_null(terms, left);
    struct vsig_truth truth = compare(terms, SQL_OP_EQ, left, right);
    struct vsig_point point;
    if (truth.term < 0 || !read_point(right, &point)) return mixed();
    truth.no.null = true;
    return truth;
}

static struct vsig_truth of_binary(struct vsig_terms *terms, const struct sql_node *node)
{
    enum sql_op op = (enum sql_op)node->op;
    if (op == SQL_OP_AND || op == SQL_OP_OR) return combine(terms, node);
    if (sql_is_comparison(op)) return compare(terms, op, node->kids[0], node->kids[1]);
    if (op == SQL_OP_IS || op == SQL_OP_IS_NOT_DISTINCT) return test_is(terms, node->kids[0], node->kids[1]);
    if (op == SQL_OP_IS_NOT || op == SQL_OP_IS_DISTINCT) return swap(test_is(terms, node->kids[0], node->kids[1]));
    return mixed();
}

static struct vsig_truth of_between(struct vsig_terms *terms, const struct sql_node *node)
{
    struct vsig_point low, high;
    int term = vsig_term_of(terms, node->kids[BETWEEN_VALUE]);
    if (term < 0 || !read_point(node->kids[BETWEEN_LOW], &low) || !read_point(node->kids[BETWEEN_HIGH], &high))
        return mixed();
    struct vsig_calc *calc = &terms->calc;
    apply_affinity(calc, &terms->items[term], &low);
    apply_affinity(calc, &terms->items[term], &high);
    bool turned = (node->flags & SQL_F_SYMMETRIC) && vsig_point_compare(calc, &low, &high) > 0;
    struct vsig_domain yes = vsig_domain_between(calc, turned ? &high : &low, turned ? &low : &high);
    struct vsig_domain no = vsig_domain_not(calc, &yes);
    no.null = false;
    return one_term(term, yes, no);
}

static struct vsig_truth of_in(struct vsig_terms *terms, const struct sql_node *node)
{
    const struct sql_node *list = node->kids[IN_RIGHT];
    int term = vsig_term_of(terms, node->kids[IN_VALUE]);
    if (term < 0 || !sql_is(list, SQL_LIST) || list->n_kids > VSIG_MAX_RANGES / 2) return mixed();
    struct vsig_calc *calc = &terms->calc;
    struct vsig_domain yes = vsig_domain_nothing();
    bool holds_null = false;
    for (uint32_t i = 0; i < list->n_kids; i++) {
        struct vsig_point point;
        if (is_null(list->kids[i])) {
            holds_null = true;
            continue;
        }
        if (!read_point(list->kids[i], &point)) return mixed();
        apply_affinity(calc, &terms->items[term], &point);
        struct vsig_domain one = vsig_domain_of(calc, SQL_OP_EQ, &point);
        yes = vsig_domain_or(calc, &yes, &one);
    }
    struct vsig_domain no = vsig_domain_not(calc, &yes);
    no.null = false;
    return one_term(term, yes, holds_null ? vsig_domain_nothing() : no); /* x NOT IN (1, NULL) is never true */
}

/* Handles LIKE. The sets do not show which texts match, only that NULL does not. */
static struct vsig_truth of_like(struct vsig_terms *terms, const struct sql_node *node)
{
    int term = vsig_term_of(terms, node->kids[LIKE_VALUE]);
    if (term < 0 || !sql_plain_literal(node->kids[LIKE_PATTERN])) return mixed();
    if (is_null(node->kids[LIKE_PATTERN])) return constant(&terms->calc, LOGIC_NULL);
    struct vsig_domain values = vsig_domain_values(&terms->calc);
    return (struct vsig_truth){.term = term, .yes = values, .no = values};
}

static struct vsig_truth of_literal(struct vsig_terms *terms, const struct sql_node *node)
{
    struct vsig_point point;
    if (is_null(node)) return constant(&terms->calc, LOGIC_NULL);
    if (!read_point(node, &point) || point.is_text) return mixed();
    return constant(&terms->calc, point.number != 0 ? LOGIC_TRUE : LOGIC_FALSE);
}

static struct vsig_truth of_unary(struct vsig_terms *terms, const struct sql_node *node)
{
    switch (node->op) {
    case SQL_OP_NOT: return swap(vsig_truth_of(terms, node->kids[0]));
    case SQL_OP_ISNULL: return test_null(terms, node->kids[0]);
    case SQL_OP_NOTNULL: return swap(test_null(terms, node->kids[0]));
    default: return mixed();
    }
}

struct vsig_truth vsig_truth_of(struct vsig_terms *terms, const struct sql_node *node)
{
    bool turned = (node->flags & SQL_F_NOT) != 0;
    struct vsig_truth truth;
    switch (node->kind) {
    case SQL_BINARY: return of_binary(terms, node);
    case SQL_UNARY: return of_unary(terms, node);
    case SQL_LITERAL: return of_literal(terms, node);
    case SQL_BETWEEN: truth = of_between(terms, node); break;
    case SQL_IN: truth = of_in(terms, node); break;
    case SQL_LIKE: truth = of_like(terms, node); break;
    default: return mixed();
    }
    return turned ? swap(truth) : truth;
}
