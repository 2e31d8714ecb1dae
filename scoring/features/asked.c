/* Compares the cues of the question with the query, cue by cue: bounds, limits, negation, sets, groups, shares.
 *
 * operators.c counts cues and operators. This file compares each cue with the place of the query that should implement
 * it. The value 1 means that the query does what the cue requests, and -1 that it does something else. NAN means that
 * the question has no such cue. */
#include "scoring/features/extract.h"
#include "signals/support/definition.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { VALUE_REACH = 6, NOUN_REACH = 4, COUNT_DIFFERENT_REACH = 3 };

#define CUE(kind) (1U << QUESTION_CUE_##kind)
static const unsigned SUPERLATIVES = CUE(EXTREME) | CUE(FIRST) | CUE(TOP) | CUE(NTH);

static bool has_cue(const struct extraction *ex, unsigned kinds)
{
    return question_cue_any(ex->question, kinds);
}

static uint32_t cue_end(const struct question_cue *cue)
{
    return cue->first + cue->n_tokens;
}

static float met(bool yes)
{
    return yes ? 1.0F : -1.0F;
}

/* --- bounds --- */

/* Pairs of operators that express the same bound on whole numbers, such as "more than 5" and "6 or more". */
static const struct {
    enum sql_op asked, same;
    double step;
} NEIGHBOURS[] = {
    {SQL_OP_GT, SQL_OP_GE, 1}, {SQL_OP_GE, SQL_OP_GT, -1}, {SQL_OP_LT, SQL_OP_LE, -1}, {SQL_OP_LE, SQL_OP_LT, 1}};

static bool is_up(enum sql_op op)
{
    return op == SQL_OP_GT || op == SQL_OP_GE;
}

static bool is_down(enum sql_op op)
{
    return op == SQL_OP_LT || op == SQL_OP_LE;
}

static bool met_by_neighbour(const struct extraction *ex, enum sql_op asked, double number)
{
    struct query_comparison found[QUERY_MAX_COMPARISONS];
    for (size_t i = 0; i < G_N_ELEMENTS(NEIGHBOURS); i++) {
        if (NEIGHBOURS[i].asked != asked) continue;
        uint32_t n = query_compared_with(ex->subject, number + NEIGHBOURS[i].step, found);
        for (uint32_t k = 0; k < n; k++)
            if (found[k].op == NEIGHBOURS[i].same) return true;
    }
    return false;
}

struct bound_counts {
    float exact, strictness, turned, missing, on_count;
    bool any;
};

static bool holds_aggregate(const struct sql_node *root)
{
    for (const struct sql_node *n = root; n; n = sql_walk(root, n))
        if (query_aggregate_of(n) != QUERY_AGGREGATES) return true;
    return false;
}

/* Returns the kind of the name that follows a number: 1 for a table, -1 for a column, 0 for neither. */
static int noun_behind(const struct question *question, uint32_t from)
{
    for (uint32_t m = 0; m < question->n_mentions; m++) {
        const struct question_mention *mention = &question->mentions[m];
        if (mention->first < from || mention->first >= from + NOUN_REACH || mention->score < 0.7) continue;
        return mention->column < 0 ? 1 : -1;
    }
    return 0;
}

static void count_bound(const struct extraction *ex, struct bound_counts *counts, enum sql_op op, bool loose, int value)
{
    struct query_comparison found[QUERY_MAX_COMPARISONS];
    const struct question_value *number = &ex->question->values[value];
    uint32_t n = query_compared_with_value(ex->subject, number, found);
    bool exact = false, same_way = false;
    counts->any = true;
    for (uint32_t i = 0; i < n; i++) {
        exact |= found[i].op == op;
        same_way |= (is_up(op) && is_up(found[i].op)) || (is_down(op) && is_down(found[i].op));
    }
    if (exact || (!n && met_by_neighbour(ex, op, number->number)))
        counts->exact++;
    else if (same_way)
        counts->strictness += loose ? 0.25F : 1;
    else if (n)
        counts->turned++;
    else
        counts->missing++;
    int noun = n ? noun_behind(ex->question, number->first + number->n_tokens) : 0;
    if (noun) counts->on_count += met(holds_aggregate(found[0].other) == (noun > 0));
}

static void set_bounds(struct extraction *ex)
{
    struct bound_counts counts = {.any = false};
    for (uint32_t i = 0; i < ex->question->n_cues; i++) {
        const struct question_cue *cue = &ex->question->cues[i];
        bool out = cue->op == SQL_OP_GT;
        if (cue->kind == QUESTION_CUE_COMPARE && cue->number >= 0)
            count_bound(ex, &counts, (enum sql_op)cue->op, cue->loose, cue->number);
        if (cue->kind != QUESTION_CUE_BETWEEN || cue->number < 0 || cue->number2 < 0) continue;
        count_bound(ex, &counts, out ? SQL_OP_GT : SQL_OP_GE, cue->op == SQL_OP_NONE, cue->number);
        count_bound(ex, &counts, out ? SQL_OP_LT : SQL_OP_LE, cue->op == SQL_OP_NONE, cue->number2);
    }
    if (!counts.any) return;
    ex->out[FEATURE_bounds_exact] = counts.exact;
    ex->out[FEATURE_bounds_strictness] = counts.strictness;
    ex->out[FEATURE_bounds_turned] = counts.turned;
    ex->out[FEATURE_bounds_missing] = counts.missing;
    ex->out[FEATURE_bounds_on_count] = counts.on_count;
}

/* --- limits and ranks --- */

/* Returns the number of rows that the question requests, such as 3 for "top 3" and 1 for a superlative. Returns 0 if it
 * requests no number. */
static double rows_asked(const struct extraction *ex)
{
    for (uint32_t i = 0; i < ex->question->n_cues; i++) {
        const struct question_cue *cue = &ex->question->cues[i];
        int number = cue->kind == QUESTION_CUE_TOP ? cue->number : cue->rows;
        if (number >= 0) return ex->question->values[number].number;
    }
    return has_cue(ex, CUE(EXTREME) | CUE(FIRST) | CUE(NTH)) ? 1 : 0;
}

static void set_limit(struct extraction *ex)
{
    double asked = rows_asked(ex), limit = 0, offset = 0, rank = 1;
    const struct sql_node *node = ex->view.any_limit;
    if (node && !query_literal_number(sql_kid(node, LIMIT_COUNT), &limit)) return;
    if (node && sql_kid(node, LIMIT_OFFSET) && !query_literal_number(sql_kid(node, LIMIT_OFFSET), &offset)) return;
    int nth = question_cue_next(ex->question, QUESTION_CUE_NTH, 0);
    if (nth >= 0 && ex->question->cues[nth].rank) rank = ex->question->cues[nth].rank;
    if (asked > 0) ex->out[FEATURE_limit_as_asked] = node ? met(fabs(limit - asked) < 0.5) : 0;
    ex->out[FEATURE_limit_unasked] = node && asked < 0.5;
    if (node || nth >= 0) ex->out[FEATURE_offset_as_asked] = node ? met(fabs(offset - (rank - 1)) < 0.5) : 0;
}

/* --- direction, cue by cue --- */

/* Returns the column of an ordering term, which may be inside an aggregate. Returns NULL if there is none. */
static const struct schema_column *key_of(const struct extraction *ex, const struct sql_node *expr)
{
    const struct schema_column *column = query_cast_column(ex->subject, expr);
    if (column || query_aggregate_of(expr) == QUERY_AGGREGATES) return column;
    return query_cast_column(ex->subject, sql_kid(sql_kid(expr, CALL_ARGS), 0));
}

static float tokens_apart(const struct question_mention *mention, const struct question_cue *cue)
{
    uint32_t end = mention->first + mention->n_tokens;
    if (cue_end(cue) <= mention->first) return (float)(mention->first - cue_end(cue));
    return end <= cue->first ? (float)(cue->first - end) : 0;
}

/* Returns the ordering term whose column is mentioned nearest to the cue. If the question mentions no column, returns
 * the only term. */
static const struct sql_node *nearest_term(const struct extraction *ex, const struct question_cue *cue)
{
    const struct sql_node *root = ex->subject->stmt->root, *best = NULL;
    float least = INFINITY;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        if (!sql_is(n, SQL_TERM)) continue;
        const struct schema_column *column = key_of(ex, sql_kid(n, 0));
        const struct question_mention *mention = column ? extract_best_mention(ex, column) : NULL;
        float apart = mention ? tokens_apart(mention, cue) : 1000;
        if (apart >= least) continue;
        least = apart;
        best = n;
    }
    return best;
}

static void set_directions(struct extraction *ex)
{
    static const unsigned directed = CUE(EXTREME) | CUE(TOP) | CUE(DIRECTION) | CUE(FIRST) | CUE(NTH);
    static const char *const AGES[] = {"age", "rank", "ranking", "posit", NULL};
    float right = 0, wrong = 0;
    for (uint32_t i = 0; i < ex->question->n_cues; i++) {
        const struct question_cue *cue = &ex->question->cues[i];
        if (!(directed >> cue->kind & 1U) || cue->op == SQL_OP_NONE || cue->named) continue;
        const struct sql_node *term = nearest_term(ex, cue);
        if (!term) continue;
        bool turned =
            cue->kind == QUESTION_CUE_FIRST && query_name_has(key_of(ex, sql_kid(term, 0)), AGES); /* oldest: age */
        bool down = (term->op == SQL_DESC) != turned;
        if (down == (cue->op == SQL_DESC))
            right++;
        else
            wrong++;
    }
    ex->out[FEATURE_directions_right] = right;
    ex->out[FEATURE_directions_wrong] = wrong;
}

/* --- negation --- */

static bool is_set_exclusion(const struct extraction *ex, const struct sql_node *n)
{
    bool flagged = sql_is(n, SQL_IN) && n->flags & SQL_F_NOT;
    if (flagged) return !sql_is(sql_kid(n, IN_RIGHT), SQL_LIST);
    if (sql_is(n, SQL_COMPOUND)) return n->op == SQL_EXCEPT;
    if (sql_is(n, SQL_EXISTS)) return query_is_excluded(n) || n->flags & SQL_F_NOT;
    if (n == ex->view.is_null) return true;
    double number;
    return sql_is(n, SQL_BINARY) && n->op == SQL_OP_EQ && query_aggregate_of(sql_kid(n, 0)) == QUERY_COUNT &&
           query_literal_number(sql_kid(n, 1), &number) && fabs(number) < 0.5;
}

static bool is_row_exclusion(const struct sql_node *n)
{
    if (sql_is(n, SQL_BINARY) && n->op == SQL_OP_NE)
        return query_literal(sql_kid(n, 0), NULL) || query_literal(sql_kid(n, 1), NULL);
    if (sql_is(n, SQL_LIKE)) return n->flags & SQL_F_NOT;
    return sql_is(n, SQL_IN) && n->flags & SQL_F_NOT && sql_is(sql_kid(n, IN_RIGHT), SQL_LIST);
}

/* Sets the features of the scope of a negation. "Never" requires a difference of sets, and "not all" requires rows that
 * differ. */
static void set_scope(struct extraction *ex)
{
    const struct sql_node *root = ex->subject->stmt->root;
    bool sets = false, rows = false, never = false, part = false;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        sets |= is_set_exclusion(ex, n);
        rows |= is_row_exclusion(n);
    }
    for (uint32_t i = 0; i < ex->question->n_cues; i++) {
        never |= ex->question->cues[i].never;
        part |= ex->question->cues[i].part;
    }
    ex->out[FEATURE_excludes_sets] = sets;
    ex->out[FEATURE_excludes_rows] = rows;
    if (never) ex->out[FEATURE_never_as_set] = sets ? 1 : rows ? -1 : 0;
    if (part) ex->out[FEATURE_not_all_as_rows] = rows && !sets ? 1 : sets ? -1 : 0;
}

/* True if the literal's condition excludes its value. */
static bool leaves_out(const struct sql_node *literal)
{
    const struct sql_node *n = literal->parent;
    if (sql_is(n, SQL_LIST)) n = n->parent;
    bool itself = (sql_is(n, SQL_BINARY) && (n->op == SQL_OP_NE || n->op == SQL_OP_IS_NOT)) ||
                  ((sql_is(n, SQL_LIKE) || sql_is(n, SQL_IN)) && n->flags & SQL_F_NOT);
    return itself != query_is_excluded(n ? n : literal);
}

static bool is_negated(const struct question *question, const struct question_value *value)
{
    bool negated = false;
    for (uint32_t i = 0; i < question->n_cues; i++) {
        const struct question_cue *cue = &question->cues[i];
        if (cue->first >= value->first || value->first - cue_end(cue) > VALUE_REACH) continue;
        if (cue->kind == QUESTION_CUE_NOT) negated = true;
    }
    return negated;
}

/* Returns 1 if the query excludes this value, -1 if it requires it, 0 if it has no such literal. */
static int stance_on(const struct extraction *ex, const struct question_value *value)
{
    const struct sql_node *root = ex->subject->stmt->root;
    const char *said = extract_letters(ex->arena, value->text, strlen(value->text));
    for (const struct sql_node *n = root; said && n; n = sql_walk(root, n)) {
        if (query_literal(n, NULL) != n || !n->text || !n->text_len || sql_is(n->parent, SQL_LIMIT)) continue;
        const char *letters = extract_letters(ex->arena, n->text, n->text_len);
        if (letters && extract_texts_match(said, letters)) return leaves_out(n) ? 1 : -1;
    }
    return 0;
}

static void set_negated_values(struct extraction *ex)
{
    float out = 0, kept = 0, unasked = 0;
    for (uint32_t i = 0; i < ex->question->n_values; i++) {
        const struct question_value *value = &ex->question->values[i];
        if (value->kind == QUESTION_VALUE_NUMBER || value->is_name) continue;
        int stance = stance_on(ex, value);
        bool negated = is_negated(ex->question, value);
        out += negated && stance > 0;
        kept += negated && stance < 0;
        unasked += !negated && stance > 0;
    }
    ex->out[FEATURE_negated_values_out] = out;
    ex->out[FEATURE_negated_values_kept] = kept;
    ex->out[FEATURE_values_out_unasked] = unasked;
}

/* --- sets --- */

static uint32_t count_membership(const struct sql_node *root)
{
    uint32_t n_found = 0;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n))
        n_found += sql_is(n, SQL_EXISTS) || (sql_is(n, SQL_IN) && !sql_is(sql_kid(n, IN_RIGHT), SQL_LIST));
    return n_found;
}

static bool reads_table_twice(const struct extraction *ex)
{
    for (uint32_t b = 0; b < ex->subject->bound->n_blocks; b++) {
        const struct sql_block *block = ex->subject->bound->blocks[b];
        for (uint32_t i = 0; i < block->n_sources; i++)
            for (uint32_t k = 0; k < i; k++)
                if (block->sources[i].table >= 0 && block->sources[i].table == block->sources[k].table) return true;
    }
    return false;
}

static void set_sets(struct extraction *ex)
{
    const struct query_view *v = &ex->view;
    bool each_has_own = v->compound[QUERY_INTERSECT] || v->having || reads_table_twice(ex) ||
                        count_membership(ex->subject->stmt->root) > 1;
    bool choice = v->or_node || v->in_list || v->compound[QUERY_UNION] || v->compound[QUERY_UNION_ALL];
    if (has_cue(ex, CUE(BOTH))) ex->out[FEATURE_both_as_asked] = each_has_own ? 1 : choice ? -1 : 0;
    if (has_cue(ex, CUE(EITHER))) ex->out[FEATURE_either_as_asked] = choice ? 1 : each_has_own ? -1 : 0;
    ex->out[FEATURE_or_unasked] = v->or_node && !has_cue(ex, CUE(EITHER) | CUE(BOTH) | CUE(NOT));
    if (has_cue(ex, CUE(ONLY)) || question_has(ex->question, "only"))
        ex->out[FEATURE_only_as_asked] = met(v->negation || v->having || v->is_null);
}

/* --- groups --- */

static bool says_per(const struct question *question)
{
    return question_has(question, "per");
}

static void set_groups(struct extraction *ex)
{
    const struct query_view *v = &ex->view;
    bool each = has_cue(ex, CUE(EACH)) || says_per(ex->question);
    bool correlated = v->window || ex->subject->bound->n_blocks > 1;
    if (each) ex->out[FEATURE_each_as_asked] = met(v->group || correlated || v->division);
    ex->out[FEATURE_group_unasked] =
        v->group && !each &&
        !has_cue(ex, SUPERLATIVES | CUE(COMPARE) | CUE(COUNT) | CUE(RATIO) | CUE(AVERAGE) | CUE(TOTAL));
    if (!each || !has_cue(ex, SUPERLATIVES | CUE(MAXIMUM) | CUE(MINIMUM))) return;
    bool per_group = v->window || v->aggregate[QUERY_MAX] || v->aggregate[QUERY_MIN];
    ex->out[FEATURE_top_of_each] = per_group ? 1 : v->limit ? -1 : 0;
}

/* --- distinctness --- */

/* True for "how many different": a cue for distinct values follows a cue for counting. */
static bool counts_different(const struct question *question)
{
    for (uint32_t i = 0; i + 1 < question->n_cues; i++) {
        const struct question_cue *count = &question->cues[i], *different = &question->cues[i + 1];
        if (count->kind == QUESTION_CUE_COUNT && different->kind == QUESTION_CUE_DISTINCT &&
            different->first - cue_end(count) <= COUNT_DIFFERENT_REACH)
            return true;
    }
    return false;
}

static void set_distinct(struct extraction *ex)
{
    const struct query_view *v = &ex->view;
    const struct sql_node *count = v->aggregate[QUERY_COUNT];
    bool different = counts_different(ex->question), shown = v->select && sql_kid(v->select, SELECT_DISTINCT);
    if (different) ex->out[FEATURE_different_counted] = met(v->distinct || v->group);
    ex->out[FEATURE_distinct_count_unasked] =
        count && count->flags & SQL_F_DISTINCT && !ex->question->cue_counts[QUESTION_CUE_DISTINCT];
    if (!different && ex->question->cue_counts[QUESTION_CUE_DISTINCT])
        ex->out[FEATURE_different_shown] = met(v->distinct || v->group || v->compound[QUERY_UNION] ||
                                               v->compound[QUERY_INTERSECT] || v->compound[QUERY_EXCEPT]);
    ex->out[FEATURE_distinct_rows_unasked] = shown && !ex->question->cue_counts[QUESTION_CUE_DISTINCT];
}

/* --- calculations --- */

static void set_aggregates(struct extraction *ex)
{
    static const struct {
        enum question_cue_kind cue;
        unsigned wanted;
    } rows[] = {{QUESTION_CUE_AVERAGE, 1U << QUERY_AVG}, {QUESTION_CUE_TOTAL, 1U << QUERY_SUM},
                {QUESTION_CUE_COUNT, 1U << QUERY_COUNT}, {QUESTION_CUE_QUANTITY, 1U << QUERY_SUM | 1U << QUERY_COUNT},
                {QUESTION_CUE_MAXIMUM, 1U << QUERY_MAX}, {QUESTION_CUE_MINIMUM, 1U << QUERY_MIN}};
    unsigned wanted = 0, done = 0;
    for (size_t r = 0; r < G_N_ELEMENTS(rows); r++)
        if (ex->question->cue_counts[rows[r].cue]) wanted |= rows[r].wanted;
    for (unsigned a = 0; a <= QUERY_MIN; a++) done |= ex->view.answer[a] ? 1U << a : 0;
    float matched = 0, swapped = 0;
    for (unsigned a = 0; a <= QUERY_MIN; a++) {
        matched += (float)(wanted & done & 1U << a ? 1 : 0);
        swapped += (float)(wanted && !(wanted & 1U << a) && done & 1U << a ? 1 : 0);
    }
    if (wanted || done) ex->out[FEATURE_aggregates_as_asked] = matched;
    if (wanted) ex->out[FEATURE_aggregates_swapped] = swapped;
}

/* Sets the feature of phrases such as "the average number of orders". The query must average counts or divide them. */
static void set_average_of_counts(struct extraction *ex)
{
    for (uint32_t i = 0; i < ex->question->n_cues; i++) {
        const struct question_cue *cue = &ex->question->cues[i];
        if (cue->kind != QUESTION_CUE_AVERAGE || cue->named || cue_end(cue) >= ex->question->tokens.n) continue;
        bool number = false;
        for (uint32_t t = cue->first; t < cue_end(cue) + 1; t++)
            number |= strcmp(ex->question->tokens.items[t].norm, "number") == 0;
        if (!number) continue;
        bool counts = ex->view.aggregate[QUERY_COUNT] != NULL;
        ex->out[FEATURE_average_of_counts] = met(counts && (ex->view.aggregate[QUERY_AVG] || ex->view.division));
        return;
    }
}

/* --- shares --- */

static bool is_real(const struct sql_node *root)
{
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        bool real_literal = sql_is(n, SQL_LITERAL) && n->op == SQL_LIT_FLOAT;
        if (real_literal || sql_is(n, SQL_CAST) || query_aggregate_of(n) == QUERY_AVG) return true;
    }
    return false;
}

static bool has_hundred(const struct sql_node *root)
{
    double number;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        if (!sql_is(n, SQL_BINARY) || n->op != SQL_OP_MUL) continue;
        for (uint32_t k = 0; k < 2; k++)
            if (query_literal_number(sql_kid(n, k), &number) && fabs(number - 100) < 1e-9) return true;
    }
    return false;
}

/* Returns the first token of the question that mentions a column in the subtree. Returns NAN if there is none. */
static float place_of(const struct extraction *ex, const struct sql_node *root)
{
    float place = (float)NAN;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n)) {
        const struct schema_column *column = sql_is(n, SQL_COLUMN) ? query_column(ex->subject, n) : NULL;
        const struct question_mention *mention = column ? extract_best_mention(ex, column) : NULL;
        if (mention && !(place <= (float)mention->first)) place = (float)mention->first;
    }
    return place;
}

static void set_shares(struct extraction *ex)
{
    const struct sql_node *root = ex->subject->stmt->root, *division = ex->view.division;
    bool asked = has_cue(ex, CUE(RATIO)), hundred = false, minus = false;
    for (uint32_t i = 0; i < ex->question->n_cues; i++) {
        hundred |= ex->question->cues[i].hundred;
        minus |= ex->question->cues[i].op == SQL_OP_SUB && ex->question->cues[i].kind == QUESTION_CUE_RATIO;
    }
    if (hundred) ex->out[FEATURE_percent_by_hundred] = met(has_hundred(root));
    if (minus) ex->out[FEATURE_difference_as_asked] = met(ex->view.difference != NULL);
    ex->out[FEATURE_division_unasked] = division && !asked && !has_cue(ex, CUE(AVERAGE));
    if (!division) return;
    ex->out[FEATURE_division_real] = met(is_real(division));
    float upper = place_of(ex, sql_kid(division, 0)), lower = place_of(ex, sql_kid(division, 1));
    if (!isnan(upper) && !isnan(lower) && fabsf(upper - lower) > 0.5F)
        ex->out[FEATURE_ratio_in_order] = met(upper < lower);
}

/* --- outer joins and months --- */

static void set_outer_joins(struct extraction *ex)
{
    const struct sql_node *root = ex->subject->stmt->root;
    bool outer = false;
    for (const struct sql_node *n = root; n; n = sql_walk(root, n))
        outer |= sql_is(n, SQL_JOIN) &&
                 (n->op == SQL_JOIN_LEFT_OUTER || n->op == SQL_JOIN_RIGHT_OUTER || n->op == SQL_JOIN_FULL_OUTER);
    bool asked = has_cue(ex, CUE(INCLUDE)), inside = ex->subject->bound->n_blocks > 1;
    const struct sql_node *count = ex->view.aggregate[QUERY_COUNT];
    if (asked) ex->out[FEATURE_include_as_asked] = met(outer || inside);
    ex->out[FEATURE_outer_join_unasked] = outer && !asked && !ex->view.is_null;
    if (asked && outer && count) ex->out[FEATURE_outer_join_counts_rows] = count->flags & SQL_F_STAR ? 1.0F : 0.0F;
}

static const char *const MONTHS[] = {"january", "february", "march",     "april",   "may",      "june",
                                     "july",    "august",   "september", "october", "november", "december"};

/* True if the literal is the month of the cue (3, '03', '%-03-%', 'March') or its day of the week. */
static bool speaks_of(const struct extraction *ex, const struct sql_node *literal, const struct question_cue *cue)
{
    char number[4];
    const char *word = ex->question->tokens.items[cue_end(cue) - 1].norm;
    g_snprintf(number, sizeof number, "%02u", cue->rank % 100U);
    const char *letters = extract_letters(ex->arena, literal->text, literal->text_len);
    if (!letters || !*letters) return false;
    bool month = cue->rank > 0 && cue->rank <= G_N_ELEMENTS(MONTHS);
    if (month && (strstr(letters, number) || strcmp(letters, number + (number[0] == '0')) == 0)) return true;
    if (month && strncmp(letters, MONTHS[cue->rank - 1], 3) == 0) return true;
    return strncmp(letters, word, 3) == 0;
}

static void set_periods(struct extraction *ex)
{
    const struct sql_node *root = ex->subject->stmt->root;
    for (uint32_t i = 0; i < ex->question->n_cues; i++) {
        const struct question_cue *cue = &ex->question->cues[i];
        if (cue->kind != QUESTION_CUE_PERIOD || cue->weak || !cue->rank) continue;
        bool found = false;
        for (const struct sql_node *n = root; n && !found; n = sql_walk(root, n))
            found = query_literal(n, NULL) == n && n->text && n->text_len && speaks_of(ex, n, cue);
        ex->out[FEATURE_period_as_asked] = met(found);
        if (!found) return;
    }
}

/* --- definitions of the evidence --- */

static void set_definitions(struct extraction *ex)
{
    static const enum feature_index features[] = {[DEFINITION_KEPT] = FEATURE_evidence_kept,
                                                  [DEFINITION_IGNORED] = FEATURE_evidence_ignored,
                                                  [DEFINITION_INVERTED] = FEATURE_evidence_inverted,
                                                  [DEFINITION_OTHER_VALUE] = FEATURE_evidence_other_value};
    if (!ex->question->evidence.n) return;
    float n = 0;
    for (size_t i = DEFINITION_KEPT; i < G_N_ELEMENTS(features); i++) ex->out[features[i]] = 0;
    for (uint32_t i = 0; i < ex->question->n_definitions; i++) {
        if (!ex->question->definitions[i].asked) continue;
        struct definition_use use = definition_look(ex->subject, &ex->question->definitions[i]);
        n++;
        if (use.how != DEFINITION_UNKNOWN) ex->out[features[use.how]] += 1;
    }
    ex->out[FEATURE_evidence_definitions] = n;
}

void extract_asked(struct extraction *ex)
{
    if (!ex->question) return;
    set_definitions(ex);
    ex->out[FEATURE_question_foreign] = ex->question->foreign;
    if (ex->question->foreign) return;
    set_bounds(ex);
    set_limit(ex);
    set_directions(ex);
    set_scope(ex);
    set_negated_values(ex);
    set_sets(ex);
    set_groups(ex);
    set_distinct(ex);
    set_aggregates(ex);
    set_average_of_counts(ex);
    set_shares(ex);
    set_outer_joins(ex);
    set_periods(ex);
}
