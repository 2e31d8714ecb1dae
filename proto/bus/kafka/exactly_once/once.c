/* DESIGN: each request leads to one verdict, whoever dies. The log of requests is the state; a commit says which of it
 * is finished (ledger.h) and becomes true together with the verdicts, in one transaction. Everything else is memory
 * that the next owner makes again.
 *
 *   requests[p] ──▶ opened ──▶ reader ── settle ──▶ settled ──▶ in a transaction ──▶ finished
 *                     │                                ▲              │ dropped
 *   results[p]  ──────┴──▶ reader ── ack               └──────────────┘
 *
 * One thread, the reader's: it polls, settles, and inside of poll and commit everything happens, rebalances and
 * transactions included. So nothing can come between the parts of a transaction, and there are no locks. The price is
 * that the reader waits for each commit, some ten milliseconds in a hundred; the library's own threads read on
 * meanwhile. Only the watchdog has a thread. A reader that does not come back loses its partitions after
 * max.poll.interval.ms: that is wanted.
 *
 * What makes it exact, each invariant named where it is kept:
 *   I1  no request past low + LEDGER_SPAN is opened, so a commit's metadata always fits          (ledger.c)
 *   I2  a request is finished in memory only after the commit that says so has returned          (settle.c)
 *   I3  a transaction carries the membership under which its partitions were assigned, taken once, in the assign
 *       callback: a member that was replaced can commit nothing, however late it wakes up        (takeover.c)
 *   I4  no producer outlives a doubt about one of its transactions                               (txn.c)
 *   I5  verdicts are in the log before their offsets are in the transaction                      (txn.c)
 *   I6  every output is in a transaction with the offset of its request's partition: one without would not be fenced
 *       by the group                                                                             (settle.c)
 *   I7  what may have been committed behind the ledger's back is read back before anything is opened
 *                                                                                                (takeover.c)
 *   I8  answers to what was open are looked for from r on, before its tasks are sent again       (take_results)
 *
 * A member is static (group.instance.id): a restart within session.timeout.ms gets its partitions back without a
 * rebalance, and the broker fences whoever held that name before. The price: one that leaves for good is missed only
 * after that time.
 *
 * Results are assigned by hand along with the requests; they have no offset of their own in the group.
 *
 * Here: the messages, rebalances, reading, joining and leaving. settle.c commits what is settled, and poison.c says
 * which requests may be opened at all after owners died.
 *
 * Rejected: a compacted topic of open requests (a second log to keep in step; restoring it takes as long as its tail,
 * this takes as long as what is open); verdicts looked up by id before each is produced (a reader of all verdicts in
 * every coordinator, and still no fence); tasks inside the transaction (each step of a request would wait for a commit,
 * and a dead coordinator's open transaction would hide everybody's tasks).
 */
#include "proto/bus/kafka/exactly_once/once.h"

#include "lib/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

enum { COMMIT_MS = 100, HISTORY = 4096, CLOSE_MS = 10000 };

void once_fail(struct once *once, enum err_code code, const char *text)
{
    if (once->failure.code) return;
    err_set(&once->failure, err_class(code) == ERR_CLASS_FATAL ? code : ERR_CLOSED, "%s", text);
    kafka_fail(once->kafka, once->failure.code, text);
}

/* --- messages --- */

static void held_link(struct once_held **list, struct once_held *held)
{
    held->previous = NULL;
    held->next = *list;
    if (held->next) held->next->previous = held;
    *list = held;
}

static void held_unlink(struct once_held **list, struct once_held *held)
{
    *(held->previous ? &held->previous->next : list) = held->next;
    if (held->next) held->next->previous = held->previous;
}

static struct once_held *held_new(struct once *once, struct once_home *home, rd_kafka_message_t *raw, uint32_t topic)
{
    struct once_held *held = calloc(1, sizeof *held + kafka_count_headers(raw) * sizeof *held->headers);
    if (!held) {
        once_fail(once, ERR_NOMEM, "no memory for a message");
        return NULL;
    }
    held->home = home;
    held->raw = raw;
    held->request = topic == ONCE_REQUESTS;
    kafka_fill(&held->public, held->headers, raw);
    held->public.topic = once->topics[topic];
    held->public.topic_index = topic;
    held_link(&home->held, held);
    return held;
}

void once_held_free(struct once_held *held)
{
    held_unlink(held->stray ? &held->home->strays : &held->home->held, held);
    if (held->raw) rd_kafka_message_destroy(held->raw);
    free(held->out);
    free(held);
}

void once_forget(struct once_home *home, struct once *once)
{
    once_forget_settled(once, home);
    for (struct once_held *held = home->held, *next; held; held = next) {
        next = held->next;
        if (held->state != ONCE_READER) {
            once_held_free(held);
            continue;
        }
        held_unlink(&home->held, held);
        held->stray = true;
        held_link(&home->strays, held);
        home->taken_away = true;
    }
    home->n_again = home->n_settled = 0;
    if (home->parked) rd_kafka_message_destroy(home->parked);
    home->parked = NULL;
}

struct once_home *once_home_get(struct once *once, int32_t partition)
{
    uint32_t at = 0;
    while (at < once->n_homes && once->homes[at]->partition < partition) at++;
    if (at < once->n_homes && once->homes[at]->partition == partition) return once->homes[at];
    struct once_home **grown = realloc(once->homes, (once->n_homes + 1) * sizeof(struct once_home *));
    if (!grown) return NULL;
    once->homes = grown;
    struct once_home *home = calloc(1, sizeof *home);
    if (!home) return NULL;
    home->partition = partition;
    for (uint32_t i = once->n_homes++; i > at; i--) grown[i] = grown[i - 1];
    return grown[at] = home;
}

static void once_ack(struct bus_consumer *base, struct bus_message *message)
{
    once_settle(base, message, NULL);
}

static void once_nack(struct bus_consumer *base, struct bus_message *message, int64_t delay_ms)
{
    struct once_held *held = once_held_of(message);
    (void)base;
    if (held->stray) {
        once_held_free(held);
        return;
    }
    message->attempts++;
    held->state = ONCE_AGAIN;
    held->due_ns = delay_ms > 0 ? clock_now_ns() + delay_ms * 1000000 : 0;
    held->home->n_again++;
}

static enum err_code once_commit(struct bus_consumer *base)
{
    return once_transact_if_due((struct once *)base);
}

/* --- rebalance; inside of poll --- */

/* Everything that is settled, and a farewell: whoever comes next need not suspect anything. */
static void say_goodbye(struct once *once)
{
    for (uint32_t i = 0; i < once->n_homes; i++) {
        struct once_home *home = once->homes[i];
        if (!home->assigned) continue;
        suspects_clear(home);
    }
    once_transact_all(once);
}

void once_close_home(struct once_home *home)
{
    for (unsigned i = 0; i < BUS_ONCE_TOPICS; i++) {
        if (!home->queues[i]) continue;
        rd_kafka_queue_cb_event_enable(home->queues[i], NULL, NULL);
        rd_kafka_queue_destroy(home->queues[i]); /* before the partition goes */
        home->queues[i] = NULL;
    }
    if (home->parked) rd_kafka_message_destroy(home->parked); /* it is read again */
    home->parked = NULL;
    home->assigned = home->claimed = home->closed = false;
}

/* The reader keeps what it has: the partitions may come back with nothing changed. */
static void give_up(struct once *once)
{
    if (!rd_kafka_assignment_lost(once->client)) say_goodbye(once);
    for (uint32_t i = 0; i < once->n_homes; i++) once_close_home(once->homes[i]);
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
    for (uint32_t i = 0; i < once->n_homes; i++) {
        if (!once->homes[i]->taken_away) continue;
        once->homes[i]->taken_away = false;
        *partition = once->homes[i]->partition;
        return true;
    }
    return false;
}

static bool once_catching_up(struct bus_consumer *base, int32_t partition)
{
    struct once *once = (struct once *)base;
    for (uint32_t i = 0; i < once->n_homes; i++) {
        const struct once_home *home = once->homes[i];
        bool behind = home->ledger.position < home->catch_up_end;
        if (partition == BUS_ANY_PARTITION && home->assigned && behind) return true;
        if (home->partition == partition) return !home->assigned || behind;
    }
    return false;
}

/* --- reading --- */

/* The next message of a queue. NULL: none, or only news, which were dealt with. */
static rd_kafka_message_t *next_raw(struct once *once, struct once_home *home, uint32_t topic)
{
    while (home->queues[topic] && rd_kafka_queue_length(home->queues[topic]) > 0) {
        rd_kafka_message_t *raw = rd_kafka_consume_queue(home->queues[topic], 0);
        if (!raw) return NULL;
        if (!raw->err) return raw;
        if (raw->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && topic == ONCE_RESULTS &&
            raw->offset > home->ledger.position)
            home->ledger.position = raw->offset;
        if (raw->err == RD_KAFKA_RESP_ERR__PARTITION_EOF && topic == ONCE_REQUESTS && !home->parked) {
            int64_t before = home->ledger.low;
            ledger_read_to(&home->ledger, raw->offset); /* markers at the end */
            home->dirty |= home->ledger.low != before;
        }
        if (raw->err != RD_KAFKA_RESP_ERR__PARTITION_EOF && kafka_is_final(raw->err))
            once_fail(once, kafka_code(raw->err), rd_kafka_message_errstr(raw));
        rd_kafka_message_destroy(raw);
    }
    return NULL;
}

static bool may_open(const struct once *once, const struct once_home *home)
{
    return suspects_let_open(once, home) && once->settled_bytes < once->kafka->max_bytes;
}

/* A request whose owners died: aside, with where it stood and why. */
static void put_aside(struct once *once, struct once_held *held)
{
    const char *why = "whoever opened it died, five times in a row";
    once->stats.poison++;
    if (once_put_aside(once, held, ERR_REJECTED, why)) once_fail(once, ERR_NOMEM, "no memory for a dead letter");
}

/* The next request of this partition. */
static struct once_held *take_request(struct once *once, struct once_home *home)
{
    rd_kafka_message_t *raw = home->parked ? home->parked : next_raw(once, home, ONCE_REQUESTS);
    home->parked = NULL;
    if (!raw) return NULL;
    enum suspects_answer answer = suspects_ask(once, home, raw->offset);
    int64_t before = home->ledger.low;
    enum ledger_place place = answer == SUSPECTS_LATER ? LEDGER_BEYOND : ledger_read(&home->ledger, raw->offset);
    home->dirty |= home->ledger.low != before;
    if (place == LEDGER_BEYOND) {
        home->parked = raw;
        return NULL;
    }
    struct once_held *held = held_new(once, home, raw, ONCE_REQUESTS);
    if (!held) {
        rd_kafka_message_destroy(raw);
        return NULL;
    }
    held->public.history = place == LEDGER_FINISHED;
    if (answer != SUSPECTS_POISON) return held;
    put_aside(once, held);
    return NULL;
}

/* I8: results wait until what the owner before had open is open again, as far as it is wanted; the first of them lies
 * at r. */
static struct once_held *take_result(struct once *once, struct once_home *home, bool requests_wanted)
{
    bool reopening = home->ledger.next < home->before_end;
    if (reopening && requests_wanted && may_open(once, home) && !home->parked) return NULL;
    rd_kafka_message_t *raw = next_raw(once, home, ONCE_RESULTS);
    if (!raw) return NULL;
    struct once_held *held = held_new(once, home, raw, ONCE_RESULTS);
    if (!held) {
        rd_kafka_message_destroy(raw);
        return NULL;
    }
    if (raw->offset >= home->ledger.position) home->ledger.position = raw->offset + 1;
    return held;
}

static struct once_held *take_again(struct once_home *home, uint32_t want, int64_t now)
{
    for (struct once_held *held = home->n_again ? home->held : NULL; held; held = held->next) {
        if (held->state != ONCE_AGAIN || held->due_ns > now || !(want >> held->public.topic_index & 1)) continue;
        held->state = ONCE_READER;
        home->n_again--;
        return held;
    }
    return NULL;
}

static struct once_held *take_one(struct once *once, struct once_home *home, uint32_t want, uint32_t topic)
{
    if (!home->assigned || !home->claimed || !(want >> topic & 1)) return NULL;
    struct once_held *again = take_again(home, 1U << topic, clock_now_ns());
    if (again) return again;
    if (topic == ONCE_REQUESTS) return may_open(once, home) ? take_request(once, home) : NULL;
    return take_result(once, home, want >> ONCE_REQUESTS & 1);
}

/* In turn over the partitions; requests first, so that what was open is open before its answers are read. */
static uint32_t take_wanted(struct once *once, uint32_t want, struct bus_message **out, uint32_t max)
{
    uint32_t n = 0, before;
    do {
        before = n;
        for (uint32_t i = 0; i < once->n_homes * BUS_ONCE_TOPICS && n < max; i++) {
            struct once_home *home = once->homes[(once->next_home + i / BUS_ONCE_TOPICS) % once->n_homes];
            struct once_held *held = take_one(once, home, want, i % 2 == 0 ? ONCE_REQUESTS : ONCE_RESULTS);
            if (held) out[n++] = &held->public;
        }
    } while (n > before && n < max);
    if (once->n_homes) once->next_home = (once->next_home + 1) % once->n_homes;
    return n;
}

/* Rebalances happen in here, and the library learns that we live. What comes otherwise is news, mostly bad. */
static void serve(struct once *once)
{
    for (rd_kafka_message_t *raw; (raw = rd_kafka_consumer_poll(once->client, 0)); rd_kafka_message_destroy(raw)) {
        if (!raw->err)
            once_fail(once, ERR_INTERNAL, "a message came past its partition's queue");
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
        uint64_t heard = bell_count(&once->bell);
        serve(once);
        if (once->n_closed) once_look_for_twins(once);
        enum err_code code = once_transact_if_due(once);
        if (!code && atomic_load(&once->drained)) code = ERR_CLOSED;
        if (!code) *n = take_wanted(once, want, out, max);
        if (!code && !*n) code = once->failure.code;
        if (code || *n || clock_now_ns() >= limit) return code;
        for (uint32_t i = 0; i < once->n_homes; i++)
            if (once->homes[i]->taken_away) return ERR_OK; /* the caller ought to know now */
        bell_wait(&once->bell, heard, nap_ms(once, limit));
    }
}

static void once_drain(struct bus_consumer *base)
{
    struct once *once = (struct once *)base;
    atomic_store(&once->drained, true);
    bell_ring(&once->bell);
}

static void put_gaps(const struct once *once, struct bus_once_stats *out)
{
    for (uint32_t i = 0; i < once->n_homes && i < BUS_ONCE_GAPS; i++) {
        const struct once_home *home = once->homes[i];
        int64_t gap = home->assigned ? home->ledger.next - home->ledger.low : 0;
        out->gaps[out->n_gaps++] = (struct bus_once_gap){home->partition, gap};
    }
}

/* A take-over is over when all partitions are claimed and their answers of the past are read. */
static void see_if_restored(struct once *once)
{
    if (!once->restore_ns) return;
    for (uint32_t i = 0; i < once->n_homes; i++) {
        const struct once_home *home = once->homes[i];
        if (home->assigned && (!home->claimed || home->ledger.position < home->catch_up_end)) return;
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
    out->waiting = once->n_settled;
    out->closed = once->n_closed;
    for (uint32_t i = 0; i < once->n_homes; i++)
        if (once->homes[i]->assigned) out->open += once->homes[i]->ledger.n_open;
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
        {"max.poll.interval.ms", "120000"}, /* taking over may wait for transactions to end */
        {"enable.auto.commit", "false"},
        {"enable.auto.offset.store", "false"},
        {"enable.partition.eof", "true"},
        {"isolation.level", "read_committed"},
        {"auto.offset.reset", "error"}, /* we always say where; anything else is for a person to see */
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
    txn_close(once->txn); /* first: reports of what it had under way go to what is freed below */
    for (uint32_t i = 0; i < once->n_homes; i++) {
        struct once_home *home = once->homes[i];
        once_close_home(home);
        once_forget(home, once);
        for (struct once_held *held = home->strays, *next; held; held = next) {
            next = held->next;
            held->stray = true;
            once_held_free(held);
        }
        free(home);
    }
    free(once->homes);
    if (once->membership) rd_kafka_consumer_group_metadata_destroy(once->membership);
    if (once->client) rd_kafka_destroy_flags(once->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    watchdog_free(once->watchdog);
    for (unsigned i = 0; i < ONCE_TOPICS; i++) free(once->topics[i]);
    free(once->group);
    free(once->from);
    free(once->cluster);
    bell_free(&once->bell);
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
    once->scout = (struct kafka_context){kafka, once, false};
    once->commit_ns = (how->commit_ms ? how->commit_ms : COMMIT_MS) * 1000000;
    once->history = how->history ? how->history : HISTORY;
    bell_init(&once->bell);
    bool all = getrandom(&once->writer, sizeof once->writer, 0) == sizeof once->writer;
    all &= copy_text(&once->group, how->group, BUS_GROUP) && copy_text(&once->from, how->from, NULL);
    once_topics(how, topics);
    for (unsigned i = 0; i < ONCE_TOPICS; i++) all &= copy_text(&once->topics[i], topics[i], NULL);
    if (all) return once;
    once_free(once);
    return NULL;
}

/* Everything that the four topics and the cluster must be before the group is joined. */
static enum err_code open_clients(struct once *once, const char *name, struct err *err)
{
    enum err_code code = ERR_OK;
    rd_kafka_conf_t *conf = consumer_conf(once, name, err);
    once->client = conf ? kafka_client(RD_KAFKA_CONSUMER, conf, err) : NULL;
    if (!once->client) return ERR_CONFIG;
    rd_kafka_poll_set_consumer(once->client);
    rd_kafka_queue_t *news = rd_kafka_queue_get_consumer(once->client);
    rd_kafka_queue_cb_event_enable(news, kafka_ring, &once->bell);
    rd_kafka_queue_destroy(news);
    for (unsigned i = 0; i < ONCE_TOPICS && !code; i++)
        code = kafka_check_topic(once->kafka, once->client, once->topics[i], err);
    const char *const outputs[] = {once->topics[ONCE_VERDICTS], once->topics[ONCE_LETTERS]};
    if (!code) code = kafka_know_topics(&once->kafka->bus, outputs, LEDGER_OUTPUTS, err);
    if (code) return code;
    char *cluster = rd_kafka_clusterid(once->client, (int)once->kafka->connect_ms);
    if (!cluster || !(once->cluster = strdup(cluster))) code = err_set(err, ERR_UNREACHABLE, "kafka: no cluster id");
    if (cluster) rd_kafka_mem_free(once->client, cluster);
    once->watchdog = watchdog_new();
    if (!code && !once->watchdog) code = err_set(err, ERR_NOMEM, "no thread for a watchdog");
    return code ? code : txn_open(once->kafka, once->watchdog, name, &once->txn, err);
}

static enum err_code join(struct once *once, struct err *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, once->topics[ONCE_REQUESTS], RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t error = rd_kafka_subscribe(once->client, list);
    rd_kafka_topic_partition_list_destroy(list);
    return error ? kafka_err(err, error, "subscribe") : ERR_OK;
}

enum err_code kafka_subscribe_once(struct bus *bus, const struct bus_once *how, struct bus_consumer **out,
                                   struct err *err)
{
    char name[200];
    *out = NULL;
    if (how->from && strcmp(how->from, "beginning") != 0 && strcmp(how->from, "end") != 0)
        return err_set(err, ERR_CONFIG, "a group starts from the beginning or the end, not '%.40s'", how->from);
    struct once *once = once_new((struct kafka *)bus, how);
    if (!once) return err_set(err, ERR_NOMEM, "no memory for a consumer");
    snprintf(name, sizeof name, "%s-%s", once->group, how->instance ? how->instance : "0");
    enum err_code code = open_clients(once, name, err);
    if (!code) code = join(once, err);
    if (code) {
        once_free(once);
        return code;
    }
    *out = &once->consumer;
    return ERR_OK;
}

/* Leave in order: the revocation that closing brings commits what is settled. */
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
