/* negation_mismatch: the question has "without", "never" or "not" but the query excludes nothing, or the reverse.
 *
 * The query excludes rows by NOT in all its forms, <>, EXCEPT, IS NULL (also in an anti-join), or a count compared with
 * zero. A literal that is itself a negation ('N', 'No', 0, 'F', "not ...") also counts, because the database may store
 * "not paid" in this form.
 *
 * Two other checks find queries that exclude the wrong things: a negated condition on joined rows, and a count of
 * things minus a count of their rows. The data must prove such a fault. */
#include "lib/question/frame.h"
#include "lib/question/phrase.h"
#include "signals/support/logic.h"
#include "signals/support/predicate.h"
#include "signals/support/query.h"
#include "signals/support/without.h"

#include <glib.h>
#include <math.h>
#include <string.h>

enum { OPT_UNASKED };
enum { BOUND_REACH = 4, NOUN_REACH = 4, MIN_START = 5 };

/* Words that are not negations but may justify an exclusion. */
static const char *const EXCLUDERS[] = {
    "other",   "others", "only",    "different", "except",    "exclude", "remain", "unless",  "all",    "always",
    "every",   "null",   "missing", "empty",     "available", "free",    "still",  "neither", "but",    "outside",
    "besides", "non",    "exist",   "single",    "any",       "solely",  "alone",  "nowhere", "unique", "unknown",
    "valid",   "least",  "avoid",   "another",   "else",      "both",    NULL};

static const char *const NEGATIVE_LITERALS[] = {"n",    "no",  "f", "false", "0",       "none",
                                                "null", "off", "",  "never", "negative"};

static bool is_negative_text(const char *text, size_t len)
{
    for (size_t i = 0; i < G_N_ELEMENTS(NEGATIVE_LITERALS); i++)
        if (sql_name_is(text, len, NEGATIVE_LITERALS[i], strlen(NEGATIVE_LITERALS[i]))) return true;
    static const char *const PREFIXES[] = {"not", "no ", "no-", "non", "un", "in", "dis"};
    for (size_t i = 0; i < G_N_ELEMENTS(PREFIXES); i++)
        if (len > strlen(PREFIXES[i]) && g_ascii_strncasecmp(text, PREFIXES[i], strlen(PREFIXES[i])) == 0) return true;
    return false;
}

static bool has_negative_literal(const struct vsig_subject *subject)
{
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n)) {
        const struct sql_node *literal = query_literal(n, NULL);
        if (literal != n || !n->text) continue;
        if (n->kind == SQL_LITERAL && n->op == SQL_LIT_FALSE) return true;
        if (is_negative_text(n->text, n->text_len)) return true;
    }
    return false;
}

/* True if the question has a word with a negative prefix or suffix: "unable", "unused", "nut-free". */
static bool has_negative_word(const struct question *question)
{
    for (uint32_t i = 0; i < question->tokens.n; i++) {
        const struct text_token *t = &question->tokens.items[i];
        bool prefixed = g_str_has_prefix(t->norm, "un") || g_str_has_prefix(t->norm, "non") ||
                        g_str_has_prefix(t->norm, "in") || g_str_has_prefix(t->norm, "dis") ||
                        g_str_has_prefix(t->norm, "no-");
        bool suffixed = g_str_has_suffix(t->norm, "-free") || g_str_has_suffix(t->norm, "less");
        if (t->kind == TEXT_WORD && !t->is_stop && (prefixed || suffixed) && strlen(t->norm) > 4) return true;
    }
    return false;
}

/* Frame elements that contain negative words but exclude no rows: "teams without any can be left out", "no gaps". */
static const unsigned NO_EXCLUSIONS =
    1U << FRAME_ZEROS | 1U << FRAME_NO_ZEROS | 1U << FRAME_AS_ZERO | 1U << FRAME_SKIP_MISSING | 1U << FRAME_TIES |
    1U << FRAME_ONE | 1U << FRAME_GAPS | 1U << FRAME_NO_GAPS | 1U << FRAME_POOLED | 1U << FRAME_MEAN_EACH |
    1U << FRAME_RESTART | 1U << FRAME_REPEATS | 1U << FRAME_KEPT | 1U << FRAME_ANY | 1U << FRAME_IDIOM;

/* True if the query has an aggregate that ignores rows without a value. All aggregates but COUNT(*) do. */
static bool skips_missing(const struct query_view *view)
{
    const struct sql_node *count = view->aggregate[QUERY_COUNT];
    return view->aggregate[QUERY_AVG] || view->aggregate[QUERY_SUM] || view->aggregate[QUERY_MAX] ||
           view->aggregate[QUERY_MIN] || view->aggregate[QUERY_OTHER_AGGREGATE] ||
           (count && !(count->flags & SQL_F_STAR));
}

/* True if the cue is part of a frame element that excludes no rows. An element that excludes missing values counts as
 * such only if the query's aggregates ignore them. If `view` is NULL, it always counts. */
static bool is_part_of_element(const struct question *question, const struct question_cue *cue,
                               const struct query_view *view)
{
    for (uint32_t i = 0; i < question->frame->n; i++) {
        const struct frame_element *element = &question->frame->elements[i];
        if (element->kind == FRAME_SKIP_MISSING && view && !skips_missing(view)) continue;
        if (NO_EXCLUSIONS >> element->kind & 1U && cue->first < element->first + element->n_tokens &&
            cue->first + cue->n_tokens > element->first)
            return true;
    }
    return false;
}

static const struct question_cue *sure_negation(const struct question *question, const struct query_view *view)
{
    for (uint32_t i = 0; i < question->n_cues; i++) {
        const struct question_cue *cue = &question->cues[i];
        if (cue->kind == QUESTION_CUE_NOT && !cue->weak && !cue->named && !is_part_of_element(question, cue, view))
            return cue;
    }
    return NULL;
}

static bool has_outer_join(const struct vsig_subject *subject)
{
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n))
        if (sql_is(n, SQL_JOIN) && (n->op == SQL_JOIN_LEFT_OUTER || n->op == SQL_JOIN_RIGHT_OUTER)) return true;
    return false;
}

/* True if the query has a XOR b, which is true if exactly one of them is. */
static bool has_xor(const struct vsig_subject *subject)
{
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n))
        if (sql_is(n, SQL_BINARY) && n->text && sql_name_is(n->text, n->text_len, "xor", 3)) return true;
    return false;
}

static bool reads_tree(const struct vsig_subject *subject)
{
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n))
        if (sql_is(n, SQL_WITH) && n->flags & SQL_F_RECURSIVE) return true;
    return false;
}

/* True if the query compares the number of a bound after the negation. For "neither under 5 nor over 9", it can use
 * inverted bounds instead of a negation. */
static bool negates_bound(const struct vsig_subject *subject, const struct question_cue *negation)
{
    const struct question *question = subject->analysis;
    struct query_comparison found[QUERY_MAX_COMPARISONS];
    for (uint32_t i = 0; i < question->n_cues; i++) {
        const struct question_cue *cue = &question->cues[i];
        if (cue->kind != QUESTION_CUE_COMPARE || cue->number < 0 || cue->first < negation->first) continue;
        if (cue->first - negation->first > BOUND_REACH) continue;
        if (query_compared_with(subject, question->values[cue->number].number, found)) return true;
    }
    return false;
}

/* True if the value has the same beginning as a word after the negation: Subscriber and "without a subscription". */
static bool is_negated_noun(const struct question *question, const struct question_cue *negation, const char *value,
                            size_t len)
{
    uint32_t first = negation->first + negation->n_tokens, end = MIN(first + NOUN_REACH, question->tokens.n);
    for (uint32_t i = first; i < end; i++) {
        const char *norm = question->tokens.items[i].norm;
        if (len >= MIN_START && strlen(norm) >= MIN_START && g_ascii_strncasecmp(norm, value, MIN_START) == 0)
            return true;
    }
    return false;
}

/* True if the query selects the other one of a column's two values: type = 'Customer' for people who are not
 * subscribers. */
static bool takes_the_other(struct vsig_subject *subject, const struct question_cue *negation)
{
    struct vsig_predicate all[VSIG_MAX_PREDICATES];
    uint32_t n = vsig_predicates(subject, all);
    for (uint32_t i = 0; i < n; i++) {
        const struct schema_stats *stats = &all[i].column->stats;
        const struct sql_node *literal = all[i].literals[0];
        bool equal = sql_is(all[i].node, SQL_BINARY) && all[i].node->op == SQL_OP_EQ && all[i].n_literals == 1;
        if (!equal || !literal->text || stats->distinct != 2 || stats->n_top != 2) continue;
        if (is_negated_noun(subject->analysis, negation, literal->text, literal->text_len)) continue;
        for (uint32_t t = 0; t < stats->n_top; t++)
            if (stats->top[t].value.type == DB_TEXT &&
                is_negated_noun(subject->analysis, negation, stats->top[t].value.text, stats->top[t].value.len))
                return true;
    }
    return false;
}

static bool has_aggregate(const struct sql_node *expr, enum query_aggregate aggregate)
{
    for (const struct sql_node *n = expr; n; n = sql_walk(expr, n))
        if (query_aggregate_of(n) == aggregate) return true;
    return false;
}

/* True if the query subtracts a count to get the remaining things: COUNT(*) - COUNT(x), a difference of two counting
 * subqueries, or 1 - SUM(x) / COUNT(*). */
static bool subtracts_counts(const struct vsig_subject *subject)
{
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n)) {
        if (!sql_is(n, SQL_BINARY) || n->op != SQL_OP_SUB) continue;
        const struct sql_node *left = sql_kid(n, 0), *right = sql_kid(n, 1);
        double whole;
        bool of_all = query_literal_number(left, &whole) && (fabs(whole - 1) < 0.001 || fabs(whole - 100) < 0.001);
        bool counts = has_aggregate(right, QUERY_COUNT) || has_aggregate(right, QUERY_SUM);
        if (counts && (has_aggregate(left, QUERY_COUNT) || of_all)) return true;
        if (of_all && has_aggregate(right, QUERY_AVG)) return true;
    }
    return false;
}

/* True if a word after the negation names the column of an aggregate, which ignores rows without a value: AVG(fee) for
 * "leaving out loans without a fee". */
static bool skips_named_column(const struct vsig_subject *subject, const struct question_cue *negation,
                               const struct query_view *view)
{
    static const enum query_aggregate SKIPPING[] = {QUERY_AVG, QUERY_SUM, QUERY_COUNT, QUERY_MAX, QUERY_MIN};
    enum { REACH = 6 };
    const struct text_tokens *tokens = &subject->analysis->tokens;
    uint32_t first = negation->first + negation->n_tokens, end = MIN(first + REACH, tokens->n);
    for (size_t a = 0; a < G_N_ELEMENTS(SKIPPING); a++) {
        const struct sql_node *call = view->aggregate[SKIPPING[a]];
        const struct schema_column *column =
            call ? query_cast_column(subject, sql_kid(sql_kid(call, CALL_ARGS), 0)) : NULL;
        if (!column || column->not_null || !column->stats.nulls) continue;
        for (uint32_t i = first; i < end; i++)
            for (uint32_t w = 0; w < column->words.n; w++)
                if (g_str_equal(column->words.items[w].stem, tokens->items[i].stem)) return true;
    }
    return false;
}

static bool is_in_order(const struct sql_node *node)
{
    while (node && !sql_is(node, SQL_ORDER)) node = node->parent;
    return node != NULL;
}

/* True if one of `words` is among the tokens [first, end) of the question. */
static bool has_word_in(const struct question *question, uint32_t first, uint32_t end, const char *const *words)
{
    for (uint32_t i = first; i < MIN(end, question->tokens.n); i++)
        if (question_token_is(&question->tokens.items[i], words)) return true;
    return false;
}

/* True if the negation excludes no rows: "those without a reason in their own line", "never positive", "serious vs
 * not", "the longest time without an order". */
static bool keeps_rows(const struct question *question, const struct question_cue *cue)
{
    enum { BEFORE = 3, AFTER = 9 };
    static const char *const SPANS[] = {"days", "day", "months", "weeks", "years", "hours", "time", "nights", NULL};
    static const char *const OTHER[] = {"vs", "versus", "or", NULL};
    static const char *const OWN[] = {"own",   "separate", "separately", "counted", "under", "listed",
                                      "first", "last",     "0",          "zero",    "blank", NULL};
    static const char *const REMARKS[] = {"positive", "negative", "off", "itself", "included", "its", NULL};
    uint32_t end = cue->first + cue->n_tokens, before = cue->first > BEFORE ? cue->first - BEFORE : 0;
    if (has_word_in(question, before, cue->first, SPANS)) return true;
    if (cue->first && has_word_in(question, cue->first - 1, cue->first, OTHER)) return true;
    return has_word_in(question, end, end + AFTER, OWN) || has_word_in(question, end, end + BEFORE, REMARKS);
}

/* True if the question leaves out things without rows ("cities without any are left out"). The query must do so by a
 * join, HAVING or a window function. */
static bool leaves_out_by_join(const struct vsig_subject *subject, const struct query_view *view,
                               const struct question_cue *cue)
{
    enum { AFTER = 9 };
    static const char *const LEFT_OUT[] = {"out",     "aside",   "show",    "shown", "ignored",
                                           "skipped", "dropped", "neither", NULL};
    uint32_t end = cue->first + cue->n_tokens;
    bool joins = view->having || view->window;
    for (uint32_t i = 0; i < subject->bound->n_blocks; i++) joins |= subject->bound->blocks[i]->n_sources > 1;
    return joins && has_word_in(subject->analysis, end, end + AFTER, LEFT_OUT);
}

/* True if the query compares two counts. For example, HAVING COUNT(*) > COUNT(x) finds groups with rows without x. */
static bool compares_counts(const struct vsig_subject *subject)
{
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n))
        if (sql_is(n, SQL_BINARY) && sql_is_comparison((enum sql_op)n->op) &&
            query_aggregate_of(sql_kid(n, 0)) == QUERY_COUNT && query_aggregate_of(sql_kid(n, 1)) == QUERY_COUNT)
            return true;
    return false;
}

/* True for an IN list of at least two values. It may have all values but the excluded ones. */
static bool lists_values(const struct query_view *view)
{
    const struct sql_node *list = view->in_list ? sql_kid(view->in_list, 1) : NULL;
    return sql_is(list, SQL_LIST) && list->n_kids > 1;
}

static void check_missing(struct vsig_run *run, const struct query_view *view)
{
    struct vsig_subject *subject = run->subject;
    const struct question_cue *cue = sure_negation(subject->analysis, view);
    if (!cue || view->negation || view->is_null || has_negative_literal(subject)) return;
    if (has_xor(subject) || subtracts_counts(subject) || skips_named_column(subject, cue, view)) return;
    if (keeps_rows(subject->analysis, cue) || leaves_out_by_join(subject, view, cue)) return;
    if (compares_counts(subject) || lists_values(view)) return;
    /* in a recursive query, "itself not included" only excludes the start of the tree */
    if (subject->bound->n_blocks > 1 && reads_tree(subject)) return;
    if (has_outer_join(subject) || negates_bound(subject, cue) || takes_the_other(subject, cue))
        return; /* an outer join keeps rows without a partner */
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_ERROR, view->select, "the question excludes something, but the query excludes nothing");
    vsig_add_fact(run, finding, "word", false, "%s", subject->analysis->tokens.items[cue->first].norm);
}

/* True if the query aggregates the remaining rows of each group, and the condition is on these rows: "top scorers, own
 * goals don't count". */
static bool counts_rows_left(const struct vsig_subject *subject, const struct query_view *view,
                             const struct sql_node *excluded)
{
    bool counts = view->aggregate[QUERY_COUNT] || view->aggregate[QUERY_SUM] || view->aggregate[QUERY_AVG];
    const struct sql_block *block = excluded ? sql_block_of(subject->bound, excluded) : NULL;
    return counts && block && block->aggregate && block->grouped;
}

/* Reports two faults. First: the question asks for things without X, but the query finds things with some other row, as
 * by WHERE amenity <> 'TV' on joined rows. Second: the question says neither A nor B, but the query excludes only rows
 * that have both. */
static void check_scope(struct vsig_run *run, const struct query_view *view)
{
    static const char *const SOME[] = {"other than", "else",    "isn't",    "is not",    "aren't",    "are not",
                                       "wasn't",     "weren't", "outside",  "besides",   "at least",  "some",
                                       "but",        "except",  "another",  "other",     "all",       "every",
                                       "only",       "was not", "were not", "excluding", "different", NULL};
    static const char *const NEITHER[] = {"neither", "nor", NULL};
    const struct question *question = run->subject->analysis;
    const struct question_cue *cue = sure_negation(question, view);
    struct vsig_logic logic;
    struct question_phrase at;
    vsig_logic_look(run->subject, &logic);
    if (logic.leaves_both && !logic.leaves_each && question_phrase_find(question, NEITHER, 0, &at))
        vsig_fire(run, VSIG_ERROR, view->negation,
                  "the question asks for neither of two values, but the query only excludes rows that have both");
    if (!cue || !logic.rows_excluded_joined || logic.sets_excluded || view->is_null) return;
    if (question_phrase_find(question, SOME, 0, &at) || counts_rows_left(run->subject, view, logic.row_excluded))
        return;
    vsig_fire(run, VSIG_ERROR, logic.row_excluded,
              "the question asks for things that never have the value, but the query finds things that have some other "
              "value");
}

/* Returns the last table that the question names before a token, or -1. */
static int named_before(const struct question *question, uint32_t token)
{
    int table = -1;
    uint32_t last = 0;
    for (uint32_t i = 0; i < question->n_mentions; i++) {
        const struct question_mention *m = &question->mentions[i];
        if (m->column >= 0 || m->score <= 0.6 || m->first >= token || (table >= 0 && m->first < last)) continue;
        table = m->table;
        last = m->first;
    }
    return table;
}

/* Whether a negation refers to things or to their rows. ABOUT_THINGS_DOING means that it may refer to either. */
enum about { ABOUT_ROWS, ABOUT_THINGS_DOING, ABOUT_THINGS };

/* Classifies a negation. "Never", "no delivery" and "did not deliver anything" refer to things. "Did not deliver in
 * May" may also mean another delivery. */
static enum about negation_about(const struct question *question, const struct question_cue *cue)
{
    static const char *const ANY[] = {"any", "anything", "a single", "once", "ever", "at all", "anywhere", NULL};
    static const char *const DOES[] = {"did", "do", "does", "didn", "don", "doesn", "have", "has", "had", NULL};
    /* as in "did not pass an exam" */
    static const char *const SOME[] = {"a", "an", "some", "all", "every", "each", NULL};
    enum { REACH = 8 };
    const struct text_token *first = &question->tokens.items[cue->first];
    struct question_phrase at;
    if (cue->never || strcmp(first->norm, "no") == 0 || strcmp(first->norm, "without") == 0) return ABOUT_THINGS;
    if (cue->weak) return ABOUT_ROWS;
    if (question_phrase_find(question, ANY, cue->first, &at) && at.first <= cue->first + REACH) return ABOUT_THINGS;
    if (question_phrase_find(question, SOME, cue->first, &at) && at.first <= cue->first + REACH) return ABOUT_ROWS;
    bool does = question_token_is(first, DOES) || (cue->first && question_token_is(first - 1, DOES));
    return does ? ABOUT_THINGS_DOING : ABOUT_ROWS;
}

/* Returns whether the question asks for things that have none of the rows: "never", "without", "nowhere". The last
 * table named before the negation must not be `rows`, as in "customers with orders that were never shipped". */
static enum about asks_for_none(const struct question *question, int rows)
{
    static const char *const NONE[] = {"nowhere", "free of", NULL};
    struct question_phrase at;
    if (question_phrase_find(question, NONE, 0, &at) && named_before(question, at.first) != rows) return ABOUT_THINGS;
    for (uint32_t i = 0; i < question->n_cues; i++) {
        const struct question_cue *cue = &question->cues[i];
        if (cue->kind != QUESTION_CUE_NOT || cue->named || is_part_of_element(question, cue, NULL)) continue;
        enum about about = negation_about(question, cue);
        if (about != ABOUT_ROWS && named_before(question, cue->first) != rows) return about;
    }
    return ABOUT_ROWS;
}

/* True if the question has at most one negation and no other exclusion, and the query does not already exclude a set of
 * rows. */
static bool is_only_exclusion(struct vsig_run *run, const struct query_view *view)
{
    static const char *const OTHERS[] = {"other than", "else",      "besides",   "except", "another",
                                         "other",      "excluding", "different", NULL};
    const struct question *question = run->subject->analysis;
    struct question_phrase at;
    struct vsig_logic logic;
    uint32_t n = 0;
    vsig_logic_look(run->subject, &logic);
    for (uint32_t i = 0; i < question->n_cues; i++) n += question->cues[i].kind == QUESTION_CUE_NOT;
    return n < 2 && !logic.sets_excluded && !view->is_null && !question_phrase_find(question, OTHERS, 0, &at);
}

/* Reports the two wrong queries of signals/support/without.h for things without rows of another table. */
static enum err_code check_without(struct vsig_run *run, const struct query_view *view)
{
    static const char *const FREE[] = {"free of", "lack", "lacking", "remain", "nowhere", "unclaimed", NULL};
    static const char *const MORE[] = {"more", "fewer", "less", "difference", "minus", "gap", "net", "exceed", NULL};
    const struct question *question = run->subject->analysis;
    struct vsig_without without;
    const struct sql_node *count;
    enum err_code code = ERR_OK;
    struct question_phrase at;
    if (run->verdict->n_findings == 0 && asks_for_none(question, -2) && is_only_exclusion(run, view)) {
        code = vsig_without_rows(run->subject, &without);
        enum about about = without.at ? asks_for_none(question, without.rows) : ABOUT_ROWS;
        if (about == ABOUT_THINGS || (about == ABOUT_THINGS_DOING && !without.zero))
            vsig_fire(run, VSIG_ERROR, without.at,
                      "the question asks for things without such rows, but this condition also finds things that have "
                      "such a row and another one");
    }
    bool negated = question->cue_kinds & 1U << QUESTION_CUE_NOT || question_phrase_find(question, FREE, 0, &at) ||
                   has_negative_word(question);
    if (code || !negated || question_phrase_find(question, MORE, 0, &at)) return code;
    code = vsig_without_count(run->subject, &count);
    if (!code && count)
        vsig_fire(run, VSIG_ERROR, count,
                  "a thing may have several of the rows that are counted here, so the difference is not the number of "
                  "things without one");
    return code;
}

/* True if the condition excludes only rows without a real value, as IS NOT NULL does: `code <> ''`, `NOT GLOB
 * '*[^0-9]*'`. */
static bool leaves_out_nothing(const struct sql_node *negation)
{
    static const char *const EMPTY[] = {"", "null", "n/a", "-", "?", "none", "unknown", "0000-00-00", "*[^0-9]*"};
    const struct sql_node *literal = query_literal(sql_kid(negation, 1), NULL);
    if (!literal || (negation->kind != SQL_BINARY && negation->kind != SQL_LIKE)) return false;
    if (!literal->text_len) return true;
    for (size_t i = 0; i < G_N_ELEMENTS(EMPTY); i++)
        if (sql_name_is(literal->text, literal->text_len, EMPTY[i], strlen(EMPTY[i]))) return true;
    return false;
}

/* True if the question asks for an extreme, and the query compares rows to find it: NOT EXISTS (... a later row), or an
 * anti-join with one. */
static bool selects_extreme(const struct vsig_subject *subject)
{
    static const unsigned EXTREMES = 1U << QUESTION_CUE_EXTREME | 1U << QUESTION_CUE_FIRST | 1U << QUESTION_CUE_TOP |
                                     1U << QUESTION_CUE_NTH | 1U << QUESTION_CUE_MAXIMUM | 1U << QUESTION_CUE_MINIMUM;
    return subject->analysis->cue_kinds & EXTREMES && vsig_compares_with_others(subject);
}

/* True for a negated comparison by size. NOT (a <= b) is a > b for rows that have both values. */
static bool turns_comparison(const struct sql_node *negation)
{
    if (negation->kind != SQL_UNARY || negation->op != SQL_OP_NOT || !sql_is(negation->kids[0], SQL_BINARY))
        return false;
    uint8_t op = negation->kids[0]->op;
    return op == SQL_OP_LT || op == SQL_OP_LE || op == SQL_OP_GT || op == SQL_OP_GE;
}

static void check_unasked(struct vsig_run *run, const struct query_view *view)
{
    const struct question *question = run->subject->analysis;
    const struct sql_node *negation = view->negation;
    if (vsig_opt(run, OPT_UNASKED) < 0.5 || !negation || question->cue_kinds & 1U << QUESTION_CUE_NOT) return;
    /* IS NOT NULL may be a guard and is not reported */
    if (negation->kind == SQL_BINARY && negation->op == SQL_OP_IS_NOT) return;
    if (negation->kind == SQL_UNARY && negation->op == SQL_OP_NOTNULL) return;
    if (negation->kind == SQL_BINARY && !query_literal(sql_kid(negation, 0), NULL) &&
        !query_literal(sql_kid(negation, 1), NULL))
        return; /* a.id <> b.id excludes pairs of a row with itself */
    if (leaves_out_nothing(negation) || turns_comparison(negation) || selects_extreme(run->subject)) return;
    if (is_in_order(negation)) return; /* ORDER BY state <> 'open' excludes no rows */
    for (const char *const *word = EXCLUDERS; *word; word++)
        if (question_has(question, *word)) return;
    if (has_negative_word(question)) return;
    vsig_fire(run, VSIG_WARNING, negation, "the query excludes rows, but the question does not");
}

static enum err_code negation_mismatch_eval(struct vsig_run *run)
{
    struct query_view view;
    if (query_foreign(run)) return ERR_OK;
    query_look(run->subject, &view);
    if (!view.select) return ERR_OK;
    check_scope(run, &view);
    enum err_code code = check_without(run, &view);
    if (run->verdict->n_findings == 0) check_missing(run, &view);
    check_unasked(run, &view);
    return code;
}

static const struct vsig_option OPTIONS[] = {
    [OPT_UNASKED] = {"unasked", 1, 0, 1, "also report an exclusion that the question does not ask for"},
    {NULL},
};

const struct vsig_def vsig_negation_mismatch = {
    .id = VSIG_ID_negation_mismatch,
    .name = "negation_mismatch",
    .family = VSIG_QUESTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "the question excludes something but the query does not, or the reverse",
    .description = "The question says without, never, not or except, but no condition of the query excludes anything. "
                   "Or the query excludes rows that the question does not mention. Or a negated condition on "
                   "joined rows keeps things that also have an excluded row.",
    .example = "Which members never booked? - SELECT name FROM member JOIN booking USING (member_id)",
    .instruction = "Exclude what the question excludes, with NOT IN, NOT EXISTS, EXCEPT or <>.",
    .options = OPTIONS,
    .eval = negation_mismatch_eval,
};
