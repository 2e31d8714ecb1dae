/* DESIGN: a consumer uses two threads. Its *poller* only serves the library (heartbeats, rebalances, errors) and
 * commits once a second. The group therefore stays stable, even if judging a message takes long. The *reader* is the
 * thread that called bus_subscribe. It takes messages directly from the queues of the partitions.
 *
 *    library ──▶ queue of a partition ──▶ window ──▶ reader ── ack ──▶ window ──▶ offset committed
 *                        └── a message stays there while it is not requested, or while the window is full
 *
 * Locks: the consumer's lock guards partitions and windows; the bus's lock may be taken while it is held. No lock is
 * taken while the wakeup's lock is held, because the library signals the wakeup while it holds a lock of its own.
 *
 * A stuck reader would keep its partitions for ever, because the poller's heartbeat continues. Therefore the poller
 * also stops if the reader holds messages and has made no call for STUCK_MS. The library then releases the partitions.
 *
 * Rejected: polling inside bus_poll (a batch of slow statements would cost the membership). Rejected:
 * rd_kafka_consume_batch_queue (loses messages across a rebalance before 2.1). Rejected: the library's auto-commit (its
 * metadata is lost before 2.2).
 */
#include "proto/bus/kafka/crashes.h"
#include "proto/bus/kafka/kafka.h"
#include "proto/bus/kafka/window.h"

#include "lib/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    COMMIT_EVERY_MS = 1000,
    COMMIT_WAIT_MS = 3000, /* wait for the reply to a commit, if the caller waits */
    STEP_WAIT_MS = 30000,  /* wait for deliveries in bus_commit */
    TAKE_OVER_MS = 10000,  /* wait for committed offsets; a stable offset requires the end of its transaction */
    REVOKE_WAIT_MS = 1000, /* wait for held messages before partitions are revoked */
    CLOSE_WAIT_MS = 10000,
    STUCK_MS = 300000
};

struct consumer_inflight {
    struct bus_message public;
    struct window_slot slot;
    struct consumer_partition *part;
    rd_kafka_message_t *raw; /* NULL once acked */
    bool stray;              /* in part->strays, because the partition has another owner now */
    struct bus_header headers[];
};

struct consumer_partition {
    char *topic;
    uint32_t topic_index;
    int32_t partition;
    struct window window;
    struct window_slot *strays; /* messages that the reader still holds after the partition was lost */
    rd_kafka_queue_t *queue;    /* NULL if the partition is not assigned */
    bool open;                  /* the partition may be read */
    bool leaving;               /* the partition is being revoked: only waiting messages are handed out */
    bool claimed;               /* a commit's metadata records this owner */
    bool dirty;                 /* the window has changes that are not in the committed metadata */
    bool sound;                 /* this owner has lived long enough (crashes.h) */
    int64_t since_ns;           /* time of assignment */
};

struct member {
    struct bus_consumer consumer;
    struct kafka_context context; /* context argument of the library's callbacks */
    struct kafka *kafka;
    rd_kafka_t *client;
    pthread_t poller;
    atomic_bool stop, drained;
    atomic_llong called_ns; /* time of the reader's last call */
    struct wakeup wakeup;
    int64_t committed_ns;

    pthread_mutex_t lock;              /* guards the fields below */
    struct consumer_partition **parts; /* ordered by partition, then topic */
    uint32_t n_parts, next_part;
    bool closing;
    struct err failure;
    char *topics[BUS_MAX_TOPICS];
    uint32_t n_topics;
};

/* --- messages --- */

static struct consumer_inflight *inflight_of_slot(struct window_slot *slot)
{
    return (struct consumer_inflight *)(void *)((char *)slot - offsetof(struct consumer_inflight, slot));
}

static void consumer_inflight_free(struct consumer_inflight *inflight)
{
    if (inflight->raw) rd_kafka_message_destroy(inflight->raw);
    free(inflight);
}

/* Releases a slot from its window. If the reader holds its message, moves the slot to the list of strays. It stays
 * there until the ack or the end of the consumer. */
static void release(struct window_slot *slot)
{
    struct consumer_inflight *inflight = inflight_of_slot(slot);
    if (slot->state != SLOT_HELD) {
        consumer_inflight_free(inflight);
        return;
    }
    inflight->stray = true;
    slot->previous = NULL;
    slot->next = inflight->part->strays;
    if (slot->next) slot->next->previous = slot;
    inflight->part->strays = slot;
}

static void stray_free(struct consumer_inflight *inflight)
{
    struct window_slot *slot = &inflight->slot;
    *(slot->previous ? &slot->previous->next : &inflight->part->strays) = slot->next;
    if (slot->next) slot->next->previous = slot->previous;
    consumer_inflight_free(inflight);
}

static struct consumer_inflight *consumer_inflight_new(struct consumer_partition *part, rd_kafka_message_t *raw)
{
    const rd_kafka_headers_t *headers = kafka_headers_of(raw);
    struct consumer_inflight *inflight =
        calloc(1, sizeof *inflight + kafka_count_headers(headers) * sizeof *inflight->headers);
    if (!inflight) return NULL;
    inflight->part = part;
    inflight->raw = raw;
    inflight->slot.offset = raw->offset;
    kafka_fill(&inflight->public, inflight->headers, headers, raw);
    inflight->public.topic = part->topic;
    inflight->public.topic_index = part->topic_index;
    return inflight;
}

/* --- partitions; the caller holds the lock --- */

static int topic_index(const struct member *member, const char *topic)
{
    for (uint32_t i = 0; i < member->n_topics; i++)
        if (strcmp(member->topics[i], topic) == 0) return (int)i;
    return -1;
}

static struct consumer_partition *part_new(struct member *member, uint32_t index, int32_t partition)
{
    struct consumer_partition **grown =
        realloc(member->parts, (member->n_parts + 1) * sizeof(struct consumer_partition *));
    if (!grown) return NULL;
    member->parts = grown;
    struct consumer_partition *part = calloc(1, sizeof *part);
    if (!part) return NULL;
    part->topic = member->topics[index];
    part->topic_index = index;
    part->partition = partition;
    window_init(&part->window);
    uint32_t at = member->n_parts++;
    for (; at > 0; at--) {
        const struct consumer_partition *before = grown[at - 1];
        if (before->partition < partition || (before->partition == partition && before->topic_index < index)) break;
        grown[at] = grown[at - 1];
    }
    grown[at] = part;
    return part;
}

static struct consumer_partition *part_find(const struct member *member, const char *topic, int32_t partition)
{
    for (uint32_t i = 0; i < member->n_parts; i++)
        if (member->parts[i]->partition == partition && strcmp(member->parts[i]->topic, topic) == 0)
            return member->parts[i];
    return NULL;
}

static struct consumer_partition *part_get(struct member *member, const char *topic, int32_t partition)
{
    struct consumer_partition *part = part_find(member, topic, partition);
    int index = topic_index(member, topic);
    return part || index < 0 ? part : part_new(member, (uint32_t)index, partition);
}

static void fail(struct member *member, enum err_code code, const char *text)
{
    if (!member->failure.code) {
        err_set(&member->failure, err_class(code) == ERR_CLASS_FATAL ? code : ERR_CLOSED, "%s", text);
        kafka_fail(member->kafka, code, text);
    }
    wakeup_signal(&member->wakeup);
}

/* --- offsets --- */

/* Advances the window, but only while the offset can be committed. A message acked between two assignments stays in the
 * window; otherwise it would be fetched and delivered a second time. */
static void advance(struct consumer_partition *part, uint64_t arrived)
{
    if (part->queue && window_advance(&part->window, arrived, release)) part->dirty = true;
}

/* Adds an offset with its metadata to the list. No other function builds such an entry. */
static void put_offsets(rd_kafka_topic_partition_list_t *list, struct consumer_partition *part, uint32_t crashes)
{
    char text[WINDOW_TEXT];
    rd_kafka_topic_partition_t *entry = rd_kafka_topic_partition_list_add(list, part->topic, part->partition);
    entry->offset = part->window.low;
    entry->metadata_size = window_metadata(&part->window, crashes, text);
    entry->metadata = strdup(text);
    if (!entry->metadata) entry->metadata_size = 0;
    part->window.committed = part->window.low;
    part->dirty = false;
}

/* Returns the number of crashes to write while this process owns the partition. It is one more than was found, in case
 * this process crashes. */
static uint32_t crashes_now(const struct consumer_partition *part)
{
    return part->sound ? 0 : part->window.crashes + 1;
}

static void see_if_sound(struct consumer_partition *part, int64_t now)
{
    if (part->sound || !part->claimed || !crashes_is_sound(part->since_ns, now)) return;
    part->sound = part->dirty = true;
}

/* Sends a commit. With wait_ms 0, does not wait for the reply. If a commit fails, the next one contains its changes;
 * messages may be redelivered meanwhile. */
static enum err_code commit_list(struct member *member, rd_kafka_topic_partition_list_t *list, int64_t wait_ms)
{
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    if (list->cnt == 0) return ERR_OK;
    if (wait_ms == 0) return kafka_code(rd_kafka_commit(member->client, list, 1));
    rd_kafka_queue_t *answers = rd_kafka_queue_new(member->client);
    error = rd_kafka_commit_queue(member->client, list, answers, NULL, NULL);
    if (!error) {
        rd_kafka_event_t *event = rd_kafka_queue_poll(answers, (int)wait_ms);
        error = event ? rd_kafka_event_error(event) : RD_KAFKA_RESP_ERR__TIMED_OUT;
        if (event) rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(answers);
    return kafka_code(error);
}

/* Commits the offsets of all partitions up to the messages that are acked and whose follow-up messages were
 * delivered. */
static enum err_code commit_all(struct member *member, int64_t wait_ms)
{
    uint64_t arrived = kafka_arrived(member->kafka);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    for (uint32_t i = 0; i < member->n_parts; i++) {
        struct consumer_partition *part = member->parts[i];
        advance(part, arrived);
        see_if_sound(part, clock_now_ns());
        if (part->queue && part->claimed && part->dirty) put_offsets(list, part, crashes_now(part));
    }
    enum err_code code = commit_list(member, list, wait_ms);
    rd_kafka_topic_partition_list_destroy(list);
    member->committed_ns = clock_now_ns();
    return code;
}

/* Commits metadata that say that this owner is about to hand out messages. The next owner can then detect its crash. */
static void claim(struct member *member, struct consumer_partition *part)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    put_offsets(list, part, crashes_now(part));
    commit_list(member, list, COMMIT_WAIT_MS);
    rd_kafka_topic_partition_list_destroy(list);
    part->claimed = true;
}

/* --- rebalance; runs on the poller --- */

static void open_part(struct member *member, const rd_kafka_topic_partition_t *entry, bool known)
{
    struct consumer_partition *part = part_get(member, entry->topic, entry->partition);
    if (!part) {
        fail(member, ERR_NOMEM, "no memory for a partition");
        return;
    }
    window_restart(&part->window, known && entry->offset >= 0 ? entry->offset : -1, entry->metadata,
                   entry->metadata_size, release);
    part->claimed = part->dirty = part->sound = false;
    part->since_ns = clock_now_ns();
    /* This must precede the assignment, which starts the fetch. The library does not change the forwarding of a queue
     * that the application has set. */
    part->queue = rd_kafka_queue_get_partition(member->client, entry->topic, entry->partition);
    if (!part->queue) {
        fail(member, ERR_NOMEM, "cannot create a queue for a partition");
        return;
    }
    rd_kafka_queue_forward(part->queue, NULL);
    rd_kafka_queue_cb_event_enable(part->queue, kafka_wakeup, &member->wakeup);
    part->open = true;
}

static void assigned(struct member *member, const rd_kafka_topic_partition_list_t *partitions)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_copy(partitions);
    bool known = rd_kafka_committed(member->client, list, TAKE_OVER_MS) == RD_KAFKA_RESP_ERR_NO_ERROR;
    pthread_mutex_lock(&member->lock);
    for (int i = 0; i < list->cnt; i++) {
        known = known && !list->elems[i].err;
        open_part(member, &list->elems[i], known);
        /* without a known offset, the library starts at the committed one */
        if (!known || list->elems[i].offset < 0) list->elems[i].offset = RD_KAFKA_OFFSET_INVALID;
    }
    rd_kafka_resp_err_t error = rd_kafka_assign(member->client, list);
    if (error) fail(member, kafka_code(error), rd_kafka_err2str(error));
    pthread_mutex_unlock(&member->lock);
    rd_kafka_topic_partition_list_destroy(list);
    wakeup_signal(&member->wakeup);
}

/* Closes the partitions to the reader, and gives held messages time to be acked. Waiting messages are still handed out
 * when due. They block the commit of all finished messages above them, which the next owner would repeat. */
static void drain_partitions(struct member *member)
{
    int64_t limit = clock_now_ns() + REVOKE_WAIT_MS * INT64_C(1000000);
    for (bool busy = true; busy && clock_now_ns() < limit;) {
        uint64_t arrived = kafka_arrived(member->kafka);
        busy = false;
        for (uint32_t i = 0; i < member->n_parts; i++) {
            struct consumer_partition *part = member->parts[i];
            part->open = false;
            part->leaving = part->queue != NULL;
            advance(part, arrived);
            busy |= part->queue && (part->window.n_held || part->window.n > part->window.n_waiting);
        }
        if (!busy || member->closing) return;
        uint64_t heard = wakeup_count(&member->wakeup);
        pthread_mutex_unlock(&member->lock);
        wakeup_wait(&member->wakeup, heard, 10);
        pthread_mutex_lock(&member->lock);
    }
}

static void close_part(struct consumer_partition *part)
{
    part->open = part->leaving = false;
    if (!part->queue) return;
    rd_kafka_queue_cb_event_enable(part->queue, NULL, NULL);
    rd_kafka_queue_destroy(part->queue); /* must precede the revocation */
    part->queue = NULL;
}

static void revoked(struct member *member)
{
    bool lost = rd_kafka_assignment_lost(member->client);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    pthread_mutex_lock(&member->lock);
    if (!lost) drain_partitions(member);
    for (uint32_t i = 0; i < member->n_parts; i++) {
        struct consumer_partition *part = member->parts[i];
        if (!lost && part->queue && part->window.low >= 0 && part->claimed) put_offsets(list, part, 0);
        close_part(part);
    }
    commit_list(member, list, COMMIT_WAIT_MS);
    rd_kafka_assign(member->client, NULL);
    pthread_mutex_unlock(&member->lock);
    rd_kafka_topic_partition_list_destroy(list);
}

static bool is_closing(struct member *member)
{
    pthread_mutex_lock(&member->lock);
    bool closing = member->closing;
    pthread_mutex_unlock(&member->lock);
    return closing;
}

static void on_rebalance(rd_kafka_t *client, rd_kafka_resp_err_t error, rd_kafka_topic_partition_list_t *partitions,
                         void *opaque)
{
    struct member *member = ((struct kafka_context *)opaque)->owner;
    (void)client;
    if (error != RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS)
        revoked(member);
    else if (!is_closing(member))
        assigned(member, partitions);
    else
        rd_kafka_assign(member->client,
                        NULL); /* the member leaves: its partitions go to other members, and no revocation may follow */
}

/* --- the poller --- */

/* Handles an event of the consumer's own queue. Most events are errors, because messages come from the partitions'
 * queues. A message that arrived before the forwarding waits in its window, like a nacked one. */
static void on_event(struct member *member, rd_kafka_message_t *raw)
{
    pthread_mutex_lock(&member->lock);
    struct consumer_partition *part =
        raw->rkt ? part_find(member, rd_kafka_topic_name(raw->rkt), raw->partition) : NULL;
    if (raw->err) {
        if (kafka_is_final(raw->err)) fail(member, kafka_code(raw->err), rd_kafka_message_errstr(raw));
    } else if (part && !window_has(&part->window, raw->offset)) {
        struct consumer_inflight *inflight = consumer_inflight_new(part, raw);
        if (inflight) {
            window_add(&part->window, &inflight->slot, SLOT_WAITING);
            raw = NULL;
        }
    }
    pthread_mutex_unlock(&member->lock);
    if (raw) rd_kafka_message_destroy(raw);
    wakeup_signal(&member->wakeup);
}

static void keep_house(struct member *member)
{
    pthread_mutex_lock(&member->lock);
    if (clock_now_ns() - member->committed_ns > COMMIT_EVERY_MS * INT64_C(1000000)) commit_all(member, 0);
    pthread_mutex_unlock(&member->lock);
}

static bool is_stuck(struct member *member)
{
    if (clock_now_ns() - atomic_load(&member->called_ns) < STUCK_MS * INT64_C(1000000)) return false;
    bool holds = false;
    pthread_mutex_lock(&member->lock);
    for (uint32_t i = 0; i < member->n_parts; i++) holds |= member->parts[i]->window.n_held > 0;
    pthread_mutex_unlock(&member->lock);
    return holds;
}

static void *poll_library(void *arg)
{
    struct member *member = arg;
    while (!atomic_load(&member->stop)) {
        if (is_stuck(member)) {
            wakeup_wait(&member->wakeup, wakeup_count(&member->wakeup), KAFKA_POLL_MS);
            continue;
        }
        rd_kafka_message_t *raw = rd_kafka_consumer_poll(member->client, KAFKA_POLL_MS);
        if (raw) on_event(member, raw);
        keep_house(member);
    }
    return NULL;
}

/* --- the reader: poll --- */

static bool is_wanted(uint32_t want, const struct consumer_partition *part)
{
    return !want || (want >> part->topic_index & 1);
}

/* Returns the next message of the partition's queue that was not handed out before. */
static struct consumer_inflight *fetch(struct member *member, struct consumer_partition *part)
{
    while (part->queue && part->window.n < WINDOW_MAX && rd_kafka_queue_length(part->queue) > 0) {
        rd_kafka_message_t *raw = rd_kafka_consume_queue(part->queue, 0);
        if (!raw) return NULL;
        struct consumer_inflight *inflight =
            raw->err || window_again(&part->window, raw->offset) ? NULL : consumer_inflight_new(part, raw);
        if (inflight) {
            window_add(&part->window, &inflight->slot, SLOT_HELD);
            return inflight;
        }
        if (kafka_is_final(raw->err)) fail(member, kafka_code(raw->err), rd_kafka_message_errstr(raw));
        rd_kafka_message_destroy(raw);
    }
    return NULL;
}

static struct consumer_inflight *take_one(struct member *member, struct consumer_partition *part, int64_t now)
{
    bool probing = crashes_must_probe(crashes_now(part)); /* hands out one message at a time */
    if (!(part->open || part->leaving) || (probing && part->window.n_held)) return NULL;
    struct window_slot *due = window_due(&part->window, now);
    struct consumer_inflight *inflight = due ? inflight_of_slot(due) : part->open ? fetch(member, part) : NULL;
    if (!inflight) return NULL;
    if (due) window_hold(&part->window, due);
    inflight->public.attempts = inflight->slot.attempts;
    if (probing || !part->claimed) claim(member, part);
    return inflight;
}

/* Takes one message of each requested partition in turn. Partitions with the same number come together, so messages
 * that were produced together are returned together if available. */
static uint32_t take_wanted(struct member *member, uint32_t want, struct bus_message **out, uint32_t max)
{
    int64_t now = clock_now_ns();
    uint32_t n = 0, before;
    do {
        before = n;
        for (uint32_t i = 0; i < member->n_parts && n < max; i++) {
            struct consumer_partition *part = member->parts[(member->next_part + i) % member->n_parts];
            struct consumer_inflight *inflight = is_wanted(want, part) ? take_one(member, part, now) : NULL;
            if (inflight) out[n++] = &inflight->public;
        }
    } while (n > before && n < max);
    if (member->n_parts) member->next_part = (member->next_part + member->n_topics) % member->n_parts;
    return n;
}

static int64_t next_due(const struct member *member)
{
    int64_t due = INT64_MAX;
    for (uint32_t i = 0; i < member->n_parts; i++) {
        const struct consumer_partition *part = member->parts[i];
        if ((part->open || part->leaving) && part->window.next_due < due) due = part->window.next_due;
    }
    return due;
}

/* Returns how long to wait for the wakeup: until the caller's limit or the next delayed message, and at most
 * KAFKA_POLL_MS. */
static int64_t nap_ms(int64_t limit, int64_t due)
{
    int64_t until = limit < due ? limit : due, left = (until - clock_now_ns() + 999999) / 1000000;
    return left < 0 ? 0 : left < KAFKA_POLL_MS ? left : KAFKA_POLL_MS;
}

enum err_code kafka_poll(struct bus_consumer *base, uint32_t want, struct bus_message **out, uint32_t max,
                         int64_t timeout_ms, uint32_t *n)
{
    struct member *member = (struct member *)base;
    int64_t limit = timeout_ms < 0 ? INT64_MAX : clock_now_ns() + timeout_ms * 1000000;
    *n = 0;
    for (;;) {
        uint64_t heard = wakeup_count(&member->wakeup);
        int64_t due = INT64_MAX;
        atomic_store(&member->called_ns, clock_now_ns());
        pthread_mutex_lock(&member->lock);
        enum err_code code = atomic_load(&member->drained) ? ERR_CLOSED : member->failure.code;
        if (!code) *n = take_wanted(member, want, out, max);
        if (!*n) due = next_due(member);
        pthread_mutex_unlock(&member->lock);
        if (code || *n || clock_now_ns() >= limit) return code;
        wakeup_wait(&member->wakeup, heard, nap_ms(limit, due));
    }
}

/* --- the reader: ack, nack, commit, drain --- */

static struct consumer_inflight *consumer_inflight_of(struct bus_message *message)
{
    return (struct consumer_inflight *)(void *)message;
}

void kafka_ack(struct bus_consumer *base, struct bus_message *message)
{
    struct member *member = (struct member *)base;
    struct consumer_inflight *inflight = consumer_inflight_of(message);
    atomic_store(&member->called_ns, clock_now_ns());
    pthread_mutex_lock(&member->lock);
    if (inflight->stray) {
        stray_free(inflight);
    } else {
        rd_kafka_message_destroy(inflight->raw);
        inflight->raw = NULL;
        window_done(&inflight->part->window, &inflight->slot, kafka_next_number(member->kafka));
        advance(inflight->part, kafka_arrived(member->kafka));
    }
    pthread_mutex_unlock(&member->lock);
}

void kafka_nack(struct bus_consumer *base, struct bus_message *message, int64_t delay_ms)
{
    struct member *member = (struct member *)base;
    struct consumer_inflight *inflight = consumer_inflight_of(message);
    atomic_store(&member->called_ns, clock_now_ns());
    pthread_mutex_lock(&member->lock);
    if (inflight->stray)
        stray_free(inflight);
    else
        window_wait(&inflight->part->window, &inflight->slot, delay_ms > 0 ? clock_now_ns() + delay_ms * 1000000 : 0);
    pthread_mutex_unlock(&member->lock);
}

enum err_code kafka_commit(struct bus_consumer *base)
{
    struct member *member = (struct member *)base;
    enum err_code code = kafka_flush(&member->kafka->bus, STEP_WAIT_MS);
    if (code) return code;
    pthread_mutex_lock(&member->lock);
    code = commit_all(member, COMMIT_WAIT_MS);
    pthread_mutex_unlock(&member->lock);
    /* the next commit contains the changes of a failed one */
    return err_class(code) == ERR_CLASS_FATAL ? code : ERR_OK;
}

void kafka_drain(struct bus_consumer *base)
{
    struct member *member = (struct member *)base;
    atomic_store(&member->drained, true);
    wakeup_signal(&member->wakeup);
}

/* --- join, leave --- */

static const struct kafka_preset presets[] = {
    {"check.crcs", "true"},
    {"partition.assignment.strategy", "range"},
    {"session.timeout.ms", "15000"},
    {"heartbeat.interval.ms", "3000"},
    {"max.poll.interval.ms", "60000"},
    {"enable.auto.commit", "false"},
    {"enable.auto.offset.store", "false"},
    {"isolation.level", "read_committed"},
    {"auto.offset.reset", "earliest"},
    {"allow.auto.create.topics", "false"},
    {"queued.max.messages.kbytes", "8192"},
    {"queued.min.messages", "10000"},
};

static rd_kafka_conf_t *consumer_conf(struct member *member, const char *group, struct err *err)
{
    char reason[200];
    rd_kafka_conf_t *conf = kafka_conf(&member->context, presets, sizeof presets / sizeof *presets, err);
    if (!conf) return NULL;
    if (rd_kafka_conf_set(conf, "group.id", group, reason, sizeof reason) != RD_KAFKA_CONF_OK) {
        rd_kafka_conf_destroy(conf);
        err_set(err, ERR_CONFIG, "kafka: invalid group: %s", reason);
        return NULL;
    }
    rd_kafka_conf_set_rebalance_cb(conf, on_rebalance);
    return conf;
}

static enum err_code join(struct member *member, struct err *err)
{
    enum err_code code = ERR_OK;
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)member->n_topics);
    for (uint32_t i = 0; i < member->n_topics && !code; i++) {
        code = kafka_check_topic(member->kafka, member->client, member->topics[i], err);
        rd_kafka_topic_partition_list_add(list, member->topics[i], RD_KAFKA_PARTITION_UA);
    }
    if (!code) {
        rd_kafka_resp_err_t error = rd_kafka_subscribe(member->client, list);
        if (error) code = kafka_err(err, error, "subscribe");
    }
    rd_kafka_topic_partition_list_destroy(list);
    return code;
}

static void member_free(struct member *member)
{
    for (uint32_t i = 0; i < member->n_parts; i++) {
        struct consumer_partition *part = member->parts[i];
        close_part(part); /* only needed if the library did not finish */
        window_restart(&part->window, -1, NULL, 0, release);
        for (struct window_slot *slot = part->strays, *next; slot; slot = next) {
            next = slot->next;
            consumer_inflight_free(inflight_of_slot(slot));
        }
        free(part);
    }
    free(member->parts);
    if (member->client) rd_kafka_destroy_flags(member->client, RD_KAFKA_DESTROY_F_NO_CONSUMER_CLOSE);
    for (uint32_t i = 0; i < member->n_topics; i++) free(member->topics[i]);
    wakeup_free(&member->wakeup);
    pthread_mutex_destroy(&member->lock);
    free(member);
}

static struct member *member_new(struct kafka *kafka, const char *const *topics, uint32_t n)
{
    struct member *member = calloc(1, sizeof *member);
    if (!member) return NULL;
    member->consumer.transport = &bus_kafka;
    member->kafka = kafka;
    member->context = (struct kafka_context){kafka, member, true};
    atomic_init(&member->called_ns, clock_now_ns());
    pthread_mutex_init(&member->lock, NULL);
    wakeup_init(&member->wakeup);
    for (; member->n_topics < n; member->n_topics++)
        if (!(member->topics[member->n_topics] = strdup(topics[member->n_topics]))) {
            member_free(member);
            return NULL;
        }
    return member;
}

enum err_code kafka_subscribe(struct bus *bus, const char *group, const char *const *topics, uint32_t n,
                              struct bus_consumer **out, struct err *err)
{
    *out = NULL;
    if (n == 0 || n > BUS_MAX_TOPICS)
        return err_set(err, ERR_CONFIG, "a subscription takes 1 to %d topics", BUS_MAX_TOPICS);
    struct member *member = member_new((struct kafka *)bus, topics, n);
    if (!member) return err_set(err, ERR_NOMEM, "no memory for a consumer");
    rd_kafka_conf_t *conf = consumer_conf(member, group, err);
    if (conf) member->client = kafka_client(RD_KAFKA_CONSUMER, conf, err);
    enum err_code code = member->client ? ERR_OK : ERR_CONFIG;
    if (!code) rd_kafka_poll_set_consumer(member->client);
    if (!code) code = join(member, err);
    if (!code && pthread_create(&member->poller, NULL, poll_library, member) != 0)
        code = err_set(err, ERR_NOMEM, "cannot create a consumer thread");
    if (code) {
        member_free(member);
        return code;
    }
    *out = &member->consumer;
    return ERR_OK;
}

/* Leaves the group in an orderly way: closing revokes the partitions, which makes the last commit. Waits for the
 * library at most CLOSE_WAIT_MS. */
static void leave(struct member *member)
{
    rd_kafka_queue_t *events = rd_kafka_queue_new(member->client);
    rd_kafka_error_t *error = rd_kafka_consumer_close_queue(member->client, events);
    int64_t limit = clock_now_ns() + CLOSE_WAIT_MS * INT64_C(1000000);
    while (!error && !rd_kafka_consumer_closed(member->client) && clock_now_ns() < limit)
        rd_kafka_queue_poll_callback(events, KAFKA_POLL_MS);
    if (error) rd_kafka_error_destroy(error);
    rd_kafka_queue_destroy(events);
}

void kafka_unsubscribe(struct bus_consumer *base)
{
    struct member *member = (struct member *)base;
    /* needed for acks of messages whose follow-up deliveries are outstanding */
    kafka_flush(&member->kafka->bus, REVOKE_WAIT_MS);
    pthread_mutex_lock(&member->lock);
    member->closing = true;
    pthread_mutex_unlock(&member->lock);
    atomic_store(&member->stop, true);
    pthread_join(member->poller, NULL);
    leave(member);
    member_free(member);
}
