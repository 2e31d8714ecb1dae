/* question_clause_linking: a language model links the words of the question to clauses of the query, and says of each
 * link whether it is sure. Each link that is not sure fires at its clause (SQLens §3.1, A.2). */
#include "signals/support/ask.h"

enum { MAX_LINKS = 12 };

static enum err_code question_clause_linking_eval(struct vsig_run *run)
{
    const json_t *part = ask_part(run), *links = part ? ask_list(run, part, "links") : NULL, *link;
    unsigned dropped = 0;
    size_t i;
    json_array_foreach(links, i, link)
    {
        const struct sql_node *place = ask_place(run, ask_text(link, "clause"));
        const char *words = ask_text(link, "words");
        bool sure;
        if (!ask_bool(run, link, "sure", &sure)) return ERR_OK;
        if (!place || !words || i >= MAX_LINKS) {
            dropped++;
            continue;
        }
        if (sure) continue;
        struct vsig_finding *finding = vsig_fire(
            run, VSIG_WARNING, place, "a language model is not sure that this clause means what the question says");
        vsig_add_fact(run, finding, "words", false, "%.80s", words);
    }
    ask_note_dropped(run, dropped);
    return ERR_OK;
}

const struct vsig_def vsig_question_clause_linking = {
    .id = VSIG_ID_question_clause_linking,
    .name = "question_clause_linking",
    .family = VSIG_LLM,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "a language model is not sure which words of the question a clause expresses",
    .description =
        "A language model linked the words of the question to the clauses of the query, and guessed some of the links.",
    .example = "List the oldest members - SELECT name FROM member ORDER BY join_date. The question may mean the age of "
               "the person, not the length of the membership.",
    .instruction = "Make the marked clause express exactly what these words of the question mean.",
    .eval = question_clause_linking_eval,
};
