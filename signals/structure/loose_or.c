/* loose_or: AND binds closer than OR, so that a condition meant for all alternatives holds for the last one alone.
 *
 * country = 'France' OR country = 'Spain' AND age > 40 takes the French of any age. It shows where the alternatives are of
 * one column and the other condition is of another: nobody who asks for "A or B over 40" means that. Where the bound stands
 * behind "or" a second time ("or those ... who"), the question may well mean it, and there is silence. */
#include "lib/question/phrase.h"
#include "signals/support/logic.h"
#include "signals/support/names.h"

/* "Of the women, who is tall or heavy?": what is said first holds for each alternative. */
static bool narrows_first(const struct question *question)
{
    static const char *const FIRST[] = {"of the", "of all", "of those", "among", "amongst", "out of", NULL};
    struct question_phrase at;
    return question->cue_kinds >> QUESTION_CUE_EITHER & 1U && question_phrase_find(question, FIRST, 0, &at) &&
           at.first == 0;
}

static enum err_code loose_or_eval(struct vsig_run *run)
{
    static const char *const OWN[] = {"or those", "or any", "or the ones", "or who", "or else", "plus those", NULL};
    struct vsig_logic logic;
    struct question_phrase at;
    if (query_foreign(run)) return ERR_OK;
    vsig_logic_look(run->subject, &logic);
    bool narrowed = logic.or_over_and == 1 && narrows_first(run->subject->analysis);
    if (!logic.loose && logic.narrowed && narrowed)
        vsig_fire(run, VSIG_ERROR, logic.narrowed,
                  "a condition that the question states for all alternatives applies to only one of them");
    if (!logic.loose || question_phrase_find(run->subject->analysis, OWN, 0, &at)) return ERR_OK;
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_ERROR, logic.loose,
                  "AND binds more tightly than OR, so this condition applies to only one alternative");
    const struct schema_column *column = query_column(run->subject, sql_kid(logic.bound, 0));
    if (column)
        vsig_add_fact(run, finding, "column", false, "%s.%s", run->subject->schema->tables[column->table].name,
                      column->name);
    return ERR_OK;
}

const struct vsig_def vsig_loose_or = {
    .id = VSIG_ID_loose_or,
    .name = "loose_or",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "a condition applies only to the last alternative, because AND binds more tightly than OR",
    .description = "Two alternatives of one column are joined by OR, and parentheses are missing. A condition on "
                   "another column therefore applies to only one alternative.",
    .example = "Singers from France or Spain over 40 - SELECT name FROM singer WHERE country = 'France' OR country = "
               "'Spain' AND age > 40",
    .instruction = "Put the alternatives in parentheses: (a OR b) AND c, or use IN.",
    .eval = loose_or_eval,
};
