/* evidence_violation: asks a language model whether the query contradicts or omits a condition that the question or the
 * evidence states (SQLens §3.1). */
#include "signals/support/ask.h"

static enum err_code evidence_violation_eval(struct vsig_run *run)
{
    const json_t *part = ask_part(run), *clauses;
    bool violated;
    unsigned dropped = 0;
    if (!part || !ask_bool(run, part, "violated", &violated) || !(clauses = ask_list(run, part, "clauses")) ||
        !violated)
        return ERR_OK;
    struct vsig_finding *finding = vsig_fire(
        run, VSIG_ERROR, NULL,
        "a language model reports that the query contradicts or omits a condition of the question or the evidence");
    ask_quote(run, finding, part);
    ask_mark(run, finding, clauses, &dropped);
    ask_note_dropped(run, dropped);
    return ERR_OK;
}

const struct vsig_def vsig_evidence_violation = {
    .id = VSIG_ID_evidence_violation,
    .name = "evidence_violation",
    .family = VSIG_LLM,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "a language model reports that the query contradicts or omits a stated condition",
    .description = "The question or the evidence states a condition. A language model reports that the query "
                   "contradicts or omits it.",
    .example = "Which singers over 30 are from France? - SELECT name FROM singer WHERE country = 'France'",
    .instruction = "Keep every condition that the question and the evidence state, exactly as they state it.",
    .eval = evidence_violation_eval,
};
