/* Compares the operators of the query with the cues of the question.
 *
 * Most features are counts over the whole query: cues that no operator implements, and operators that no cue requests.
 * A comparison with a number is matched by that number; other cues are matched by kind only. asked.c compares each cue
 * with its place in the query. A distance is the number of tokens between a cue and the mention of the column that the
 * cue should apply to. Words of implemented cues are marked as explained. All these features stay NAN unless there is a
 * question in English. */
#include "scoring/features/extract.h"

#include <glib.h>
#include <math.h>
#include <string.h>

#define CUE(kind) (1U << QUESTION_CUE_##kind)

static const enum feature_index cue_features[QUESTION_CUE_KINDS] = {[QUESTION_CUE_COMPARE] = FEATURE_cue_compare,
                                                                    [QUESTION_CUE_BETWEEN] = FEATURE_cue_between,
                                                                    [QUESTION_CUE_COUNT] = FEATURE_cue_count,
                                                                    [QUESTION_CUE_QUANTITY] = FEATURE_cue_quantity,
                                                                    [QUESTION_CUE_AVERAGE] = FEATURE_cue_average,
                                                                    [QUESTION_CUE_TOTAL] = FEATURE_cue_total,
                                                                    [QUESTION_CUE_MAXIMUM] = FEATURE_cue_maximum,
                                                                    [QUESTION_CUE_MINIMUM] = FEATURE_cue_minimum,
                                                                    [QUESTION_CUE_EXTREME] = FEATURE_cue_extreme,
                                                                    [QUESTION_CUE_FIRST] = FEATURE_cue_first,
                                                                    [QUESTION_CUE_TOP] = FEATURE_cue_top,
                                                                    [QUESTION_CUE_SORT] = FEATURE_cue_sort,
                                                                    [QUESTION_CUE_DIRECTION] = FEATURE_cue_direction,
                                                                    [QUESTION_CUE_NOT] = FEATURE_cue_not,
                                                                    [QUESTION_CUE_BOTH] = FEATURE_cue_both,
                                                                    [QUESTION_CUE_EITHER] = FEATURE_cue_either,
                                                                    [QUESTION_CUE_EACH] = FEATURE_cue_each,
                                                                    [QUESTION_CUE_DISTINCT] = FEATURE_cue_distinct,
                                                                    [QUESTION_CUE_RATIO] = FEATURE_cue_ratio,
                                                                    [QUESTION_CUE_MEMBER] = FEATURE_cue_member,
                                                                    [QUESTION_CUE_NTH] = FEATURE_cue_nth,
                                                                    [QUESTION_CUE_INCLUDE] = FEATURE_cue_include,
                                                                    [QUESTION_CUE_ONLY] = FEATURE_cue_only,
                                                                    [QUESTION_CUE_PERIOD] = FEATURE_cue_period};

static void set_cues(struct extraction *ex)
{
    for (unsigned kind = 0; kind < QUESTION_CUE_KINDS; kind++)
        if (kind != QUESTION_CUE_IDIOM) ex->out[cue_features[kind]] = (float)ex->question->cue_counts[kind];
}

/* --- comparisons --- */

static bool is_up(enum sql_op op)
{
    return op == SQL_OP_GT || op == SQL_OP_GE;
}

static bool is_down(enum sql_op op)
{
    return op == SQL_OP_LT || op == SQL_OP_LE;
}

static bool admits(const struct question_cue *cue, enum sql_op op)
{
    if (op == cue->op) return true;
    return cue->loose && ((is_up((enum sql_op)cue->op) && is_up(op)) || (is_down((enum sql_op)cue->op) && is_down(op)));
}

/* Returns 1 if the query compares the number as requested, -1 if it compares it otherwise, 0 if it does not compare
 * it. */
static int is_met(const struct extraction *ex, const struct question_cue *cue)
{
    struct query_comparison found[QUERY_MAX_COMPARISONS];
    uint32_t n = query_compared_with_value(ex->subject, &ex->question->values[cue->number], found);
    for (uint32_t i = 0; i < n; i++)
        if (admits(cue, found[i].op) || found[i].excluded) return 1;
    return n ? -1 : 0;
}

static void set_comparisons(struct extraction *ex)
{
    float met[3] = {0}, cues = 0, inequalities = 0;
    for (uint32_t i = 0; i < ex->question->n_cues; i++) {
        const struct question_cue *cue = &ex->question->cues[i];
        if (cue->kind == QUESTION_CUE_BETWEEN) cues += 2;
        if (cue->kind != QUESTION_CUE_COMPARE) continue;
        cues++;
        if (cue->number < 0) continue;
        int how = is_met(ex, cue);
        met[how + 1]++;
        if (how == 1) extract_mark_explained(ex, cue->first, cue->n_tokens);
    }
    const struct sql_node *root = ex->subject->stmt->root;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        if (sql_is(n, SQL_BETWEEN)) inequalities += 2;
        inequalities += sql_is(n, SQL_BINARY) && (is_up((enum sql_op)n->op) || is_down((enum sql_op)n->op));
    }
    ex->out[FEATURE_compares_mismatched] = met[0];
    ex->out[FEATURE_compares_unmet] = met[1];
    ex->out[FEATURE_compares_matched] = met[2];
    ex->out[FEATURE_compares_unasked] = inequalities - cues;
}

/* --- aggregates, extremes, order --- */

static const struct {
    enum query_aggregate aggregate;
    unsigned cues;
} aggregate_cues[] = {{QUERY_COUNT, CUE(COUNT) | CUE(QUANTITY) | CUE(EXTREME) | CUE(COMPARE)},
                      {QUERY_SUM, CUE(TOTAL) | CUE(QUANTITY) | CUE(COUNT)},
                      {QUERY_AVG, CUE(AVERAGE)},
                      {QUERY_MAX, CUE(MAXIMUM) | CUE(EXTREME) | CUE(FIRST)},
                      {QUERY_MIN, CUE(MINIMUM) | CUE(EXTREME) | CUE(FIRST)}};

/* True if the query has an operator that can implement the cue. */
static bool query_meets(const struct extraction *ex, enum question_cue_kind kind)
{
    const struct query_view *v = &ex->view;
    const struct sql_node *const *agg = v->aggregate;
    switch (kind) {
    case QUESTION_CUE_COUNT: return agg[QUERY_COUNT] || agg[QUERY_SUM];
    case QUESTION_CUE_QUANTITY: return agg[QUERY_COUNT] || agg[QUERY_SUM];
    case QUESTION_CUE_AVERAGE: return agg[QUERY_AVG] || v->division;
    case QUESTION_CUE_TOTAL: return agg[QUERY_SUM] || agg[QUERY_COUNT];
    case QUESTION_CUE_MAXIMUM: return agg[QUERY_MAX] || v->any_limit;
    case QUESTION_CUE_MINIMUM: return agg[QUERY_MIN] || v->any_limit;
    case QUESTION_CUE_EXTREME:
    case QUESTION_CUE_FIRST:
    case QUESTION_CUE_NTH:
    case QUESTION_CUE_TOP: return v->any_limit || agg[QUERY_MAX] || agg[QUERY_MIN];
    case QUESTION_CUE_SORT:
    case QUESTION_CUE_DIRECTION: return v->any_order;
    case QUESTION_CUE_NOT: return v->negation || v->is_null;
    case QUESTION_CUE_BOTH: return v->compound[QUERY_INTERSECT] || v->in_list || v->or_node;
    case QUESTION_CUE_EITHER:
        return v->or_node || v->in_list || v->compound[QUERY_UNION] || v->compound[QUERY_UNION_ALL];
    case QUESTION_CUE_EACH: return v->group;
    case QUESTION_CUE_DISTINCT: return v->distinct || v->group;
    case QUESTION_CUE_RATIO: return v->division || v->difference;
    default: return true;
    }
}

static void set_cues_met(struct extraction *ex)
{
    float unmet = 0, words = 0, unasked = 0;
    for (uint32_t i = 0; i < ex->question->n_cues; i++) {
        const struct question_cue *cue = &ex->question->cues[i];
        if (cue->named || cue->kind == QUESTION_CUE_IDIOM || cue->kind == QUESTION_CUE_COMPARE) continue;
        if (query_meets(ex, cue->kind)) {
            extract_mark_explained(ex, cue->first, cue->n_tokens);
            continue;
        }
        unmet += cue->weak ? 0.5F : 1;
        words += (float)cue->n_tokens;
    }
    for (size_t i = 0; i < G_N_ELEMENTS(aggregate_cues); i++)
        unasked +=
            ex->view.answer[aggregate_cues[i].aggregate] != NULL && !(ex->question->cue_kinds & aggregate_cues[i].cues);
    ex->out[FEATURE_aggregates_unmet] = unmet;
    ex->out[FEATURE_cue_words_unmet] = words;
    ex->out[FEATURE_aggregates_unasked] = unasked;
}

/* Returns the direction in which the query selects rows: that of an order with a limit, or that of MAX or MIN. Returns
 * SQL_OP_NONE if there is none. */
static enum sql_op picked_direction(const struct extraction *ex)
{
    const struct query_view *v = &ex->view;
    const struct sql_node *order = v->any_limit ? sql_kid(v->any_limit->parent, QUERY_ORDER) : v->any_order;
    const struct sql_node *term = sql_kid(order, 0);
    if (term) return term->op == SQL_DESC ? SQL_DESC : SQL_ASC;
    if (v->aggregate[QUERY_MAX]) return v->aggregate[QUERY_MIN] ? SQL_OP_NONE : SQL_DESC;
    return v->aggregate[QUERY_MIN] ? SQL_ASC : SQL_OP_NONE;
}

static void set_direction(struct extraction *ex)
{
    static const unsigned directed =
        CUE(EXTREME) | CUE(TOP) | CUE(DIRECTION) | CUE(MAXIMUM) | CUE(MINIMUM) | CUE(FIRST);
    enum sql_op picked = picked_direction(ex);
    if (picked == SQL_OP_NONE) return;
    float match = 0;
    for (uint32_t i = 0; i < ex->question->n_cues; i++) {
        const struct question_cue *cue = &ex->question->cues[i];
        if (!(directed >> cue->kind & 1U) || cue->op == SQL_OP_NONE || cue->named) continue;
        match += (cue->op == picked ? 1.0F : -1.0F) * (cue->kind == QUESTION_CUE_FIRST ? 0.5F : 1);
    }
    ex->out[FEATURE_direction_match] = match;
}

static void set_extremes(struct extraction *ex)
{
    const uint32_t *n = ex->question->cue_counts;
    const struct sql_node *root = ex->subject->stmt->root;
    float asked = (float)(n[QUESTION_CUE_EXTREME] + n[QUESTION_CUE_FIRST] + n[QUESTION_CUE_TOP] +
                          n[QUESTION_CUE_MAXIMUM] + n[QUESTION_CUE_MINIMUM]);
    float done = 0;
    for (const struct sql_node *node = root; node; node = sql_walk(root, node)) {
        enum query_aggregate aggregate = query_aggregate_of(node);
        done += sql_is(node, SQL_LIMIT) || aggregate == QUERY_MAX || aggregate == QUERY_MIN;
    }
    ex->out[FEATURE_extremes_over_query] = asked - done;
}

/* --- logic --- */

static bool negates(const struct sql_node *n)
{
    bool flagged = sql_is(n, SQL_LIKE) || sql_is(n, SQL_BETWEEN) || sql_is(n, SQL_IN);
    return (sql_is(n, SQL_UNARY) && (n->op == SQL_OP_NOT || n->op == SQL_OP_NOTNULL)) ||
           (sql_is(n, SQL_BINARY) && (n->op == SQL_OP_NE || n->op == SQL_OP_IS_NOT)) ||
           (flagged && n->flags & SQL_F_NOT) || (sql_is(n, SQL_COMPOUND) && n->op == SQL_EXCEPT);
}

static bool is_count_one(const struct sql_node *n)
{
    double number;
    return sql_is(n, SQL_BINARY) && n->op == SQL_OP_EQ && query_aggregate_of(sql_kid(n, 0)) == QUERY_COUNT &&
           query_literal_number(sql_kid(n, 1), &number) && fabs(number - 1) < 1e-9;
}

static void set_logic(struct extraction *ex)
{
    const struct sql_node *root = ex->subject->stmt->root;
    float negations = 0, ors = 0, ands = 0, ones = 0;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        negations += negates(n);
        ors += sql_is(n, SQL_BINARY) && n->op == SQL_OP_OR;
        ands += sql_is(n, SQL_BINARY) && n->op == SQL_OP_AND;
        ones += is_count_one(n);
    }
    ex->out[FEATURE_negations] = negations;
    ex->out[FEATURE_negations_over_asked] = negations - (float)ex->question->cue_counts[QUESTION_CUE_NOT];
    ex->out[FEATURE_ors_in_query] = ors;
    ex->out[FEATURE_ands_in_query] = ands;
    ex->out[FEATURE_count_equals_one] = ones;
    ex->out[FEATURE_only_said] = question_has(ex->question, "only");
    const struct sql_node *count = ex->view.aggregate[QUERY_COUNT];
    if (count)
        ex->out[FEATURE_count_of_distinct_asked] = ((count->flags & SQL_F_DISTINCT) ? 1.0F : -1.0F) *
                                                   (ex->question->cue_counts[QUESTION_CUE_DISTINCT] ? 1.0F : -1.0F);
}

/* Counts pairs of equalities on one column that must hold together. For example, "both 2014 and 2015" by AND finds
 * nothing. */
static void set_contradictions(struct extraction *ex)
{
    float n = 0;
    for (uint32_t b = 0; b < ex->subject->bound->n_blocks; b++) {
        const struct vsig_block_shape *shape = &ex->shape->blocks[b];
        for (uint32_t i = 0; i < shape->n_conditions; i++)
            for (uint32_t k = 0; k < i; k++) {
                const struct sql_node *x = shape->conditions[i].node, *y = shape->conditions[k].node;
                if (!sql_is(x, SQL_BINARY) || !sql_is(y, SQL_BINARY) || x->op != SQL_OP_EQ || y->op != SQL_OP_EQ)
                    continue;
                const struct schema_column *column = query_column(ex->subject, sql_kid(x, 0));
                n += column && column == query_column(ex->subject, sql_kid(y, 0)) &&
                     query_literal(sql_kid(x, 1), NULL) && query_literal(sql_kid(y, 1), NULL);
            }
    }
    ex->out[FEATURE_same_column_conditions] = n;
}

/* --- distance of a cue from its column --- */

static void set_distances(struct extraction *ex)
{
    static const struct {
        enum column_use use;
        enum feature_index feature;
        unsigned cues;
    } rows[] = {
        {USE_GROUP, FEATURE_group_each_distance, CUE(EACH) | CUE(RATIO)},
        {USE_ORDER, FEATURE_order_cue_distance,
         CUE(EXTREME) | CUE(FIRST) | CUE(TOP) | CUE(SORT) | CUE(DIRECTION) | CUE(MAXIMUM) | CUE(MINIMUM)},
        {USE_ARGUMENT, FEATURE_argument_cue_distance,
         CUE(AVERAGE) | CUE(TOTAL) | CUE(MAXIMUM) | CUE(MINIMUM) | CUE(COUNT) | CUE(QUANTITY) | CUE(EXTREME)},
    };
    for (size_t r = 0; r < G_N_ELEMENTS(rows); r++)
        for (uint32_t i = 0; i < ex->n_used; i++) {
            const struct used_column *used = &ex->used[i];
            const struct question_mention *mention =
                used->use == rows[r].use ? extract_best_mention(ex, used->column) : NULL;
            float distance = mention ? extract_cue_distance(ex, mention, rows[r].cues) : (float)NAN;
            float *out = &ex->out[rows[r].feature];
            if (!isnan(distance) && !(*out >= distance)) *out = distance;
        }
}

void extract_operators(struct extraction *ex)
{
    if (!ex->question || ex->question->foreign) return;
    set_cues(ex);
    set_comparisons(ex);
    set_cues_met(ex);
    set_direction(ex);
    set_extremes(ex);
    set_logic(ex);
    set_contradictions(ex);
    set_distances(ex);
}
