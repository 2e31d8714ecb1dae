/* The guarantee of a verdict: "at most a share alpha of such answers is wrong, with confidence 1 - delta"
 * (scoring/guarantee.h).
 *
 * A request with alpha gets the threshold at which the calibration of its generator supports the guarantee. There may
 * be no such threshold. Or the generator's traffic may now differ from that of its calibration (risk_shift); the
 * guarantee is then withdrawn until the process restarts with a new calibration. In both cases policy `abstain` returns
 * no answer, and the other policies use a plain threshold of 1 - alpha. Each coordinator observes only its own traffic.
 */
#include "coordinator/internal.h"

#include <stdlib.h>

static const double DEFAULT_DELTA = 0.1;

struct guarantee_traffic {
    const struct guarantee *guarantee;
    struct risk_shift groups[]; /* by group of the calibration */
};

struct guarantee_traffic *guarantee_traffic_new(const struct guarantee *guarantee)
{
    uint32_t n = guarantee_n_groups(guarantee);
    struct guarantee_traffic *traffic = malloc(sizeof *traffic + n * sizeof traffic->groups[0]);
    if (!traffic) return NULL;
    traffic->guarantee = guarantee;
    for (uint32_t i = 0; i < n; i++) guarantee_watch(guarantee, i, &traffic->groups[i]);
    return traffic;
}

static bool has_shifted(const struct core *core, const struct guarantee_found *found)
{
    return found->group >= 0 && !core->config.ignores_drift && core->traffic->groups[found->group].shifted;
}

static struct guarantee_found look_up(struct request *request, double alpha, double delta)
{
    char llm[CONSULT_TEXT];
    consult_text(request->consults ? &request->core->config.llm : NULL, llm);
    const struct guarantee_asked asked = {.alpha = alpha,
                                          .llm = llm,
                                          .delta = delta,
                                          .generator = verifier_generator(request->message),
                                          .db = request->message->db,
                                          .strategy = request->options.strategy,
                                          .repairs = request->options.repair == MSG_REPAIR_APPLY};
    return guarantee_find(request->core->config.models->guarantee, &asked);
}

void guarantee_begin(struct request *request, double alpha, double delta)
{
    struct core *core = request->core;
    struct msg_guarantee *out = core->traffic ? arena_new(&request->arena, struct msg_guarantee) : NULL;
    if (!out) return;
    if (!(delta > 0)) delta = DEFAULT_DELTA;
    struct guarantee_found found = look_up(request, alpha, delta);
    /* the calibration does not cover a P(correct) that a user's answer has changed */
    bool answered = request->message->n_answers;
    bool schema = request->message->schema != NULL; /* it does not cover judgements without data either */
    bool shifted = has_shifted(core, &found), held = found.promise.held && !shifted && !answered && !schema;
    *out = (struct msg_guarantee){
        .alpha = alpha,
        .delta = delta,
        .group = found.name,
        .records = found.promise.records,
        .status = held      ? MSG_PROMISE_HELD
                  : shifted ? MSG_PROMISE_WITHDRAWN
                            : MSG_PROMISE_TOO_FEW,
        .p_value = NAN,
        .why = schema     ? "the request is judged from the schema alone, but the calibration's verdicts are not"
               : answered ? "the verdict uses a person's answer, but the calibration's verdicts do not"
               : shifted  ? "the candidates of this generator now differ from the candidates used for calibration"
                          : found.why};
    request->guarantee = out;
    request->guarantee_group = found.group;
    if (held)
        request->threshold = found.promise.threshold;
    else if (request->options.policy == MSG_ABSTAIN)
        request->threshold = 1;
}

void guarantee_conclude(struct request *request, uint32_t index, double p)
{
    struct core *core = request->core;
    if (!request->guarantee || request->guarantee_group < 0 || isnan(p) || request->message->n_answers ||
        request->message->schema)
        return;
    struct risk_shift *shift = &core->traffic->groups[request->guarantee_group];
    bool before = shift->shifted;
    struct risk_record answer = {.p = p};
    guarantee_traits(request->judged, request->n_given, index, answer.traits);
    request->guarantee->p_value =
        guarantee_p_value(core->config.models->guarantee, (uint32_t)request->guarantee_group, &answer);
    core->stats.promises_withdrawn +=
        guarantee_saw(core->config.models->guarantee, (uint32_t)request->guarantee_group, &answer, shift) && !before;
}
