/* DESIGN: a worker has several threads, the lanes, so that slow candidates do not block others.
 *
 * One lane leads: it polls and judges the batch, candidate by candidate. The others follow and watch the clock. If a
 * candidate takes longer than slow_ms, the next free lane becomes the leader and continues with the next candidate. The
 * former leader finishes all families of its candidate, sends the results, and then follows. No work starts twice, no
 * limit is shortened, and results are unchanged. If no lane is free, the leader finishes its candidate itself. At most
 * slow_threads candidates are therefore judged in addition to that of the leader.
 *
 * INVARIANT turn: the *turn* is a lock. The consumer, the outbox and the batches belong to its holder. A lane holds it
 * except while it judges (dispatch) and while it waits to lead. The leader also holds it while it polls. That poll is
 * short if slow candidates are running. It starts only after all returning lanes have had the turn.
 *
 * A batch stays until all lanes that took a candidate from it are done. A lane has one candidate, so one batch more
 * than lanes is enough.
 *
 * Rejected: trying each candidate for slow_ms and restarting it in another lane. That costs twice, and breakers and
 * result caches would treat the interrupted run as a failure. Rejected: a queue of slow candidates (queued candidates
 * have deadlines too, and one more lane has the same effect). Rejected: a thread for each task (candidates of a request
 * share their lane's data).
 */
#include "worker/internal.h"

#include "lib/base/clock.h"

#include <glib.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { POLL_MS = 500, SHORT_POLL_MS = 2, DEFAULT_SLOW_MS = 20 };
enum {
    /* number of families that judge every candidate; the messages of one candidate arrive together */
    JUDGING = VSIG_FAMILY_COUNT - 1
};

void lanes_give_turn(struct lane *lane)
{
    pthread_mutex_unlock(&lane->worker->turn);
}

void lanes_take_turn(struct lane *lane)
{
    struct worker *worker = lane->worker;
    atomic_fetch_add(&worker->returning, 1);
    pthread_mutex_lock(&worker->turn);
    if (atomic_fetch_sub(&worker->returning, 1) == 1) pthread_cond_signal(&worker->returned);
}

static void heartbeat(struct lane *lane)
{
    atomic_store_explicit(&lane->heartbeat_ns, clock_now_ns(), memory_order_relaxed);
}

static void publish(struct lane *lane)
{
    const struct executor *executor = lane->handles.executor;
    if (executor) lane->stats.executors = executor_stats(executor);
    pthread_mutex_lock(&lane->worker->lock);
    lane->published = lane->stats;
    pthread_mutex_unlock(&lane->worker->lock);
}

/* --- reading a batch --- */

static int compare(int64_t a, int64_t b)
{
    return a < b ? -1 : a > b;
}

static int by_request(const struct msg_key *a, const struct msg_key *b)
{
    int sign = compare(a->partition, b->partition);
    return sign ? sign : compare(a->offset, b->offset);
}

static enum err_code read_task(struct worker *worker, struct polled_task *out, size_t *used)
{
    struct delivery *delivery = out->delivery;
    struct arena *arena = &worker->batch->arena;
    enum err_code code = msg_next_task(arena, out->bytes, out->len, &out->task, used, &delivery->err);
    if (!code) code = worker_policy(&worker->config.databases, arena, out->task, &delivery->err);
    if (code) return code;
    out->len = *used;
    out->family = vsig_family_by_name(out->task->family);
    if (out->index == 0) delivery->key = out->task->key, delivery->db = out->task->db;
    return by_request(&delivery->key, &out->task->key) == 0
               ? ERR_OK
               : err_set(&delivery->err, ERR_MALFORMED, "the message has tasks of more than one request");
}

/* Decodes the tasks of a message that were not answered yet. If one task is unreadable, the whole message is. */
static enum err_code read_tasks(struct worker *worker, struct delivery *delivery)
{
    struct batch *batch = worker->batch;
    const struct bus_message *message = delivery->message;
    const char *at = message->value, *end = at + message->len;
    enum err_code code = ERR_OK;
    uint32_t index = 0;
    do {
        struct polled_task task = {.delivery = delivery, .index = index, .bytes = at, .len = (size_t)(end - at)};
        size_t used = 0;
        if (index == MSG_MAX_JOINED)
            return err_set(&delivery->err, ERR_LIMIT_COUNT, "the message has more than %d tasks", MSG_MAX_JOINED);
        code = read_task(worker, &task, &used);
        if (!code && !(delivery->answered >> index & 1)) batch->tasks[batch->n++] = task;
        at += used;
        index++;
    } while (!code && at < end);
    return code;
}

static void read_message(struct worker *worker, struct bus_message *message)
{
    struct batch *batch = worker->batch;
    struct delivery *delivery = &batch->deliveries[batch->n_deliveries++];
    uint32_t before = batch->n;
    *delivery = (struct delivery){.message = message, .answered = dispatch_answered(worker, message)};
    delivery->code = read_tasks(worker, delivery);
    if (delivery->code) {
        batch->n = before;
        batch->tasks[batch->n++] = (struct polled_task){.delivery = delivery, .family = -1};
    }
    delivery->left = batch->n - before;
}

static int by_candidate(const struct msg_task *a, const struct msg_task *b)
{
    int sign = by_request(&a->key, &b->key);
    if (!sign) sign = compare(a->candidate, b->candidate);
    return sign ? sign : memcmp(a->hash, b->hash, sizeof a->hash);
}

/* INVARIANT fair: requests are ordered by the time at which they would end if databases took turns, one task each (fair
 * queueing). Within a database, small requests come before large ones, and equal ones in order of arrival.
 *
 * Tasks of one candidate stay together, and so do those of one request. The execution family goes first. The other
 * families then know at no cost whether the engine accepts the candidate. Unreadable messages come last.
 */
static int by_turn(const void *left, const void *right)
{
    const struct polled_task *a = left, *b = right;
    if (!a->task || !b->task) return (b->task != NULL) - (a->task != NULL);
    int sign = compare(a->delivery->turn, b->delivery->turn);
    if (!sign) sign = by_candidate(a->task, b->task);
    if (!sign) sign = (b->family == VSIG_EXECUTION) - (a->family == VSIG_EXECUTION);
    return sign ? sign : compare(a->family, b->family);
}

static void count_tasks(struct delivery *deliveries, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t other = 0; other < n; other++)
            if (!deliveries[other].code && by_request(&deliveries[i].key, &deliveries[other].key) == 0)
                deliveries[i].request_tasks += deliveries[other].left;
}

static int by_size(const struct delivery *a, const struct delivery *b)
{
    int sign = compare(a->request_tasks, b->request_tasks);
    return sign ? sign : by_request(&a->key, &b->key);
}

static void count_turns(struct delivery *deliveries, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t other = 0; other < n; other++)
            if (!deliveries[other].code && by_size(&deliveries[other], &deliveries[i]) <= 0 &&
                g_strcmp0(deliveries[other].db, deliveries[i].db) == 0)
                deliveries[i].turn += deliveries[other].left;
}

/* Returns how many messages have about BATCH tasks together, as a multiple of the messages of one candidate. A larger
 * poll would delay later tasks. */
static uint32_t count_messages(const struct batch *batch)
{
    uint32_t n = BATCH * batch->n_deliveries / MAX(batch->n, 1);
    return CLAMP(n / JUDGING * JUDGING, JUDGING, BATCH);
}

static struct batch *free_batch(const struct worker *worker)
{
    struct batch *batch = worker->batches;
    while (batch->users) batch++;
    return batch;
}

static enum err_code poll_batch(struct lane *lane, struct err *err)
{
    struct worker *worker = lane->worker;
    struct bus_message *messages[BATCH];
    uint32_t n;
    heartbeat(lane);
    while (atomic_load(&worker->returning)) pthread_cond_wait(&worker->returned, &worker->turn);
    /* A worker for models polls one message, because other threads could take further ones meanwhile. */
    enum err_code code = bus_poll(worker->consumer, 0, messages, worker->asks_models ? 1 : worker->at_a_time,
                                  atomic_load(&worker->slow_running) ? SHORT_POLL_MS : POLL_MS, &n);
    if (code == ERR_CLOSED) return atomic_store(&worker->stopping, true), ERR_OK;
    if (code) return err_set(err, code, "cannot receive tasks: %s", err_meaning(code));
    if (!n) return ERR_OK;
    struct batch *batch = worker->batch = free_batch(worker);
    arena_reset(&batch->arena);
    batch->n = batch->next = batch->n_deliveries = 0;
    for (uint32_t i = 0; i < n; i++) read_message(worker, messages[i]);
    count_tasks(batch->deliveries, n);
    count_turns(batch->deliveries, n);
    qsort(batch->tasks, batch->n, sizeof *batch->tasks, by_turn);
    worker->at_a_time = count_messages(batch);
    atomic_fetch_add(&worker->in_flight, batch->n);
    return ERR_OK;
}

/* --- a candidate -------------------------------------------------------------------------------------------------- */

static uint32_t candidate_end(const struct batch *batch, uint32_t from)
{
    const struct polled_task *tasks = batch->tasks;
    uint32_t end = from + 1;
    while (end < batch->n && tasks[end].task && by_candidate(tasks[from].task, tasks[end].task) == 0) end++;
    return end;
}

static bool is_slow_now(const struct worker *worker, const char *db)
{
    for (uint32_t i = 0; i < worker->n_lanes; i++) {
        const struct lane *lane = &worker->lanes[i];
        if (lane->batch && g_strcmp0(lane->batch->tasks[lane->end - 1].delivery->db, db) == 0) return true;
    }
    return false;
}

/* Returns the next candidate. If only one lane is free, a second candidate of a slow database would block everything,
 * so candidates of other databases go first. */
static uint32_t choose_candidate(const struct worker *worker)
{
    const struct batch *batch = worker->batch;
    uint32_t at = batch->next, slow = atomic_load(&worker->slow_running);
    if (!slow || slow + 1 < worker->n_lanes) return at;
    while (at < batch->n && is_slow_now(worker, batch->tasks[at].delivery->db)) at = candidate_end(batch, at);
    return at < batch->n ? at : batch->next;
}

/* Moves n tasks to the front of the tasks that no lane has taken. */
static void bring_forward(struct batch *batch, uint32_t from, uint32_t n)
{
    for (uint32_t to = batch->next; to < from && n; to++, from++, n--) {
        struct polled_task own = batch->tasks[from];
        memmove(&batch->tasks[to + 1], &batch->tasks[to], (from - to) * sizeof own);
        batch->tasks[to] = own;
    }
}

/* --- stopping cancelled requests --- */

static void note_in_hand(struct lane *lane)
{
    const struct msg_task *task = lane->batch->tasks[lane->next].task;
    atomic_store(&lane->stopped, false);
    atomic_store(&lane->in_hand, task ? task->key.offset : IN_HAND_NONE);
}

/* INVARIANT stopped: a lane does not move to another candidate while it is being stopped. The interrupted statement
 * therefore belongs to the right request. This function does not wait for the turn, because the coordinator calls
 * worker_stop_request, and the holder of the turn may wait for the coordinator. */
static void leave_hand(struct lane *lane)
{
    long long own = atomic_load(&lane->in_hand) & ~IN_HAND_STOPPING;
    if (atomic_load(&lane->in_hand) == IN_HAND_NONE) return;
    for (long long seen = own; !atomic_compare_exchange_weak(&lane->in_hand, &seen, IN_HAND_NONE); seen = own)
        sched_yield();
}

static bool stop_lane(struct lane *lane, long long request)
{
    long long seen = request;
    if (!atomic_compare_exchange_strong(&lane->in_hand, &seen, request | IN_HAND_STOPPING)) return false;
    atomic_store(&lane->stopped, true);
    handles_interrupt(&lane->handles);
    atomic_store(&lane->in_hand, request);
    return true;
}

bool worker_stop_request(struct worker *worker, struct msg_key request)
{
    bool some = false;
    for (uint32_t i = 0; i < worker->n_lanes; i++) some |= stop_lane(&worker->lanes[i], request.offset);
    return some;
}

/* --- judging --- */

static void take_candidate(struct lane *lane)
{
    struct batch *batch = lane->worker->batch;
    uint32_t from = choose_candidate(lane->worker), n = candidate_end(batch, from) - from;
    bring_forward(batch, from, n);
    lane->batch = batch;
    lane->next = batch->next;
    lane->end = batch->next += n;
    lane->since_ns = clock_now_ns();
    note_in_hand(lane);
    batch->users++;
    if (lane->worker->idle) pthread_cond_broadcast(&lane->worker->followed);
}

static void run_task(struct lane *lane, struct polled_task *polled)
{
    struct worker *worker = lane->worker;
    struct err why = {0};
    heartbeat(lane);
    arena_reset(&lane->answers);
    enum err_code code = dispatch(lane, polled, &why);
    atomic_fetch_sub(&worker->in_flight, 1);
    if (!code || worker->code) return;
    worker->code = code;
    worker->err = why;
}

/* Nacks the tasks that were not started. */
static void give_back(struct lane *lane, struct batch *batch, uint32_t from, uint32_t end)
{
    for (; from < end; from++) {
        dispatch_return(lane, &batch->tasks[from], 0);
        atomic_fetch_sub(&lane->worker->in_flight, 1);
    }
}

/* Sends the results, and releases the permit so that others can use the database. */
static void finish(struct lane *lane)
{
    struct worker *worker = lane->worker;
    struct err why = {0};
    dispatch_give_permit(lane);
    enum err_code code = dispatch_flush(lane, &why);
    if (code && !worker->code) worker->code = code, worker->err = why;
    publish(lane);
}

static void run_candidate(struct lane *lane)
{
    struct worker *worker = lane->worker;
    struct batch *batch = lane->batch;
    while (lane->next < lane->end && !worker->code) run_task(lane, &batch->tasks[lane->next++]);
    give_back(lane, batch, lane->next, lane->end);
    leave_hand(lane);
    lane->batch = NULL;
    batch->users--;
    if (worker->leader == lane) return;
    finish(lane);
    atomic_fetch_sub(&worker->slow_running, 1);
    pthread_cond_signal(&worker->returned);
}

/* --- leading and following --- */

static void end_all(struct lane *lane)
{
    struct worker *worker = lane->worker;
    while (atomic_load(&worker->slow_running)) pthread_cond_wait(&worker->returned, &worker->turn);
    worker->ended = true;
    pthread_cond_broadcast(&worker->followed);
}

static void lead(struct lane *lane)
{
    struct worker *worker = lane->worker;
    struct batch *batch = worker->batch;
    if (batch && batch->next < batch->n && !worker->code) {
        take_candidate(lane);
        run_candidate(lane);
    } else if (batch) {
        worker->batch = NULL;
        give_back(lane, batch, batch->next, batch->n);
        finish(lane);
    } else if (worker->code || atomic_load(&worker->stopping)) {
        end_all(lane);
    } else {
        enum err_code code = poll_batch(lane, &worker->err);
        if (code && !worker->code) worker->code = code;
    }
}

/* Waits until the leader's candidate is slow, and then becomes the leader. */
static void follow(struct lane *lane)
{
    struct worker *worker = lane->worker;
    const struct lane *leader = worker->leader;
    int64_t slow_ms = worker->config.slow_ms ? worker->config.slow_ms : DEFAULT_SLOW_MS;
    atomic_store(&lane->heartbeat_ns, 0);
    if (!leader->batch) {
        worker->idle++;
        pthread_cond_wait(&worker->followed, &worker->turn);
        worker->idle--;
        return;
    }
    int64_t left_ns = leader->since_ns + slow_ms * 1000000 - clock_now_ns();
    if (left_ns > 0) {
        struct timespec due = clock_after_ns(left_ns);
        pthread_cond_timedwait(&worker->followed, &worker->turn, &due);
        return;
    }
    worker->leader = lane;
    lane->stats.slow++;
    atomic_fetch_add(&worker->slow_running, 1);
    heartbeat(lane);
}

static void *lane_run(void *arg)
{
    struct lane *lane = arg;
    struct worker *worker = lane->worker;
    pthread_mutex_lock(&worker->turn);
    while (!worker->ended)
        if (worker->leader == lane)
            lead(lane);
        else
            follow(lane);
    pthread_mutex_unlock(&worker->turn);
    return NULL;
}

enum err_code lanes_run(struct worker *worker, struct err *err)
{
    uint32_t n = 1;
    while (n < worker->n_lanes && pthread_create(&worker->lanes[n].thread, NULL, lane_run, &worker->lanes[n]) == 0) n++;
    lane_run(worker->lanes);
    for (uint32_t i = 1; i < n; i++) pthread_join(worker->lanes[i].thread, NULL);
    if (worker->code && err) *err = worker->err;
    return worker->code;
}
