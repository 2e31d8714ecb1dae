/* Compares the logical form of the conditions with words of the question: or, both, neither, except, never, other
 * than. */
#include "lib/question/phrase.h"
#include "scoring/features/extract.h"
#include "signals/support/logic.h"

#include <glib.h>
#include <math.h>

#define CUE(kind) (1U << QUESTION_CUE_##kind)

static const char *const NEITHER[] = {"neither", "nor", "outside", "not * either", "and not", NULL};
static const char *const EXCEPT[] = {"except",         "all but",    "every * but", "everybody but", "everyone but",
                                     "everything but", "but not",    "apart from",  "excluding",     "leave out",
                                     "leaving out",    "aside from", "other than",  "all * but",     NULL};
static const char *const OTHER[] = {
    "other than", "something else",     "anything else", "isn't",   "is not",    "that aren't", "that are not",
    "some * not", "at least one * not", "outside",       "besides", "any * not", NULL};
static const char *const NEVER[] = {
    "never",  "no",       "none",    "nobody",  "without",      "not any",  "don't",        "doesn't", "didn't",
    "do not", "does not", "did not", "haven't", "hasn't",       "have not", "has not",      "cannot",  "can't",
    "aren't", "lack",     "free",    "yet to",  "not a single", "not one",  "not involved", NULL};
static const char *const BOTH[] = {"both",        "as well as", "and also", "too",  "in addition", "on top",
                                   "and another", "besides",    "plus",     "also", NULL};

static bool says(const struct extraction *ex, const char *const *phrases)
{
    struct question_phrase at;
    return question_phrase_find(ex->question, phrases, 0, &at);
}

/* Returns 1 if the query does what the question requests, -1 if it does the opposite, 0 if it does neither. */
static float stance(bool right, bool wrong)
{
    return right ? 1 : wrong ? -1 : 0;
}

static void set_shape(struct extraction *ex, const struct vsig_logic *logic)
{
    ex->out[FEATURE_or_over_and] = (float)logic->or_over_and;
    ex->out[FEATURE_or_loose] = logic->loose != NULL;
    ex->out[FEATURE_and_over_or] = (float)logic->and_over_or;
    ex->out[FEATURE_leaves_both] = (float)logic->leaves_both;
    ex->out[FEATURE_leaves_each] = (float)logic->leaves_each;
    ex->out[FEATURE_sets_any] = (float)logic->any_of_sets;
    ex->out[FEATURE_sets_each] = (float)logic->each_of_sets;
    ex->out[FEATURE_keys_sized] = (float)logic->keys_sized;
    ex->out[FEATURE_keys_crossed] = logic->crossed != NULL;
    ex->out[FEATURE_rows_excluded_joined] = (float)logic->rows_excluded_joined;
}

static void set_negation(struct extraction *ex, const struct vsig_logic *logic)
{
    bool neither = says(ex, NEITHER), except = says(ex, EXCEPT), other = says(ex, OTHER), never = says(ex, NEVER);
    bool both = logic->leaves_both > 0, each = logic->leaves_each > 0;
    bool sets = logic->sets_excluded > 0, rows = logic->rows_excluded_joined > 0;
    ex->out[FEATURE_other_said] = other;
    ex->out[FEATURE_never_said] = never;
    if (neither) ex->out[FEATURE_neither_as_asked] = stance(each, both);
    if (except && !neither) ex->out[FEATURE_except_as_asked] = stance(both, each);
    if (never && !other) ex->out[FEATURE_exclusion_as_asked] = stance(sets, rows || logic->crossed);
    if (other && !never) ex->out[FEATURE_exclusion_as_asked] = stance(rows, sets);
}

/* Sets the features of "both" and "either". INTERSECT, two subqueries or a grouped count express "both". */
static void set_choice(struct extraction *ex, const struct vsig_logic *logic)
{
    const struct query_view *v = &ex->view;
    bool both = says(ex, BOTH), either = question_has(ex->question, "or") || question_has(ex->question, "either");
    bool each = v->compound[QUERY_INTERSECT] || logic->each_of_sets || v->having;
    bool any = v->compound[QUERY_UNION] || v->in_list || v->or_node || logic->any_of_sets;
    ex->out[FEATURE_both_said] = both;
    if (both && !either) ex->out[FEATURE_both_met] = stance(each && !logic->any_of_sets, any);
    if (either && !both) ex->out[FEATURE_either_met] = stance(any && !each, each);
}

/* Sets whether a bound on an average, a total or a count applies to groups instead of rows. */
static void set_bounds(struct extraction *ex)
{
    const struct query_view *v = &ex->view;
    bool computes = false;
    for (unsigned a = 0; a < QUERY_AGGREGATES; a++) computes |= v->aggregate[a] != NULL;
    ex->out[FEATURE_groups_idle] = v->group && !computes;
    if (!question_cue_any(ex->question, CUE(AVERAGE) | CUE(TOTAL))) return;
    for (uint32_t i = 0; i < ex->question->n_cues; i++) {
        const struct question_cue *cue = &ex->question->cues[i];
        struct query_comparison found[QUERY_MAX_COMPARISONS];
        if (cue->kind != QUESTION_CUE_COMPARE || cue->number < 0) continue;
        if (!query_compared_with_value(ex->subject, &ex->question->values[cue->number], found)) continue;
        bool plain = query_column(ex->subject, found[0].other) != NULL;
        ex->out[FEATURE_bound_on_computed] = stance(!plain, plain);
    }
}

void extract_logic(struct extraction *ex)
{
    struct vsig_logic logic;
    vsig_logic_look(ex->subject, &logic);
    set_shape(ex, &logic);
    if (!ex->question || ex->question->foreign) return;
    set_negation(ex, &logic);
    set_choice(ex, &logic);
    set_bounds(ex);
}
