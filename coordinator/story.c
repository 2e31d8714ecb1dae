/* DESIGN: the source rows of the answer.
 *
 * Finding the source rows of a result, or why there are none, takes statements as expensive as the candidate itself.
 * Only people read these rows: the verifier's numbers are derived from the statement. Candidates are therefore
 * explained from their statements alone. When the answer is found, a task of the family explain requests its rows, and
 * the verdict waits for the result. The explanations of the other candidates say that rows were not searched for.
 *
 * A candidate gets its rows together with its judgement if it will probably be the answer. That is so if it is the only
 * candidate, or the first of those that are tried in order. All candidates get them under explain "full" and if a
 * remote verifier reads the premise. In a fleet they get them by default. There, a later task would delay each verdict
 * by about 12 ms, and its messages would cost as much CPU time as it saves. On any failure the existing explanation
 * stays.
 *
 * Rejected: guessing the answer from votes (in half of the lists of ChatGPT it is another candidate). Rejected: the
 * rows of the best few candidates (as expensive, and people read only one explanation).
 */
#include "coordinator/internal.h"

#include <string.h>

static bool is_only_one(const struct request *request)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < request->n_given && n < 2; i++) n += request->states[i].needs_tasks;
    return n == 1;
}

/* Returns true if this candidate is tried before the others. */
static bool is_tried_first(const struct request *request, uint32_t index)
{
    uint32_t first = 0;
    while (first < request->n && !request->states[first].needs_tasks) first++;
    return index == first && !request->evaluate_all;
}

enum msg_part story_part(const struct request *request, uint32_t index)
{
    const struct core *core = request->core;
    bool all = core->config.rows_at_once || core->actions.verify || request->options.explain == MSG_EXPLAIN_FULL;
    if (index >= request->n_given) return MSG_PART_STATEMENT; /* no verdict contains the explanation of a repair */
    return all || is_tried_first(request, index) || is_only_one(request) ? MSG_PART_ALL : MSG_PART_STATEMENT;
}

static bool has_result(const struct msg_execution *execution)
{
    return execution && err_from_name(execution->code) == ERR_OK;
}

bool story_begin(struct request *request, uint32_t best)
{
    if (best == NO_CANDIDATE || request->story.over || decide_is_late(request)) return false;
    struct candidate_state *state = &request->states[best];
    const struct msg_result *told = state->results[VSIG_EXPLAIN];
    request->story.over = true;
    if (!told || told->part != MSG_PART_STATEMENT || !told->explanation || !has_result(told->execution)) return false;
    struct msg_task task = decide_task(request, best);
    task.family = vsig_family_name(VSIG_EXPLAIN);
    task.part = MSG_PART_ROWS;
    request->story.best = best;
    request->story.pending = true;
    state->pending |= 1U << VSIG_EXPLAIN;
    request->core->stats.tasks++;
    request->core->actions.task(request->core->actions.ctx, &task);
    return true;
}

bool story_is_pending(const struct request *request)
{
    return request->story.pending;
}

bool story_awaits(const struct request *request, const uint64_t hash[2])
{
    if (!request->story.pending) return false;
    return memcmp(request->states[request->story.best].hash, hash, sizeof request->states->hash) == 0;
}

bool story_fits(const struct request *request, const struct msg_result *result)
{
    enum msg_part other = story_awaits(request, result->hash) ? MSG_PART_STATEMENT : MSG_PART_ROWS;
    return result->part != other;
}

/* Uses the new explanation, unless its result differs from the judged one. It may differ after a concurrent write. */
void story_take(struct request *request, struct msg_result *result)
{
    struct msg_judged *judged = &request->judged[request->story.best];
    request->story.pending = false;
    if (err_from_name(result->code) || !result->explanation || !has_result(result->execution) || !judged->execution)
        return;
    if (memcmp(result->execution->digest, judged->execution->digest, sizeof judged->execution->digest) == 0)
        judged->explanation = result->explanation->prose;
}

void story_give_up(struct request *request)
{
    request->story.pending = false;
    request->states[request->story.best].pending = 0;
}
