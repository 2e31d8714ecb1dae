/* Checks comparisons of two columns: whether the column that the question calls greater or later is the greater one in
 * the query.
 *
 * If the question asks for late or early rows, the condition must compare an actual time with a planned one
 * accordingly. Otherwise a cue such as "more than" or "before" decides: words before the cue name one column, and words
 * after it name the other. Negated or ambiguous words give no item. */
#include "lib/question/align_int.h"

#include <glib.h>
#include <string.h>

enum { REACH = 6 /* tokens */, MIN_WORD = 4 /* letters */ };

/* The two sides of a condition, such that `more` > `less`. */
struct align_pair {
    const struct meaning_term *more, *less;
};

static const struct schema_column *column_in(const struct aligner *a, const struct meaning_term *term)
{
    term = meaning_follow(term, NULL);
    const struct schema_column *column = align_column(a, term);
    for (uint32_t i = 0; !column && term->kind != MEANING_QUERY && i < term->n_parts; i++)
        column = column_in(a, term->parts[i]);
    return column;
}

static bool is_amount(const struct meaning_term *term)
{
    return align_is(term, MEANING_VALUE, NULL) && term->name[0] != '\'' && term->name[0] != '-';
}

/* Reads a < b and a - b >= n as a pair. Returns false for other conditions. */
static bool read_pair(const struct meaning_term *condition, struct align_pair *out)
{
    bool up = condition->name[0] == '>';
    const struct meaning_term *left = condition->parts[0], *right = condition->parts[1];
    bool minus = align_is(left, MEANING_OPERATION, "-") && left->n_parts == 2 && is_amount(right);
    if (minus && !up && !align_is(right, MEANING_VALUE, "0")) return false;
    if (minus) {
        right = left->parts[1];
        left = left->parts[0];
    }
    *out = up ? (struct align_pair){left, right} : (struct align_pair){right, left};
    return left->kind != MEANING_VALUE && right->kind != MEANING_VALUE;
}

/* True if the run contains exactly this word. Function words count, too, such as "list" in "list price". */
static bool has_word(const struct align_run *run, const char *word)
{
    for (uint32_t i = run->first; i < run->end; i++)
        if (strlen(word) >= MIN_WORD && text_same(run->tokens->items[i].norm, word)) return true;
    return false;
}

/* True if the run says a word of `column` that is not a word of `other`. */
static bool says_own(const struct align_run *run, const struct schema_column *column, const struct schema_column *other)
{
    for (uint32_t i = 0; i < column->words.n; i++) {
        const struct text_token *word = &column->words.items[i];
        bool shared = word->kind != TEXT_WORD || (word->is_stop && strlen(word->norm) < MIN_WORD);
        for (uint32_t k = 0; k < other->words.n; k++) shared |= g_str_equal(other->words.items[k].stem, word->stem);
        if (!shared && (align_run_says(run, word->norm) || has_word(run, word->norm))) return true;
    }
    return false;
}

static bool is_planned(const struct schema_column *column)
{
    static const char *const words[] = {"due",       "planned",  "plan",   "promised", "promise",
                                        "scheduled", "schedule", "target", "expected", "estimated",
                                        "deadline",  "eta",      "agreed", "sla"};
    for (uint32_t i = 0; i < column->words.n; i++)
        for (size_t w = 0; w < G_N_ELEMENTS(words); w++)
            if (g_str_equal(column->words.items[i].norm, words[w])) return true;
    return false;
}

/* --- "more than", "above", "before" between two columns --- */

/* True if a negation precedes the token within NEGATION_REACH tokens: "not late", "not after". */
static bool is_negated(const struct aligner *a, uint32_t token)
{
    enum { NEGATION_REACH = 4 };
    static const char *const words[] = {"not", "never", "no", "without", "nor", "neither"};
    for (uint32_t i = token > NEGATION_REACH ? token - NEGATION_REACH : 0; i < token; i++)
        for (size_t w = 0; w < G_N_ELEMENTS(words); w++)
            if (text_same(a->question->tokens.items[i].norm, words[w]) ||
                g_str_has_suffix(a->question->tokens.items[i].norm, "n't"))
                return true;
    return false;
}

static bool is_sized(const struct question_cue *cue)
{
    bool sized = cue->op == SQL_OP_GT || cue->op == SQL_OP_GE || cue->op == SQL_OP_LT || cue->op == SQL_OP_LE;
    return sized && cue->kind == QUESTION_CUE_COMPARE && cue->number < 0 && !cue->weak && !cue->part;
}

/* Returns 1 if a cue requests the pair, -1 if it requests the reverse, 0 if it is about something else. */
static int asked_by(const struct aligner *a, const struct question_cue *cue, const struct schema_column *more,
                    const struct schema_column *less)
{
    uint32_t end = cue->first + cue->n_tokens, n = a->question->tokens.n;
    const struct align_run behind = {&a->question->tokens, end, MIN(end + REACH, n)},
                           before = {&a->question->tokens, cue->first > REACH ? cue->first - REACH : 0, cue->first};
    bool more_behind = says_own(&behind, more, less) && !says_own(&before, more, less),
         less_behind = says_own(&behind, less, more) && !says_own(&before, less, more);
    bool up = cue->op == SQL_OP_GT || cue->op == SQL_OP_GE;
    if (is_negated(a, cue->first)) return 0; /* "not after" may be read as one cue or as two */
    return more_behind == less_behind ? 0 : up == less_behind ? 1 : -1;
}

static void check_cues(struct aligner *a, const struct schema_column *more, const struct schema_column *less,
                       const struct meaning_term *condition)
{
    bool agrees = false, differs = false;
    for (uint32_t i = 0; i < a->question->n_cues; i++) {
        int asked = is_sized(&a->question->cues[i]) ? asked_by(a, &a->question->cues[i], more, less) : 0;
        agrees |= asked > 0;
        differs |= asked < 0;
    }
    if (agrees && !differs)
        align_agree(a, ALIGN_DIRECTION, NULL, condition);
    else if (differs && !agrees)
        align_differ(a, ALIGN_DIRECTION, NULL, condition, true,
                     "the comparison is the other way round than the question says");
}

/* --- late and early --- */

/* True for <= and >=. A query may count such rows only to subtract them from all rows. */
static bool is_inclusive(const struct meaning_term *condition)
{
    return condition->name[0] && condition->name[1] == '=';
}

static void check_plan(struct aligner *a, const struct frame_element *asked, const struct align_pair *pair,
                       const struct meaning_term *condition)
{
    bool more = is_planned(column_in(a, pair->more)), less = is_planned(column_in(a, pair->less));
    if (more == less || is_negated(a, asked->first)) return;
    if (less == (asked->kind == FRAME_LATE))
        align_agree(a, ALIGN_DIRECTION, asked, condition);
    else if (!is_inclusive(condition))
        align_differ(a, ALIGN_DIRECTION, asked, condition, align_says(a, asked, "than"),
                     asked->kind == FRAME_LATE
                         ? "the question asks for what is late, but the query takes what is early"
                         : "the question asks for what is early, but the query takes what is late");
}

void align_direction(struct aligner *a)
{
    const struct frame_element *late = align_asked(a, FRAME_LATE), *early = align_asked(a, FRAME_EARLY);
    for (uint32_t i = 0; i < a->comparisons.n; i++) {
        const struct meaning_term *condition = a->comparisons.items[i].term;
        struct align_pair pair;
        if (!read_pair(condition, &pair)) continue;
        const struct schema_column *more = column_in(a, pair.more), *less = column_in(a, pair.less);
        if (!more || !less || more == less) continue;
        if (!late != !early)
            check_plan(a, late ? late : early, &pair, condition);
        else
            check_cues(a, more, less, condition);
    }
}
