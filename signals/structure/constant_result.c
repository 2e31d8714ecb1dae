/* constant_result: a calculation or condition has the same value for any data, so it answers no question.
 *
 * COUNT of a CASE that is never NULL counts all rows. A ratio of a value to itself is 1, and so is a ratio of two
 * counts of keys that an inner join makes equal. A window that is partitioned by all keys of its own order sums only
 * one row. LAST_VALUE with the default frame returns the current row. LAG is NULL if each partition has one row. A WHEN
 * after one that includes it is never reached. A literal without a comparison is true or false for each row. A query
 * without a table reads no data. ORDER BY and LIMIT have no effect on an aggregate without groups. */
#include "signals/support/meaning.h"

#include "signals/support/query.h"
#include "signals/support/whole.h"

#include <stdlib.h>
#include <string.h>

/* --- counts of values that are never NULL --- */

static bool is_never_null(const struct sql_node *node)
{
    return sql_is(node, SQL_LITERAL) && node->op != SQL_LIT_NULL;
}

static bool is_full_case(const struct sql_node *node)
{
    if (!sql_is(node, SQL_CASE) || !is_never_null(sql_kid(node, CASE_ELSE))) return false;
    for (uint32_t i = CASE_FIRST_WHEN; i < node->n_kids; i++)
        if (!is_never_null(sql_kid(sql_kid(node, i), 1))) return false;
    return true;
}

/* True if a condition tests the column, such as WHERE cancelled = 1. The rows may then all have the flag. */
static bool is_conditioned(const struct vsig_subject *subject, const struct schema_column *column)
{
    for (uint32_t i = 0; i < subject->bound->n_refs; i++) {
        const struct sql_ref *ref = subject->bound->refs[i];
        bool where = ref->clause == SQL_CLAUSE_WHERE || ref->clause == SQL_CLAUSE_FROM;
        if (where && schema_column_of(subject->schema, ref) == column) return true;
    }
    return false;
}

/* True for a flag (0 or 1 in each row) that the question names and no condition tests. COUNT of such a flag also counts
 * the rows with 0. */
static bool is_named_flag(const struct vsig_subject *subject, const struct sql_node *operand)
{
    const struct schema_column *column = query_column(subject, operand);
    const struct schema_stats *stats = column ? &column->stats : NULL;
    if (!stats || stats->sampled || stats->nulls || stats->ints != stats->rows || stats->distinct != 2) return false;
    bool flag = stats->min.type == DB_INT && stats->min.i == 0 && stats->max.type == DB_INT && stats->max.i == 1;
    return flag && subject->analysis && subject->analysis->column_score[column->id] > 0 &&
           !is_conditioned(subject, column);
}

/* True for the equality of two columns. COUNT(a = b) may be meant to count the rows where both have a value. */
static bool compares_columns(const struct sql_node *operand)
{
    return sql_is(operand, SQL_BINARY) && operand->op == SQL_OP_EQ && sql_plain_column(sql_kid(operand, 0)) &&
           sql_plain_column(sql_kid(operand, 1));
}

static void check_counts(struct vsig_run *run)
{
    const struct sql_node *root = run->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        if (query_aggregate_of(n) != QUERY_COUNT || n->flags & (SQL_F_STAR | SQL_F_DISTINCT)) continue;
        const struct sql_node *operand = sql_kid(sql_kid(n, CALL_ARGS), 0);
        bool condition = sql_is_truth(operand) && !compares_columns(operand);
        if (is_full_case(operand))
            vsig_fire(run, VSIG_ERROR, n, "the CASE is never NULL, so COUNT counts all rows");
        else if (condition)
            vsig_fire(run, VSIG_ERROR, n, "COUNT counts each row where the condition is true or false, not only true");
        else if (is_named_flag(run->subject, operand))
            vsig_fire(run, VSIG_ERROR, n,
                      "the column is 0 or 1 in each row, so COUNT counts all rows, not only those with 1");
    }
}

/* --- literals without a comparison --- */

/* Reports literals that AND or OR combines. In `a = 'x' OR 'y'` the engine evaluates 'y' alone as true or false. */
static void check_literals(struct vsig_run *run)
{
    const struct sql_node *root = run->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        bool any = sql_is(n, SQL_BINARY) && n->op == SQL_OP_OR, all = sql_is(n, SQL_BINARY) && n->op == SQL_OP_AND;
        for (uint32_t i = 0; (any || all) && i < n->n_kids; i++) {
            const struct sql_node *kid = n->kids[i];
            bool text = sql_is(kid, SQL_LITERAL) && kid->op == SQL_LIT_STRING;
            bool number = sql_is(kid, SQL_LITERAL) && (kid->op == SQL_LIT_INT || kid->op == SQL_LIT_FLOAT);
            if (text || (any && number))
                vsig_fire(run, VSIG_ERROR, kid, "the literal is compared with nothing, so it is the same for each row");
        }
    }
}

/* --- statements without a table --- */

static void note_table(void *self, const struct meaning *m)
{
    for (uint32_t i = 0; i < m->n_sources; i++) *(bool *)self |= !m->sources[i].relation;
}

static void check_tables(struct vsig_run *run, const struct meaning *meaning)
{
    bool reads = meaning->n_unknown > 0 || run->subject->bound->n_refs > 0;
    meaning_visit(meaning, &(struct meaning_visitor){.self = &reads, .relation = note_table});
    if (!reads)
        vsig_fire(run, VSIG_ERROR, run->subject->stmt->root,
                  "the query reads no table, so its result does not come from the data");
}

/* --- ORDER BY and LIMIT of one row --- */

/* Returns the first column of an expression, or NULL if an aggregate comes first. */
static const struct sql_ref *bare_column(const struct sql_node *key)
{
    for (const struct sql_node *n = key; n; n = sql_walk(key, n)) {
        if (query_aggregate_of(n) != QUERY_AGGREGATES) return NULL;
        if (sql_plain_column(n)) return sql_plain_column(n);
    }
    return NULL;
}

/* True if the item has MAX or MIN of this column. ORDER BY x LIMIT 1 beside MAX(x) is harmless. */
static bool is_extreme_of(const struct sql_node *item, const struct sql_ref *ref)
{
    for (const struct sql_node *n = item; n; n = sql_walk(item, n)) {
        enum query_aggregate of = query_aggregate_of(n);
        const struct sql_ref *own = sql_plain_column(sql_kid(sql_kid(n, CALL_ARGS), 0));
        if ((of == QUERY_MAX || of == QUERY_MIN) && own && own->source == ref->source && own->column == ref->column)
            return true;
    }
    return false;
}

/* Reports ORDER BY with LIMIT on an aggregate without groups, as in SELECT AVG(x) FROM t ORDER BY y LIMIT 5. The
 * average is over all rows, because LIMIT applies to the single row of the result. */
static void check_limits(struct vsig_run *run)
{
    const struct sql_node *root = run->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        const struct sql_node *order = sql_is(n, SQL_QUERY) && sql_kid(n, QUERY_LIMIT) ? sql_kid(n, QUERY_ORDER) : NULL;
        const struct sql_node *select = sql_kid(n, QUERY_BODY), *items = sql_kid(select, SELECT_ITEMS);
        if (!order || !sql_is(select, SQL_SELECT) || sql_kid(select, SELECT_GROUP)) continue;
        bool total = items && items->n_kids > 0;
        for (uint32_t i = 0; total && i < items->n_kids; i++) total = query_has_aggregate(items->kids[i]);
        const struct sql_node *key = sql_kid(sql_kid(order, 0), 0);
        const struct sql_ref *bare = total ? bare_column(key) : NULL;
        if (bare && bare->source && !is_extreme_of(items, bare))
            vsig_fire(run, VSIG_ERROR, key,
                      "the aggregate is over all rows, because ORDER BY and LIMIT apply to its one row afterwards");
    }
}

/* --- windows --- */

static bool parts_by(const struct meaning_window *window, uint64_t hash)
{
    for (uint32_t i = 0; i < window->n_partition; i++)
        if (window->partition[i]->hash == hash) return true;
    return false;
}

/* True if all keys of the order are also partition keys. The order then does not distinguish the rows of a
 * partition. */
static bool order_is_constant(const struct meaning_window *window)
{
    for (uint32_t i = 0; i < window->n_order; i++)
        if (!parts_by(window, window->order[i].term->hash)) return false;
    return window->n_order > 0;
}

/* True if all keys of the grouped relation are partition keys of the window. */
static bool parts_by_keys_of(const struct meaning_window *window, const struct meaning *relation)
{
    for (uint32_t k = 0; k < relation->n_keys; k++) {
        bool found = false;
        for (uint32_t i = 0; i < window->n_partition; i++)
            found |= meaning_follow(window->partition[i], NULL)->hash == relation->keys[k]->hash;
        if (!found) return false;
    }
    return relation->grain == MEANING_KEYS && relation->n_keys;
}

/* True if each partition has only one row, because all keys of the relation are partition keys. */
static bool groups_are_rows(const struct meaning *owner, const struct meaning_window *window)
{
    if (owner->grain == MEANING_ROWS)
        return owner->n_sources == 1 && owner->sources[0].relation && !owner->sources[0].relation->set &&
               parts_by_keys_of(window, owner->sources[0].relation);
    if (owner->grain != MEANING_KEYS || !owner->n_keys) return false;
    for (uint32_t i = 0; i < owner->n_keys; i++)
        if (!parts_by(window, owner->keys[i]->hash)) return false;
    return true;
}

static bool is_called(const struct meaning_term *window, const char *name)
{
    return window->name && strcmp(window->name, name) == 0;
}

static void check_window(struct vsig_run *run, const struct meaning *owner, const struct meaning_term *term)
{
    const struct meaning_window *window = term->window;
    const char *says = NULL;
    bool step = is_called(term, "lag") || is_called(term, "lead"), single = groups_are_rows(owner, window);
    if (is_called(term, "last_value") && window->n_order && strstr(window->frame, "to the current row"))
        says = "the frame of LAST_VALUE ends at the current row, so it gives the value of the current row";
    else if (step && (single || order_is_constant(window)))
        says = "each group of the window has one row or no order, so there is no row before or after";
    else if (is_called(term, "measure") && single)
        says = "each group of the window has one row, so the window gives the value of the row itself";
    else if (is_called(term, "measure") && order_is_constant(window) && strcmp(window->frame, "all rows") != 0)
        says = "the window starts again for each value of its own order, so nothing is added up";
    if (says) vsig_fire(run, VSIG_ERROR, vsig_node_at(run->subject, term->start, term->end), "%s", says);
}

/* --- ratios --- */

/* True for a measure divided by itself, or by its sum over a window whose partitions have only one row. */
static bool is_by_itself(const struct meaning *owner, const struct meaning_term *ratio)
{
    const struct meaning_term *top = ratio->parts[0], *bottom = ratio->parts[1];
    if (top->hash == bottom->hash) return true;
    const struct meaning_term *inner = bottom->kind == MEANING_WINDOW && bottom->n_parts == 1 ? bottom->parts[0] : NULL;
    bool same = inner && inner->kind == MEANING_MEASURE && inner->n_parts == 1 && inner->parts[0]->hash == top->hash;
    return same && bottom->window && !bottom->window->n_order && is_called(bottom, "measure") &&
           groups_are_rows(owner, bottom->window);
}

/* --- conditions --- */

/* Reads a comparison of a term with a number. Returns false if the term is not a lower or upper bound. */
static bool read_bound(const struct meaning_term *term, bool *above, bool *strict, double *number)
{
    char *end;
    if (term->kind != MEANING_OPERATION || term->n_parts != 2 || term->parts[1]->kind != MEANING_VALUE) return false;
    bool up = term->name[0] == '>', down = term->name[0] == '<' && term->name[1] != '>';
    if (!up && !down) return false;
    *above = up;
    *strict = term->name[1] == '\0';
    *number = strtod(term->parts[1]->name, &end);
    return end != term->parts[1]->name && !*end;
}

/* True if the later condition implies the earlier one: x > 20 implies x > 5. */
static bool is_covered(const struct meaning_term *earlier, const struct meaning_term *later)
{
    bool above[2], strict[2];
    double number[2];
    if (earlier->hash == later->hash) return true;
    if (!read_bound(earlier, &above[0], &strict[0], &number[0]) ||
        !read_bound(later, &above[1], &strict[1], &number[1]))
        return false;
    if (above[0] != above[1] || earlier->parts[0]->hash != later->parts[0]->hash) return false;
    double more = above[0] ? number[1] - number[0] : number[0] - number[1];
    return more > 0 || (more >= 0 && (strict[1] || !strict[0]));
}

static void check_case(struct vsig_run *run, const struct meaning_term *term)
{
    for (uint32_t later = 2; later + 1 < term->n_parts; later += 2)
        for (uint32_t i = 0; i < later; i += 2) {
            if (!is_covered(term->parts[i], term->parts[later])) continue;
            const struct meaning_term *at = term->parts[later]->end ? term->parts[later] : term;
            vsig_fire(run, VSIG_ERROR, vsig_node_at(run->subject, at->start, at->end),
                      "an earlier WHEN takes all rows of this one, so this one is never reached");
            return;
        }
}

/* Reports a comparison of a column with itself, which has the same value in all rows where the column is not NULL. In
 * `IN (SELECT name ...)` the column may belong to the outer query, because the inner table has no column with this
 * name. */
static void check_condition(struct vsig_run *run, const struct meaning_term *term)
{
    static const char *const comparisons[] = {"=", "<>", "<", "<=", ">", ">="};
    for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++) {
        if (strcmp(term->name, comparisons[i]) != 0 || term->n_parts != 2) continue;
        if (term->parts[0]->hash != term->parts[1]->hash || term->parts[0]->kind != MEANING_COLUMN) continue;
        const struct meaning_term *at = term->end ? term : term->parts[0];
        bool outer = meaning_is_outer(term->parts[0]);
        vsig_fire(run, VSIG_ERROR, vsig_node_at(run->subject, at->start, at->end), "%s",
                  outer ? "the column of the subquery is one of the outer query, so it is compared with itself"
                        : "the condition compares a column with itself");
    }
}

static void check_term(void *self, const struct meaning *owner, const struct meaning_term *term)
{
    struct vsig_run *run = self;
    if (run->verdict->n_findings >= VSIG_MAX_FINDINGS) return;
    if (term->kind == MEANING_WINDOW && term->window) check_window(run, owner, term);
    if (term->kind == MEANING_OPERATION) check_condition(run, term);
    if (term->kind == MEANING_CASE) check_case(run, term);
    if (term->kind == MEANING_RATIO && is_by_itself(owner, term))
        vsig_fire(run, VSIG_ERROR, vsig_node_at(run->subject, term->start, term->end),
                  "the query divides a value by itself, so the result is the same in each row");
}

static enum err_code constant_result_eval(struct vsig_run *run)
{
    const struct meaning *meaning;
    enum err_code code = vsig_read_meaning(run->subject, &meaning);
    check_counts(run);
    check_literals(run);
    check_limits(run);
    const struct sql_node *division = vsig_whole_by_itself(run->subject);
    if (division)
        vsig_fire(run, VSIG_ERROR, division,
                  "the inner join makes both counts equal, so the result is the same for any data");
    if (meaning) check_tables(run, meaning);
    if (meaning) meaning_visit(meaning, &(struct meaning_visitor){.self = run, .term = check_term});
    return code;
}

const struct vsig_def vsig_constant_result = {
    .id = VSIG_ID_constant_result,
    .name = "constant_result",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "a calculation or condition has the same result for any data",
    .description = "COUNT of a CASE that is never NULL counts all rows. A ratio of a value to itself is 1. A window "
                   "whose groups have one row each gives the value of the row. LAST_VALUE with the default frame gives "
                   "the current row. A comparison of a column with itself is always true. A literal between OR and AND "
                   "is compared with nothing. A query without a table reads no data. LIMIT of a query with one row "
                   "chooses nothing.",
    .example = "How many orders of each shop are late? - SELECT shop, COUNT(CASE WHEN late THEN 1 ELSE 0 END) FROM "
               "orders GROUP BY shop",
    .instruction =
        "Leave ELSE out under COUNT, or use SUM. Take the whole of a share over all rows. Give LAST_VALUE "
        "a frame that ends at UNBOUNDED FOLLOWING. Take the first rows in a subquery, and aggregate them outside.",
    .eval = constant_result_eval,
};
