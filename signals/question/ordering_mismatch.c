/* ordering_mismatch: compares superlatives and sort words of the question with ORDER BY, its direction and LIMIT.
 *
 * A query can express a superlative by ORDER BY ... LIMIT, MAX or MIN, a window, a comparison with all others, or the
 * absence of a greater row. The signal reports a missing superlative only if the query has none of these. It compares
 * directions only if the words are unambiguous: the highest rank is the lowest number, and the oldest person has the
 * greatest age but the earliest year of birth. */
#include "lib/question/phrase.h"
#include "signals/support/logic.h"
#include "signals/support/meaning.h"
#include "signals/support/query.h"

#include <glib.h>
#include <string.h>

enum { OPT_UNASKED };

#define CUE(kind) (1U << QUESTION_CUE_##kind)
static const unsigned MEASURES = CUE(COUNT) | CUE(TOTAL) | CUE(AVERAGE) | CUE(QUANTITY) | CUE(RATIO);
static const unsigned SUPERLATIVES = CUE(EXTREME) | CUE(FIRST) | CUE(TOP) | CUE(NTH);

static const char *const RANKS[] = {"rank", "posit", "place", "order", "seed", "grade", "prioriti", "level", NULL};
static const char *const DATES[] = {"date",  "year",  "time",  "birth",  "dob",       "birthday", "born",
                                    "found", "open",  "day",   "releas", "establish", "join",     "hire",
                                    "built", "start", "begin", "month",  NULL};
static const char *const AGES[] = {"age", "old", NULL};

/* Words that may ask for a single row. */
static const char *const ONE_ROW[] = {"one",   "single", "any",   "example", "sample",   "top",
                                      "first", "last",   "major", "primary", "dominant", "favorite",
                                      "main",  "more",   "half",  "rank",    "popular",  NULL};

static bool has_quantifier(const struct vsig_subject *subject)
{
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n))
        if (n->kind == SQL_QUANTIFIED) return true;
    return false;
}

static const struct question_cue *sure_superlative(const struct question *question)
{
    for (uint32_t i = 0; i < question->n_cues; i++)
        if (SUPERLATIVES >> question->cues[i].kind & 1U && !question->cues[i].weak && !question->cues[i].named)
            return &question->cues[i];
    return NULL;
}

static const struct sql_node *order_before(const struct sql_node *limit)
{
    return limit ? sql_kid(limit->parent, QUERY_ORDER) : NULL;
}

/* Returns the direction that a cue requires for the sort key: SQL_ASC or SQL_DESC. Returns SQL_OP_NONE if the words and
 * the column do not decide. */
static enum sql_op wanted(const struct vsig_subject *subject, const struct question_cue *cue,
                          const struct sql_node *key)
{
    const struct schema_column *column = query_cast_column(subject, key);
    if (query_name_has(column, RANKS)) return SQL_OP_NONE;
    /* the evidence may reverse it: "least certain" may mean the greatest difference */
    if (!column && subject->analysis->n_definitions) return SQL_OP_NONE;
    /* dates may reverse it: the longest serving has the earliest date */
    if (cue->kind != QUESTION_CUE_FIRST) return query_name_has(column, DATES) ? SQL_OP_NONE : cue->op;
    if (query_name_has(column, AGES)) return cue->op == SQL_ASC ? SQL_DESC : SQL_ASC;
    return query_name_has(column, DATES) || (column && column->stats.date_texts > 0) ? cue->op : SQL_OP_NONE;
}

/* Returns the direction that all superlatives of the question require for this key. Returns SQL_OP_NONE if they differ
 * or do not decide. */
static enum sql_op wanted_by_all(const struct vsig_subject *subject, const struct sql_node *key)
{
    const struct question *question = subject->analysis;
    enum sql_op all = SQL_OP_NONE;
    for (uint32_t i = 0; i < question->n_cues; i++) {
        const struct question_cue *cue = &question->cues[i];
        if (cue->kind == QUESTION_CUE_DIRECTION || cue->kind == QUESTION_CUE_SORT) return SQL_OP_NONE;
        if (!((SUPERLATIVES | CUE(MAXIMUM) | CUE(MINIMUM)) >> cue->kind & 1U) || cue->named || cue->weak) continue;
        enum sql_op op = wanted(subject, cue, key);
        if (op == SQL_OP_NONE || (all != SQL_OP_NONE && op != all)) return SQL_OP_NONE;
        all = op;
    }
    return all;
}

static enum sql_op direction_of(const struct sql_node *term)
{
    return term->op == SQL_DESC ? SQL_DESC : SQL_ASC;
}

static bool limit_number(const struct sql_node *limit, double *number)
{
    return limit && query_literal_number(sql_kid(limit, LIMIT_COUNT), number);
}

static void check_superlative_direction(struct vsig_run *run, const struct query_view *view)
{
    const struct sql_node *order = order_before(view->any_limit), *term = sql_kid(order, 0);
    if (!term || sql_kid(view->any_limit, LIMIT_OFFSET)) return;
    enum sql_op asked = wanted_by_all(run->subject, sql_kid(term, 0));
    if (asked == SQL_OP_NONE || asked == direction_of(term)) return;
    vsig_fire(run, VSIG_ERROR, term, "the question asks for the %s value, but the query sorts %s value first",
              asked == SQL_DESC ? "greatest" : "least", asked == SQL_DESC ? "the least" : "the greatest");
}

static void check_extreme_function(struct vsig_run *run, const struct query_view *view)
{
    const struct sql_node *max = view->aggregate[QUERY_MAX], *min = view->aggregate[QUERY_MIN], *call = max ? max : min;
    if (view->any_limit || (max && min) || !call) return;
    enum sql_op asked = wanted_by_all(run->subject, sql_kid(sql_kid(call, CALL_ARGS), 0));
    if (asked == SQL_OP_NONE || asked == (max ? SQL_DESC : SQL_ASC)) return;
    vsig_fire(run, VSIG_ERROR, call, "the question asks for the %s value, but the query takes the %s",
              max ? "least" : "greatest", max ? "maximum" : "minimum");
}

/* Returns the column of the selected row in a comparison of two rows. This row is outside of the subquery, or the outer
 * join keeps it. *other gets the column of the other row. Returns NULL if it is unknown which row is selected. */
static const struct sql_node *own_side(const struct sql_node *comparison, const struct sql_node **other)
{
    const struct sql_node *left = sql_kid(comparison, 0), *right = sql_kid(comparison, 1);
    bool left_outer = left->ref->levels > 0, right_outer = right->ref->levels > 0;
    bool joined = !left_outer && !right_outer && left->ref->source && right->ref->source;
    if (joined) { /* an anti-join */
        left_outer = !left->ref->source->nullable;
        right_outer = !right->ref->source->nullable;
    }
    if (left_outer == right_outer) return NULL;
    *other = left_outer ? right : left;
    return left_outer ? left : right;
}

/* True if the comparison selects the rows for which it finds no other row. It is in NOT EXISTS, in an anti-join, or in
 * a count that is compared by =, < or <=. */
static bool selects_unmatched(const struct sql_node *comparison, const struct query_view *view)
{
    const struct sql_node *subquery = sql_up(comparison, SQL_SUBQUERY);
    if (query_is_excluded(comparison)) return true;
    if (!subquery) return view->is_null;
    const struct sql_node *count = subquery->parent;
    return view->aggregate[QUERY_COUNT] && sql_is(count, SQL_BINARY) &&
           (count->op == SQL_OP_EQ || count->op == SQL_OP_LT || count->op == SQL_OP_LE) &&
           sql_kid(count, 0) == subquery;
}

/* Checks the direction of comparisons with other rows. NOT EXISTS (... other.x > own.x), an anti-join or a count of
 * such rows selects the greatest x. */
static void check_compared_direction(struct vsig_run *run, const struct query_view *view)
{
    const struct sql_node *comparison = vsig_compares_with_others(run->subject), *other;
    const struct sql_node *own = comparison ? own_side(comparison, &other) : NULL;
    if (!own || view->any_limit || view->window || view->aggregate[QUERY_MAX] || view->aggregate[QUERY_MIN]) return;
    bool greater = comparison->op == SQL_OP_GT || comparison->op == SQL_OP_GE;
    bool greatest = greater == (sql_kid(comparison, 0) == other);
    enum sql_op asked = selects_unmatched(comparison, view) ? wanted_by_all(run->subject, own) : SQL_OP_NONE;
    if (asked == SQL_OP_NONE || asked == (greatest ? SQL_DESC : SQL_ASC)) return;
    vsig_fire(run, VSIG_ERROR, comparison,
              "the question asks for the %s value, but the comparison with the other rows selects the %s",
              greatest ? "least" : "greatest", greatest ? "greatest" : "least");
}

/* True if the superlative describes the order of all rows: "oldest hire first", "biggest balance on top", "from the
 * largest to the smallest". */
static bool names_order(const struct question *question, const struct question_cue *cue)
{
    static const char *const ORDERS[] = {"first", "last", "top", "upward", "downward", "upwards", "downwards"};
    enum { REACH = 6 };
    uint32_t from = cue->first + cue->n_tokens, end = MIN(from + REACH, question->tokens.n);
    bool before = cue->first > REACH; /* "top" may come before, as in "unassigned on top, then the most loaded" */
    for (uint32_t i = before ? cue->first - REACH : 0; before && i < cue->first; i++)
        if (g_str_equal(question->tokens.items[i].norm, "top")) return true;
    for (uint32_t i = from; i < end; i++) {
        const char *word = question->tokens.items[i].norm;
        if (g_str_equal(word, ".") || g_str_equal(word, ";")) return false;
        for (size_t k = 0; k < G_N_ELEMENTS(ORDERS); k++)
            if (g_str_equal(word, ORDERS[k])) return true;
        for (uint32_t c = 0; g_str_equal(word, "to") && c < question->n_cues; c++)
            if (question->cues[c].kind == QUESTION_CUE_EXTREME && question->cues[c].first > i &&
                question->cues[c].first <= i + 2)
                return true;
    }
    return false;
}

/* True for DISTINCT ON, which keeps the first row of each group. */
static bool keeps_first_rows(const struct query_view *view)
{
    const struct sql_node *distinct = sql_is(view->select, SQL_SELECT) ? sql_kid(view->select, SELECT_DISTINCT) : NULL;
    return distinct && distinct->n_kids > 0;
}

/* True if more text follows the question with the superlative: "Which city pays most late? For every city, the late
 * premiums." That text may ask for all rows. */
static bool is_heading(const struct question *question, const struct question_cue *cue)
{
    enum { MORE = 4 /* minimum number of tokens after the question mark */ };
    for (uint32_t i = cue->first; i + MORE < question->tokens.n; i++)
        if (g_str_equal(question->tokens.items[i].norm, "?")) return true;
    return false;
}

static void check_superlative_missing(struct vsig_run *run, const struct query_view *view)
{
    const struct question *question = run->subject->analysis;
    const struct question_cue *cue = sure_superlative(question);
    if (!cue || view->any_limit || view->window || view->aggregate[QUERY_MAX] || view->aggregate[QUERY_MIN]) return;
    if (question->cue_kinds & (CUE(DIRECTION) | CUE(SORT)) || has_quantifier(run->subject)) return;
    if (vsig_compares_with_others(run->subject) && (view->negation || view->is_null || view->aggregate[QUERY_COUNT]))
        return;
    if (keeps_first_rows(view) || (view->order && names_order(question, cue))) return;
    if (is_heading(question, cue) && view->group) return;
    const struct sql_node *where = view->order ? view->order : view->select;
    vsig_fire(run, VSIG_ERROR, where,
              view->order
                  ? "the question asks only for an extreme, but the query sorts and returns all rows"
                  : "the question asks for an extreme, but the query neither sorts nor takes a maximum or minimum");
}

/* Returns the direction that a superlative gives to an order of all rows: "oldest hire first". The oldest thing has the
 * earliest date. */
static enum sql_op named_direction(const struct vsig_subject *subject, const struct question_cue *cue,
                                   const struct sql_node *key)
{
    static const char *const LEAST[] = {"oldest", "earliest", "first"}, *const MOST[] = {"newest", "latest",
                                                                                         "youngest"};
    const struct schema_column *column = query_cast_column(subject, key);
    const char *word = subject->analysis->tokens.items[cue->first].norm;
    bool date = query_name_has(column, DATES) || (column && column->stats.date_texts > 0);
    for (size_t i = 0; date && i < G_N_ELEMENTS(LEAST); i++) {
        if (g_str_equal(word, LEAST[i])) return SQL_ASC;
        if (g_str_equal(word, MOST[i])) return SQL_DESC;
    }
    return date ? SQL_OP_NONE : wanted(subject, cue, key);
}

static void check_named_order(struct vsig_run *run, const struct query_view *view)
{
    const struct question *question = run->subject->analysis;
    const struct question_cue *cue = sure_superlative(question);
    if (!cue || !view->order || view->any_limit || view->window || !names_order(question, cue)) return;
    for (uint32_t i = 0; i < question->n_cues; i++) { /* do not judge several orders, or one that "to" reverses */
        const struct question_cue *other = &question->cues[i];
        const char *word = question->tokens.items[other->first].norm;
        bool places = g_str_equal(word, "first") || g_str_equal(word, "top");
        if (other != cue && !places && SUPERLATIVES >> other->kind & 1U) return;
    }
    if (question->cue_kinds & (CUE(DIRECTION) | CUE(SORT))) return;
    const struct sql_node *term = view->order->kids[0];
    enum sql_op asked = named_direction(run->subject, cue, sql_kid(term, 0));
    if (asked == SQL_OP_NONE || asked == direction_of(term)) return;
    vsig_fire(run, VSIG_WARNING, term, "the question puts the %s value first, but the query sorts the %s value first",
              asked == SQL_DESC ? "greatest" : "least", asked == SQL_DESC ? "least" : "greatest");
}

/* Reports LIMIT without ORDER BY, which selects arbitrary rows. */
static void check_limit_without_order(struct vsig_run *run, const struct query_view *view)
{
    if (!view->any_limit || order_before(view->any_limit) || !sure_superlative(run->subject->analysis)) return;
    if (view->aggregate[QUERY_MAX] || view->aggregate[QUERY_MIN] || view->any_order || view->window) return;
    vsig_fire(run, VSIG_ERROR, view->any_limit,
              "the question asks for an extreme, but the query uses LIMIT without ORDER BY");
}

/* Returns the number of rows that the question asks for, by "top 3" or by a number at a superlative. Returns NULL if
 * there is none. */
static const struct question_value *rows_asked(const struct question *question)
{
    for (uint32_t i = 0; i < question->n_cues; i++) {
        const struct question_cue *cue = &question->cues[i];
        int number = cue->kind == QUESTION_CUE_TOP ? cue->number : cue->rows;
        if (number >= 0 && !cue->named) return &question->values[number];
    }
    return NULL;
}

static void check_top(struct vsig_run *run, const struct query_view *view)
{
    double limit;
    const struct question_value *value = rows_asked(run->subject->analysis);
    if (!value || !limit_number(view->any_limit, &limit)) return;
    if (limit >= value->number && limit <= value->number) return;
    struct vsig_finding *finding = vsig_fire(run, VSIG_ERROR, view->any_limit,
                                             "the question asks for a different number of rows than LIMIT returns");
    vsig_add_fact(run, finding, "asked", false, "%s", value->text);
}

/* --- the first rows of each thing --- */

/* True if the token begins words that name a table or a column. */
static bool names_something(const struct question *question, uint32_t token)
{
    for (uint32_t i = 0; i < question->n_mentions; i++)
        if (question->mentions[i].first == token && question->mentions[i].score > 0.6) return true;
    return false;
}

/* True if a word for a count, sum or average lies between the two positions. "The highest average salary of each
 * department" is the highest of the averages, not one row for each department. */
static bool has_measure_between(const struct question *question, uint32_t first, uint32_t end)
{
    for (uint32_t i = 0; i < question->n_cues; i++)
        if (MEASURES >> question->cues[i].kind & 1U && question->cues[i].first > first && question->cues[i].first < end)
            return true;
    return false;
}

/* True if the token `each` follows the superlative and its noun: "the two largest bills of each tenant", "top 3
 * products per shop". */
static bool is_of_each(const struct question *question, const struct question_cue *cue, uint32_t each)
{
    static const char *const APART[] = {",",   ".",   ";",    ":",     "and",  "or",    "by", "with",
                                        "who", "how", "that", "which", "than", "whose", NULL},
                             *const BEFORE[] = {"of", "for", "in", "from", "at", "on", "within", "to", NULL};
    enum { REACH = 6 };
    uint32_t end = cue->first + cue->n_tokens;
    if (each <= end || each - end > REACH || has_measure_between(question, cue->first, each)) return false;
    for (uint32_t i = end; i < each; i++)
        if (question_token_is(&question->tokens.items[i], APART)) return false;
    if (g_str_equal(question->tokens.items[each].norm, "per")) return cue->kind == QUESTION_CUE_TOP;
    return question_token_is(&question->tokens.items[each - 1], BEFORE);
}

/* True if the token `each` begins a sentence with the superlative, and no count or sum is between them: "For each
 * tenant, show the two largest bills". */
static bool is_each_with(const struct question *question, const struct question_cue *cue, uint32_t each)
{
    static const char *const BEFORE[] = {"for", "in", "of", "from", "within", NULL}, *const ENDS[] = {".", "?", ";",
                                                                                                      NULL};
    enum { REACH = 8 };
    bool starts = each == 1 || (each > 1 && question->tokens.items[each - 2].kind == TEXT_PUNCT);
    if (!starts || !question_token_is(&question->tokens.items[each - 1], BEFORE) || cue->first <= each ||
        cue->first - each > REACH)
        return false;
    for (uint32_t i = each; i < cue->first; i++)
        if (question_token_is(&question->tokens.items[i], ENDS)) return false;
    if (has_measure_between(question, each, cue->first)) return false;
    uint32_t noun = cue->first + cue->n_tokens;
    return noun < question->tokens.n &&
           !g_str_equal(question->tokens.items[noun].stem, question->tokens.items[each + 1].stem);
}

/* Returns the superlative that the question applies to each of several things. Returns NULL if there is none. */
static const struct question_cue *superlative_of_each(const struct question *question)
{
    static const char *const EACH[] = {"each", "every", "per", NULL};
    for (uint32_t t = 1; t + 1 < question->tokens.n; t++) {
        if (!question_token_is(&question->tokens.items[t], EACH) || !names_something(question, t + 1)) continue;
        for (uint32_t i = 0; i < question->n_cues; i++) {
            const struct question_cue *cue = &question->cues[i];
            if (!(SUPERLATIVES >> cue->kind & 1U) || cue->weak || cue->named || cue->kind == QUESTION_CUE_NTH) continue;
            if (is_each_with(question, cue, t)) return cue;
            if (is_of_each(question, cue, t)) return cue;
        }
    }
    return NULL;
}

/* Checks "the two largest bills of each tenant", for which LIMIT 2 over all rows is too few. */
static void check_top_of_each(struct vsig_run *run, const struct query_view *view)
{
    const struct question *question = run->subject->analysis;
    double limit;
    if (!view->limit || view->window || keeps_first_rows(view) || !limit_number(view->limit, &limit)) return;
    const struct question_cue *cue = superlative_of_each(question);
    if (!cue) return;
    int rows = cue->kind == QUESTION_CUE_TOP ? cue->number : cue->rows;
    double asked = rows < 0 ? 1 : question->values[rows].number;
    if (limit < asked || limit > asked) return;
    vsig_fire(run, VSIG_ERROR, view->limit,
              "the question asks for the first rows of each thing, but LIMIT keeps only the first rows of all");
}

/* --- ranks of rows --- */

/* The ranks that the question asks for, counted from 1, as in "the fourth to the sixth highest". */
struct rank_span {
    unsigned from, to;
};

/* Returns the index of the last token before `at` that is not "the", or -1. */
static int64_t before_article(const struct question *question, int64_t at)
{
    at--;
    while (at >= 0 && g_str_equal(question->tokens.items[at].norm, "the")) at--;
    return at;
}

/* Finds ranks such as "fourth to the sixth highest" or "second and third highest". Returns false if there is only one
 * rank, or none. */
static bool find_rank_span(const struct question *question, struct rank_span *span)
{
    static const char *const JOINS[] = {"to", "through", "until", "till", "and"};
    for (int i = question_cue_next(question, QUESTION_CUE_NTH, 0); i >= 0;
         i = question_cue_next(question, QUESTION_CUE_NTH, (uint32_t)i + 1)) {
        int64_t join = before_article(question, question->cues[i].first), first = before_article(question, join);
        const char *word = join >= 0 ? question->tokens.items[join].norm : "";
        span->from = first >= 0 ? text_ordinal(question->tokens.items[first].norm) : 0;
        span->to = text_ordinal(question->tokens.items[question->cues[i].first].norm);
        bool joined = false, both = g_str_equal(word, "and");
        for (size_t k = 0; k < G_N_ELEMENTS(JOINS); k++) joined |= g_str_equal(word, JOINS[k]);
        if (joined && span->from && span->from < span->to && (!both || span->to == span->from + 1)) return true;
    }
    return false;
}

static bool is_near(double number, unsigned whole)
{
    return number > whole - 0.5 && number < whole + 0.5;
}

/* Reports a LIMIT that does not select exactly the ranks of `span`. */
static void check_span(struct vsig_run *run, const struct query_view *view, struct rank_span span, double limit,
                       double offset)
{
    if (is_near(offset, span.from - 1) && is_near(limit, span.to - span.from + 1)) return;
    vsig_fire(run, VSIG_ERROR, view->limit,
              "the question asks for rows %u to %u of the sorted rows, but LIMIT selects other rows", span.from,
              span.to);
}

/* Checks the LIMIT and OFFSET of a query for "the second highest". Ignores queries with subqueries, which may compute
 * the rank in another way. */
static void check_nth(struct vsig_run *run, const struct query_view *view)
{
    const struct question *question = run->subject->analysis;
    double limit, offset = 0;
    int i = question_cue_next(question, QUESTION_CUE_NTH, 0);
    if (i < 0 || !question->cues[i].rank || run->subject->bound->n_blocks > 1) return;
    const struct sql_node *skipped = view->limit ? sql_kid(view->limit, LIMIT_OFFSET) : NULL;
    if (!limit_number(view->limit, &limit) || (skipped && !query_literal_number(skipped, &offset))) return;
    struct rank_span span;
    if (find_rank_span(question, &span)) {
        check_span(run, view, span, limit, offset);
        return;
    }
    if (offset > question->cues[i].rank - 1.5 && offset < question->cues[i].rank - 0.5) return;
    vsig_fire(run, VSIG_ERROR, view->limit,
              "the question asks for row %u of the sorted rows, but LIMIT selects other rows",
              (unsigned)question->cues[i].rank);
}

static bool says_number(const struct question *question, double number)
{
    for (uint32_t i = 0; i < question->n_values; i++)
        if (question->values[i].kind == QUESTION_VALUE_NUMBER && question->values[i].number >= number &&
            question->values[i].number <= number)
            return true;
    for (uint32_t i = 0; i < question->evidence.n; i++)
        if (question->evidence.items[i].is_number && question->evidence.items[i].number >= number &&
            question->evidence.items[i].number <= number)
            return true;
    return false;
}

static bool asks_one_row(const struct question *question)
{
    if (question->cue_kinds & (SUPERLATIVES | CUE(MAXIMUM) | CUE(MINIMUM))) return true;
    for (const char *const *word = ONE_ROW; *word; word++)
        if (question_has(question, *word)) return true;
    return false;
}

static void check_unasked_limit(struct vsig_run *run, const struct query_view *view)
{
    double limit;
    struct rank_span span;
    if (vsig_opt(run, OPT_UNASKED) < 0.5 || !limit_number(view->any_limit, &limit)) return;
    if (find_rank_span(run->subject->analysis, &span)) return; /* check_nth compares these ranks with LIMIT */
    if (limit > 1 ? !says_number(run->subject->analysis, limit) : !asks_one_row(run->subject->analysis))
        vsig_fire(run, VSIG_ERROR, view->any_limit,
                  "the query returns only some of the rows, but the question asks for no limit");
}

/* True if the word of the cue is a literal or in a column's name, so it asks for no order: "reversed slips" and status
 * = 'reversed'. */
static bool is_answered_by_name(const struct vsig_subject *subject, const struct question_cue *cue)
{
    const struct text_token *token = &subject->analysis->tokens.items[cue->first];
    for (uint32_t i = 0; i < subject->bound->n_refs; i++) {
        const struct schema_column *column = schema_column_of(subject->schema, subject->bound->refs[i]);
        for (uint32_t w = 0; column && w < column->words.n; w++)
            if (g_str_equal(column->words.items[w].norm, token->norm)) return true;
    }
    for (const struct sql_node *n = subject->stmt->root; n; n = sql_walk(subject->stmt->root, n))
        if (sql_is(n, SQL_LITERAL) && n->op == SQL_LIT_STRING &&
            sql_name_is(n->text, n->text_len, token->norm, strlen(token->norm)))
            return true;
    return false;
}

/* Returns the direction that words such as "ascending" or "descending" require. Returns SQL_OP_NONE if there are none
 * or they disagree. *plain is true if the question asks for a sort without a direction. */
static enum sql_op sort_direction(const struct vsig_subject *subject, bool *plain)
{
    const struct question *question = subject->analysis;
    enum sql_op all = SQL_OP_NONE;
    bool sorted = false, open = false;
    for (uint32_t i = 0; i < question->n_cues; i++) {
        const struct question_cue *cue = &question->cues[i];
        bool sorts = cue->kind == QUESTION_CUE_SORT || cue->kind == QUESTION_CUE_DIRECTION;
        if (sorts && is_answered_by_name(subject, cue)) continue;
        if (cue->kind == QUESTION_CUE_SORT && !cue->weak) sorted = true;
        if (SUPERLATIVES >> cue->kind & 1U) open = true;
        if (cue->kind != QUESTION_CUE_DIRECTION) continue;
        if (cue->op == SQL_OP_NONE || (all != SQL_OP_NONE && all != cue->op)) open = true;
        all = cue->op;
    }
    *plain = sorted && all == SQL_OP_NONE && !open;
    return open ? SQL_OP_NONE : all;
}

static bool is_rank(const struct meaning_term *term)
{
    static const char *const names[] = {"rank", "dense_rank", "row_number", "percent_rank", "ntile"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (term->kind == MEANING_WINDOW && term->window && term->window->n_order && g_str_equal(term->name, names[i]))
            return true;
    return false;
}

/* Returns the direction in which the values behind a key are sorted. If the key is a rank, that depends on the order of
 * the rank's window. */
static enum sql_op direction_of_values(struct vsig_subject *subject, const struct query_view *view, uint32_t key)
{
    enum sql_op direction = direction_of(view->order->kids[key]);
    const struct meaning *meaning = vsig_meaning(subject);
    if (!meaning || meaning->n_order != view->order->n_kids) return direction;
    const struct meaning_term *term = meaning_follow(meaning->order[key].term, NULL);
    if (!is_rank(term) || !term->window->order[0].descending) return direction;
    return direction == SQL_DESC ? SQL_ASC : SQL_DESC;
}

static void check_sort(struct vsig_run *run, const struct query_view *view)
{
    bool plain;
    enum sql_op asked = sort_direction(run->subject, &plain);
    if (asked == SQL_OP_NONE && !plain) return;
    if (!view->any_order) {
        vsig_fire(run, VSIG_ERROR, view->select, "the question asks for sorted rows, but the query has no ORDER BY");
        return;
    }
    if (!view->order || view->limit) return;
    for (uint32_t i = 0; i < view->order->n_kids; i++)
        if (direction_of_values(run->subject, view, i) == (plain ? SQL_ASC : asked)) return;
    if (plain)
        vsig_fire(run, VSIG_WARNING, view->order,
                  "the question names no sort direction, but the query sorts in descending order");
    else
        vsig_fire(run, VSIG_ERROR, view->order,
                  "the question asks for %s order, but the query sorts in the opposite direction",
                  asked == SQL_DESC ? "descending" : "ascending");
}

/* --- values from different rows --- */

/* Returns the column of MAX(column) or MIN(column), as `function` says. Returns NULL for other terms. */
static const struct schema_column *extreme_of(const struct vsig_subject *subject, const struct meaning_term *term,
                                              const char *function)
{
    term = meaning_follow(term, NULL);
    if (term->kind != MEANING_MEASURE || term->n_parts != 1 || strcmp(term->name, function) != 0) return NULL;
    return align_term_column(subject->schema, meaning_follow(term->parts[0], NULL));
}

static bool is_time(const struct schema_column *column)
{
    static const char *const MORE[] = {"epoch", "ts", "timestamp", "at", "on", "week", "quarter", NULL};
    return column->stats.date_texts > 0 || query_name_has(column, DATES) || query_name_has(column, MORE);
}

/* Returns "max" if the question asks for the latest of each thing, and "min" for the earliest. Returns NULL if it asks
 * for neither or both. Also returns NULL if it asks for another extreme ("the latest order and the highest amount"). */
static const char *time_asked(const struct question *question)
{
    static const char *const LATE[] = {"latest", "newest", "recent", "last"}, *const EARLY[] = {"earliest", "first"},
                             *const OTHERS[] = {"highest", "largest",  "biggest",  "maximum", "max",  "greatest",
                                                "peak",    "lowest",   "smallest", "minimum", "min",  "least",
                                                "best",    "worst",    "top",      "record",  "most", "ever",
                                                "longest", "shortest", "each of"};
    bool late = false, early = false;
    for (size_t i = 0; i < G_N_ELEMENTS(LATE); i++) late |= question_has(question, LATE[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(EARLY); i++) early |= question_has(question, EARLY[i]);
    for (size_t i = 0; i < G_N_ELEMENTS(OTHERS); i++) {
        bool recent = strcmp(OTHERS[i], "most") == 0 && question_has(question, "recent");
        if (!recent && question_has(question, OTHERS[i])) return NULL;
    }
    return late == early ? NULL : late ? "max" : "min";
}

/* Reports SELECT thing, MAX(date), MAX(amount) if the question asks for the latest row of each thing. The amount is
 * then the greatest one, not that of the latest row. */
static void check_mixed_rows(void *self, const struct meaning *m)
{
    struct vsig_run *run = self;
    const char *function = time_asked(run->subject->analysis);
    const struct meaning_term *amount = NULL;
    const struct schema_column *column = NULL;
    bool time = false;
    if (!function || m->set || m->grain != MEANING_KEYS || run->verdict->n_findings) return;
    for (uint32_t i = 0; i < m->n_outputs; i++) {
        const struct schema_column *own = extreme_of(run->subject, m->outputs[i].term, function);
        if (own && is_time(own)) time = true;
        if (!own || is_time(own) || own->pk) continue;
        amount = m->outputs[i].term;
        column = own;
    }
    if (!time || !amount) return;
    bool latest = strcmp(function, "max") == 0;
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_ERROR, vsig_node_at(run->subject, amount->start, amount->end),
                  "%s takes the %s value of each group, which may belong to another row than the %s one",
                  latest ? "MAX" : "MIN", latest ? "greatest" : "least", latest ? "latest" : "earliest");
    vsig_add_fact(run, finding, "column", false, "%s", column->name);
}

static enum err_code ordering_mismatch_eval(struct vsig_run *run)
{
    struct query_view view;
    if (query_foreign(run)) return ERR_OK;
    query_look(run->subject, &view);
    if (!view.select) return ERR_OK;
    check_superlative_missing(run, &view);
    check_superlative_direction(run, &view);
    check_compared_direction(run, &view);
    check_named_order(run, &view);
    check_extreme_function(run, &view);
    check_limit_without_order(run, &view);
    check_top(run, &view);
    check_top_of_each(run, &view);
    check_nth(run, &view);
    check_unasked_limit(run, &view);
    check_sort(run, &view);
    const struct meaning *meaning = vsig_meaning(run->subject);
    if (meaning) meaning_visit(meaning, &(struct meaning_visitor){.self = run, .relation = check_mixed_rows});
    struct query_odd odd;
    if (query_odd_column(run->subject, SQL_CLAUSE_ORDER, &odd))
        vsig_fire(run, VSIG_ERROR, odd.node, "the question refers to %s, but the query sorts by %s", odd.wanted->name,
                  odd.used->name);
    return ERR_OK;
}

static const struct vsig_option OPTIONS[] = {
    [OPT_UNASKED] = {"unasked", 1, 0, 1, "also report a LIMIT that the question does not ask for"},
    {NULL},
};

const struct vsig_def vsig_ordering_mismatch = {
    .id = VSIG_ID_ordering_mismatch,
    .name = "ordering_mismatch",
    .family = VSIG_QUESTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence =
        "superlatives or sort words of the question do not match the ORDER BY, sort direction or LIMIT of the query",
    .description =
        "The question asks for an order or an extreme (oldest, most, sorted by, top 3 ...). The query does "
        "not sort, sorts in the opposite direction, or keeps a different number of rows. Or the query "
        "limits all rows together although the question asks for no limit, or for the first of each thing. Or it takes "
        "the latest date and the greatest amount of each thing, which may be of different rows.",
    .example = "Who is the youngest player? - SELECT name FROM player ORDER BY age DESC LIMIT 1",
    .instruction = "Sort by the value that the question ranks by, in the requested direction, and keep the requested "
                   "number of rows. For the first rows of each thing, use `ROW_NUMBER() OVER (PARTITION BY ...)`.",
    .options = OPTIONS,
    .eval = ordering_mismatch_eval,
};
