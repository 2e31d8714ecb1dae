/* DESIGN: what the checks could not look at must not win.
 *
 * A check that could not look says nothing against a candidate, so a statement that no check understands would come out
 * clean. Hence three rules, all of them decided here, in rules.c or in decide.c, none left to a model:
 *
 * - A signal that could not look never makes P greater than its silence would have made it (models.c).
 * - A candidate that was mostly not looked at has *low coverage*: P is at most COVERAGE_LOW_P, it does not
 *   validate, and it is not preferred to one that was judged. The same holds where a family was to run it and nobody
 *   knows whether it runs.
 * - One that did not run to its end is not the answer.
 *
 * Where a schema takes the place of the database nobody was to run it, and a third of the signals cannot look. So the
 * count of signals holds as ever; whether such a candidate may validate at all is the decision file's to say
 * (models_from_schema, docs/schema-only.md).
 *
 * *Mostly* is more than half of the signals that were switched on for this request. On the training logs (2,938 beams
 * that run, 6,901 gold queries, 55,188 mutants) no signal was unavailable on any candidate that ran to its end, and
 * one, abnormal_result, on the 21 that did not; a question that is not there costs a third. What cannot be looked at
 * costs all of them at once (a name that does not bind) or a family (fewer), so the bound lies in a gap.
 *
 * Rejected: the families as the unit (they differ in size, and a family of one would weigh as much as
 * ten); a weight a signal (one more set of numbers to fit, on data that has no such case).
 */
#include "coordinator/internal.h"

#include <string.h>

enum coverage_run coverage_run(const struct msg_judged *judged)
{
    if (!judged->judged || judged->invalid) return RUN_FAILED;
    if (!judged->execution) return RUN_UNKNOWN;
    enum err_code code = err_from_name(judged->execution->code ? judged->execution->code : "");
    return code == ERR_OK ? RUN_DONE : code == ERR_NO_DATA ? RUN_NO_DATA : RUN_FAILED;
}

struct coverage_count coverage_count(const struct msg_judged *judged)
{
    struct coverage_count out = {.signals = judged->n_signals};
    for (uint32_t i = 0; i < judged->n_signals; i++) {
        if (judged->signals[i].state != MSG_UNAVAILABLE) continue;
        const char *reason = judged->signals[i].reason ? judged->signals[i].reason : "no reason given";
        out.unavailable++;
        out.several |= out.reason && strcmp(out.reason, reason) != 0;
        if (!out.reason) out.reason = reason;
    }
    return out;
}

/* Was a family asked to run it, and none says whether it runs? */
static bool is_run_unknown(const struct request *request, uint32_t index)
{
    bool to_run = request->families & (1U << VSIG_EXECUTION | 1U << VSIG_EXPLAIN);
    return to_run && coverage_run(&request->judged[index]) == RUN_UNKNOWN;
}

/* More than half; or neither a signal nor the verifier looked. */
static bool is_mostly_unchecked(const struct msg_judged *judged)
{
    struct coverage_count count = coverage_count(judged);
    return count.signals ? 2 * count.unavailable > count.signals : isnan(judged->entailment);
}

bool coverage_is_low(const struct request *request, uint32_t index)
{
    return is_run_unknown(request, index) || is_mostly_unchecked(&request->judged[index]);
}

const char *coverage_reason(const char *reason)
{
    enum err_code code = err_from_name(reason);
    if (code == ERR_UNKNOWN_NAME || code == ERR_AMBIGUOUS_NAME) return "a name in the query cannot be resolved";
    return code == ERR_INTERNAL ? reason : err_meaning(code);
}

const char *coverage_why(struct request *request, uint32_t index)
{
    struct arena *arena = &request->arena;
    struct coverage_count count = coverage_count(&request->judged[index]);
    if (count.signals && count.unavailable == 0) return "it is unknown whether it executes";
    if (!count.unavailable) return "no check inspected it";
    return arena_printf(arena, "%u of its %u checks were unavailable: %s%s", count.unavailable, count.signals,
                        coverage_reason(count.reason), count.several ? ", among other reasons" : "");
}
