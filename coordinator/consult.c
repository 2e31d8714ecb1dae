/* DESIGN: a language model's opinion on a candidate, requested only if it may change the decision.
 *
 * The other families are cheap and judge all candidates first. Only the likely answer is submitted to a model, and only
 * in case of doubt. There is doubt if its P(correct) is in the configured range, or if the signals and the verifier
 * disagree about it. It then gets a task of the family llm. When the result arrives, P(correct) is computed again with
 * it (models_hear), and the decision is made again. If another candidate is now the best, that one gets a task too,
 * within max_candidates and max_tokens of a request. No candidate gets a second task.
 *
 * The model's response changes only its own signals, and changes P(correct) only as far as its hit rate allows. Without
 * a response (no budget, no reachable endpoint, the deadline) the signals are unavailable and nothing else changes.
 *
 * There may be no worker for the model, so the wait has a timeout. After a timeout, this process requests no opinion
 * for the same time again, so that an outage does not delay every doubtful verdict. A note reports this.
 *
 * Rejected: asking about every candidate (at least five times as many calls for the same answers,
 * bench/notes/language-models.md). Rejected: asking before the other families have judged (doubt cannot be measured
 * yet).
 */
#include "coordinator/internal.h"

#include <string.h>

enum { DEFAULT_CANDIDATES = 3, DEFAULT_WAIT_MS = 60000 };
static const uint32_t LLM = 1U << VSIG_LLM;

static bool read_when(const char *text, struct coordinator_llm *out)
{
    char *end;
    if (strcmp(text, "never") == 0) return true;
    out->on = true;
    out->high = 1;
    if (strcmp(text, "always") == 0) return true;
    out->low = g_ascii_strtod(text, &end);
    if (end == text || *end != ':') return false;
    const char *high = end + 1;
    out->high = g_ascii_strtod(high, &end);
    out->disagreement = strcmp(end, ",disagree") == 0;
    return end != high && (!*end || out->disagreement) && out->low >= 0 && out->low <= out->high && out->high <= 1;
}

enum err_code consult_when(const char *when, struct coordinator_llm *out, struct err *err)
{
    if (!when || read_when(when, out)) return ERR_OK;
    return err_set(err, ERR_CONFIG,
                   "invalid --llm-when '%.60s', expected never, always, LOW:HIGH or LOW:HIGH,disagree, with LOW and "
                   "HIGH from 0 to 1",
                   when);
}

void consult_text(const struct coordinator_llm *llm, char out[CONSULT_TEXT])
{
    char numbers[3][G_ASCII_DTOSTR_BUF_SIZE];
    *out = 0;
    if (!llm || !llm->on) return;
    const double values[] = {llm->low, llm->high, llm->hit_rate};
    for (unsigned i = 0; i < 3; i++) g_ascii_formatd(numbers[i], sizeof *numbers, "%.6g", values[i]);
    g_snprintf(out, CONSULT_TEXT, "%s:%s%s, hit rate %s", numbers[0], numbers[1], llm->disagreement ? ",disagree" : "",
               numbers[2]);
}

static bool disagree(const struct request *request, uint32_t index)
{
    double signals = request->states[index].score.p, verifier = request->judged[index].entailment;
    return !isnan(signals) && !isnan(verifier) && (signals >= 0.5) != (verifier >= 0.5);
}

static bool is_in_doubt(const struct request *request, uint32_t index)
{
    const struct coordinator_llm *llm = &request->core->config.llm;
    double p = request->judged[index].p_correct;
    return (p >= llm->low && p <= llm->high) || (llm->disagreement && disagree(request, index));
}

static bool may_ask(const struct request *request)
{
    const struct coordinator_llm *llm = &request->core->config.llm;
    uint32_t most = llm->max_candidates ? llm->max_candidates : DEFAULT_CANDIDATES;
    const struct msg_usage *usage = &request->consult.usage;
    bool affordable = !llm->max_tokens || usage->tokens_in + usage->tokens_out < llm->max_tokens;
    return request->consults && request->consult.asked < most && affordable;
}

static int64_t wait_ns(const struct core *core)
{
    int64_t ms = core->config.llm.wait_ms ? core->config.llm.wait_ms : DEFAULT_WAIT_MS;
    return ms * 1000000;
}

bool consult_begin(struct request *request, uint32_t best, int64_t now_ns)
{
    struct core *core = request->core;
    if (best == NO_CANDIDATE || !may_ask(request) || decide_is_late(request)) return false;
    struct candidate_state *state = &request->states[best];
    if (state->consulted || !state->sent || rules_tier(request, best) != TIER_JUDGED || !is_in_doubt(request, best))
        return false;
    if (now_ns < core->llm_away_ns) {
        request->consult.note = "no language model was asked: the last request to it failed recently";
        return false;
    }
    struct msg_task task = decide_task(request, best);
    request->consult.until_ns = now_ns + wait_ns(core);
    task.family = vsig_family_name(VSIG_LLM);
    if (!task.deadline_ns || task.deadline_ns > request->consult.until_ns) task.deadline_ns = request->consult.until_ns;
    state->consulted = true;
    state->pending |= LLM;
    request->consult.of = best;
    request->consult.pending = true;
    request->consult.asked++;
    core_note_deadline(core, request->consult.until_ns);
    core->stats.consultations++;
    core->stats.tasks++;
    core->actions.task(core->actions.ctx, &task);
    return true;
}

bool consult_is_pending(const struct request *request)
{
    return request->consult.pending;
}

/* Returns true if any llm signal of the candidate was available. */
static bool has_opinion(const struct msg_judged *judged)
{
    bool any = false;
    for (uint32_t i = 0; i < judged->n_signals; i++) {
        const struct vsig_def *def = vsig_by_id((enum vsig_id)judged->signals[i].id);
        any = any || (def && def->family == VSIG_LLM && judged->signals[i].state != MSG_UNAVAILABLE);
    }
    return any;
}

static void add_usage(struct msg_usage *sum, const struct msg_usage *one)
{
    sum->calls += one->calls;
    sum->cached += one->cached;
    sum->tokens_in += one->tokens_in;
    sum->tokens_out += one->tokens_out;
    sum->cost += one->cost > 0 ? one->cost : 0; /* the cost is NAN if unknown */
    if (one->source) sum->source = one->source;
}

void consult_take(struct request *request, uint32_t index, const struct msg_result *result)
{
    request->states[index].pending &= ~LLM;
    request->consult.pending = false;
    request->consult.concluded = true;
    request->core->llm_away_ns = 0;
    if (result->usage) add_usage(&request->consult.usage, result->usage);
    request->core->stats.consultations_failed += !has_opinion(&request->judged[index]);
}

bool consult_is_late(const struct request *request, int64_t now_ns)
{
    return request->consult.pending && request->consult.until_ns <= now_ns;
}

void consult_give_up(struct request *request, int64_t now_ns)
{
    if (consult_is_late(request, now_ns)) request->core->llm_away_ns = now_ns + wait_ns(request->core);
    request->consult.pending = false;
    request->consult.concluded = true;
    request->consults = false;
    gather_candidate(request, request->consult.of);
    request->states[request->consult.of].pending &= ~LLM;
    request->core->stats.consultations_failed++;
}

uint32_t consult_concluded(struct request *request)
{
    if (!request->consult.concluded) return NO_CANDIDATE;
    request->consult.concluded = false;
    return request->consult.of;
}
