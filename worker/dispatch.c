/* DESIGN: what becomes of a task. This is the only file of worker/ that acks, nacks, dead-letters or gives up.
 *
 * A task ends in exactly one of four ways, and the class of its error decides which:
 *
 *   ok      answered, acked
 *   retry   (a locked database) nacked with a growing delay; after max_attempts it is treated as reject
 *   reject  if it could be read: answered with every signal of the family unavailable for that reason, then acked, so
 * that the coordinator need not wait for a deadline. If it could not be read there is nobody to answer: to the
 *           dead-letter topic with where it stood and why, acked after that
 *   fatal   (memory, a closed transport) nacked, and the thread ends; another member of the group gets the task
 *
 * Invariants. *Answer before ack*: a task is acked only when its result has been taken by the transport, so a crash
 * repeats work and loses none; tasks are pure, and the coordinator keeps the first of two equal results. *One place*:
 * signals and handles only return codes. *Unavailable is said*: no failure is ever answered as silent.
 *
 * Late tasks are a kind of reject: past its deadline nobody would read the answer in time, but it is still given, so
 * that the verdict can name the family.
 *
 * Results go out up to OUTBOX at a time, which is a candidate's families: one lock, one wake-up of the coordinator.
 * When the results queue is full the worker waits, for the coordinator never waits for workers: no cycle.
 *
 * Rejected: retrying inside the loop (blocks other databases behind a locked one); answering "late" by silence (a
 * coordinator could not tell it from a dead worker); one dead letter queue for both sides (a task is identified by
 * where it stood, a request by its id).
 */
#include "worker/internal.h"

#include "lib/base/clock.h"

#include <stdio.h>
#include <string.h>

enum { DEFAULT_ATTEMPTS = 5, DEFAULT_RETRY_MS = 20, MAX_RETRY_MS = 2000, OFFER_MS = 100 };

static enum err_code fatal(struct worker *worker, struct bus_message *message, enum err_code code, struct err *err)
{
    bus_nack(worker->consumer, message, 0);
    worker->stats.failed++;
    if (err && err->code != code) err_set(err, code, "%s", err_meaning(code));
    return code;
}

/* Offer until there is room. ERR_FULL: asked to stop meanwhile. */
static enum err_code offer(struct worker *worker, const struct bus_out *out, uint32_t n, uint32_t *taken)
{
    enum err_code code = ERR_FULL;
    *taken = 0;
    while (code == ERR_FULL) {
        uint32_t more = 0;
        code = bus_produce(worker->config.bus, out + *taken, n - *taken, OFFER_MS, &more);
        *taken += more;
        if (code == ERR_FULL && atomic_load(&worker->stopping)) break;
    }
    return code;
}

enum err_code dispatch_flush(struct worker *worker, struct err *err)
{
    struct outbox *outbox = &worker->outbox;
    if (outbox->n == 0) return ERR_OK;
    uint32_t taken;
    enum err_code code = offer(worker, outbox->out, outbox->n, &taken);
    for (uint32_t i = 0; i < outbox->n; i++)
        if (i < taken)
            bus_ack(worker->consumer, outbox->done[i]);
        else
            bus_nack(worker->consumer, outbox->done[i], 0);
    outbox->n = 0;
    if (code == ERR_OK || code == ERR_FULL) return ERR_OK;
    return err_set(err, code, "results cannot be handed over: %s", err_meaning(code));
}

/* Put a result into the outbox; its task is acked when it is out. */
static enum err_code answer(struct worker *worker, struct bus_message *message, const struct msg_result *result,
                            struct err *err)
{
    struct outbox *outbox = &worker->outbox;
    uint32_t i = outbox->n;
    enum err_code code = msg_encode_result(&outbox->buffers[i], result);
    if (code) return fatal(worker, message, code == ERR_LIMIT_BYTES ? ERR_INTERNAL : code, err);
    int len = snprintf(outbox->keys[i], sizeof outbox->keys[i], "%d-%lld", result->key.partition,
                       (long long)result->key.offset);
    outbox->out[i] = (struct bus_out){
        .topic = BUS_RESULTS,
        .partition = result->key.partition,
        .key = outbox->keys[i],
        .key_len = (uint32_t)len,
        .value = outbox->buffers[i].bytes,
        .len = outbox->buffers[i].len,
    };
    outbox->done[i] = message;
    outbox->n++;
    return outbox->n == OUTBOX ? dispatch_flush(worker, err) : ERR_OK;
}

/* Nobody can be answered: keep the message where a person will find it. */
static enum err_code dead_letter(struct worker *worker, struct bus_message *message, const struct err *why,
                                 struct err *err)
{
    char partition[16], offset[24], attempts[16];
    snprintf(partition, sizeof partition, "%d", message->partition);
    snprintf(offset, sizeof offset, "%lld", (long long)message->offset);
    snprintf(attempts, sizeof attempts, "%u", message->attempts);
    const struct bus_header headers[] = {
        {"x-dlq-topic", message->topic, (uint32_t)strlen(message->topic)},
        {"x-dlq-partition", partition, (uint32_t)strlen(partition)},
        {"x-dlq-offset", offset, (uint32_t)strlen(offset)},
        {"x-dlq-attempts", attempts, (uint32_t)strlen(attempts)},
        {"x-dlq-code", err_name(why->code), (uint32_t)strlen(err_name(why->code))},
        {"x-dlq-message", why->text, (uint32_t)strlen(why->text)},
    };
    struct bus_out out = {
        .topic = BUS_TASKS_DLQ,
        .partition = BUS_ANY_PARTITION,
        .key = message->key,
        .key_len = message->key_len,
        .value = message->value,
        .len = message->len,
        .headers = headers,
        .n_headers = sizeof headers / sizeof *headers,
    };
    uint32_t taken;
    enum err_code code = offer(worker, &out, 1, &taken);
    if (code == ERR_FULL) return bus_nack(worker->consumer, message, 0), ERR_OK; /* asked to stop: left to the others */
    if (code) return fatal(worker, message, code, err);
    worker->stats.dead++;
    bus_ack(worker->consumer, message);
    return ERR_OK;
}

static enum err_code reject(struct worker *worker, struct bus_message *message, const struct msg_task *task,
                            const struct err *why, struct err *err)
{
    struct msg_result result = {0};
    if (!task) return dead_letter(worker, message, why, err);
    worker->stats.failed++;
    worker->stats.late += why->code == ERR_DEADLINE;
    enum err_code code =
        answer_unavailable(&worker->answers, &worker->config, task, vsig_family_by_name(task->family), why, &result);
    return code ? fatal(worker, message, code, err) : answer(worker, message, &result, err);
}

static enum err_code retry(struct worker *worker, struct bus_message *message, const struct msg_task *task,
                           const struct err *why, struct err *err)
{
    uint32_t max = worker->config.max_attempts ? worker->config.max_attempts : DEFAULT_ATTEMPTS;
    if (message->attempts + 1 >= max) return reject(worker, message, task, why, err);
    int64_t delay = worker->config.retry_ms ? worker->config.retry_ms : DEFAULT_RETRY_MS;
    delay <<= message->attempts < 8 ? message->attempts : 8;
    worker->stats.retried++;
    bus_nack(worker->consumer, message, delay < MAX_RETRY_MS ? delay : MAX_RETRY_MS);
    return ERR_OK;
}

/* Run the family's signals. */
static enum err_code evaluate(struct worker *worker, const struct msg_task *task, struct msg_result *result,
                              struct err *err)
{
    int64_t deadline = 0;
    if (task->deadline_ns) {
        int64_t left = task->deadline_ns - bus_now_ns(worker->config.bus);
        if (left <= 0) return err_set(err, ERR_DEADLINE, "the deadline had passed when the task came up");
        deadline = clock_now_ns() + left;
    }
    int family = vsig_family_by_name(task->family);
    if (family < 0) return err_set(err, ERR_MALFORMED, "there is no family '%.40s'", task->family);
    enum err_code code = subjects_take(&worker->subjects, task, deadline, err);
    return code ? code
                : answer_family(&worker->subjects, &worker->answers, task, (enum vsig_family)family, result, err);
}

enum err_code dispatch(struct worker *worker, struct bus_message *message, const struct msg_task *task,
                       enum err_code code, struct err *err)
{
    struct msg_result result = {0};
    struct err why = err ? *err : (struct err){0};
    int64_t started = clock_now_ns();
    worker->stats.tasks++;
    if (!code) code = evaluate(worker, task, &result, &why);
    if (code && why.code != code) err_set(&why, code, "%s", err_meaning(code));
    worker->stats.busy_ns += clock_now_ns() - started;
    switch (err_class(code)) {
    case ERR_CLASS_OK: return answer(worker, message, &result, err);
    case ERR_CLASS_RETRY: return retry(worker, message, task, &why, err);
    case ERR_CLASS_REJECT: return reject(worker, message, task, &why, err);
    case ERR_CLASS_FATAL: break;
    }
    if (err) *err = why;
    return fatal(worker, message, code, err);
}
