/* DESIGN: the rows behind the answer.
 *
 * Where the rows of a result came from, or why there are none, takes statements that cost as much as the candidate itself, and only
 * people read it: the verifier's numbers follow from the statement. So candidates are explained from their statements, and when
 * the answer is found it goes out once more, as a task of the family explain for its rows; the verdict waits for it. The
 * explanations of the others say that rows were not looked for.
 *
 * One that will be the answer if any is, has its rows with its judgement: the only candidate, or the first where they are tried in
 * order. All have under explain "full", where a remote verifier reads the premise, and in a fleet that does not say otherwise: there
 * another round costs each verdict some 12 ms, and as much CPU for its messages as it saves. Whatever goes wrong on the way
 * leaves the explanation that there is.
 *
 * Rejected: guessing the answer from votes (of chatgpt's lists half have another one); the rows of the best few (as dear, and people
 * read one).
 */
#include "coordinator/internal.h"

#include <string.h>

static bool is_only_one(const struct request *request)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < request->n_given && n < 2; i++) n += request->states[i].needs_tasks;
    return n == 1;
}

/* Is it tried before the others? */
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
    if (index >= request->n_given) return MSG_PART_STATEMENT; /* a repair's explanation is in no verdict */
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

/* Rows behind another result than was judged, as when somebody writes meanwhile, are not told. */
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
