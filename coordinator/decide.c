/* DESIGN: from judged candidates to a verdict.
 *
 * Candidates are *settled* strictly in input order, whatever the order in which results come: a candidate is settled
 * when nothing more will be learned of it (all families answered, or it is invalid, a repeat, or past max_iterations).
 * All decisions are taken at settled candidates, from those before it. That is why speculation changes nothing but the
 * waiting: what was judged ahead and not reached is left out of the verdict, features of the request look no further
 * than the settled candidates, and iterations count settled ones.
 *
 *   first_valid         the first settled candidate whose P(correct) reaches the threshold is the answer
 *   rerank              settle all, then the best
 *   detect_then_rerank  the first one that executes, if it reaches the threshold; otherwise as rerank
 *
 * *Best* is the highest score, the earlier of equals; one that did not run to its end comes after all that did, for
 * what fails or never ends is not the answer. Another candidate than the first that executes must beat it by the
 * model's margin, or noise would be swapped for noise.
 *
 * Nothing reached the threshold: the policy decides, best_effort (the best, flagged), abstain, or ask. Nothing executes
 * at all: abstained with reason invalid_sql, since there is no effort worth returning. A database that cannot be read:
 * failed with its reason, once every family of a candidate has said so.
 *
 * Deadline: what has come in counts, families without an answer are unavailable, candidates without any answer are not
 * judged. The end is best_effort or abstained with reason deadline, never validated: the candidates before the winner
 * were not all looked at.
 *
 * Rejected: deciding at the moment a result comes (verdicts would depend on timing); cancelling speculative tasks (a
 * message that chases a message; they are cheap, and their results are dropped as stray).
 */
#include "coordinator/internal.h"

#include <math.h>
#include <string.h>

static bool is_settled(const struct request *request, uint32_t index)
{
    const struct slot *slot = &request->slots[index];
    return !slot->asks || (slot->sent && !slot->waits);
}

static bool executed(const struct msg_judged *judged)
{
    if (!judged->judged || judged->invalid) return false;
    return !judged->execution || strcmp(judged->execution->code ? judged->execution->code : "", "ok") == 0;
}

static void score(struct request *request, uint32_t index, uint32_t n_seen)
{
    struct msg_judged *judged = &request->judged[index];
    if (!judged->judged || judged->invalid) return;
    struct features_subject subject = {request->judged, request->n, n_seen, index};
    struct coordinator_score worth = coordinator_score(request->core->config.models, &subject);
    request->slots[index].score = worth;
    judged->p_correct = worth.p;
    judged->label_model_p = worth.label_model_p;
}

static bool is_valid(const struct request *request, uint32_t index)
{
    return executed(&request->judged[index]) && request->judged[index].p_correct >= request->threshold;
}

/* --- the answer --- */

enum { NONE = UINT32_MAX };

static uint32_t first_executed(const struct request *request)
{
    for (uint32_t i = 0; i < request->decided; i++)
        if (executed(&request->judged[i])) return i;
    return NONE;
}

static bool is_better(const struct request *request, uint32_t a, uint32_t b)
{
    bool ran = executed(&request->judged[a]);
    if (ran != executed(&request->judged[b])) return ran;
    return request->slots[a].score.score > request->slots[b].score.score;
}

/* The best settled candidate; NONE when all are invalid or unjudged. */
static uint32_t find_best(const struct request *request)
{
    uint32_t best = NONE, first = first_executed(request);
    for (uint32_t i = 0; i < request->decided; i++) {
        if (!request->judged[i].judged || request->judged[i].invalid) continue;
        if (best == NONE || is_better(request, i, best)) best = i;
    }
    if (first == NONE || best == first) return best;
    double lead = request->slots[best].score.score - request->slots[first].score.score;
    return lead > request->core->config.models->margin ? best : first;
}

/* Speculative work is not part of the verdict. */
static void drop_unreached(struct request *request, uint32_t winner)
{
    for (uint32_t i = request->decided; i < request->n; i++) {
        struct msg_judged *judged = &request->judged[i];
        bool repeat = judged->same_as != 0;
        if (!repeat) judged->why = arena_printf(&request->arena, "not reached: candidate %u was taken", winner + 1);
        judged->judged = judged->invalid = false;
        judged->n_signals = judged->n_findings = 0;
        judged->execution = NULL;
        judged->p_correct = judged->label_model_p = NAN;
    }
}

static void explain_others(struct request *request, uint32_t winner)
{
    for (uint32_t i = 0; i < request->decided; i++) {
        struct msg_judged *judged = &request->judged[i];
        if (judged->why || i == winner) continue;
        if (judged->invalid)
            judged->why = "does not execute";
        else if (!executed(judged))
            judged->why = "did not run to its end";
        else
            judged->why = winner == NONE ? "below the threshold" : "another candidate is preferred";
    }
}

static uint32_t count_iterations(const struct request *request)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < request->decided; i++) n += request->slots[i].asks && request->judged[i].judged;
    return n;
}

static void set_versions(struct request *request, struct msg_verdict *verdict)
{
    const struct coordinator_models *models = request->core->config.models;
    struct msg_version *versions = arena_new_array(&request->arena, 3, struct msg_version);
    if (!versions) return;
    versions[verdict->n_versions++] = (struct msg_version){"assay", ASSAY_VERSION};
    if (models->label_model)
        versions[verdict->n_versions++] = (struct msg_version){"label_model", models->label_model_version};
    if (models->classifier)
        versions[verdict->n_versions++] = (struct msg_version){"classifier", models->classifier_version};
    verdict->versions = versions;
}

static struct msg_verdict verdict_of(struct request *request, enum msg_status status, int64_t now_ns)
{
    struct msg_verdict verdict = {
        .id = request->asked->id,
        .db = request->asked->db,
        .tag = request->asked->tag,
        .key = request->key,
        .status = status,
        .p_correct = NAN,
        .threshold = request->core->config.models->label_model || request->core->config.models->classifier
                         ? request->threshold
                         : NAN,
        .entailment_threshold = NAN,
        .candidates = request->judged,
        .n_candidates = request->judged ? request->n : 0,
        .iterations = count_iterations(request),
        .total_ns = now_ns - request->arrived_ns,
        .worker_ns = request->worker_ns,
        .gold = request->asked->gold,
        .meta = request->asked->meta,
    };
    /* Without an id of its own a request is known by where it stood, never by something random. */
    if (!verdict.id)
        verdict.id = arena_printf(&request->arena, "%d-%lld", request->key.partition, (long long)request->key.offset);
    set_versions(request, &verdict);
    return verdict;
}

static void set_answer(struct request *request, struct msg_verdict *verdict, uint32_t winner)
{
    const struct msg_judged *judged = &request->judged[winner];
    verdict->chosen = winner + 1;
    verdict->sql = judged->sql.bytes;
    verdict->p_correct = judged->p_correct;
}

static void conclude_valid(struct request *request, uint32_t winner, int64_t now_ns)
{
    drop_unreached(request, winner);
    explain_others(request, winner);
    struct msg_verdict verdict = verdict_of(request, MSG_STATUS_VALIDATED, now_ns);
    set_answer(request, &verdict, winner);
    report_make(request, winner, &verdict);
    core_close(request, &verdict);
}

/* Nothing reached the threshold. `reason`: NULL, or "deadline". */
static void conclude_by_policy(struct request *request, uint32_t best, const char *reason, const char *message,
                               uint32_t missing, int64_t now_ns)
{
    static const enum msg_status statuses[MSG_POLICY_COUNT] = {MSG_STATUS_BEST_EFFORT, MSG_STATUS_BEST_EFFORT,
                                                               MSG_STATUS_ABSTAINED, MSG_STATUS_ASK};
    enum msg_status status = statuses[request->options.policy];
    if (reason && status == MSG_STATUS_ASK) status = MSG_STATUS_ABSTAINED;
    if (best == NONE) status = MSG_STATUS_ABSTAINED;
    if (best == NONE && !reason) reason = "invalid_sql", message = "no candidate executes";
    explain_others(request, status == MSG_STATUS_BEST_EFFORT ? best : NONE);
    struct msg_verdict verdict = verdict_of(request, status, now_ns);
    verdict.reason = reason;
    verdict.message = message;
    if (status == MSG_STATUS_BEST_EFFORT) set_answer(request, &verdict, best);
    report_make(request, best == NONE ? 0 : best, &verdict);
    if (status == MSG_STATUS_ASK) report_ask(request, best, &verdict);
    if (missing) verdict.unavailable = gather_family_names(request, missing, &verdict.n_unavailable);
    core_close(request, &verdict);
}

static void conclude(struct request *request, int64_t now_ns)
{
    if (request->options.strategy != MSG_FIRST_VALID)
        for (uint32_t i = 0; i < request->n; i++) score(request, i, request->n);
    uint32_t best = find_best(request);
    if (best != NONE && is_valid(request, best))
        conclude_valid(request, best, now_ns);
    else
        conclude_by_policy(request, best, NULL, NULL, 0, now_ns);
}

void decide_failed(struct request *request, const char *reason, const char *message, int64_t now_ns)
{
    request->decided = 0;
    for (uint32_t i = 0; request->judged && i < request->n; i++) {
        struct msg_judged *judged = &request->judged[i];
        if (judged->invalid) continue; /* that much is known without a database */
        judged->judged = false;
        judged->n_signals = judged->n_findings = 0;
        judged->execution = NULL;
        if (!judged->why) judged->why = "not judged: the request failed";
    }
    struct msg_verdict verdict = verdict_of(request, MSG_STATUS_FAILED, now_ns);
    verdict.reason = reason;
    verdict.message = message;
    core_close(request, &verdict);
}

/* --- settling --- */

static bool is_database_failure(enum err_code code)
{
    return code == ERR_DB_MISSING || code == ERR_DB_UNREADABLE || code == ERR_DB_CORRUPT || code == ERR_DB_EMPTY ||
           code == ERR_DB_LOCKED;
}

/* The answer of a family when none of them could use the database; NULL when one could. */
static const struct msg_result *database_failure(const struct request *request, uint32_t index)
{
    const struct msg_result *failure = NULL;
    for (unsigned f = 0; f < VSIG_FAMILY_COUNT; f++) {
        const struct msg_result *result = request->slots[index].results[f];
        if (!result) continue;
        if (!is_database_failure(err_from_name(result->code))) return NULL;
        failure = result;
    }
    return failure;
}

/* Look at the next settled candidate. True: that was the verdict. */
static bool settle_one(struct request *request, uint32_t index, int64_t now_ns)
{
    const struct msg_result *failure = database_failure(request, index);
    if (failure) {
        decide_failed(request, failure->code, failure->message, now_ns);
        return true;
    }
    score(request, index, request->decided);
    if (request->wide || !executed(&request->judged[index])) return false;
    if (is_valid(request, index)) {
        conclude_valid(request, index, now_ns);
        return true;
    }
    if (request->options.strategy == MSG_DETECT_THEN_RERANK) request->wide = true;
    return false;
}

/* How many more candidates may go out now. In order: `speculate` unsettled ones; all: as many unanswered ones as the
 * core allows. */
static uint32_t window(const struct request *request)
{
    uint32_t flying = 0;
    for (uint32_t i = request->decided; i < request->next; i++) {
        const struct slot *slot = &request->slots[i];
        flying += slot->asks && (request->wide ? slot->waits != 0 : true);
    }
    uint32_t most = request->wide ? request->core->config.max_window : request->options.speculate;
    return most > flying ? most - flying : 0;
}

static void send(struct request *request, uint32_t index)
{
    struct slot *slot = &request->slots[index];
    struct msg_task task = {
        .key = request->key,
        .hash = {slot->hash[0], slot->hash[1]},
        .candidate = index,
        .db = request->asked->db,
        .question = request->asked->question,
        .evidence = request->asked->evidence,
        .sql = request->judged[index].sql,
        .deadline_ns = request->deadline_ns,
        .expose = request->options.expose,
        .deny_columns = request->options.deny_columns,
        .n_deny_columns = request->options.n_deny_columns,
        .traceparent = request->asked->traceparent,
    };
    slot->sent = true;
    slot->waits = request->families;
    for (unsigned f = 0; f < VSIG_FAMILY_COUNT; f++) {
        if (!(request->families >> f & 1)) continue;
        task.family = vsig_family_name((enum vsig_family)f);
        request->core->stats.tasks++;
        request->core->actions.task(request->core->actions.ctx, &task);
    }
}

static void send_more(struct request *request)
{
    for (uint32_t room = window(request); room && request->next < request->n; request->next++) {
        if (!request->slots[request->next].asks) continue;
        send(request, request->next);
        room--;
    }
}

bool decide_advance(struct request *request, int64_t now_ns)
{
    if (request->options.strategy == MSG_RERANK) request->wide = true;
    while (request->decided < request->n && is_settled(request, request->decided)) {
        uint32_t index = request->decided++;
        if (settle_one(request, index, now_ns)) return true;
    }
    if (request->decided == request->n) {
        conclude(request, now_ns);
        return true;
    }
    send_more(request);
    return false;
}

void decide_deadline(struct request *request, int64_t now_ns)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < request->n; i++) {
        struct slot *slot = &request->slots[i];
        if (is_settled(request, i)) continue;
        uint32_t waits = slot->sent ? slot->waits : request->families;
        missing |= waits;
        slot->waits = waits;
        if (waits != request->families)
            gather(request, i);
        else
            request->judged[i].why = "not judged: the deadline passed";
    }
    request->decided = request->n;
    for (uint32_t i = 0; i < request->n; i++) score(request, i, request->n);
    conclude_by_policy(request, find_best(request), err_name(ERR_DEADLINE), err_meaning(ERR_DEADLINE), missing, now_ns);
}
