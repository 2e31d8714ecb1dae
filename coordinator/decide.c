/* DESIGN: from judged candidates to a verdict.
 *
 * A candidate is *done* when no more results are expected: all families answered, or it is invalid, a repeat, or past
 * max_iterations. Decisions are made strictly in input order, regardless of the order of results. They use only the
 * *prefix*: the first n_done_prefix candidates, which are done and precede the first one that is not. Speculation
 * therefore changes only the waiting time. Candidates that were judged ahead but not reached are left out of the
 * verdict. Features of the request use the prefix only, and so does the number of iterations.
 *
 * Two models score a candidate. The *signals* (label model, or the classifier over it) give the probability that it is
 * correct. The *verifier* gives the probability that its explanation answers the question. The verifier is a remote
 * one, called when all families have answered, or the built-in one, which also uses the other candidates of the prefix.
 * P(correct) combines the two. A table (rules.c) has a row for each strategy with the models that it requires:
 *
 *    first_valid         the answer is the first candidate that passes both models, each at its own threshold, and
 *                        whose P(correct) reaches the request's threshold
 *    rerank              judge all, then choose the best by P(correct); it validates if that reaches the threshold
 *    detect_then_rerank  the first candidate that executes, if it passes as under first_valid; otherwise as rerank
 *    cyclesql            as in the paper: in order, the verifier alone; if none passes, the first that executes
 *    correct             the first that executes, repaired if that is clearly more likely correct (SQLens §4.4); the
 *                        others are not judged
 *
 * The verifier is unavailable if there is no model, or if the explain family was late or failed. The signals alone then
 * decide, at the threshold of P(correct), and a note of the verdict says so. If a verifier was requested, P(correct) is
 * then computed with an undecided verifier. If a remote verifier does not answer, the built-in one replaces it, with
 * another note.
 *
 * *Best* is the highest score within the highest tier. Among equal scores it is the earlier candidate, or, if positions
 * have no meaning, the one with the shorter text. A judged candidate is above one with low coverage (coverage.c),
 * regardless of its score and the strategy. A candidate that is invalid or did not complete is never the answer. In a
 * ranked or sampled list, another candidate must beat the first that executes by the list's margin; smaller differences
 * are noise.
 *
 * There is a *tie* if another candidate has nearly the P(correct) of the best one and a different result. Then no
 * candidate validates, because the choice would be random. Candidates with equal results do not tie.
 *
 * If no candidate passes, the policy decides: best_effort (the best, flagged), abstain, or ask. If no candidate
 * completes, the status is abstained with reason invalid_sql or the error (limit_time ...), since no candidate is worth
 * returning. If the database cannot be read, the status is failed with its reason, once every family of a candidate has
 * reported it.
 *
 * On request, a similar query with a higher P(correct) is then searched for (repair.c). Under policy ask, the user may
 * be asked for the intended reading (ask.c), even if a candidate validated. Finally the answer's explanation may be
 * reworded (polish.c), which changes nothing else.
 *
 * At the deadline, the results that have arrived count. Families without a result are unavailable, and candidates
 * without any result are not judged. The status is best_effort or abstained with reason deadline. It is never
 * validated, because not all candidates before the winner were judged. After the deadline no task and no model call is
 * begun. The same rules apply once workers have spent max_work_ns on the request, except that a complete verdict stays.
 *
 * Rejected: deciding when a result arrives (verdicts would depend on timing). Rejected: cancelling speculative tasks
 * (the cancelling message arrives after the task; such tasks are cheap, and their results are dropped as stray).
 */
#include "coordinator/internal.h"

#include <math.h>
#include <string.h>

/* maximum difference of P(correct) for a tie; below the two printed decimals */
static const double TIE_P = 0.005;
/* default hit rate of a language model; a useful model has at least this rate */
static const double DEFAULT_HIT_RATE = 0.7;

bool decide_is_done(const struct request *request, uint32_t index)
{
    const struct candidate_state *state = &request->states[index];
    return !state->needs_tasks || (state->sent && !state->pending && !state->verifier_pending);
}

/* --- scores --- */

/* The other candidates with which a candidate is compared by position and votes. */
struct company {
    uint32_t first, n, n_seen;
    enum msg_order order;
    bool remote;                       /* true if responses of remote models count */
    const struct votes_company *votes; /* common statistics of these candidates; NULL if they must be computed */
};

static struct company company_of(const struct request *request, uint32_t n_seen)
{
    return (struct company){0, request->n, n_seen, request->options.order, true, NULL};
}

/* Returns the built-in verifier's probability. Returns NAN if there is no built-in verifier, or if the candidate has no
 * features. */
static double ask_builtin(const struct request *request, uint32_t index, const struct company *among)
{
    const struct candidate_state *state = &request->states[index];
    const struct scoring_models *models = request->core->config.models;
    if (!models->verifier || !state->features) return NAN;
    struct verifier_subject subject = {.request = request->message,
                                       .candidates = request->judged + among->first,
                                       .n_candidates = among->n,
                                       .n_seen = among->n_seen,
                                       .index = index - among->first,
                                       .features = state->features,
                                       .order = among->order};
    struct trace_span span;
    spans_begin_part(request, "verifier", &span);
    double entails = verifier_entails(models->verifier, &subject);
    trace_number(&span, "assay.candidate", index + 1);
    spans_end_part(request, &span, ERR_OK);
    return models_discount(models, &request->judged[index], entails);
}

/* Sets the entailment. It is the remote verifier's response, if there is one, blended with the built-in verifier's by
 * the weight of the decision file. Otherwise it is the built-in verifier's probability. */
static void verify(struct request *request, uint32_t index, const struct company *among)
{
    struct msg_judged *judged = &request->judged[index];
    const struct candidate_state *state = &request->states[index];
    const struct scoring_models *models = request->core->config.models;
    const struct core_verifier_answer *answer = &state->remote_answer;
    judged->entailment = NAN;
    judged->verifier = NULL;
    if (coverage_run(judged) != RUN_DONE && coverage_run(judged) != RUN_NO_DATA) return;
    double builtin = ask_builtin(request, index, among);
    if (among->remote && state->verifier_asked && !answer->code) {
        judged->entailment = models_blend(models, among->order, builtin, answer->p);
        judged->verifier = answer->message ? answer->message : "remote";
    } else {
        judged->entailment = builtin;
        if (!isnan(builtin)) judged->verifier = "builtin";
    }
}

/* Returns true if a verifier should judge the candidates of this request. */
static bool has_verifier(const struct request *request)
{
    const struct core *core = request->core;
    return request->families >> VSIG_EXPLAIN & 1 && (core->config.models->verifier || core->actions.verify);
}

/* Combines both models. An undecided verifier supports neither outcome, and its weight must not pass to the signals.
 * Otherwise an unexplained candidate would beat a well explained one. */
static double combine(const struct request *request, double p, double entailment)
{
    const struct scoring_models *models = request->core->config.models;
    bool fitted = verifier_is_fitted(models->verifier, request->message);
    double out = models_combine(models, p, entailment, fitted);
    if (!isnan(entailment) || isnan(p) || !has_verifier(request)) return out;
    return fmin(out, models_combine(models, p, 0.5, fitted));
}

static double hit_rate_of(const struct core *core)
{
    return core->config.llm.hit_rate > 0 ? core->config.llm.hit_rate : DEFAULT_HIT_RATE;
}

static void score_among(struct request *request, uint32_t index, const struct company *among)
{
    struct msg_judged *judged = &request->judged[index];
    if (!judged->judged || judged->invalid) return;
    const struct scoring_models *models = request->core->config.models;
    struct votes_subject subject = {.candidates = request->judged + among->first,
                                    .n_candidates = among->n,
                                    .n_seen = among->n_seen,
                                    .index = index - among->first,
                                    .places = among->order == MSG_ORDER_RANKED,
                                    .company = among->votes};
    struct models_score *worth = &request->states[index].score;
    *worth = models_score(models, &subject);
    verify(request, index, among);
    judged->label_model_p = worth->label_model_p;
    judged->p_correct = combine(request, worth->p, judged->entailment);
    judged->p_correct = models_apply_unlearned(models, judged, judged->p_correct);
    if (request->message->schema) judged->p_correct = models_from_schema(models, judged->p_correct);
    if (among->remote) judged->p_correct = models_hear(models, judged, hit_rate_of(request->core), judged->p_correct);
    if (judged->p_correct > COVERAGE_LOW_P && rules_tier(request, index) != TIER_JUDGED)
        judged->p_correct = COVERAGE_LOW_P;
    if (!isnan(judged->p_correct)) worth->score = judged->p_correct;
}

static void score(struct request *request, uint32_t index, uint32_t n_seen)
{
    const struct company among = company_of(request, n_seen);
    score_among(request, index, &among);
}

static void score_all(struct request *request)
{
    struct votes_company votes;
    struct company among = company_of(request, request->n);
    votes_look_around(request->judged, request->n, request->n, &votes);
    among.votes = &votes;
    for (uint32_t i = 0; i < request->n; i++) score_among(request, i, &among);
}

double decide_p_alone(struct request *request, uint32_t index)
{
    const struct company alone = {index, 1, 1, MSG_ORDER_UNSET, false, NULL};
    struct msg_judged kept = request->judged[index];
    struct models_score kept_score = request->states[index].score;
    request->judged[index].count = 1;
    score_among(request, index, &alone);
    double p = rules_tier(request, index) == TIER_JUDGED ? request->judged[index].p_correct : NAN;
    request->judged[index] = kept;
    request->states[index].score = kept_score;
    return p;
}

static bool is_valid(const struct request *request, uint32_t index)
{
    return rules_test(request, index) == RULES_PASSES;
}

/* --- the answer --- */

/* Returns the first candidate that executes and was judged. If there is none, returns the first with low coverage. */
static uint32_t first_executed(const struct request *request)
{
    uint32_t first = NO_CANDIDATE;
    for (uint32_t i = 0; i < request->n_done_prefix; i++) {
        enum rules_tier tier = rules_tier(request, i);
        if (tier == TIER_JUDGED) return i;
        if (tier == TIER_LOW_COVERAGE && first == NO_CANDIDATE) first = i;
    }
    return first;
}

/* Returns true if the order of candidates has a meaning. */
static bool places_count(const struct request *request)
{
    return request->options.order == MSG_ORDER_RANKED || request->options.order == MSG_ORDER_SAMPLED;
}

/* Orders candidates with equal scores if positions have no meaning: the shorter text first. The result does not depend
 * on their positions. */
static bool comes_first(const struct msg_text *a, const struct msg_text *b)
{
    if (a->len != b->len) return a->len < b->len;
    return memcmp(a->bytes, b->bytes, a->len) < 0;
}

static bool is_better(const struct request *request, uint32_t a, uint32_t b)
{
    enum rules_tier left = rules_tier(request, a), right = rules_tier(request, b);
    if (left != right) return left > right;
    double lead = request->states[a].score.score - request->states[b].score.score;
    if (lead != 0 || places_count(request)) return lead > 0;
    return comes_first(&request->judged[a].sql, &request->judged[b].sql);
}

/* Returns the best candidate of the prefix, or NO_CANDIDATE if none of them completes. */
static uint32_t find_best(const struct request *request)
{
    uint32_t best = NO_CANDIDATE, first = first_executed(request);
    bool answered = request->message->n_answers; /* a user's answer overrides positions */
    if (rules_of(request)->in_order && first != NO_CANDIDATE && !answered) return first;
    for (uint32_t i = 0; i < request->n_done_prefix; i++) {
        if (rules_tier(request, i) == TIER_EXCLUDED) continue;
        if (best == NO_CANDIDATE || is_better(request, i, best)) best = i;
    }
    if (first == NO_CANDIDATE || best == first || !places_count(request) || answered) return best;
    double lead = request->states[best].score.score - request->states[first].score.score;
    return lead > request->core->config.models->margins[request->options.order] ? best : first;
}

/* Returns 1 + the index of a candidate with nearly the best one's P(correct) and another result. Returns 0 if there is
 * none, or if not all candidates were scored. */
static uint32_t find_tie(const struct request *request, uint32_t best)
{
    for (uint32_t i = 0; request->evaluate_all && i < request->n_done_prefix; i++) {
        const struct msg_judged *one = &request->judged[best], *other = &request->judged[i];
        bool compared = i != best && rules_tier(request, i) == TIER_JUDGED && votes_ran(one) && votes_ran(other);
        if (compared && fabs(one->p_correct - other->p_correct) < TIE_P && !votes_same_result(one, other)) return i + 1;
    }
    return 0;
}

static void clear_judgement(struct msg_judged *judged)
{
    judged->judged = judged->invalid = false;
    judged->n_signals = judged->n_findings = 0;
    judged->execution = NULL;
    judged->explained = NULL;
    judged->explanation = judged->verifier = NULL;
    judged->p_correct = judged->label_model_p = judged->entailment = NAN;
}

/* Removes the judgements of candidates after the prefix from the verdict. */
static void drop_unreached(struct request *request, uint32_t winner)
{
    for (uint32_t i = request->n_done_prefix; i < request->n; i++) {
        struct msg_judged *judged = &request->judged[i];
        bool repeat = judged->same_as != 0;
        if (!repeat) judged->why = arena_printf(&request->arena, "not reached: candidate %u was chosen", winner + 1);
        clear_judgement(judged);
    }
}

static uint32_t count_iterations(const struct request *request)
{
    uint32_t n = 0;
    for (uint32_t i = 0; request->judged && i < request->n_done_prefix; i++)
        n += request->states[i].needs_tasks && request->judged[i].judged;
    return n;
}

struct msg_version *decide_versions(struct request *request, uint32_t *n)
{
    const struct scoring_models *models = request->core->config.models;
    struct msg_version *versions = arena_new_array(&request->arena, 4, struct msg_version);
    *n = 0;
    if (!versions) return NULL;
    versions[(*n)++] = (struct msg_version){"assay", ASSAY_VERSION};
    if (models->label_model) versions[(*n)++] = (struct msg_version){"label_model", models->label_model_version};
    if (models->classifier) versions[(*n)++] = (struct msg_version){"classifier", models->classifier_version};
    if (models->verifier) versions[(*n)++] = (struct msg_version){"verifier", models->verifier_version};
    return versions;
}

/* Sets the required P(correct) and the required entailment. Each is NAN if it is not required. */
static void set_thresholds(const struct request *request, struct msg_verdict *verdict)
{
    const struct scoring_models *models = request->core->config.models;
    const struct rules *rule = rules_of(request);
    bool verifier = request->families >> VSIG_EXPLAIN & 1 && (models->verifier || request->core->actions.verify);
    bool any = models->label_model || models->classifier || verifier;
    verdict->threshold = any && (rule->combined || !verifier) ? request->threshold : (double)NAN;
    verdict->entailment_threshold = verifier && rule->verifier ? request->entailment_threshold : (double)NAN;
}

/* Returns an id that does not depend on chance: a request without an id gets its position as its id. */
const char *decide_id(struct request *request)
{
    if (request->message->id) return request->message->id;
    return arena_printf(&request->arena, "%d-%lld", request->key.partition, (long long)request->key.offset);
}

static struct msg_verdict verdict_of(struct request *request, enum msg_status status, int64_t now_ns)
{
    struct msg_verdict verdict = {
        .id = decide_id(request),
        .db = request->message->db,
        .tag = request->message->tag,
        .key = request->key,
        .status = status,
        .p_correct = NAN,
        .candidates = request->judged,
        .n_candidates = request->judged ? request->n : 0,
        .iterations = count_iterations(request),
        .total_ns = now_ns - request->arrived_ns,
        .worker_ns = request->worker_ns,
        .gold = request->message->gold,
        .meta = request->message->meta,
        .repair = request->repair.found,
        .guarantee = request->guarantee,
        .usage = request->consult.asked ? &request->consult.usage : NULL,
        .clarification = request->ask.clarification,
        .answers = request->message->answers,
        .n_answers = request->message->n_answers,
    };
    msg_request_digest(request->message, verdict.request_digest);
    set_thresholds(request, &verdict);
    verdict.versions = decide_versions(request, &verdict.n_versions);
    why_notes(request, &verdict);
    return verdict;
}

static void set_answer(struct request *request, struct msg_verdict *verdict, uint32_t winner)
{
    const struct msg_judged *judged = &request->judged[winner];
    verdict->chosen = winner + 1;
    verdict->sql = judged->sql.bytes;
    verdict->p_correct = judged->p_correct;
}

/* Returns the index of the verdict's root cause. The last index is "not enough evidence". */
static unsigned cause_of(const struct msg_verdict *verdict)
{
    unsigned cause = 0;
    while (cause < VSIG_CAUSE_COUNT && strcmp(verdict->cause, vsig_cause_name((enum vsig_cause)cause)) != 0) cause++;
    return cause;
}

static void count_quality(struct coordinator_quality *quality, const struct msg_verdict *verdict)
{
    if (!verdict->sql) {
        if (verdict->cause) quality->unanswered[cause_of(verdict)]++;
    } else if (isnan(verdict->p_correct)) {
        quality->answers_unknown++;
    } else {
        unsigned range = (unsigned)(fmax(verdict->p_correct, 0) * COORDINATOR_P_RANGES);
        quality->answers_by_p[range < COORDINATOR_P_RANGES ? range : COORDINATOR_P_RANGES - 1]++;
        quality->p_sum += verdict->p_correct;
    }
}

void decide_publish(struct request *request, const struct msg_verdict *verdict)
{
    struct core *core = request->core;
    lookup_keep(request, verdict);
    core->stats.verdicts++;
    core->stats.by_status[verdict->status]++;
    count_quality(&core->stats.quality, verdict);
    if (verdict->guarantee) core->stats.promises[verdict->guarantee->status]++;
    spans_end(request, verdict);
    core->actions.verdict(core->actions.ctx, request->token, verdict);
    g_hash_table_remove(core->open, &request->key);
}

/* Closes a request whose verdict is complete. */
static void close_request(struct request *request, struct msg_verdict *verdict)
{
    spans_decided(request, verdict);
    if (!polish_begin(request, verdict)) decide_publish(request, verdict);
}

static void conclude_valid(struct request *request, uint32_t winner, int64_t now_ns)
{
    drop_unreached(request, winner);
    why_not_chosen(request, winner, winner);
    guarantee_conclude(request, winner, request->judged[winner].p_correct);
    struct msg_verdict verdict = verdict_of(request, MSG_STATUS_VALIDATED, now_ns);
    set_answer(request, &verdict, winner);
    report_make(request, winner, &verdict);
    close_request(request, &verdict);
}

/* Concludes without a validated candidate. `reason` is NULL or "deadline". */
static void conclude_by_policy(struct request *request, uint32_t best, const char *reason, const char *message,
                               uint32_t missing, int64_t now_ns)
{
#define X(id, name, status) [MSG_##id] = status,
    static const enum msg_status statuses[MSG_POLICY_COUNT] = {MSG_POLICIES(X)};
#undef X
    enum msg_status status = statuses[request->options.policy];
    if (reason && status == MSG_STATUS_ASK) status = MSG_STATUS_ABSTAINED;
    if (best == NO_CANDIDATE) status = MSG_STATUS_ABSTAINED;
    if (best == NO_CANDIDATE && !reason) message = why_none(request, &reason);
    if (best != NO_CANDIDATE) drop_unreached(request, best);
    why_not_chosen(request, status == MSG_STATUS_BEST_EFFORT ? best : NO_CANDIDATE, best);
    if (best != NO_CANDIDATE) guarantee_conclude(request, best, request->judged[best].p_correct);
    struct msg_verdict verdict = verdict_of(request, status, now_ns);
    verdict.reason = reason;
    verdict.message = message || best == NO_CANDIDATE ? message : why_not_valid(request, best);
    if (request->ask.clarification) verdict.message = "the question has several readings that give different results";
    if (status == MSG_STATUS_BEST_EFFORT) set_answer(request, &verdict, best);
    report_make(request, best == NO_CANDIDATE ? 0 : best, &verdict);
    if (status == MSG_STATUS_ASK && !request->ask.clarification) report_ask(request, best, &verdict);
    if (status != MSG_STATUS_BEST_EFFORT)
        verdict.cause = request->ask.clarification ? vsig_cause_name(VSIG_QUESTION_AMBIGUITY)
                                                   : report_cause(request, best == NO_CANDIDATE ? 0 : best);
    if (missing) verdict.unavailable = gather_family_names(request, missing, &verdict.n_unavailable);
    close_request(request, &verdict);
}

/* Concludes with a repair. The answer is then not a candidate, so no candidate is chosen. */
static void conclude_repaired(struct request *request, int64_t now_ns)
{
    const struct repair *repair = &request->repair;
    drop_unreached(request, repair->of);
    why_not_chosen(request, NO_CANDIDATE, repair->of);
    request->judged[repair->of].why = "replaced by its repaired version";
    guarantee_conclude(request, repair->of, repair->found->p_correct);
    struct msg_verdict verdict = verdict_of(request, MSG_STATUS_REPAIRED, now_ns);
    verdict.sql = repair->found->sql;
    verdict.p_correct = repair->found->p_correct;
    report_make(request, repair->of, &verdict);
    close_request(request, &verdict);
}

static void conclude(struct request *request, uint32_t best, int64_t now_ns)
{
    const struct msg_repaired *repaired = request->repair.found;
    bool valid = best != NO_CANDIDATE && is_valid(request, best);
    request->tied = valid && !request->message->n_answers ? find_tie(request, best) : 0;
    if (request->ask.clarification)
        conclude_by_policy(request, best, NULL, NULL, 0, now_ns);
    else if (repaired && repaired->applied)
        conclude_repaired(request, now_ns);
    else if (valid && !request->tied)
        conclude_valid(request, best, now_ns);
    else
        conclude_by_policy(request, best, NULL, NULL, 0, now_ns);
}

/* Concludes, unless the source rows of the answer must be requested first. Returns false if so. */
static bool tell_and_conclude(struct request *request, uint32_t best, int64_t now_ns)
{
    if (story_begin(request, best)) return false;
    conclude(request, best, now_ns);
    return true;
}

/* Handles the final answer, or its repair. Returns false if a clarification question must be worded first. */
static bool ask_or_conclude(struct request *request, uint32_t best, int64_t now_ns)
{
    const struct msg_repaired *repaired = request->repair.found;
    if (!(repaired && repaired->applied) && ask_begin(request)) {
        request->ask.best = best;
        return false;
    }
    return tell_and_conclude(request, best, now_ns);
}

/* Handles the answer that was found. Returns false if a language model's opinion or a repair must be awaited first. */
static bool finish(struct request *request, uint32_t best, int64_t now_ns)
{
    if (consult_begin(request, best, now_ns) || repair_begin(request, best)) return false;
    return ask_or_conclude(request, best, now_ns);
}

void decide_failed(struct request *request, const char *reason, const char *message, int64_t now_ns)
{
    spans_decide(request);
    request->n_done_prefix = 0;
    for (uint32_t i = 0; request->judged && i < request->n; i++) {
        struct msg_judged *judged = &request->judged[i];
        if (judged->invalid && judged->judged) { /* the candidate is known to be invalid without a database */
            if (!judged->why) judged->why = why_invalid(request, i);
            continue;
        }
        clear_judgement(judged);
        if (!judged->why) judged->why = "not judged: the request failed";
    }
    struct msg_verdict verdict = verdict_of(request, MSG_STATUS_FAILED, now_ns);
    verdict.reason = reason;
    verdict.message = message;
    close_request(request, &verdict);
}

/* --- in input order --- */

static bool is_database_failure(enum err_code code)
{
    return code == ERR_DB_MISSING || code == ERR_DB_UNREADABLE || code == ERR_DB_CORRUPT || code == ERR_DB_EMPTY ||
           code == ERR_DB_LOCKED || code == ERR_SCHEMA;
}

/* Returns the result of a family if no family could use the database. Returns NULL if one could. */
static const struct msg_result *database_failure(const struct request *request, uint32_t index)
{
    const struct msg_result *failure = NULL;
    for (unsigned f = 0; f < VSIG_FAMILY_COUNT; f++) {
        const struct msg_result *result = request->states[index].results[f];
        if (!result) continue;
        if (!is_database_failure(err_from_name(result->code))) return NULL;
        failure = result;
    }
    return failure;
}

enum progress { PROGRESS_ON, PROGRESS_WAITING, PROGRESS_CLOSED };

/* Adds the next candidate to the prefix and decides whether it ends the request. */
static enum progress take_done(struct request *request, uint32_t index, int64_t now_ns)
{
    const struct msg_result *failure = database_failure(request, index);
    if (failure) {
        decide_failed(request, failure->code, failure->message, now_ns);
        return PROGRESS_CLOSED;
    }
    if (request->evaluate_all) return PROGRESS_ON; /* scored when all candidates are done */
    score(request, index, request->n_done_prefix);
    if (rules_tier(request, index) != TIER_JUDGED) return PROGRESS_ON;
    if (is_valid(request, index) || rules_of(request)->first_only)
        return finish(request, index, now_ns) ? PROGRESS_CLOSED : PROGRESS_WAITING;
    if (rules_of(request)->fallback_to_all) request->evaluate_all = true;
    return PROGRESS_ON;
}

/* Returns how many candidates of a request may be in flight. This is more than the requested number only while workers
 * are idle, because speculative judgements that are not reached are wasted. */
static uint32_t most_out(const struct request *request)
{
    const struct core *core = request->core;
    if (request->evaluate_all) return core->config.max_window;
    if (request->options.speculate) return request->options.speculate;
    return core->wait_ns < core->config.idle_wait_ns ? core->config.max_window : 1;
}

/* Returns how many more candidates may be sent now. If candidates are decided in order, limits those that are not done.
 * If all must be judged, limits those without all results to max_window. */
static uint32_t window(const struct request *request)
{
    uint32_t in_flight = 0;
    for (uint32_t i = request->n_done_prefix; i < request->next_to_send; i++) {
        const struct candidate_state *state = &request->states[i];
        in_flight += state->needs_tasks && (request->evaluate_all ? state->pending != 0 : true);
    }
    uint32_t most = most_out(request);
    return most > in_flight ? most - in_flight : 0;
}

/* Returns the deadline of the request's tasks, limited by the request's remaining worker time. */
static int64_t task_deadline(const struct request *request)
{
    const struct core *core = request->core;
    int64_t spent = core->now_ns + core->config.max_work_ns - request->worker_ns;
    bool bounded = core->config.max_work_ns && (!request->deadline_ns || spent < request->deadline_ns);
    return bounded ? spent : request->deadline_ns;
}

struct msg_task decide_task(const struct request *request, uint32_t index)
{
    const struct candidate_state *state = &request->states[index];
    return (struct msg_task){
        .key = request->key,
        .hash = {state->hash[0], state->hash[1]},
        .candidate = index,
        .db = request->message->db,
        .question = request->message->question,
        .evidence = request->message->evidence,
        .sql = request->judged[index].sql,
        .deadline_ns = task_deadline(request),
        .expose = request->options.expose,
        .deny_columns = request->options.deny_columns,
        .n_deny_columns = request->options.n_deny_columns,
        .traceparent = request->span ? request->traceparent : request->message->traceparent,
        .linking = request->message->linking,
        .schema = request->message->schema,
        .joins = true,
    };
}

void decide_send(struct request *request, uint32_t index)
{
    struct candidate_state *state = &request->states[index];
    struct msg_task task = decide_task(request, index);
    state->sent = true;
    state->sent_ns = request->core->now_ns;
    state->pending = request->families;
    for (unsigned f = 0; f < VSIG_FAMILY_COUNT; f++) {
        if (!(request->families >> f & 1)) continue;
        task.family = vsig_family_name((enum vsig_family)f);
        task.part = f == VSIG_EXPLAIN ? story_part(request, index) : MSG_PART_ALL;
        request->core->stats.tasks++;
        request->core->actions.task(request->core->actions.ctx, &task);
    }
}

static void send_more(struct request *request)
{
    for (uint32_t room = window(request); room && request->next_to_send < request->n; request->next_to_send++) {
        if (!request->states[request->next_to_send].needs_tasks) continue;
        decide_send(request, request->next_to_send);
        room--;
    }
}

static bool advance_repair(struct request *request, int64_t now_ns)
{
    if (!repair_advance(request)) return false;
    return ask_or_conclude(request, request->repair.best, now_ns);
}

/* Computes the score of the likely answer again, with a language model's opinion. */
static enum progress take_opinion(struct request *request, uint32_t index, int64_t now_ns)
{
    if (index == NO_CANDIDATE || request->evaluate_all) return PROGRESS_ON;
    score(request, index, request->n_done_prefix);
    if (is_valid(request, index) || rules_of(request)->first_only)
        return finish(request, index, now_ns) ? PROGRESS_CLOSED : PROGRESS_WAITING;
    if (rules_of(request)->fallback_to_all) request->evaluate_all = true;
    return PROGRESS_ON;
}

bool decide_advance(struct request *request, int64_t now_ns)
{
    spans_decide(request);
    if (consult_is_pending(request) || ask_is_pending(request) || story_is_pending(request)) return false;
    if (request->story.over) {
        conclude(request, request->story.best, now_ns);
        return true;
    }
    if (request->ask.concluded) return tell_and_conclude(request, request->ask.best, now_ns);
    if (repair_has_begun(request)) return advance_repair(request, now_ns);
    if (rules_of(request)->evaluate_all || ask_looks_at_all(request)) request->evaluate_all = true;
    enum progress opinion = take_opinion(request, consult_concluded(request), now_ns);
    if (opinion != PROGRESS_ON) return opinion == PROGRESS_CLOSED;
    while (request->n_done_prefix < request->n && decide_is_done(request, request->n_done_prefix)) {
        uint32_t index = request->n_done_prefix++;
        enum progress progress = take_done(request, index, now_ns);
        if (progress != PROGRESS_ON) return progress == PROGRESS_CLOSED;
    }
    if (request->n_done_prefix == request->n) {
        if (request->evaluate_all) score_all(request);
        ask_apply_answers(request);
        return finish(request, find_best(request), now_ns);
    }
    if (decide_is_late(request)) {
        decide_deadline(request, now_ns);
        return true;
    }
    send_more(request);
    return false;
}

bool decide_is_past_deadline(const struct request *request)
{
    return request->deadline_ns && request->core->now_ns >= request->deadline_ns;
}

bool decide_is_late(const struct request *request)
{
    int64_t most = request->core->config.max_work_ns;
    return decide_is_past_deadline(request) || (most && request->worker_ns >= most);
}

void decide_deadline(struct request *request, int64_t now_ns)
{
    uint32_t missing = 0;
    spans_decide(request);
    /* the verdict is incomplete, even if only the source rows of an explanation are missing */
    lookup_note_state(request, NULL);
    if (polish_is_pending(request)) {
        polish_give_up(request, "timed out");
        return;
    }
    request->core->stats.deadlines++;
    if (story_is_pending(request)) {
        story_give_up(request);
        conclude(request, request->story.best, now_ns);
        return;
    }
    if (ask_is_pending(request)) {
        ask_give_up(request, err_meaning(ERR_DEADLINE));
        conclude(request, request->ask.best, now_ns);
        return;
    }
    if (consult_is_pending(request)) {
        consult_give_up(request, now_ns);
        conclude(request, request->consult.of, now_ns);
        return;
    }
    if (repair_has_begun(request)) {
        repair_give_up(request, err_meaning(ERR_DEADLINE));
        conclude(request, request->repair.best, now_ns);
        return;
    }
    for (uint32_t i = 0; i < request->n; i++) {
        struct candidate_state *state = &request->states[i];
        if (decide_is_done(request, i)) continue;
        if (state->verifier_pending) {
            state->verifier_pending = false;
            state->remote_answer =
                (struct core_verifier_answer){.code = ERR_DEADLINE, .message = err_meaning(ERR_DEADLINE)};
            continue;
        }
        uint32_t pending = state->sent ? state->pending : request->families;
        missing |= pending;
        state->pending = pending;
        if (pending != request->families)
            gather_candidate(request, i);
        else
            request->judged[i].why = "not judged: the deadline passed";
    }
    request->n_done_prefix = request->n;
    score_all(request);
    conclude_by_policy(request, find_best(request), err_name(ERR_DEADLINE), err_meaning(ERR_DEADLINE), missing, now_ns);
}
