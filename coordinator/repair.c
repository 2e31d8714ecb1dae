/* DESIGN: a repair, searched for when the answer is found.
 *
 * Only workers have the schema. The answer's candidate is therefore sent once more, as a task of the family explain
 * that requests similar queries (repair/propose.h) and contains the candidate's findings. The proposals become
 * additional candidates of the request and are judged by all families. The most likely one is the repair. It replaces
 * the answer only if repair_is_better allows it. No search begins if that cannot happen.
 *
 * If a corrector is configured (a chat model, lib/llm), it is called next. Its input is the question, the schema as the
 * worker describes it, and the most critical finding on the query. The query that it writes is one more proposal and is
 * judged like the others. Further rounds follow, as in SQLens §4.4. A round corrects the query that the corrector wrote
 * last if that is more likely correct than the previous one; otherwise it corrects the same query again. Each round
 * reports the next finding, or the error of the last query. The rounds end when a repair can be applied, when nothing
 * is left to report, or at the limit. If the model is unreachable, slow or useless, the verdict only gets a note.
 *
 * Old and new queries are compared by P(correct) *alone*, without the votes and positions of a list. A proposal has
 * none, and those of the old query do not apply to the new one. A remote verifier does not judge proposals, so its
 * response on the old query is ignored too.
 *
 * After any failure (no proposals, the deadline, a worker's error) the answer stays unchanged, with a note. Proposals
 * that repeat a candidate of the request are skipped: that candidate was judged and was not the answer.
 *
 * Rejected: a family with its own topic and worker pool. It would get one message per request, and workers of the
 * family explain can do the work. Rejected: judging proposals together with the candidates from the start. Their votes
 * and margins would then include queries that are not in the request.
 */
#include "coordinator/internal.h"

#include "repair/propose.h"

#include <string.h>

enum { DEFAULT_CORRECTIONS = 3 };

bool repair_has_begun(const struct request *request)
{
    return request->repair.phase != REPAIR_NOT_BEGUN;
}

bool repair_awaits(const struct request *request, const uint64_t hash[2])
{
    if (request->repair.phase != REPAIR_PROPOSING) return false;
    return memcmp(request->states[request->repair.of].hash, hash, sizeof request->states->hash) == 0;
}

/* Returns the first candidate that was sent. It is repaired if no candidate executes. */
static uint32_t first_sent(const struct request *request)
{
    for (uint32_t i = 0; i < request->n_given; i++)
        if (request->states[i].sent) return i;
    return NO_CANDIDATE;
}

static void ask_for_proposals(struct request *request)
{
    struct core *core = request->core;
    uint32_t of = request->repair.of;
    struct msg_task task = decide_task(request, of);
    task.family = vsig_family_name(VSIG_EXPLAIN);
    task.proposes = true;
    task.describes = core->actions.correct != NULL;
    task.findings = request->judged[of].findings;
    task.n_findings = request->judged[of].n_findings;
    request->repair.phase = REPAIR_PROPOSING;
    request->states[of].pending |= 1U << VSIG_EXPLAIN;
    core->stats.repairs.looked_for++;
    core->stats.tasks++;
    core->actions.task(core->actions.ctx, &task);
}

bool repair_begin(struct request *request, uint32_t best)
{
    struct repair *repair = &request->repair;
    enum msg_repair asked = request->options.repair;
    if (repair->phase != REPAIR_NOT_BEGUN || asked == MSG_REPAIR_UNSET || asked == MSG_REPAIR_OFF) return false;
    if (request->message->n_answers) return false; /* the user has already chosen a reading */
    repair->phase = REPAIR_OVER;
    repair->best = best;
    repair->of = best == NO_CANDIDATE ? first_sent(request) : best;
    repair->p_old = best == NO_CANDIDATE ? (double)NAN : decide_p_alone(request, best);
    repair->correcting = (struct correcting){.current = repair->of, .p_current = repair->p_old};
    if (!(request->families >> VSIG_EXPLAIN & 1) || !request->core->config.models->verifier)
        repair->note = "no repair was tried: repair needs the family explain and the verifier";
    else if (decide_is_late(request))
        repair->note = "no repair was tried: the deadline had passed";
    else if (repair->of != NO_CANDIDATE && !(repair->p_old > 1 - request->repair_margin))
        ask_for_proposals(request);
    return repair->phase == REPAIR_PROPOSING;
}

void repair_give_up(struct request *request, const char *why)
{
    struct repair *repair = &request->repair;
    repair->phase = REPAIR_OVER;
    request->core->stats.repairs.given_up++;
    repair->note = arena_printf(&request->arena, "no repair was found: %s", why);
    request->states[repair->of].pending = 0;
    request->n = request->n_given;
}

static void judge_proposals(struct request *request, struct msg_proposal *proposals, uint32_t n)
{
    request->repair.correcting.first_new = request->n;
    request->next_to_send = request->n;
    request->repair.phase = REPAIR_JUDGING;
    if (n && !ingest_proposals(request, proposals, n)) repair_give_up(request, err_meaning(ERR_LIMIT_MEMORY));
}

/* Judges the corrector's first query and the worker's proposals. */
static void judge_all_proposals(struct request *request, const struct msg_result *correction)
{
    const struct msg_result *results[] = {correction, request->repair.proposed};
    struct msg_proposal *all = arena_new_array(&request->arena, REPAIR_MAX_PROPOSALS, struct msg_proposal);
    uint32_t n = 0;
    for (unsigned r = 0; all && r < 2; r++)
        for (uint32_t i = 0; results[r] && i < results[r]->n_proposals && n < REPAIR_MAX_PROPOSALS; i++)
            all[n++] = results[r]->proposals[i];
    const char *why = request->repair.proposed->message;
    bool may_ask = request->core->actions.correct && request->repair.correcting.rounds;
    if (!all)
        repair_give_up(request, err_meaning(ERR_LIMIT_MEMORY));
    else if (!n && !may_ask)
        repair_give_up(request, why ? why : "no similar query applies");
    else
        judge_proposals(request, all, n);
}

static uint32_t max_corrections(const struct core *core)
{
    return core->config.max_corrections ? core->config.max_corrections : DEFAULT_CORRECTIONS;
}

/* Calls the corrector. Returns false if there is none, if it cannot be called now, or if there is nothing new to
 * report. */
static bool ask_corrector(struct request *request)
{
    const struct core *core = request->core;
    struct correcting *correcting = &request->repair.correcting;
    if (!core->actions.correct || !request->message->question || correcting->rounds >= max_corrections(core))
        return false;
    int signal = correction_select(request);
    if (signal < 0 && correcting->rounds && !correcting->tried) return false;
    const struct candidate_state *state = &request->states[correcting->current];
    const char *data = correction_data(request, signal);
    const struct core_model_question question = {.key = request->key,
                                                 .hash = {state->hash[0], state->hash[1]},
                                                 .candidate = correcting->current,
                                                 .premise = data,
                                                 .hypothesis = "",
                                                 .deadline_ns = request->deadline_ns,
                                                 .trace = spans_context(request)};
    if (!data) return false;
    if (!core->actions.correct(core->actions.ctx, &question)) {
        request->repair.note =
            "the corrector was not asked: its queue is full, or its request limit per minute is reached";
        request->core->stats.repairs.corrections_refused++;
        return false;
    }
    request->repair.phase = REPAIR_CORRECTING;
    if (signal >= 0) correcting->told |= UINT64_C(1) << signal;
    correcting->rounds++;
    correcting->tried = NULL;
    request->core->stats.repairs.corrections++;
    return true;
}

void repair_take_proposals(struct request *request, const struct msg_result *result)
{
    enum err_code code = err_from_name(result->code);
    request->repair.proposed = result;
    if (code)
        repair_give_up(request, result->message ? result->message : err_meaning(code));
    else if (!ask_corrector(request))
        judge_all_proposals(request, NULL);
}

bool repair_awaits_correction(const struct request *request, const uint64_t hash[2])
{
    if (request->repair.phase != REPAIR_CORRECTING) return false;
    return memcmp(request->states[request->repair.correcting.current].hash, hash, sizeof request->states->hash) == 0;
}

/* Records the syntax error of a query that cannot become a candidate. The next round reports the error. */
static void note_syntax(struct request *request, const struct msg_proposal *written)
{
    struct sql_stmt *stmt = NULL;
    arena_reset(&request->core->scratch);
    enum err_code code = sql_parse(&request->core->scratch, written->sql.bytes, written->sql.len, NULL, &stmt);
    if (!code) return;
    const char *why = stmt && stmt->diags ? stmt->diags->message : err_meaning(code);
    request->repair.correcting.tried = written->sql.bytes;
    request->repair.correcting.tried_why = arena_strdup(&request->arena, why);
}

void repair_take_correction(struct request *request, const struct msg_result *result)
{
    struct correcting *correcting = &request->repair.correcting;
    enum err_code code = err_from_name(result->code);
    request->core->stats.repairs.corrections_failed += code != ERR_OK;
    if (code) {
        request->repair.note = arena_printf(&request->arena, "the corrector failed: %s",
                                            result->message ? result->message : err_meaning(code));
        correcting->rounds = max_corrections(request->core);
    } else if (result->n_proposals) {
        note_syntax(request, &result->proposals[0]);
    }
    if (request->n == request->n_given)
        judge_all_proposals(request, code ? NULL : result);
    else
        judge_proposals(request, result->proposals, code ? 0 : result->n_proposals);
}

/* Sends more proposals within the window. Returns true if none is left and all are done. */
static bool all_judged(struct request *request)
{
    uint32_t pending = 0;
    for (uint32_t i = request->repair.correcting.first_new; i < request->next_to_send; i++)
        pending += !decide_is_done(request, i);
    if (decide_is_late(request)) request->n = request->next_to_send; /* the others are not judged */
    while (pending < request->core->config.max_window && request->next_to_send < request->n) {
        decide_send(request, request->next_to_send++);
        pending++;
    }
    return !pending;
}

static void describe_steps(struct request *request, struct msg_repaired *found)
{
    struct repair_step steps[REPAIR_MAX_STEPS];
    arena_reset(&request->core->scratch);
    int n = repair_steps(&request->core->scratch, found->old_sql, found->sql, steps);
    found->steps = n > 0 ? arena_new_array(&request->arena, (uint32_t)n, struct msg_step) : NULL;
    for (int i = 0; found->steps && i < n; i++)
        found->steps[found->n_steps++] =
            (struct msg_step){steps[i].clause, steps[i].was ? arena_strdup(&request->arena, steps[i].was) : NULL,
                              steps[i].now ? arena_strdup(&request->arena, steps[i].now) : NULL};
}

/* Returns the candidate with the highest P(correct) alone, among those from `first` on that exceed `p_old`. A `p_old`
 * of NAN excludes none. Returns NO_CANDIDATE if there is none. */
static uint32_t surest(struct request *request, uint32_t first, double p_old, double *p_best)
{
    uint32_t best = NO_CANDIDATE;
    *p_best = NAN;
    for (uint32_t i = first; i < request->n; i++) {
        double p = decide_p_alone(request, i);
        if (isnan(p) || p <= *p_best || p <= p_old || rules_linking_is_uncertain(&request->judged[i])) continue;
        best = i;
        *p_best = p;
    }
    return best;
}

/* Implements the auditor of SQLens §4.4 for the corrector's last query. The next round corrects that query if it is
 * more likely correct than its predecessor. P(correct) includes the votes of all signals, even those that the corrector
 * has received. */
static void audit(struct request *request)
{
    struct correcting *correcting = &request->repair.correcting;
    uint32_t written = correcting->first_new;
    if (!correcting->rounds || written >= request->n || !request->repair.proposals[written - request->n_given]->source)
        return;
    double p = decide_p_alone(request, written);
    if (isnan(p)) {
        correcting->tried = request->judged[written].sql.bytes;
        correcting->tried_why = why_invalid(request, written);
    } else if (!(p <= correcting->p_current)) {
        correcting->current = written;
        correcting->p_current = p;
    }
}

static bool can_be_applied(struct request *request)
{
    double p;
    uint32_t best = surest(request, request->n_given, request->repair.p_old, &p);
    return best != NO_CANDIDATE &&
           repair_is_better(request->repair.p_old, p, request->threshold, request->repair_margin);
}

/* Chooses the most likely proposal as the repair if its P(correct) exceeds that of the old query. */
static void choose(struct request *request)
{
    const struct repair *repair = &request->repair;
    double p_best;
    uint32_t best = surest(request, request->n_given, repair->p_old, &p_best);
    struct msg_repaired *found = best == NO_CANDIDATE ? NULL : arena_new(&request->arena, struct msg_repaired);
    if (!found) return;
    *found = (struct msg_repaired){.sql = request->judged[best].sql.bytes,
                                   .old_sql = request->judged[repair->of].sql.bytes,
                                   .of = repair->of + 1,
                                   .p_old = repair->p_old,
                                   .p_correct = p_best,
                                   .reason = repair->proposals[best - request->n_given]->reason,
                                   .source = repair->proposals[best - request->n_given]->source,
                                   .n_proposals = request->n - request->n_given};
    found->applied = request->options.repair == MSG_REPAIR_APPLY &&
                     repair_is_better(repair->p_old, p_best, request->threshold, request->repair_margin);
    describe_steps(request, found);
    request->repair.found = found;
    request->core->stats.repairs.applied += found->applied;
    request->core->stats.repairs.proposed += !found->applied;
}

bool repair_advance(struct request *request)
{
    if (request->repair.phase == REPAIR_PROPOSING || request->repair.phase == REPAIR_CORRECTING) return false;
    if (request->repair.phase == REPAIR_JUDGING) {
        if (!all_judged(request)) return false;
        audit(request);
        bool again = request->repair.correcting.rounds && !decide_is_late(request) && !can_be_applied(request);
        if (again && ask_corrector(request)) return false;
        choose(request);
        request->repair.phase = REPAIR_OVER;
        request->n = request->n_given;
    }
    return true;
}
