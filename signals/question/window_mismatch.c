/* window_mismatch: a window function sums, reads or ranks other rows than the question asks for. */
#include "signals/support/meaning.h"

static enum err_code window_mismatch_eval(struct vsig_run *run)
{
    return vsig_report_differences(run, ALIGN_WINDOW);
}

const struct vsig_def vsig_window_mismatch = {
    .id = VSIG_ID_window_mismatch,
    .name = "window_mismatch",
    .family = VSIG_QUESTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "a window adds up, looks at or ranks other rows than the question asks for",
    .description =
        "The question asks for a running total, a moving window, the previous or next row, a comparison with "
        "the own group or with all rows, or for all rows that tie. The window of the query has another "
        "order, frame, PARTITION BY or ranking function.",
    .example = "What is the running total of sales by day? - SELECT day, SUM(amount) OVER () FROM sale",
    .instruction = "For a running total, order the window by the date. For the previous row, use LAG. For each thing, "
                   "add PARTITION BY. For ties, use RANK or DENSE_RANK.",
    .eval = window_mismatch_eval,
};
