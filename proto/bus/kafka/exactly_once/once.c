/* DESIGN: each request yields one verdict, even if processes die. The state is in the log of requests: a commit says
 * which requests are finished (ledger.h). It becomes visible together with their verdicts, in one transaction. All
 * other state is in memory, and the next owner can rebuild it.
 *
 *    requests[p] ──▶ opened ──▶ reader ── settle ──▶ settled ──▶ in a transaction ──▶ finished
 *                      │                                ▲              │ dropped
 *    results[p]  ──────┴──▶ reader ── ack               └──────────────┘
 *
 * There is one thread, that of the reader. It polls and settles. All work, including rebalances, is done inside poll
 * and commit, so there are no locks. Only the calls of a transaction that block on brokers run on other threads, one
 * for each producer at a time. A rebalance waits until they have returned, so nothing changes between dependent parts
 * of a transaction (settle.c). Watchdogs have threads too. A stuck reader loses its partitions after
 * max.poll.interval.ms, as intended.
 *
 * The invariants of exactly once, each named where it is enforced:
 *    I1  no request past low + LEDGER_SPAN is opened, so a commit's metadata always fits (ledger.c)
 *    I2  a request is finished in memory only after the commit that says so has returned (settle.c)
 *    I3  a transaction carries the membership under which its partitions were assigned, read once, in the assign
 *       callback; a replaced member can commit nothing, however late it resumes (takeover.c)
 *    I4  a producer is replaced if the outcome of one of its transactions was in doubt (txn.c)
 *    I5  verdicts are in the log before their offsets are in the transaction (txn.c)
 *    I6  every output is in a transaction with the offset of its request's partition; the group would not fence an
 *       output without an offset (settle.c)
 *    I7  outputs that may have been committed without the ledger are read back before any request is opened
 *       (takeover.c)
 *    I8  results of open requests are read from r on, before their tasks are produced again (take_result)
 *
 * A member is static (group.instance.id). After a restart within session.timeout.ms it gets its partitions back without
 * a rebalance, and the broker fences the earlier process with its name. The drawback is that the group notices a
 * permanent departure only after that time.
 *
 * The reader assigns itself the partitions of the results that belong to its requests. The group has no offsets of
 * results.
 *
 * This file has the messages, rebalances, reading, joining and leaving. settle.c commits settled requests, and poison.c
 * decides which requests may be opened after owners died.
 *
 * Rejected: a compacted topic of open requests. It is a second log to synchronize, and restoring it takes time for the
 * uncompacted part of the log. The chosen design takes time only for the open requests. Rejected: looking up each
 * verdict by id before it is produced. Every coordinator would read all verdicts, and nothing would fence an old one.
 * Rejected: tasks inside the transaction. Each step of a request would wait for a commit, and the open transaction of a
 * dead coordinator would hide the tasks of all.
 */
#include "proto/bus/kafka/exactly_once/once.h"

#include "lib/base/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { COMMIT_MS = 100, HISTORY = 4096, CLOSE_MS = 10000, PRODUCERS = 1 };

void once_fail(struct once *once, enum err_code code, const char *text)
{
    if (once->failure.code) return;
    err_set(&once->failure, err_class(code) == ERR_CLASS_FATAL ? code : ERR_CLOSED, "%s", text);
    kafka_fail(once->kafka, once->failure.code, text);
}

/* --- messages --- */

static void link_inflight(struct once_inflight **list, struct once_inflight *inflight)
{
    inflight->previous = NULL;
    inflight->next = *list;
    if (inflight->next) inflight->next->previous = inflight;
    *list = inflight;
}

static void unlink_inflight(struct once_inflight **list, struct once_inflight *inflight)
{
    *(inflight->previous ? &inflight->previous->next : list) = inflight->next;
    if (inflight->next) inflight->next->previous = inflight->previous;
}

static struct once_inflight *held_new(struct once *once, struct once_partition *part, rd_kafka_message_t *raw,
                                      uint32_t topic)
{
    const rd_kafka_headers_t *headers = kafka_headers_of(raw);
    struct once_inflight *inflight =
        calloc(1, sizeof *inflight + kafka_count_headers(headers) * sizeof *inflight->headers);
    if (!inflight) {
        once_fail(once, ERR_NOMEM, "no memory for a message");
        return NULL;
    }
    inflight->part = part;
    inflight->raw = raw;
    inflight->request = topic == ONCE_REQUESTS;
    kafka_fill(&inflight->public, inflight->headers, headers, raw);
    inflight->public.topic = once->topics[topic];
    inflight->public.topic_index = topic;
    link_inflight(&part->inflight, inflight);
    return inflight;
}

void once_inflight_free(struct once_inflight *inflight)
{
    unlink_inflight(inflight->stray ? &inflight->part->strays : &inflight->part->inflight, inflight);
    if (inflight->raw) rd_kafka_message_destroy(inflight->raw);
    free(inflight->out);
    free(inflight);
}

void once_forget(struct once_partition *part)
{
    once_forget_settled(part);
    for (struct once_inflight *inflight = part->inflight, *next; inflight; inflight = next) {
        next = inflight->next;
        if (inflight->state != ONCE_READER) {
            once_inflight_free(inflight);
            continue;
        }
        unlink_inflight(&part->inflight, inflight);
        inflight->stray = true;
        link_inflight(&part->strays, inflight);
        part->taken_away = true;
    }
    part->n_again = part->n_settled = 0;
    if (part->parked) rd_kafka_message_destroy(part->parked);
    part->parked = NULL;
}

struct once_partition *once_partition_get(struct once *once, int32_t partition)
{
    uint32_t at = 0;
    while (at < once->n_parts && once->parts[at]->partition < partition) at++;
    if (at < once->n_parts && once->parts[at]->partition == partition) return once->parts[at];
    struct once_partition **grown = realloc(once->parts, (once->n_parts + 1) * sizeof(struct once_partition *));
    if (!grown) return NULL;
    once->parts = grown;
    struct once_partition *part = calloc(1, sizeof *part);
    if (!part) return NULL;
    part->partition = partition;
    part->producer = &once->producers[(uint32_t)partition % once->n_producers];
    for (uint32_t i = once->n_parts++; i > at; i--) grown[i] = grown[i - 1];
    return grown[at] = part;
}

static void once_ack(struct bus_consumer *base, struct bus_message *message)
{
    once_settle(base, message, NULL);
}

static void once_nack(struct bus_consumer *base, struct bus_message *message, int64_t delay_ms)
{
    struct once_inflight *inflight = once_inflight_of(message);
    (void)base;
    if (inflight->stray) {
        once_inflight_free(inflight);
        return;
    }
    message->attempts++;
    inflight->state = ONCE_AGAIN;
    inflight->due_ns = delay_ms > 0 ? clock_now_ns() + delay_ms * 1000000 : 0;
    inflight->part->n_again++;
}

static enum err_code once_commit(struct bus_consumer *base)
{
    return once_transact_if_due((struct once *)base, false);
}

/* --- rebalance; runs inside poll --- */

/* Commits all settled requests and the orderly departure. The next owner then suspects no request. */
static void commit_on_leave(struct once *once)
{
    for (uint32_t i = 0; i < once->n_parts; i++) {
        struct once_partition *part = once->parts[i];
        if (!part->assigned) continue;
        poison_clear(part);
    }
    once_transact_all(once);
}

void once_close_partition(struct once_partition *part)
{
    for (unsigned i = 0; i < BUS_ONCE_TOPICS; i++) {
        if (!part->queues[i]) continue;
        rd_kafka_queue_cb_event_enable(part->queues[i], NULL, NULL);
        rd_kafka_queue_destroy(part->queues[i]); /* must precede the revocation */
        part->queues[i] = NULL;
    }
    if (part->parked) rd_kafka_message_destroy(part->parked); /* will be read again later */
    part->parked = NULL;
    part->assigned = part->claimed = part->closed = false;
}

/* Releases all partitions. The reader still holds its messages, because the same partitions may be assigned again
 * unchanged. */
static void give_up(struct once *once)
{
    if (!rd_kafka_assignment_lost(once->client)) commit_on_leave(once);
    for (uint32_t i = 0; i < once->n_parts; i++) once_close_partition(once->parts[i]);
    once->n_closed = 0;
    once->restore_ns = 0;
    if (once->membership) rd_kafka_consumer_group_metadata_destroy(once->membership);
    once->membership = NULL;
    rd_kafka_assign(once->client, NULL);
}

static void on_rebalance(rd_kafka_t *client, rd_kafka_resp_err_t error, rd_kafka_topic_partition_list_t *partitions,
                         void *opaque)
{
    struct once *once = ((struct kafka_context *)opaque)->owner;
    (void)client;
    once_transact_wait(once);
    if (error != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
        give_up(once);
    else if (!once->closing && !once->failure.code)
        once_take_over(once, partitions);
    else
        rd_kafka_assign(once->client, NULL);
}

static bool once_taken_away(struct bus_consumer *base, int32_t *partition)
{
    struct once *once = (struct once *)base;
    for (uint32_t i = 0; i < once->n_parts; i++) {
        if (!once->parts[i]->taken_away) continue;
        once->parts[i]->taken_away = false;
        *partition = once->parts[i]->partition;
        return true;
    }
    return false;
}

static bool once_catching_up(struct bus_consumer *base, int32_t partition)
{
    struct once *once = (struct once *)base;
    for (uint32_t i = 0; i < once->n_parts; i++) {
        const struct once_partition *part = once->parts[i];
        bool behind = part->ledger.position < part->catch_up_end;
        if (partition == BUS_ANY_PARTITION && part->assigned && behind) return true;
        if (part->partition == partition) return !part->assigned || behind;
    }
    return false;
}

/* --- reading --- */

/* Returns the next message of a queue, after handling the events before it. Returns NULL if the queue has no
 * message. */
static rd_kafka_message_t *next_raw(struct once *once, struct once_partition *part, uint32_t topic)
{
    while (part->queues[topic] && rd_kafka_queue_length(part->queues[topic]) > 0) {
        rd_kafka_message_t *raw = rd_kafka_consume_queue(part->queues[topic], 0);
        if (!raw) return NULL;
        if (!raw->err) return raw;
        if (raw->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && topic == ONCE_RESULTS &&
            raw->offset > part->ledger.position)
            part->ledger.position = raw->offset;
        if (raw->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && topic == ONCE_REQUESTS && !part->parked) {
            int64_t before = part->ledger.low;
            /* the log ends with transaction markers, which are not delivered */
            ledger_read_to(&part->ledger, raw->offset);
            part->dirty |= part->ledger.low != before;
        }
        if (raw->err != RD_KAFKA_RESP_ERR__PARTITION_EOF && kafka_is_final(raw->err))
            once_fail(once, kafka_code(raw->err), rd_kafka_message_errstr(raw));
        rd_kafka_message_destroy(raw);
    }
    return NULL;
}

static bool may_open(const struct once *once, const struct once_partition *part)
{
    uint64_t settled = 0;
    for (uint32_t i = 0; i < once->n_producers; i++) settled += once->producers[i].settled_bytes;
    return poison_may_open(once, part) && settled < once->kafka->max_bytes;
}

/* Dead-letters a request that was open when its owners died. */
static void put_aside(struct once *once, struct once_inflight *inflight)
{
    const char *why = "five coordinators in a row died while this request was open";
    once->stats.poison++;
    if (once_put_aside(once, inflight, ERR_REJECTED, why)) once_fail(once, ERR_NOMEM, "no memory for a dead letter");
}

/* Returns the next request of this partition, or NULL if none is available. */
static struct once_inflight *take_request(struct once *once, struct once_partition *part)
{
    rd_kafka_message_t *raw = part->parked ? part->parked : next_raw(once, part, ONCE_REQUESTS);
    part->parked = NULL;
    if (!raw) return NULL;
    enum poison_answer answer = poison_ask(once, part, raw->offset);
    int64_t before = part->ledger.low;
    enum ledger_place place = answer == POISON_LATER ? LEDGER_BEYOND : ledger_read(&part->ledger, raw->offset);
    part->dirty |= part->ledger.low != before;
    if (place == LEDGER_BEYOND) {
        part->parked = raw;
        return NULL;
    }
    struct once_inflight *inflight = held_new(once, part, raw, ONCE_REQUESTS);
    if (!inflight) {
        rd_kafka_message_destroy(raw);
        return NULL;
    }
    inflight->public.history = place == LEDGER_FINISHED;
    if (answer != POISON_FOUND) return inflight;
    put_aside(once, inflight);
    return NULL;
}

/* INVARIANT I8: returns the next result, or NULL. While requests are read, results wait until the requests that the
 * previous owner had open are open again. The first of their results has offset r or more. */
static struct once_inflight *take_result(struct once *once, struct once_partition *part, bool requests_wanted)
{
    bool reopening = part->ledger.next < part->before_end;
    if (reopening && requests_wanted && may_open(once, part) && !part->parked) return NULL;
    rd_kafka_message_t *raw = next_raw(once, part, ONCE_RESULTS);
    if (!raw) return NULL;
    struct once_inflight *inflight = held_new(once, part, raw, ONCE_RESULTS);
    if (!inflight) {
        rd_kafka_message_destroy(raw);
        return NULL;
    }
    if (raw->offset >= part->ledger.position) part->ledger.position = raw->offset + 1;
    return inflight;
}

static struct once_inflight *take_again(struct once_partition *part, uint32_t want, int64_t now)
{
    for (struct once_inflight *inflight = part->n_again ? part->inflight : NULL; inflight; inflight = inflight->next) {
        if (inflight->state != ONCE_AGAIN || inflight->due_ns > now || !(want >> inflight->public.topic_index & 1))
            continue;
        inflight->state = ONCE_READER;
        part->n_again--;
        return inflight;
    }
    return NULL;
}

static struct once_inflight *take_one(struct once *once, struct once_partition *part, uint32_t want, uint32_t topic)
{
    if (!part->assigned || !part->claimed || !(want >> topic & 1)) return NULL;
    struct once_inflight *again = take_again(part, 1U << topic, clock_now_ns());
    if (again) return again;
    if (topic == ONCE_REQUESTS) return may_open(once, part) ? take_request(once, part) : NULL;
    return take_result(once, part, want >> ONCE_REQUESTS & 1);
}

/* Takes messages from the partitions in turn. In each partition, takes requests first, so that they are open before
 * their results are read. */
static uint32_t take_wanted(struct once *once, uint32_t want, struct bus_message **out, uint32_t max)
{
    uint32_t n = 0, before;
    do {
        before = n;
        for (uint32_t i = 0; i < once->n_parts * BUS_ONCE_TOPICS && n < max; i++) {
            struct once_partition *part = once->parts[(once->next_part + i / BUS_ONCE_TOPICS) % once->n_parts];
            struct once_inflight *inflight = take_one(once, part, want, i % 2 == 0 ? ONCE_REQUESTS : ONCE_RESULTS);
            if (inflight) out[n++] = &inflight->public;
        }
    } while (n > before && n < max);
    if (once->n_parts) once->next_part = (once->next_part + 1) % once->n_parts;
    return n;
}

/* Polls the library. Rebalances run inside this call, and it shows the library that the reader is alive. Other events
 * are mostly errors. */
static void serve(struct once *once)
{
    for (rd_kafka_message_t *raw; (raw = rd_kafka_consumer_poll(once->client, 0)); rd_kafka_message_destroy(raw)) {
        if (!raw->err)
            once_fail(once, ERR_INTERNAL, "a message arrived outside its partition's queue");
        else if (raw->err != RD_KAFKA_RESP_ERR__PARTITION_EOF && kafka_is_final(raw->err))
            once_fail(once, kafka_code(raw->err), rd_kafka_message_errstr(raw));
    }
    char text[300];
    rd_kafka_resp_err_t fatal = rd_kafka_fatal_error(once->client, text, sizeof text);
    if (fatal) once_fail(once, ERR_CLOSED, text);
}

static int64_t nap_ms(const struct once *once, int64_t limit)
{
    int64_t due = once_next_transaction(once), until = limit < due ? limit : due;
    int64_t left = (until - clock_now_ns() + 999999) / 1000000;
    return left < 0 ? 0 : left < KAFKA_POLL_MS ? left : KAFKA_POLL_MS;
}

static enum err_code once_poll(struct bus_consumer *base, uint32_t want, struct bus_message **out, uint32_t max,
                               int64_t timeout_ms, uint32_t *n)
{
    struct once *once = (struct once *)base;
    int64_t limit = timeout_ms < 0 ? INT64_MAX : clock_now_ns() + timeout_ms * 1000000;
    *n = 0;
    if (!want) want = (1U << BUS_ONCE_TOPICS) - 1;
    for (;;) {
        uint64_t heard = wakeup_count(&once->wakeup);
        serve(once);
        if (once->n_closed) once_look_for_copartitions(once);
        enum err_code code = once_transact_if_due(once, false);
        if (!code && atomic_load(&once->drained)) code = ERR_CLOSED;
        if (!code) *n = take_wanted(once, want, out, max);
        if (!code && !*n) code = once_transact_if_due(once, true);
        if (!code && !*n) code = once->failure.code;
        if (code || *n || clock_now_ns() >= limit) return code;
        /* returns early, so that the caller can call bus_taken_away now */
        for (uint32_t i = 0; i < once->n_parts; i++)
            if (once->parts[i]->taken_away) return ERR_OK;
        wakeup_wait(&once->wakeup, heard, nap_ms(once, limit));
    }
}

static void once_drain(struct bus_consumer *base)
{
    struct once *once = (struct once *)base;
    atomic_store(&once->drained, true);
    wakeup_signal(&once->wakeup);
}

static void put_gaps(const struct once *once, struct bus_once_stats *out)
{
    for (uint32_t i = 0; i < once->n_parts && i < BUS_ONCE_GAPS; i++) {
        const struct once_partition *part = once->parts[i];
        int64_t gap = part->assigned ? part->ledger.next - part->ledger.low : 0;
        out->gaps[out->n_gaps++] = (struct bus_once_gap){part->partition, gap};
    }
}

/* Ends the measurement of a take-over once all partitions are claimed and their earlier results have been read. */
static void see_if_restored(struct once *once)
{
    if (!once->restore_ns) return;
    for (uint32_t i = 0; i < once->n_parts; i++) {
        const struct once_partition *part = once->parts[i];
        if (part->assigned && (!part->claimed || part->ledger.position < part->catch_up_end)) return;
    }
    once->stats.restored_ns = clock_now_ns() - once->restore_ns;
    once->restore_ns = 0;
}

static void once_stats(struct bus_consumer *base, struct bus_once_stats *out)
{
    struct once *once = (struct once *)base;
    see_if_restored(once);
    *out = once->stats;
    put_gaps(once, out);
    out->restoring_ns = once->restore_ns ? clock_now_ns() - once->restore_ns : 0;
    out->waiting = 0;
    for (uint32_t i = 0; i < once->n_producers; i++) out->waiting += once->producers[i].n_settled;
    out->closed = once->n_closed;
    for (uint32_t i = 0; i < once->n_parts; i++)
        if (once->parts[i]->assigned) out->open += once->parts[i]->ledger.n_open;
}

/* --- join, leave --- */

static void once_unsubscribe(struct bus_consumer *base);

static const struct bus_transport once_transport = {
    .name = "kafka",
    .poll = once_poll,
    .ack = once_ack,
    .nack = once_nack,
    .commit = once_commit,
    .drain = once_drain,
    .unsubscribe = once_unsubscribe,
    .settle = once_settle,
    .catching_up = once_catching_up,
    .taken_away = once_taken_away,
    .once_stats = once_stats,
};

static rd_kafka_conf_t *consumer_conf(struct once *once, const char *name, struct err *err)
{
    const struct kafka_preset presets[] = {
        {"group.id", once->group},
        {"group.instance.id", name},
        {"check.crcs", "true"},
        {"partition.assignment.strategy", "range"},
        {"session.timeout.ms", "15000"},
        {"heartbeat.interval.ms", "3000"},
        {"max.poll.interval.ms", "120000"}, /* a take-over may wait until transactions have ended */
        {"enable.auto.commit", "false"},
        {"enable.auto.offset.store", "false"},
        {"enable.partition.eof", "true"},
        {"isolation.level", "read_committed"},
        {"auto.offset.reset", "error"}, /* offsets are always given, so any other case needs an operator */
        {"allow.auto.create.topics", "false"},
        {"queued.max.messages.kbytes", "8192"},
        {"queued.min.messages", "10000"},
    };
    rd_kafka_conf_t *conf = kafka_conf(&once->context, presets, sizeof presets / sizeof *presets, err);
    if (conf) rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
    return conf;
}

static void once_free(struct once *once)
{
    for (uint32_t i = 0; i < once->n_producers; i++) {
        background_free(once->producers[i].background); /* must be first, because its calls use the other members */
        /* must be second, because its delivery reports use the memory that is freed below */
        txn_close(once->producers[i].txn);
    }
    for (uint32_t i = 0; i < once->n_parts; i++) {
        struct once_partition *part = once->parts[i];
        once_close_partition(part);
        once_forget(part);
        for (struct once_inflight *inflight = part->strays, *next; inflight; inflight = next) {
            next = inflight->next;
            inflight->stray = true;
            once_inflight_free(inflight);
        }
        free(part);
    }
    free(once->parts);
    free(once->producers);
    if (once->membership) rd_kafka_consumer_group_metadata_destroy(once->membership);
    if (once->client) rd_kafka_destroy_flags(once->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    watchdog_free(once->watchdog);
    for (unsigned i = 0; i < ONCE_TOPICS; i++) free(once->topics[i]);
    free(once->group);
    free(once->from);
    free(once->cluster);
    wakeup_free(&once->wakeup);
    free(once);
}

static bool copy_text(char **out, const char *text, const char *fallback)
{
    const char *from = text ? text : fallback;
    *out = from ? strdup(from) : NULL;
    return *out || !from;
}

void once_topics(const struct bus_once *how, char **out)
{
    out[ONCE_RESULTS] = (char *)(how->results ? how->results : BUS_RESULTS);
    out[ONCE_REQUESTS] = (char *)(how->requests ? how->requests : BUS_REQUESTS);
    out[ONCE_VERDICTS] = (char *)(how->verdicts ? how->verdicts : BUS_VERDICTS);
    out[ONCE_LETTERS] = (char *)(how->letters ? how->letters : BUS_DLQ);
}

static struct once *once_new(struct kafka *kafka, const struct bus_once *how)
{
    char *topics[ONCE_TOPICS];
    struct once *once = calloc(1, sizeof *once);
    if (!once) return NULL;
    once->consumer.transport = &once_transport;
    once->kafka = kafka;
    once->context = (struct kafka_context){kafka, once, true};
    once->readback = (struct kafka_context){kafka, once, false};
    once->commit_ns = (how->commit_ms ? how->commit_ms : COMMIT_MS) * 1000000;
    once->history = how->history ? how->history : HISTORY;
    wakeup_init(&once->wakeup);
    uint32_t n_producers = how->producers ? how->producers : PRODUCERS;
    once->producers = calloc(n_producers, sizeof *once->producers);
    if (once->producers) once->n_producers = n_producers;
    for (uint32_t i = 0; i < once->n_producers; i++) once->producers[i].once = once;
    bool all = once->producers && getrandom(&once->writer, sizeof once->writer, 0) == sizeof once->writer;
    all &= copy_text(&once->group, how->group, BUS_GROUP) && copy_text(&once->from, how->from, NULL);
    once_topics(how, topics);
    for (unsigned i = 0; i < ONCE_TOPICS; i++) all &= copy_text(&once->topics[i], topics[i], NULL);
    if (all) return once;
    once_free(once);
    return NULL;
}

/* Opens a producer. The first one has the member's name, like the only producer of older versions. The names of the
 * others contain '/', which brokers refuse in member names. They therefore never equal the name of another member. */
static enum err_code open_producer(struct once *once, const char *name, uint32_t number, struct err *err)
{
    struct once_producer *producer = &once->producers[number];
    char id[ONCE_MAX_NAME + 16];
    producer->background = background_new(&once->wakeup);
    if (!producer->background) return err_set(err, ERR_NOMEM, "cannot create a transaction thread");
    if (number)
        snprintf(id, sizeof id, "%s/%" PRIu32, name, number);
    else
        snprintf(id, sizeof id, "%s", name);
    return txn_open(once->kafka, id, &producer->txn, err);
}

/* Opens the clients. Checks the topics and the cluster before the reader joins the group. */
static enum err_code open_clients(struct once *once, const char *name, struct err *err)
{
    enum err_code code = ERR_OK;
    rd_kafka_conf_t *conf = consumer_conf(once, name, err);
    once->client = conf ? kafka_client(RD_KAFKA_CONSUMER, conf, err) : NULL;
    if (!once->client) return ERR_CONFIG;
    rd_kafka_poll_set_consumer(once->client);
    rd_kafka_queue_t *news = rd_kafka_queue_get_consumer(once->client);
    rd_kafka_queue_cb_event_enable(news, kafka_wakeup, &once->wakeup);
    rd_kafka_queue_destroy(news);
    for (unsigned i = 0; i < ONCE_TOPICS && !code; i++)
        code = kafka_check_topic(once->kafka, once->client, once->topics[i], err);
    const char *const outputs[] = {once->topics[ONCE_VERDICTS], once->topics[ONCE_LETTERS]};
    if (!code) code = kafka_know_topics(&once->kafka->bus, outputs, LEDGER_OUTPUTS, err);
    if (code) return code;
    char *cluster = rd_kafka_clusterid(once->client, (int)once->kafka->connect_ms);
    if (!cluster || !(once->cluster = strdup(cluster)))
        code = err_set(err, ERR_UNREACHABLE, "kafka: the brokers report no cluster id");
    if (cluster) rd_kafka_mem_free(once->client, cluster);
    once->watchdog = watchdog_new();
    if (!code && !once->watchdog) code = err_set(err, ERR_NOMEM, "cannot create a watchdog thread");
    for (uint32_t i = 0; i < once->n_producers && !code; i++) code = open_producer(once, name, i, err);
    return code;
}

static enum err_code join(struct once *once, struct err *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, once->topics[ONCE_REQUESTS], RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t error = rd_kafka_subscribe(once->client, list);
    rd_kafka_topic_partition_list_destroy(list);
    return error ? kafka_err(err, error, "subscribe") : ERR_OK;
}

void once_name(const struct bus_once *how, char out[ONCE_MAX_NAME])
{
    snprintf(out, ONCE_MAX_NAME, "%s-%s", how->group ? how->group : BUS_GROUP, how->instance ? how->instance : "0");
}

enum err_code kafka_subscribe_once(struct bus *bus, const struct bus_once *how, struct bus_consumer **out,
                                   struct err *err)
{
    char name[ONCE_MAX_NAME];
    *out = NULL;
    if (how->from && strcmp(how->from, "beginning") != 0 && strcmp(how->from, "end") != 0)
        return err_set(err, ERR_CONFIG, "invalid start position '%.40s', expected beginning or end", how->from);
    struct once *once = once_new((struct kafka *)bus, how);
    if (!once) return err_set(err, ERR_NOMEM, "no memory for a consumer");
    once_name(how, name);
    enum err_code code = open_clients(once, name, err);
    if (!code) code = join(once, err);
    if (code) {
        once_free(once);
        return code;
    }
    *out = &once->consumer;
    return ERR_OK;
}

/* Leaves the group in an orderly way: closing revokes the partitions, which commits the settled requests. */
static void once_unsubscribe(struct bus_consumer *base)
{
    struct once *once = (struct once *)base;
    once->closing = true;
    rd_kafka_queue_t *events = rd_kafka_queue_new(once->client);
    rd_kafka_error_t *error = rd_kafka_consumer_close_queue(once->client, events);
    int64_t limit = clock_now_ns() + CLOSE_MS * INT64_C(1000000);
    while (!error && !rd_kafka_consumer_closed(once->client) && clock_now_ns() < limit)
        rd_kafka_queue_poll_callback(events, KAFKA_POLL_MS);
    if (error) rd_kafka_error_destroy(error);
    rd_kafka_queue_destroy(events);
    once_free(once);
}
