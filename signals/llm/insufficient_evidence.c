/* insufficient_evidence: asks a language model whether there is enough information to judge the query (SQLens §3.1). */
#include "signals/support/ask.h"

static enum err_code insufficient_evidence_eval(struct vsig_run *run)
{
    const json_t *part = ask_part(run);
    bool insufficient;
    if (!part || !ask_bool(run, part, "insufficient", &insufficient) || !insufficient) return ERR_OK;
    struct vsig_finding *finding = vsig_fire(run, VSIG_WARNING, NULL,
                                             "a language model reports that question, evidence and schema contain too "
                                             "little information to judge the query");
    ask_quote(run, finding, part);
    ask_mark(run, finding, NULL, NULL);
    return ERR_OK;
}

const struct vsig_def vsig_insufficient_evidence = {
    .id = VSIG_ID_insufficient_evidence,
    .name = "insufficient_evidence",
    .family = VSIG_LLM,
    .cause = VSIG_QUESTION_AMBIGUITY,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "a language model reports that there is too little information to judge the query",
    .description = "The question mentions something that is neither defined nor found in the database.",
    .example = "Who are the loyal customers? Neither the evidence nor the schema defines a loyal customer.",
    .instruction =
        "Use only the question, the evidence and the schema. Take the plainest meaning of a word that is not defined.",
    .eval = insufficient_evidence_eval,
};
