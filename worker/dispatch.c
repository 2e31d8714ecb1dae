/* DESIGN: the outcome of a task. Only this file of worker/ acks, nacks or dead-letters messages.
 *
 * A task ends in exactly one of four ways, according to the class of its error:
 *
 *    ok      answered, acked
 *    retry   (a locked database) nacked with a growing, jittered delay; after max_attempts treated as reject. Failures
 *            of the database or the fleet (open circuit, no permit, timeout) are retried within the task's deadline
 *    reject  if the task could be read: answered with every signal of the family unavailable for that reason, then
 *            acked, so that the coordinator does not wait for the deadline. Otherwise there is no coordinator to
 *            answer: the message is dead-lettered with its position and the reason, then acked
 *    fatal   (memory, a closed transport) nacked, and the thread ends; another member of the group gets the task
 *
 * Tasks of one request may share a message. Each task ends in one of these ways, independently of the others. Then the
 * message is acked, or nacked if one of them must be redelivered. After a redelivery to this worker, tasks that were
 * answered are not judged again.
 *
 * Invariants. *Answer before ack*: a task is acked only when the transport has taken its result. A crash repeats work
 * and loses none; tasks have no side effects, and the coordinator uses the first of two equal results. *One place*:
 * signals and handles only return codes. *Unavailable is reported*: no failure is ever answered as silent.
 *
 * A task that may have killed two processes is judged in an isolated process (isolated.h). If it kills that one too, it
 * is answered `rejected` and dead-lettered.
 *
 * Late tasks are a kind of reject. After its deadline a result comes too late to count, but it is still sent, so that
 * the verdict can name the family.
 *
 * Up to OUTBOX results are sent at a time, with one lock and one wake-up of the coordinator. Consecutive results of a
 * request, usually those of a candidate's families, are one message if its coordinator supports that. The reason is
 * that a broker's cost is per message. When the results queue is full, the worker waits. The coordinator never waits
 * for workers, so there is no deadlock.
 *
 * Rejected: retrying inside the loop (blocks other databases behind a locked one). Rejected: not answering late tasks
 * (a coordinator could not distinguish them from a dead worker). Rejected: one dead-letter topic for requests and tasks
 * (a task is identified by its position, a request by its id).
 */
#include "worker/internal.h"

#include "lib/base/backoff.h"
#include "lib/base/clock.h"
#include "lib/base/locations.h"
#include "lib/base/log.h"
#include "proto/bus/letter.h"
#include "worker/db_breakers.h"
#include "worker/permits.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_ATTEMPTS = 5, DEFAULT_RETRY_MS = 20, MAX_RETRY_MS = 2000, OFFER_MS = 100 };
enum {
    ANSWER_MS = 300, /* part of a task's time that is reserved for the answer when it stops waiting */
    HOLD_MS = 100,   /* maximum time that a permit is reused across tasks; then others get a chance */
    WAIT_MS = 250,   /* maximum wait for a permit, before the task is nacked */
    MAX_CRASHES = 2,
    KEY_BYTES = 64,     /* size of a result's key, rounded up */
    ISOLATED_MS = 60000 /* limit for a task without a deadline */
};

static uint32_t place_of(const struct bus_message *message)
{
    return (uint32_t)((uint64_t)message->offset % NACKED);
}

/* Returns this worker's record of a nacked message, or NULL if there is none. */
static const struct nacked *find_nacked(const struct worker *worker, const struct bus_message *message)
{
    const struct nacked *own = &worker->nacked[place_of(message)];
    bool known = own->n && own->offset == message->offset && own->partition == message->partition &&
                 own->topic_index == message->topic_index && own->time_ns == message->time_ns;
    return known ? own : NULL;
}

uint32_t dispatch_answered(const struct worker *worker, const struct bus_message *message)
{
    const struct nacked *own = find_nacked(worker, message);
    return own ? own->answered : 0;
}

static void nack(struct worker *worker, const struct delivery *delivery)
{
    struct bus_message *message = delivery->message;
    const struct nacked *before = find_nacked(worker, message);
    worker->nacked[place_of(message)] = (struct nacked){.topic_index = message->topic_index,
                                                        .n = before ? before->n + 1 : 1,
                                                        .answered = delivery->answered,
                                                        .partition = message->partition,
                                                        .offset = message->offset,
                                                        .time_ns = message->time_ns};
    bus_nack(worker->consumer, message, delivery->delay_ms);
}

/* Ends one task. The last task of a message to end acks or nacks the message. */
static void end_task(struct lane *lane, struct delivery *delivery)
{
    if (--delivery->left) return;
    if (delivery->returns)
        nack(lane->worker, delivery);
    else
        bus_ack(lane->worker->consumer, delivery->message);
}

void dispatch_return(struct lane *lane, struct polled_task *polled, int64_t delay_ms)
{
    struct delivery *delivery = polled->delivery;
    delivery->returns = true;
    delivery->delay_ms = MAX(delivery->delay_ms, delay_ms);
    end_task(lane, delivery);
}

static void end_answered(struct lane *lane, struct polled_task *polled)
{
    lane->stats.answered++;
    polled->delivery->answered |= 1U << polled->index;
    end_task(lane, polled->delivery);
}

static enum err_code fatal(struct lane *lane, struct polled_task *polled, enum err_code code, struct err *err)
{
    dispatch_return(lane, polled, 0);
    lane->stats.failed++;
    if (err && err->code != code) err_set(err, code, "%s", err_meaning(code));
    return code;
}

/* Produces messages until the bus has taken all of them. Returns ERR_FULL if the worker is stopped meanwhile. */
static enum err_code offer(struct lane *lane, const struct bus_out *out, uint32_t n, uint32_t *taken)
{
    enum err_code code = ERR_FULL;
    *taken = 0;
    while (code == ERR_FULL) {
        uint32_t more = 0;
        code = bus_produce(lane->worker->config.bus, out + *taken, n - *taken, OFFER_MS, &more);
        *taken += more;
        if (code == ERR_FULL) dispatch_give_permit(lane); /* lets other workers use the database during the wait */
        if (code == ERR_FULL && atomic_load(&lane->worker->stopping)) break;
    }
    return code;
}

enum err_code dispatch_flush(struct lane *lane, struct err *err)
{
    struct outbox *outbox = &lane->worker->outbox;
    if (outbox->n == 0) return ERR_OK;
    uint32_t taken;
    for (uint32_t i = 0; i < outbox->n_out; i++) { /* set only now, because a buffer may move while it grows */
        outbox->out[i].value = outbox->buffers[i].bytes;
        outbox->out[i].len = outbox->buffers[i].len;
    }
    enum err_code code = offer(lane, outbox->out, outbox->n_out, &taken);
    for (uint32_t i = 0; i < outbox->n; i++)
        if (outbox->with[i] < taken)
            end_answered(lane, outbox->done[i]);
        else
            dispatch_return(lane, outbox->done[i], 0);
    outbox->n = outbox->n_out = 0;
    if (code == ERR_OK || code == ERR_FULL) return ERR_OK;
    return err_set(err, code, "cannot deliver results: %s", err_meaning(code));
}

/* Appends a result to the buffer. If the message would exceed the limit of the results topic, leaves the buffer
 * unchanged and returns ERR_LIMIT_BYTES. */
static enum err_code append(struct lane *lane, struct msg_buffer *buffer, const struct msg_result *result)
{
    size_t before = buffer->len, most = bus_max_bytes(lane->worker->config.bus, BUS_RESULTS);
    enum err_code code = msg_append_result(buffer, result);
    if (code || buffer->len + KEY_BYTES <= most) return code;
    buffer->len = before;
    return ERR_LIMIT_BYTES;
}

/* Appends the result without its sample of rows. If that is still too large, appends an unavailable answer with the
 * reason. */
static enum err_code append_smaller(struct lane *lane, struct msg_buffer *buffer, const struct msg_task *task,
                                    const struct msg_result *result)
{
    static const struct err why = {.code = ERR_LIMIT_BYTES, .text = "the answer exceeds the maximum message size"};
    struct msg_result smaller = *result;
    struct msg_execution execution = result->execution ? *result->execution : (struct msg_execution){0};
    execution.n_sample = execution.n_names = 0;
    if (smaller.execution) smaller.execution = &execution;
    enum err_code code = append(lane, buffer, &smaller);
    if (code != ERR_LIMIT_BYTES) return code;
    lane->stats.failed++;
    code = answer_unavailable(&lane->answers, &lane->worker->config, task, vsig_family_by_name(result->family), &why,
                              &smaller);
    return code ? code : append(lane, buffer, &smaller);
}

/* Appends the result to the last message in the outbox, if that belongs to the same request and its coordinator
 * supports it. Returns true if it was appended. */
static bool join(struct lane *lane, const struct msg_task *task, const char *key, const struct msg_result *result)
{
    struct outbox *outbox = &lane->worker->outbox;
    if (!task->joins || !outbox->n_out) return false;
    uint32_t last = outbox->n_out - 1;
    return strcmp(outbox->keys[last], key) == 0 && append(lane, &outbox->buffers[last], result) == ERR_OK;
}

/* Begins a new message in the outbox with this result. */
static enum err_code begin_message(struct lane *lane, const struct msg_task *task, const char *key,
                                   const struct msg_result *result)
{
    struct outbox *outbox = &lane->worker->outbox;
    uint32_t i = outbox->n_out;
    outbox->buffers[i].len = 0;
    enum err_code code = append(lane, &outbox->buffers[i], result);
    if (code == ERR_LIMIT_BYTES) code = append_smaller(lane, &outbox->buffers[i], task, result);
    if (code) return code == ERR_LIMIT_BYTES ? ERR_INTERNAL : code;
    g_strlcpy(outbox->keys[i], key, sizeof outbox->keys[i]);
    outbox->out[i] = (struct bus_out){.topic = BUS_RESULTS,
                                      .partition = result->key.partition,
                                      .key = outbox->keys[i],
                                      .key_len = (uint32_t)strlen(key)};
    outbox->n_out++;
    return ERR_OK;
}

/* Adds a result to the outbox. Its task is done once the result is sent. */
static enum err_code answer(struct lane *lane, struct polled_task *polled, const struct msg_result *result,
                            struct err *err)
{
    struct outbox *outbox = &lane->worker->outbox;
    const struct msg_task *task = polled->task;
    char key[MSG_KEY_TEXT];
    msg_key_text(result->key, key);
    enum err_code code = join(lane, task, key, result) ? ERR_OK : begin_message(lane, task, key, result);
    if (code) return fatal(lane, polled, code, err);
    outbox->done[outbox->n] = polled;
    outbox->with[outbox->n++] = outbox->n_out - 1;
    return outbox->n == OUTBOX ? dispatch_flush(lane, err) : ERR_OK;
}

/* Dead-letters the message. Returns ERR_FULL if the worker is stopped meanwhile. */
static enum err_code send_letter(struct lane *lane, const struct bus_message *message, const struct err *why,
                                 const char *stage)
{
    const struct worker_config *config = &lane->worker->config;
    const struct letter_cause cause = {
        .group = config->group ? config->group : WORKER_GROUP,
        .stage = stage,
        .code = why->code,
        .text = why->text,
        .now_ns = bus_now_ns(config->bus),
    };
    struct letter letter;
    struct bus_out out;
    uint32_t taken;
    letter_make(&letter, message, &cause, BUS_TASKS_DLQ, bus_max_bytes(config->bus, BUS_TASKS_DLQ), &out);
    enum err_code code = offer(lane, &out, 1, &taken);
    if (code) return code;
    lane->stats.dead++;
    lane->stats.dead_by[why->code]++;
    char key[40] = ""; /* key of the request to which the task belongs */
    uint32_t len = message->key_len < sizeof key ? message->key_len : (uint32_t)sizeof key - 1;
    if (message->key) memcpy(key, message->key, len);
    const struct log_field fields[] = {
        log_field_text("topic", message->topic),     log_field_number("partition", message->partition),
        log_field_number("offset", message->offset), log_field_text("code", err_name(why->code)),
        log_field_outside("why", why->text),         log_field_outside("request", key)};
    log_event(LOG_LEVEL_WARN, "worker", fields, sizeof fields / sizeof *fields, "task dead-lettered");
    return ERR_OK;
}

/* Dead-letters a message that cannot be read and therefore cannot be answered. */
static enum err_code dead_letter(struct lane *lane, struct polled_task *polled, const struct err *why, struct err *err)
{
    enum err_code code = send_letter(lane, polled->delivery->message, why, "read");
    if (code == ERR_FULL) return dispatch_return(lane, polled, 0), ERR_OK; /* another worker will get it */
    if (code) return fatal(lane, polled, code, err);
    end_task(lane, polled->delivery);
    return ERR_OK;
}

/* Dead-letters one task, without the other tasks that share its message. */
static enum err_code send_letter_of_task(struct lane *lane, const struct polled_task *polled, const struct err *why)
{
    struct bus_message own = *polled->delivery->message;
    own.value = polled->bytes;
    own.len = polled->len;
    return send_letter(lane, &own, why, "judge");
}

/* Returns true if the error concerns a configured database. Its text may then name the database's location, which only
 * the log shows. The name of a missing database is text of the requester. */
static bool is_about_place(const struct lane *lane, const struct msg_task *task, const struct err *why)
{
    return err_names_locations(why->code) &&
           (why->code != ERR_DB_MISSING || worker_database_find(&lane->worker->config.databases, task->db));
}

static enum err_code reject(struct lane *lane, struct polled_task *polled, const struct err *why, struct err *err)
{
    struct msg_result result = {0};
    const struct msg_task *task = polled->task;
    if (!task) return dead_letter(lane, polled, why, err);
    /* answered, and also dead-lettered, because it is a defect that an operator should inspect */
    if (why->code == ERR_REJECTED) {
        enum err_code sent = send_letter_of_task(lane, polled, why);
        if (sent == ERR_FULL) return dispatch_return(lane, polled, 0), ERR_OK;
        if (sent) return fatal(lane, polled, sent, err);
    }
    lane->stats.failed++;
    lane->stats.late += why->code == ERR_DEADLINE;
    bool place = is_about_place(lane, task, why);
    const struct log_field fields[] = {
        log_field_number("request_partition", task->key.partition),
        log_field_number("request_offset", task->key.offset),
        log_field_text("code", err_name(why->code)),
        log_field_outside("family", task->family),
        place ? log_field_text("db", task->db) : log_field_outside("db", task->db),
        place ? log_field_text("why", why->text) : log_field_outside("why", why->text),
        log_field_outside("traceparent", task->traceparent),
    };
    log_event(LOG_LEVEL_WARN, "worker", fields, sizeof fields / sizeof *fields, "task failed");
    enum err_code code = answer_unavailable(&lane->answers, &lane->worker->config, task,
                                            vsig_family_by_name(task->family), why, &result);
    return code ? fatal(lane, polled, code, err) : answer(lane, polled, &result, err);
}

/* Returns true for failures of the database or the fleet, and not of the task. They are retried within the task's
 * deadline. */
static bool is_retried_until_deadline(enum err_code code)
{
    return code == ERR_DB_UNAVAILABLE || code == ERR_UNREACHABLE || code == ERR_FULL;
}

static enum err_code retry(struct lane *lane, struct polled_task *polled, const struct err *why, int64_t wait_ms,
                           struct err *err)
{
    const struct msg_task *task = polled->task;
    uint32_t attempts = polled->delivery->message->attempts;
    uint32_t max = lane->worker->config.max_attempts ? lane->worker->config.max_attempts : DEFAULT_ATTEMPTS;
    bool until_deadline = is_retried_until_deadline(why->code) && task && task->deadline_ns;
    if (!until_deadline && attempts + 1 >= max) return reject(lane, polled, why, err);
    int64_t first_ms = lane->worker->config.retry_ms ? lane->worker->config.retry_ms : DEFAULT_RETRY_MS;
    struct backoff backoff = {first_ms * 1000000, MAX_RETRY_MS * INT64_C(1000000), 0.5, 1.5};
    int64_t delay = MAX(backoff_wait_ns(&backoff, attempts, NULL) / 1000000, wait_ms);
    int64_t now_ns = bus_now_ns(lane->worker->config.bus);
    if (until_deadline && now_ns + (delay + ANSWER_MS) * 1000000 >= task->deadline_ns)
        return reject(lane, polled, why, err);
    lane->stats.retried++;
    dispatch_return(lane, polled, delay);
    return ERR_OK;
}

/* --- judging ------------------------------------------------------------------------------------------------------ */

#ifdef ASSAY_MUTATIONS
/* Injects faults for the tests and benchmarks of the fleet: a candidate that kills its worker, and a family that is as
 * slow as a model's call. */
static void inject_faults(const struct msg_task *task)
{
    const char *crash = getenv("ASSAY_CRASH_ON"), *slow = getenv("ASSAY_SLOW_MS");
    if (crash && *crash && memmem(task->sql.bytes, task->sql.len, crash, strlen(crash))) abort();
    if (slow) g_usleep(strtoul(slow, NULL, 10) % 600000 * 1000);
}
#else
static void inject_faults(const struct msg_task *task)
{
    (void)task;
}
#endif

enum err_code dispatch_evaluate(struct lane *lane, const struct msg_task *task, int64_t deadline_ns,
                                struct msg_result *result, struct err *err)
{
    int family = vsig_family_by_name(task->family);
    if (family < 0) return err_set(err, ERR_MALFORMED, "unknown family '%.40s'", task->family);
    inject_faults(task);
    struct workspace *workspace = task->part == MSG_PART_ROWS ? &lane->rows : &lane->workspace;
    enum err_code code = workspace_take(workspace, task, deadline_ns, err);
    if (!code) code = answer_family(workspace, &lane->answers, task, (enum vsig_family)family, result, err);
    if (!code && *workspace->reading->state) result->state = workspace->reading->state;
    return code;
}

/* Returns the number of deliveries of this message to other processes, which then ended. The transport counts crashed
 * owners of the partition separately (proto/bus/kafka/crashes.h). */
static uint32_t other_deliveries(const struct lane *lane, const struct bus_message *message)
{
    const struct nacked *own = find_nacked(lane->worker, message);
    uint32_t n = own ? own->n : 0;
    return message->attempts > n ? message->attempts - n : 0;
}

/* INVARIANT suspect: a task that may have killed two processes is not judged in this one. */
static bool is_poison_suspect(const struct lane *lane, const struct bus_message *message)
{
    uint32_t most = lane->worker->config.max_crashes ? lane->worker->config.max_crashes : MAX_CRASHES;
    return lane->worker->config.evaluate_isolated && other_deliveries(lane, message) >= most;
}

static enum err_code run_isolated(struct lane *lane, const struct polled_task *polled, int64_t left_ms,
                                  struct msg_result *result, struct err *err)
{
    struct msg_buffer bytes = {0};
    struct msg_result *read;
    lane->stats.isolated++;
    enum err_code code = lane->worker->config.evaluate_isolated(
        lane->worker->config.isolated_ctx, polled->bytes, polled->len, left_ms ? left_ms : ISOLATED_MS, &bytes, err);
    if (!code) code = msg_decode_result(&lane->answers, bytes.bytes, bytes.len, &read, err);
    if (!code) *result = *read;
    msg_buffer_free(&bytes);
    return code;
}

void dispatch_give_permit(struct lane *lane)
{
    if (lane->permit) permits_give(lane->worker->config.permits, lane->permit);
    lane->permit = NULL;
    lane->permit_db = NULL;
}

/* Takes a permit if the database has a limit. Reuses a recent permit of the same database. Waits only briefly, because
 * tasks of other databases are in the same queue. */
static enum err_code take_permit(struct lane *lane, const struct msg_task *task, int64_t deadline_ns, struct err *err)
{
    const struct worker_database *entry = worker_database_find(&lane->worker->config.databases, task->db);
    bool runs = vsig_family_by_name(task->family) != VSIG_LLM;
    bool capped = lane->worker->config.permits && entry && !task->schema && entry->max_statements && runs;
    int64_t now_ns = clock_now_ns();
    bool kept = capped && lane->permit && lane->permit_db == entry &&
                now_ns - lane->permit_since_ns < HOLD_MS * INT64_C(1000000);
    if (kept) return ERR_OK;
    dispatch_give_permit(lane);
    if (!capped) return ERR_OK;
    int64_t until_ns = now_ns + WAIT_MS * INT64_C(1000000);
    if (deadline_ns && deadline_ns < until_ns) until_ns = deadline_ns;
    enum err_code code =
        permits_take(lane->worker->config.permits, entry->name, entry->max_statements, until_ns, &lane->permit, err);
    if (code) return code;
    lane->permit_db = entry;
    lane->permit_since_ns = clock_now_ns();
    return ERR_OK;
}

/* Returns the outcome to report to the breaker. A candidate that exceeds its time limit has a result, so an error here
 * means that the catalogue could not be read. */
static enum breaker_outcome outcome_of(enum err_code code)
{
    if (code == ERR_UNREACHABLE || code == ERR_LIMIT_TIME) return BREAKER_FAILED;
    return code == ERR_OK ? BREAKER_ALIVE : BREAKER_UNKNOWN;
}

/* Checks that the server does not still run too many abandoned statements. A database under a root is a file and has no
 * server. */
static enum err_code check_abandoned(struct breakers *breakers, const struct worker_config *config, const char *db,
                                     int64_t *wait_ms, struct err *err)
{
    const struct worker_database *entry = worker_database_find(&config->databases, db);
    if (!entry || db_is_file(entry->path)) return ERR_OK;
    return breakers_check_abandoned(breakers, db, entry->path, wait_ms, err);
}

/* Judges a task if its database is available. Otherwise *wait_ms is the time until the next attempt, if known. */
static enum err_code judge(struct lane *lane, const struct polled_task *polled, bool suspect, struct msg_result *result,
                           int64_t *wait_ms, struct err *err)
{
    const struct msg_task *task = polled->task;
    /* if there is a schema, db is only a label */
    struct breakers *breakers = task->schema ? NULL : lane->worker->config.breakers;
    int64_t left_ns = task->deadline_ns ? task->deadline_ns - bus_now_ns(lane->worker->config.bus) : 0;
    if (task->deadline_ns && left_ns <= 0)
        return err_set(err, ERR_DEADLINE, "the deadline passed before the task was started");
    int64_t deadline_ns = left_ns ? clock_now_ns() + left_ns : 0;
    enum err_code code = breakers ? breakers_admit(breakers, task->db, wait_ms, err) : ERR_OK;
    if (code) return code;
    if (breakers) code = check_abandoned(breakers, &lane->worker->config, task->db, wait_ms, err);
    if (!code) code = take_permit(lane, task, deadline_ns, err);
    if (code) {
        if (breakers) breakers_report(breakers, task->db, BREAKER_UNKNOWN);
        return code;
    }
    code = suspect ? run_isolated(lane, polled, left_ns / 1000000, result, err)
                   : dispatch_evaluate(lane, task, deadline_ns, result, err);
    if (breakers) breakers_report(breakers, task->db, suspect ? BREAKER_UNKNOWN : outcome_of(code));
    return code;
}

/* Begins the span of a task, as a child of the request's span. */
static void begin_span(struct lane *lane, const struct msg_task *task, struct trace_span *span)
{
    struct trace_context parent = {0};
    struct tracer *tracer = lane->worker->config.tracer;
    int family = tracer && task ? vsig_family_by_name(task->family) : -1;
    if (family >= 0) trace_context_parse(task->traceparent, &parent);
    tracer_begin(tracer, &parent, family < 0 ? "task" : vsig_family_name((enum vsig_family)family), TRACE_CONSUMER,
                 span);
    lane->workspace.trace = lane->rows.trace = span->context;
}

static void end_span(struct lane *lane, const struct bus_message *message, const struct msg_task *task,
                     enum err_code code, struct trace_span *span)
{
    if (!span->context.sampled) return;
    trace_text(span, "db.namespace", task->db);
    trace_text(span, "assay.work", task->proposes ? "propose" : task->n_readings ? "ask" : "judge");
    trace_number(span, "assay.candidate", task->candidate + 1);
    trace_number(span, "assay.attempt", message->attempts + 1);
    tracer_end(lane->worker->config.tracer, span, code);
}

enum err_code dispatch(struct lane *lane, struct polled_task *polled, struct err *err)
{
    const struct bus_message *message = polled->delivery->message;
    const struct msg_task *task = polled->task;
    struct msg_result result = {0};
    enum err_code code = polled->delivery->code;
    struct err why = polled->delivery->err;
    int64_t started = clock_now_ns(), wait_ms = 0;
    struct trace_span span;
    lane->stats.tasks++;
    metrics_histogram_count(&lane->stats.task_reads, bus_now_ns(lane->worker->config.bus) - message->time_ns);
    begin_span(lane, task, &span);
    if (!code && atomic_load(&lane->stopped)) code = ERR_CANCELLED;
    if (!code) {
        bool suspect = is_poison_suspect(lane, message);
        lanes_give_turn(lane);
        code = judge(lane, polled, suspect, &result, &wait_ms, &why);
        lanes_take_turn(lane);
    }
    if (code && why.code != code) err_set(&why, code, "%s", err_meaning(code));
    end_span(lane, message, task, code, &span);
    int64_t took = clock_now_ns() - started;
    int family = task ? vsig_family_by_name(task->family) : -1;
    lane->stats.busy_ns += took;
    if (family >= 0) metrics_histogram_count(&lane->stats.families[family], took);
    switch (err_class(code)) {
    case ERR_CLASS_OK: return answer(lane, polled, &result, err);
    case ERR_CLASS_RETRY: return retry(lane, polled, &why, wait_ms, err);
    case ERR_CLASS_REJECT: return reject(lane, polled, &why, err);
    case ERR_CLASS_FATAL: break;
    }
    if (err) *err = why;
    return fatal(lane, polled, code, err);
}
