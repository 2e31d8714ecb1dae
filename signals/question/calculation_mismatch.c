/* calculation_mismatch: the query computes a ratio, share, change, difference or average from other operands than the
 * question asks for. */
#include "signals/support/meaning.h"

static enum err_code calculation_mismatch_eval(struct vsig_run *run)
{
    return vsig_report_differences(run, ALIGN_CALCULATION);
}

const struct vsig_def vsig_calculation_mismatch = {
    .id = VSIG_ID_calculation_mismatch,
    .name = "calculation_mismatch",
    .family = VSIG_QUESTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "a ratio, share, change, difference or average is computed in another way than the question asks",
    .description = "The question says how to compute a number: with missing values as 0, as a ratio of totals, as a "
                   "share of a whole, relative to the earlier value, or with all repeats. The query computes it in "
                   "another way.",
    .example = "By how many percent did sales grow from May to June? - SELECT 100.0 * (june - may) / june FROM total",
    .instruction = "Divide growth by the earlier value. Give the whole of a share the same conditions as its parts. "
                   "Put COALESCE inside the average if missing values count as 0. Count over UNION ALL.",
    .eval = calculation_mismatch_eval,
};
