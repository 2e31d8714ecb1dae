/* negation_mismatch: the question has "without", "never" or "not" and the query excludes nothing, or the reverse.
 *
 * The query excludes rows by NOT in all its forms, <>, EXCEPT, IS NULL (also in an anti-join), or a count compared with
 * zero. A literal that is itself a negation ('N', 'No', 0, 'F', "not ...") counts too, because the database may store
 * "not paid" in this form. */
#include "lib/question/frame.h"
#include "lib/question/phrase.h"
#include "signals/support/logic.h"
#include "signals/support/predicate.h"
#include "signals/support/query.h"

#include <glib.h>
#include <string.h>

enum { OPT_UNASKED };
enum { BOUND_REACH = 4, NOUN_REACH = 4, MIN_START = 5 };

/* Words that are not negations but justify an exclusion. */
static const char *const EXCLUDERS[] = {
    "other",  "others",  "only",    "different", "except", "exclude",   "remain", "unless", "all",
    "always", "every",   "null",    "missing",   "empty",  "available", "free",   "still",  "neither",
    "but",    "outside", "besides", "non",       "exist",  "single",    "any",    "solely", "alone",
    "unique", "unknown", "valid",   "least",     "avoid",  "another",   "else",   "both",   NULL};

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

/* Elements with negative words that exclude no rows: "teams without any can be left out", "no gaps". */
static const unsigned NO_EXCLUSIONS = 1U << FRAME_ZEROS | 1U << FRAME_NO_ZEROS | 1U << FRAME_AS_ZERO |
                                      1U << FRAME_SKIP_MISSING | 1U << FRAME_TIES | 1U << FRAME_ONE | 1U << FRAME_GAPS |
                                      1U << FRAME_NO_GAPS | 1U << FRAME_POOLED | 1U << FRAME_MEAN_EACH |
                                      1U << FRAME_RESTART | 1U << FRAME_REPEATS;

static bool is_part_of_element(const struct question *question, const struct question_cue *cue)
{
    for (uint32_t i = 0; i < question->frame->n; i++) {
        const struct frame_element *element = &question->frame->elements[i];
        if (NO_EXCLUSIONS >> element->kind & 1U && cue->first < element->first + element->n_tokens &&
            cue->first + cue->n_tokens > element->first)
            return true;
    }
    return false;
}

static const struct question_cue *sure_negation(const struct question *question)
{
    for (uint32_t i = 0; i < question->n_cues; i++) {
        const struct question_cue *cue = &question->cues[i];
        if (cue->kind == QUESTION_CUE_NOT && !cue->weak && !cue->named && !is_part_of_element(question, cue))
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

/* True for a XOR b: one holds and the other does not. */
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

/* True for "neither under 5 nor over 9": inverted bounds express it without a negation. */
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

/* True if the value begins like a word after the negation: Subscriber and "without a subscription". */
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

/* True if the query selects the other of the two values of a column: type = 'Customer' for people who are not
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

static void check_missing(struct vsig_run *run, const struct query_view *view)
{
    struct vsig_subject *subject = run->subject;
    const struct question_cue *cue = sure_negation(subject->analysis);
    if (!cue || view->negation || view->is_null || has_negative_literal(subject)) return;
    if (has_xor(subject)) return;
    if (subject->bound->n_blocks > 1 && reads_tree(subject)) return; /* "itself not included": the start of a tree */
    if (has_outer_join(subject) || negates_bound(subject, cue) || takes_the_other(subject, cue))
        return; /* a left join keeps rows without a partner */
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_ERROR, view->select, "the question excludes something, but the query excludes nothing");
    vsig_add_fact(run, finding, "word", false, "%s", subject->analysis->tokens.items[cue->first].norm);
}

/* True for "top scorers, own goals don't count": the query counts or adds the remaining rows, and the condition is on
 * these rows. */
static bool counts_rows_left(const struct vsig_subject *subject, const struct query_view *view,
                             const struct sql_node *excluded)
{
    bool counts = view->aggregate[QUERY_COUNT] || view->aggregate[QUERY_SUM] || view->aggregate[QUERY_AVG];
    const struct sql_block *block = excluded ? sql_block_of(subject->bound, excluded) : NULL;
    return counts && block && block->aggregate && block->grouped;
}

/* Reports two faults. The question asks for things without X, and the query selects things with something other than X:
 * WHERE amenity <> 'TV' on joined rows. The question says neither A nor B, and the query excludes only rows that have
 * both. */
static void check_scope(struct vsig_run *run, const struct query_view *view)
{
    static const char *const SOME[] = {"other than", "else",    "isn't",    "is not",    "aren't",    "are not",
                                       "wasn't",     "weren't", "outside",  "besides",   "at least",  "some",
                                       "but",        "except",  "another",  "other",     "all",       "every",
                                       "only",       "was not", "were not", "excluding", "different", NULL};
    static const char *const NEITHER[] = {"neither", "nor", NULL};
    const struct question *question = run->subject->analysis;
    const struct question_cue *cue = sure_negation(question);
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

/* True for `code <> ''` or `NOT GLOB '*[^0-9]*'`: the condition excludes rows without a value, as IS NOT NULL does. */
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

/* True for NOT (a <= b), which is a > b for the rows that have both values. */
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
    if (negation->kind == SQL_BINARY && negation->op == SQL_OP_IS_NOT) return; /* IS NOT NULL guards are harmless */
    if (negation->kind == SQL_UNARY && negation->op == SQL_OP_NOTNULL) return;
    if (negation->kind == SQL_BINARY && !query_literal(sql_kid(negation, 0), NULL) &&
        !query_literal(sql_kid(negation, 1), NULL))
        return; /* a.id <> b.id excludes pairs of a row with itself */
    if (leaves_out_nothing(negation) || turns_comparison(negation)) return;
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
    check_missing(run, &view);
    check_scope(run, &view);
    check_unasked(run, &view);
    return ERR_OK;
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
                   "Or the query excludes rows that the question does not mention.",
    .example = "Which members never booked? - SELECT name FROM member JOIN booking USING (member_id)",
    .instruction = "Exclude what the question excludes, with NOT IN, NOT EXISTS, EXCEPT or <>.",
    .options = OPTIONS,
    .eval = negation_mismatch_eval,
};
