/* contradicted_value: the query compares a column with a value that the question does not state, and the question
 * states another value of that column.
 *
 * Both values may have another form (lib/question/forms.h): "women" and 'M', "Monday" and 'Fri', "French" and
 * 'Germany'. A plain word that happens to be a value ("the best cat") is weaker evidence than a name. It counts only if
 * the column has few values. */
#include "signals/support/contradiction.h"
#include "signals/support/names.h"

enum { OPT_PLAIN_DISTINCT };

static enum err_code contradicted_value_eval(struct vsig_run *run)
{
    const struct vsig_contradictions *found = vsig_contradictions(run->subject);
    if (!found) return ERR_LIMIT_MEMORY;
    for (uint32_t i = 0; i < found->n; i++) {
        const struct vsig_contradiction *one = &found->items[i];
        const struct vsig_predicate *predicate = one->predicate;
        if (!one->sure && (double)predicate->column->stats.distinct > vsig_opt(run, OPT_PLAIN_DISTINCT)) continue;
        struct vsig_finding *finding = vsig_fire(
            run, VSIG_ERROR, predicate->node,
            "the query uses a value of %s that the question does not state; the question states another value",
            vsig_column_name(run->subject, predicate->ref));
        const struct text_token *words = run->subject->analysis->tokens.items + one->said.first;
        const struct text_token *last = words + one->said.n_tokens - 1;
        vsig_add_fact(run, finding, "the question says", false, "%.*s", (int)(last->end - words->start),
                      run->subject->question + words->start);
        vsig_add_fact(run, finding, "the data says", true, "%s", one->said.stored);
        vsig_add_fact(run, finding, "value", false, "%.*s", (int)one->literal->text_len, one->literal->text);
    }
    return ERR_OK;
}

static const struct vsig_option OPTIONS[] = {
    [OPT_PLAIN_DISTINCT] =
        {"plain_distinct", 50, 0, 1e6,
         "plain words of the question are compared with a column of at most this many distinct values"},
    {NULL, 0, 0, 0, NULL},
};

const struct vsig_def vsig_contradicted_value = {
    .id = VSIG_ID_contradicted_value,
    .name = "contradicted_value",
    .family = VSIG_VALUE,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION | VSIG_NEEDS_DATA,
    .sentence = "a condition names a value that the question does not state, and the question states another value of "
                "that column",
    .description = "The question states a value of the column, either as stored or in another form (women for 'F', "
                   "French for 'France'). The query compares the column with a different value.",
    .example = "How many women work here? - SELECT count(*) FROM staff WHERE sex = 'M'",
    .instruction = "Compare the column with the value that the question states, as the data spells it.",
    .options = OPTIONS,
    .eval = contradicted_value_eval,
};
