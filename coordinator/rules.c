/* What each strategy asks of a candidate, and what one candidate lacks. */
#include "coordinator/internal.h"

static const struct rules rules[MSG_STRATEGY_COUNT] = {
    [MSG_FIRST_VALID] = {.verifier = true, .signals = true, .both = true},
    [MSG_RERANK] = {.both = true, .wide = true},
    [MSG_DETECT_THEN_RERANK] = {.verifier = true, .signals = true, .both = true, .widens = true},
    [MSG_CYCLESQL] = {.verifier = true, .in_order = true},
};

const struct rules *rules_of(const struct request *request)
{
    return &rules[request->options.strategy];
}

enum rules_standing rules_standing(const struct request *request, uint32_t index)
{
    if (unseen_run(&request->judged[index]) == RUN_FAILED) return STANDS_OUT;
    return unseen(request, index) ? STANDS_UNSEEN : STANDS_JUDGED;
}

enum rules_test rules_test(const struct request *request, uint32_t index)
{
    const struct msg_judged *judged = &request->judged[index];
    const struct rules *asks = rules_of(request);
    double p = request->slots[index].score.p, least = request->core->config.models->label_threshold;
    bool verified = !isnan(judged->entailment);
    enum rules_standing standing = rules_standing(request, index);
    if (standing != STANDS_JUDGED) return standing == STANDS_OUT ? RULES_RUNS : RULES_UNSEEN;
    if (asks->verifier && verified && judged->entailment < request->entailment_threshold) return RULES_VERIFIER;
    if (asks->signals && verified && p < least) return RULES_SIGNALS;
    bool alone = !verified; /* then the signals decide, whatever the strategy */
    return (asks->both || alone) && !(judged->p_correct >= request->threshold) ? RULES_BOTH : RULES_PASSES;
}
