/* A column holds the number that is asked for, and the query counts rows: COUNT of a column of amounts, or COUNT(*) of
 * countries where the people are asked for. A question that asks how many *have* the amount ("with a known weight") is
 * left alone. */
#include "lib/question/phrase.h"
#include "signals/support/counted.h"
#include "signals/support/names.h"

static enum err_code counted_amount_eval(struct vsig_run *run)
{
    static const char *const FILLED[] = {"record",   "known", "given",  "fill",  "valu",   "entri",  "non",
                                         "not null", "avail", "have a", "has a", "with a", "list a", NULL};
    const struct vsig_subject *subject = run->subject;
    struct vsig_counted_things things;
    vsig_counted_look(subject, &things);
    const struct schema_column *column = things.amounts ? things.amount : things.held;
    if (!column || vsig_question_says(subject, FILLED)) return ERR_OK;
    const char *table = subject->schema->tables[column->table].name;
    struct vsig_finding *finding =
        things.amounts
            ? vsig_fire(run, VSIG_ERROR, things.amounts, "%s.%s holds amounts, and the query counts in how many rows",
                        table, column->name)
            : vsig_fire(run, VSIG_WARNING, things.rows,
                        "the query counts rows, and %s.%s holds the number that is asked for", table, column->name);
    vsig_add_fact(run, finding, "column", false, "%s.%s", table, column->name);
    return ERR_OK;
}

const struct vsig_def vsig_counted_amount = {
    .id = VSIG_ID_counted_amount,
    .name = "counted_amount",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION | VSIG_NEEDS_DATA,
    .sentence = "rows are counted where a column holds the number that is asked for",
    .description = "The query counts rows, and how many there are of what the question names stands in a column, whose "
                   "values have to be summed or shown.",
    .example = "How many people live in Europe? SELECT COUNT(*) FROM country WHERE continent = 'Europe'",
    .instruction = "SUM the column that holds the number, or show it.",
    .eval = counted_amount_eval,
};
