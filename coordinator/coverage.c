/* DESIGN: unchecked candidates must not win.
 *
 * An unavailable check reports no problem, so a statement that no check understands would appear clean. Hence three
 * rules, all implemented here, in rules.c or in decide.c, and none by a model:
 *
 * - An unavailable signal never makes P greater than its silence would have made it (models.c).
 * - A candidate with mostly unavailable checks has *low coverage*. Its P is at most COVERAGE_LOW_P, it does not
 *   validate, and judged candidates are preferred. The same holds if a family should have run it and the outcome is
 *   unknown.
 * - A candidate that did not complete is not the answer.
 *
 * If a schema replaces the database, no family runs the candidate, and a third of the signals is unavailable. The count
 * of signals still applies. Whether such a candidate may validate at all is set in the decision file
 * (models_from_schema, docs/schema-only.md).
 *
 * *Mostly* is more than half of the signals that were enabled for this request. The training logs have 2,938 beams that
 * run, 6,901 gold queries and 55,188 mutants. In them no signal was unavailable on any candidate that completed, and
 * one, abnormal_result, on the 21 others; a missing question costs a third. An unresolved name makes all signals
 * unavailable, and a failed family fewer, so the bound lies in a gap.
 *
 * Rejected: counting families (they differ in size, and a family of one would weigh as much as ten). Rejected: a weight
 * for each signal (more numbers to fit, on data without such a case).
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

/* Tells whether a family should have run it and none reports whether it runs. */
static bool is_run_unknown(const struct request *request, uint32_t index)
{
    bool to_run = request->families & (1U << VSIG_EXECUTION | 1U << VSIG_EXPLAIN);
    return to_run && coverage_run(&request->judged[index]) == RUN_UNKNOWN;
}

/* Returns true if more than half of the signals were unavailable, or if neither a signal nor the verifier was
 * available. */
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
