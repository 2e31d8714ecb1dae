/* select_star: an example of a signal, to copy. It fires at every SELECT * of the outermost block, because questions
 * usually ask for specific columns.
 *
 * It is compiled and tested like the other signals, but it is not in vsig_list.h, so production never runs it. A real
 * signal takes its id from the list: `.id = VSIG_ID_<name>`. */
#include "signals/vsig.h"

enum { OPT_ALLOW_ONE_TABLE };

static const struct vsig_option OPTIONS[] = {
    {"allow_one_table", 0, 0, 1, "accept `SELECT *` from a single table"},
    {NULL},
};

static enum err_code eval(struct vsig_run *run)
{
    const struct sql_block *top = run->subject->bound->blocks[0];
    if (vsig_opt(run, OPT_ALLOW_ONE_TABLE) != 0 && top->n_sources <= 1) return ERR_OK;

    /* NULL for VALUES; any child node may be missing */
    const struct sql_node *items = sql_kid(top->node, SELECT_ITEMS);
    for (uint32_t i = 0; items && i < items->n_kids; i++) {
        if (!sql_is(items->kids[i], SQL_STAR)) continue;
        struct vsig_finding *finding =
            vsig_fire(run, VSIG_WARNING, items->kids[i],
                      "the query returns all columns, even those that the question does not ask for");
        vsig_add_fact(run, finding, "columns", false, "%u", top->n_outputs);
    }
    return ERR_OK;
}

extern const struct vsig_def vsig_select_star; /* for the test; vsig.c declares only the listed signals */
const struct vsig_def vsig_select_star = {
    .id = 0, /* this example has no id; no signal has the id 0 */
    .name = "select_star",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .sentence = "the outermost SELECT returns every column",
    .description = "The query returns every column of its tables. A question usually asks for particular columns.",
    .example = "What are the names of all singers? - SELECT * FROM singer",
    .instruction = "In SELECT, list only the columns that the question asks for.",
    .options = OPTIONS,
    .eval = eval,
};
