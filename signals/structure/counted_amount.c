/* counted_amount: the query counts rows, but a column contains the requested number. Examples are COUNT of a column of
 * amounts, and COUNT(*) of countries if the question asks for people. The signal does not fire if the question asks how
 * many things have an amount at all ("with a known weight"). */
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
        things.amounts ? vsig_fire(run, VSIG_ERROR, things.amounts,
                                   "%s.%s contains amounts, but the query only counts the rows that have an amount",
                                   table, column->name)
                       : vsig_fire(run, VSIG_WARNING, things.rows,
                                   "the query counts rows, but %s.%s contains the number that the question asks for",
                                   table, column->name);
    vsig_add_fact(run, finding, "column", false, "%s.%s", table, column->name);
    return ERR_OK;
}

const struct vsig_def vsig_counted_amount = {
    .id = VSIG_ID_counted_amount,
    .name = "counted_amount",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION | VSIG_NEEDS_DATA,
    .sentence = "the query counts rows, but a column contains the requested number",
    .description = "The query counts rows, but the requested quantity is stored in a column. Its values must be summed "
                   "or returned.",
    .example = "How many people live in Europe? - SELECT COUNT(*) FROM country WHERE continent = 'Europe'",
    .instruction = "Sum the column that contains the number (`SUM`), or return that column.",
    .eval = counted_amount_eval,
};
