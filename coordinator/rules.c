/* The tests of each strategy, and the first test that a candidate fails. */
#include "coordinator/internal.h"

static const struct rules rules[] = {
    [MSG_FIRST_VALID] = {.verifier = true, .signals = true, .combined = true},
    [MSG_RERANK] = {.combined = true, .evaluate_all = true},
    [MSG_DETECT_THEN_RERANK] = {.verifier = true, .signals = true, .combined = true, .fallback_to_all = true},
    [MSG_CYCLESQL] = {.verifier = true, .in_order = true, .verifier_alone = true},
    [MSG_CORRECT] = {.combined = true, .in_order = true, .first_only = true},
};
_Static_assert(sizeof rules / sizeof *rules == MSG_STRATEGY_COUNT, "one row a strategy");

const struct rules *rules_of(const struct request *request)
{
    return &rules[request->options.strategy];
}

enum rules_tier rules_tier(const struct request *request, uint32_t index)
{
    if (coverage_run(&request->judged[index]) == RUN_FAILED) return TIER_EXCLUDED;
    return coverage_is_low(request, index) ? TIER_LOW_COVERAGE : TIER_JUDGED;
}

bool rules_linking_is_uncertain(const struct msg_judged *judged)
{
    for (uint32_t i = 0; i < judged->n_findings; i++)
        if (judged->findings[i].signal == VSIG_ID_linking_uncertain) return true;
    return false;
}

enum rules_test rules_test(const struct request *request, uint32_t index)
{
    const struct msg_judged *judged = &request->judged[index];
    const struct rules *rule = rules_of(request);
    double p = request->states[index].score.p, least = request->core->config.models->label_threshold;
    bool verified = !isnan(judged->entailment);
    enum rules_tier tier = rules_tier(request, index);
    if (tier != TIER_JUDGED) return tier == TIER_EXCLUDED ? RULES_NOT_RUN : RULES_LOW_COVERAGE;
    if (request->message->schema && !request->core->config.models->knows_schemas) return RULES_NO_DATA;
    if (request->message->linking && rules_linking_is_uncertain(judged)) return RULES_LINKING;
    if (request->message->n_answers) return judged->p_correct >= request->threshold ? RULES_PASSES : RULES_COMBINED;
    if (rule->verifier && verified && judged->entailment < request->entailment_threshold) return RULES_VERIFIER;
    if (rule->signals && verified && p < least) return RULES_SIGNALS;
    bool alone = !verified; /* the signals alone decide, regardless of the strategy */
    return (rule->combined || alone) && !(judged->p_correct >= request->threshold) ? RULES_COMBINED : RULES_PASSES;
}
