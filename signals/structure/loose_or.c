/* loose_or: a condition for all alternatives applies only to the last one, because AND binds more tightly than OR.
 *
 * country = 'France' OR country = 'Spain' AND age > 40 selects the French of any age. The signal fires if the
 * alternatives test one column and the other condition tests another column, because "A or B over 40" restricts both.
 * It is silent if the question begins a new alternative after "or" ("or those ... who", ", or from ..."). The condition
 * may then belong to the last alternative alone. */
#include "lib/question/forms.h"
#include "lib/question/phrase.h"
#include "signals/support/logic.h"
#include "signals/support/names.h"

#include <math.h>

/* True if the question begins with a restriction, as in "Of the women, who is tall or heavy?". It applies to each
 * alternative. */
static bool narrows_first(const struct question *question)
{
    static const char *const FIRST[] = {"of the", "of all", "of those", "among", "amongst", "out of", NULL};
    struct question_phrase at;
    return question->cue_kinds >> QUESTION_CUE_EITHER & 1U && question_phrase_find(question, FIRST, 0, &at) &&
           at.first == 0;
}

/* Returns the first token of the question that states a literal of the node, or the last one if `last` is set. Returns
 * UINT32_MAX if there is none. */
static uint32_t said_at(const struct vsig_subject *subject, const struct sql_node *node, bool last)
{
    const struct question *question = subject->analysis;
    uint32_t found = UINT32_MAX;
    for (const struct sql_node *n = node; n; n = sql_walk(node, n)) {
        double number;
        uint32_t at = UINT32_MAX;
        if (query_literal(n, NULL) != n || !n->text) continue;
        if (query_literal_number(n, &number)) {
            for (uint32_t v = 0; v < question->n_values; v++)
                if (question->values[v].kind == QUESTION_VALUE_NUMBER &&
                    fabs(question->values[v].number - number) < 1e-9)
                    at = question->values[v].first;
        } else {
            question_says_text(subject->arena, question, n->text, n->text_len, &at);
        }
        if (at != UINT32_MAX && (found == UINT32_MAX || (last ? at > found : at < found))) found = at;
    }
    return found;
}

/* Reports a condition for all alternatives that the question states only for the last one. In "from the web, or from
 * the phone with an id above 3", the condition after ", or" belongs to the last alternative. `border` is the token of
 * ", or". */
static void check_wide(struct vsig_run *run, const struct vsig_logic *logic, uint32_t border)
{
    if (!logic->wide || !logic->wide_bound) return;
    uint32_t first = said_at(run->subject, logic->wide, false), last = said_at(run->subject, logic->wide, true),
             bound = said_at(run->subject, logic->wide_bound, false);
    if (last == UINT32_MAX || bound == UINT32_MAX) return;
    if (first < border && last > border && bound > last)
        vsig_fire(run, VSIG_WARNING, logic->wide_bound,
                  "the question states this condition for the last alternative, but it applies to all alternatives");
}

static enum err_code loose_or_eval(struct vsig_run *run)
{
    static const char *const OWN[] = {"or those", "or any",    "or the ones", "or who",    "or else",  "plus those",
                                      ", or of",  ", or from", ", or in",     ", or with", ", or at",  ", or on",
                                      ", or by",  ", or for",  ", or is",     ", or are",  ", or has", ", or have",
                                      ", or to",  ", or that", ", or which",  NULL};
    struct vsig_logic logic;
    struct question_phrase at;
    if (query_foreign(run)) return ERR_OK;
    vsig_logic_look(run->subject, &logic);
    bool narrowed = logic.or_over_and == 1 && narrows_first(run->subject->analysis);
    if (!logic.loose && logic.narrowed && narrowed)
        vsig_fire(run, VSIG_ERROR, logic.narrowed,
                  "a condition that the question states for all alternatives applies to only one of them");
    bool own = question_phrase_find(run->subject->analysis, OWN, 0, &at);
    if (own) check_wide(run, &logic, at.first);
    if (!logic.loose || own) return ERR_OK;
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
