/* set_mismatch: "both A and B" of one attribute requires two rows for a thing, and "A or B" requires one.
 *
 * For "both", a thing must have both values, each in its own row. INTERSECT, two subqueries, a self-join, or a grouped
 * count can express this. One condition on one row cannot: `x = A OR x = B` and IN (A, B) accept either value, and `x =
 * A AND x = B` accepts no row. */
#include "lib/question/phrase.h"
#include "signals/support/logic.h"
#include "signals/support/predicate.h"
#include "signals/support/query.h"

#include <string.h>

enum { NEAR = 3 };

/* Two conditions that compare one column with literals. */
struct pair {
    const struct sql_node *node;
    enum sql_op joined; /* SQL_OP_OR or SQL_OP_AND */
};

static const struct sql_node *compared_column(const struct sql_node *node)
{
    if (sql_is(node, SQL_BINARY) && node->op == SQL_OP_EQ && query_literal(sql_kid(node, 1), NULL))
        return sql_kid(node, 0);
    if (sql_is(node, SQL_LIKE) && !(node->flags & SQL_F_NOT)) return sql_kid(node, LIKE_VALUE);
    return NULL;
}

static bool same_column(const struct sql_node *a, const struct sql_node *b)
{
    const struct sql_ref *x = a ? sql_plain_column(a) : NULL, *y = b ? sql_plain_column(b) : NULL;
    return x && y && x->source && x->source == y->source && x->output == y->output && x->column >= 0;
}

/* Returns the rightmost comparison of a chain of one connective, so that (a OR b) OR c is recognized. */
static const struct sql_node *last_of(const struct sql_node *node, enum sql_op op)
{
    while (sql_is(node, SQL_BINARY) && node->op == op) node = sql_kid(node, 1);
    return node;
}

static bool find_pair(const struct vsig_subject *subject, struct pair *pair)
{
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n)) {
        if (!sql_is(n, SQL_BINARY) || (n->op != SQL_OP_OR && n->op != SQL_OP_AND)) continue;
        const struct sql_node *left = compared_column(last_of(sql_kid(n, 0), n->op)),
                              *right = compared_column(sql_kid(n, 1));
        if (!same_column(left, right)) continue;
        *pair = (struct pair){n, n->op};
        return true;
    }
    return false;
}

/* True if the question has at least two values. Numbers count only after the word "both". */
static bool both_of_values(const struct question *question)
{
    int cue = question_cue_next(question, QUESTION_CUE_BOTH, 0);
    if (cue < 0) return false;
    uint32_t from = question->cues[cue].first, seen = 0;
    for (uint32_t i = 0; i < question->n_values; i++)
        if (question->values[i].kind != QUESTION_VALUE_NUMBER || question->values[i].first > from) seen++;
    return seen >= 2;
}

static bool is_text_value(const struct question_value *value)
{
    return value->kind != QUESTION_VALUE_NUMBER && !value->is_name;
}

/* True if some column contains both values. Also true if no column contains either of them as written (parts of names),
 * because nothing is known then. */
static bool share_column(const struct question_value *a, const struct question_value *b)
{
    if (!a->n_hits && !b->n_hits) return true;
    for (uint32_t i = 0; i < a->n_hits; i++)
        for (uint32_t k = 0; k < b->n_hits; k++)
            if (a->hits[i].column == b->hits[k].column) return true;
    return false;
}

/* True if values of one column are before and after a phrase such as "as well as": "Nuts as well as Soy", "a TV lounge
 * and also a study room". */
static bool as_well_as(const struct question *question)
{
    static const char *const PHRASES[] = {"as well as", "and also", "and at the same time", "and another", NULL};
    struct question_phrase at;
    if (!question_phrase_find(question, PHRASES, 0, &at)) return false;
    for (uint32_t i = 0; i < question->n_values; i++)
        for (uint32_t k = i + 1; k < question->n_values; k++)
            if (question->values[i].first < at.first && question->values[k].first >= at.first + at.n_tokens &&
                is_text_value(&question->values[i]) && is_text_value(&question->values[k]) &&
                share_column(&question->values[i], &question->values[k]))
                return true;
    return false;
}

static bool asks_either(const struct question *question)
{
    return question->cue_kinds >> QUESTION_CUE_EITHER & 1U;
}

static void check_both(struct vsig_run *run, const struct query_view *view)
{
    const struct question *question = run->subject->analysis;
    bool both = question_cue_any(question, 1U << QUESTION_CUE_BOTH) && both_of_values(question);
    struct vsig_logic logic;
    vsig_logic_look(run->subject, &logic);
    if (!(both || as_well_as(question)) || asks_either(question)) return;
    if (view->compound[QUERY_INTERSECT] || view->having || view->compound[QUERY_EXCEPT]) return;
    struct pair pair = {NULL, SQL_OP_NONE};
    const struct sql_node *node = find_pair(run->subject, &pair) ? pair.node : view->in_list;
    if (logic.any_set) node = logic.any_set;
    if (!node) node = view->compound[QUERY_UNION];
    if (!node) return;
    vsig_fire(run, VSIG_ERROR, node,
              pair.joined == SQL_OP_AND ? "no single row can have both values, so the query finds nothing"
                                        : "the question asks for both values, but the query accepts either value");
}

static void check_either(struct vsig_run *run, const struct query_view *view)
{
    const struct question *question = run->subject->analysis;
    const struct sql_node *intersect = view->compound[QUERY_INTERSECT];
    if (!intersect || !asks_either(question)) return;
    if (question->cue_kinds & (1U << QUESTION_CUE_BOTH | 1U << QUESTION_CUE_NOT) || question_has(question, "and") ||
        question_has(question, "also") || question_has(question, "but"))
        return;
    vsig_fire(run, VSIG_ERROR, intersect, "the question accepts either value, but the query requires both values");
}

/* True if values are shortly before and after "or". Words that are plain values of the database do not count. */
static bool or_of_values(const struct question *question)
{
    for (uint32_t c = 0; c < question->n_cues; c++) {
        const struct question_cue *cue = &question->cues[c];
        bool before = false, after = false;
        if (cue->kind != QUESTION_CUE_EITHER || question->tokens.items[cue->first].norm[0] != 'o') continue;
        for (uint32_t i = 0; i < question->n_values; i++) {
            const struct question_value *value = &question->values[i];
            if (value->kind == QUESTION_VALUE_DATABASE && !value->capital) continue;
            before |=
                value->first + value->n_tokens <= cue->first && cue->first - (value->first + value->n_tokens) <= NEAR;
            after |= value->first > cue->first && value->first - cue->first <= NEAR + 1;
        }
        if (before && after) return true;
    }
    return false;
}

static void check_or_lost(struct vsig_run *run, const struct query_view *view)
{
    if (!or_of_values(run->subject->analysis) || view->or_node || view->in_list || view->negation) return;
    if (view->compound[QUERY_UNION] || view->compound[QUERY_UNION_ALL] || view->compound[QUERY_INTERSECT]) return;
    for (const struct sql_node *n = run->subject->stmt->root; n; n = sql_walk(run->subject->stmt->root, n)) {
        if (n->kind == SQL_BETWEEN || n->kind == SQL_CASE) return;
        if (!sql_is(n, SQL_BINARY) || n->op != SQL_OP_AND || sql_clause_of(n) != SQL_CLAUSE_WHERE) continue;
        vsig_fire(run, VSIG_ERROR, n, "the question offers alternatives, but the query requires all of them");
        return;
    }
}

/* True if one alternative is a missing value: deceased IS NULL OR deceased = 0. */
static bool allows_null(const struct sql_node *choice)
{
    for (uint32_t i = 0; i < choice->n_kids; i++) {
        bool negated;
        if (choice->kids[i] && vsig_is_null_test(choice->kids[i], &negated) && !negated) return true;
    }
    return false;
}

/* True if the alternatives compare columns with columns, such as the two roles of a team: (home and won) or (away and
 * won). */
static bool compares_columns(const struct sql_node *choice)
{
    uint32_t n = 0;
    for (const struct sql_node *x = choice; x; x = sql_walk(choice, x)) {
        if (!sql_is(x, SQL_BINARY) || !sql_is_comparison(x->op)) continue;
        if (query_literal(sql_kid(x, 0), NULL) || query_literal(sql_kid(x, 1), NULL)) return false;
        n++;
    }
    return n > 1;
}

/* Reports an OR if the question has no word for alternatives. */
static void check_or_unasked(struct vsig_run *run, const struct query_view *view)
{
    static const char *const CHOICE[] = {"and",  "any",  "both", "neither", "nor", "also",
                                         "plus", "than", "as",   ",",       NULL};
    if (!view->or_node || allows_null(view->or_node) || compares_columns(view->or_node) ||
        asks_either(run->subject->analysis) || run->subject->analysis->evidence.n)
        return;
    for (const char *const *word = CHOICE; *word; word++)
        if (question_has(run->subject->analysis, *word)) return;
    vsig_fire(run, VSIG_ERROR, view->or_node, "the query accepts alternatives (OR), but the question names none");
}

static enum err_code set_mismatch_eval(struct vsig_run *run)
{
    struct query_view view;
    if (query_foreign(run)) return ERR_OK;
    query_look(run->subject, &view);
    check_both(run, &view);
    check_either(run, &view);
    check_or_lost(run, &view);
    check_or_unasked(run, &view);
    return ERR_OK;
}

const struct vsig_def vsig_set_mismatch = {
    .id = VSIG_ID_set_mismatch,
    .name = "set_mismatch",
    .family = VSIG_QUESTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "the question asks for both values of one attribute but the query accepts either, or the reverse",
    .description =
        "\"Both A and B\" of one attribute means two rows for one thing, which needs INTERSECT or a grouped count. A "
        "single condition on that attribute accepts things that have only one of the values, or finds nothing.",
    .example = "Which clubs won both gold and silver? - SELECT club FROM medal WHERE kind = 'gold' OR kind = 'silver'",
    .instruction = "For both, intersect two queries, or group and count. For either, use OR or IN.",
    .eval = set_mismatch_eval,
};
