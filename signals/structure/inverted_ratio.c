/* inverted_ratio: the query inverts a ratio that the question asks for. It computes "A per B" as B / A, or divides the
 * whole by its part. */
#include "signals/support/names.h"
#include "signals/support/quotient.h"

static enum err_code inverted_ratio_eval(struct vsig_run *run)
{
    struct vsig_quotients quotients;
    vsig_quotients_look(run->subject, &quotients);
    if (!quotients.at || quotients.upright) return ERR_OK;
    vsig_fire(run, VSIG_ERROR, quotients.at, "%s",
              quotients.by_count   ? "the question asks how many on average, but the query divides the number of "
                                     "distinct things by the number of rows"
              : quotients.by_words ? "the query swaps the dividend and the divisor that the question names"
                                   : "the question asks for a share, but the query divides the whole by its part");
    return ERR_OK;
}

const struct vsig_def vsig_inverted_ratio = {
    .id = VSIG_ID_inverted_ratio,
    .name = "inverted_ratio",
    .family = VSIG_STRUCTURE,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "a division swaps the dividend and the divisor that the question names",
    .description = "The question asks for A per B, the ratio of A to B, or the share of a part in the whole. The query "
                   "divides B by A.",
    .example = "What is the price per mile? - SELECT distance / price FROM flight",
    .instruction = "Divide the quantity that is named first by the quantity after \"per\". For a share, divide the "
                   "part by the whole.",
    .eval = inverted_ratio_eval,
};
