/* evidence_ignored: the evidence defines a word of the question, but the query does not follow the definition.
 *
 * A definition is a condition on one of its columns with its literal, or a quotient or difference of its columns. The
 * signal searches the query for each definition. A reversed definition is an error, such as an exchanged numerator and
 * denominator, or < instead of >. Another literal that neither question nor evidence mentions is also an error. A
 * definition that the query does not use is a warning. The question must contain the defined word. */
#include "signals/support/definition.h"
#include "signals/support/zone.h"

static void report(struct vsig_run *run, const struct definition_use *use, const struct question_definition *definition)
{
    static const char *const TEXTS[] = {
        [DEFINITION_IGNORED] =
            "the evidence defines a word of the question by the column %s, but the query does not use this definition",
        [DEFINITION_INVERTED] = "the query reverses a definition of the evidence that uses the column %s",
        [DEFINITION_OTHER_VALUE] = "the query uses a different value or column than the evidence defines for %s",
    };
    const struct schema_column *column = run->subject->schema->columns[definition->left.columns[0]];
    struct vsig_finding *finding = vsig_fire(run, use->how == DEFINITION_IGNORED ? VSIG_WARNING : VSIG_ERROR, use->node,
                                             TEXTS[use->how], column->name);
    vsig_add_fact(run, finding, "column", false, "%s.%s", run->subject->schema->tables[column->table].name,
                  column->name);
}

/* Reports times stored in UTC that the query uses as local times. */
static void check_zone(struct vsig_run *run)
{
    const struct schema_column *column;
    const struct sql_node *use = vsig_unconverted_time(run->subject, &column);
    if (use)
        vsig_fire(run, VSIG_ERROR, use,
                  "the times are stored in UTC and the question asks for local time, but the query does not convert %s",
                  column->name);
}

static enum err_code evidence_ignored_eval(struct vsig_run *run)
{
    const struct question *question = run->subject->analysis;
    check_zone(run);
    for (uint32_t i = 0; i < question->n_definitions; i++) {
        const struct question_definition *definition = &question->definitions[i];
        if (!definition->asked || !definition->named) continue;
        struct definition_use use = definition_look(run->subject, definition);
        if (use.how == DEFINITION_KEPT || use.how == DEFINITION_UNKNOWN) continue;
        bool negated = question_cue_any(question, 1U << QUESTION_CUE_NOT); /* as in "claims that are not open" */
        if (negated && definition->is_null && use.how == DEFINITION_INVERTED) continue;
        report(run, &use, definition);
        return ERR_OK;
    }
    return ERR_OK;
}

const struct vsig_def vsig_evidence_ignored = {
    .id = VSIG_ID_evidence_ignored,
    .name = "evidence_ignored",
    .family = VSIG_QUESTION,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "a definition in the evidence is not used, or is used in reverse",
    .description =
        "The evidence defines a word of the question by a condition or a formula over columns. The query "
        "does not use the definition, reverses it, or compares with another value. Or times are stored in UTC, and "
        "the query takes them for local times.",
    .example = "What is the hit rate (hits / shots) of each player? - SELECT name, shots / hits FROM player",
    .instruction = "Use the definition exactly as the evidence gives it.",
    .eval = evidence_ignored_eval,
};
