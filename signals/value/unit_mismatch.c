/* unit_mismatch: a number of the question has another unit than the column that the query compares it with. The query
 * uses the number without conversion, or with a wrong factor. The signal also fires if the result has another unit than
 * requested, or if the query mixes units (lib/question/align_unit.c).
 *
 * Both must name their unit, as in "ten minutes" and milliseconds, or "20 billion" and profits_billion. A column name
 * without a unit suggests a plain count, but does not prove it. The signal is silent if another number of the query
 * fits. */
#include "signals/support/meaning.h"
#include "signals/support/names.h"
#include "signals/support/units.h"

#include <math.h>
#include <string.h>

/* True if the evidence contains a digit or a word such as "thousand". It may then convert the number. "Size is in
 * megabytes" converts nothing. */
static bool states_number(const struct question *question)
{
    static const char *const SCALES[] = {"hundred", "thousand", "million", "billion"};
    if (!question->evidence.n || !question->evidence_text) return question->evidence.n > 0;
    for (size_t i = 0; i < sizeof SCALES / sizeof *SCALES; i++)
        if (strstr(question->evidence_text, SCALES[i])) return true;
    return strpbrk(question->evidence_text, "0123456789") != NULL;
}

static enum err_code unit_mismatch_eval(struct vsig_run *run)
{
    const struct question *question = run->subject->analysis;
    struct vsig_threshold all[VSIG_MAX_THRESHOLDS];
    uint32_t n = vsig_thresholds(run->subject, all);
    for (uint32_t v = 0; v < question->n_values && n; v++) {
        const struct vsig_threshold *missed = NULL;
        double expected = NAN, wanted;
        bool met = question->values[v].kind != QUESTION_VALUE_NUMBER || states_number(question);
        for (uint32_t i = 0; i < n && !met; i++) {
            enum vsig_unit_verdict verdict = vsig_unit_of(run->subject, &all[i], &question->values[v], &wanted);
            met = verdict == VSIG_UNIT_MET;
            if (verdict != VSIG_UNIT_MISSED) continue;
            missed = &all[i];
            expected = wanted;
        }
        if (met || !missed) continue;
        struct vsig_finding *finding =
            vsig_fire(run, VSIG_ERROR, missed->node,
                      "the number of the question has another unit than the column %s, so the comparison is wrong",
                      missed->column->name);
        vsig_add_fact(run, finding, "in the column's unit", false, "%.6g", expected);
    }
    return vsig_report_differences(run, ALIGN_UNITS);
}

const struct vsig_def vsig_unit_mismatch = {
    .id = VSIG_ID_unit_mismatch,
    .name = "unit_mismatch",
    .family = VSIG_VALUE,
    .cause = VSIG_MISALIGNMENT,
    .needs = VSIG_NEEDS_QUESTION,
    .sentence = "an amount has a different unit than the question, or than the amount it is compared with",
    .description =
        "The question states a number with a unit, or asks for a result in a unit, and the column's name gives "
        "another unit of the same quantity. The query does not convert it, or converts it incorrectly. Or the "
        "query adds or compares amounts of different units.",
    .example = "Which songs are longer than ten minutes? - SELECT name FROM track WHERE milliseconds > 10",
    .instruction = "Convert the amounts to one unit, and the result to the unit that the question asks for.",
    .eval = unit_mismatch_eval,
};
