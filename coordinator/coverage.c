/* DESIGN: an unchecked candidate must not win over checked ones.
 *
 * An unavailable check reports no problem, so a statement that no check understands would appear clean. Three rules
 * prevent this. They are implemented here, in rules.c and in decide.c, and no model can override them:
 *
 * - An unavailable signal never makes P(correct) greater than its silence would have made it (models.c).
 * - A candidate with mostly unavailable checks has *low coverage*. Its P(correct) is at most COVERAGE_LOW_P, it does
 *   not validate, and judged candidates are preferred. The same holds if a family should have run it and the outcome is
 *   unknown.
 * - A candidate that did not complete is not the answer.
 *
 * If a schema replaces the database, no family runs the candidate, and a third of the signals is unavailable. The rule
 * about the share of unavailable signals still applies. The decision file says whether such a candidate may validate at
 * all (models_from_schema, docs/schema-only.md).
 *
 * *Mostly* means more than half of the signals that were enabled for this request. The training logs have 2,938 beams
 * that run, 6,901 gold queries and 55,188 mutants. In them no signal was unavailable on any candidate that completed.
 * On the 21 others one was: abnormal_result. A missing question makes a third of the signals unavailable. An unresolved
 * name makes all of them unavailable, and a failed family makes fewer. The bound of a half lies between the shares that
 * occur.
 *
 * Rejected: counting families (they differ in size, and a family of one signal would weigh as much as one of ten).
 * Rejected: a weight for each signal (more numbers to fit, on data without such a case).
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

/* Returns true if a family should have run the candidate, but none reports whether it runs. */
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
