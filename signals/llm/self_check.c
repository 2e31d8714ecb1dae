/* self_check: asks a language model whether the query answers the question. The reply is true or false, with a
 * probability (SQLens §3.1). */
#include "signals/support/ask.h"

static enum err_code self_check_eval(struct vsig_run *run)
{
    const json_t *part = ask_part(run), *clauses;
    bool right;
    double p;
    unsigned dropped = 0;
    if (!part || !ask_bool(run, part, "right", &right) || !ask_share(run, part, "probability", &p) ||
        !(clauses = ask_list(run, part, "clauses")))
        return ERR_OK;
    if (right ? p < 0.5 : p > 0.5) {
        vsig_unavailable(run, "the model contradicts itself");
        return ERR_OK;
    }
    if (right) return ERR_OK;
    struct vsig_finding *finding =
        vsig_fire(run, VSIG_ERROR, NULL, "a language model says that the query does not answer the question");
    vsig_add_fact(run, finding, "probability that it does", false, "%.2f", p);
    ask_quote(run, finding, part);
    ask_mark(run, finding, clauses, &dropped);
    ask_note_dropped(run, dropped);
    return ERR_OK;
}

const struct vsig_def vsig_self_check = {
    .id = VSIG_ID_self_check,
    .name = "self_check",
    .family = VSIG_LLM,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "a language model says that the query does not answer the question",
    .description = "A language model that was given the question, the schema and the query considers the query wrong.",
    .example = "How many singers are there? - SELECT count(DISTINCT country) FROM singer",
    .instruction = "Answer the question exactly as asked. Check the marked clauses first.",
    .eval = self_check_eval,
};
