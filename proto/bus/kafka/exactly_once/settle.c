/* DESIGN: the way of a request from settled to finished. Outputs of settled requests are copied into a queue, in order.
 * A transaction takes the front of the queue, with the ledgers as they will be after its commit (look_ahead). The
 * ledgers change only after the commit (finish_all). A dropped transaction leaves the queue unchanged.
 *
 * A transaction has two calls that block on brokers: one until the outputs are acknowledged, and one for the commit.
 * They run on their own thread (background.c). Meanwhile the reader continues to read and settles more requests, which
 * belong to the next transaction. The reader does all other steps between these calls: choosing the outputs, building
 * the commit, and applying its result. Before a change to data that these calls use, the reader waits until they have
 * returned. Examples of such data are the assignment and the suspects of a dead owner.
 *
 * Several producers share the partitions. Each has its own queue and transaction, so one commit does not delay the
 * settled requests of other partitions. A partition belongs to one producer, and its outputs go to the same partition
 * of their topics. Thus no two producers write to one log, and its outputs and commits are in consecutive transactions.
 *
 * A transaction begins at once if the reader is idle, so that a single verdict is not delayed. Under load it begins
 * commit_ms after the previous commit, because one commit covers many requests. It begins even later if commits take
 * long, because they cost time too. When a batch is full, it begins at once.
 */
#include "proto/bus/kafka/exactly_once/once.h"

#include "lib/base/clock.h"
#include "lib/base/digits.h"
#include "lib/base/log.h"
#include "proto/bus/letter.h"
#include "proto/bus/mutation.h"

#include <stdlib.h>
#include <string.h>

enum {
    TIDY_MS = 1000, /* interval of commits that have no outputs */
    /* time that brokers need to end a transaction; if another one begins earlier, the library waits 20 ms */
    MARKERS_MS = 4,
    RETRY_MS = 300,   /* delay after a dropped transaction */
    BATCH_MAX = 5000, /* maximum outputs of one transaction */
    WORK_SHARE = 4,   /* under load, minimum pause between commits as a multiple of a commit's duration */
    OURS = 3          /* number of headers added to an output */
};
static const uint64_t BATCH_BYTES = 16UL << 20;

/* A copied output. */
struct once_copy {
    struct bus_out out;
    struct bus_header headers[OURS + BUS_MAX_HEADERS];
    char partition[DIGITS_WHOLE_MAX], offset[DIGITS_WHOLE_MAX];
    char bytes[];
};

/* --- settling --- */

static void add_header(struct once_copy *copy, const char *name, const char *value, uint32_t len)
{
    copy->headers[copy->out.n_headers++] = (struct bus_header){name, value, len};
}

/* Copies an output. The copy goes to the same partition number as its request, and its headers have the request's
 * position. */
static struct once_copy *copy_new(const struct once *once, const struct bus_message *message, const struct bus_out *out,
                                  const char *topic)
{
    struct once_copy *copy = malloc(sizeof *copy + bus_out_room(out));
    if (!copy) return NULL;
    bus_out_copy(out, copy->bytes, copy->headers + OURS, &copy->out);
    copy->out.topic = topic;
    copy->out.partition = message->partition;
    copy->out.headers = copy->headers;
    copy->out.n_headers = 0;
    /* these headers come first, because readers may read only some headers */
    add_header(copy, BUS_OF_GROUP, once->group, (uint32_t)strlen(once->group));
    add_header(copy, BUS_OF_PARTITION, copy->partition, (uint32_t)digits_whole(message->partition, copy->partition));
    add_header(copy, BUS_OF_OFFSET, copy->offset, (uint32_t)digits_whole(message->offset, copy->offset));
    copy->out.n_headers += out->n_headers;
    return copy;
}

static uint64_t bytes_of(const struct once_inflight *inflight)
{
    return inflight->out ? inflight->out->out.len : 0;
}

static void queue_settled(struct once *once, struct once_inflight *inflight)
{
    struct once_producer *producer = inflight->part->producer;
    inflight->state = ONCE_SETTLED;
    inflight->settled_ns = clock_now_ns();
    inflight->next_settled = NULL;
    *(producer->last_settled ? &producer->last_settled->next_settled : &producer->first_settled) = inflight;
    producer->last_settled = inflight;
    producer->n_settled++;
    producer->settled_bytes += bytes_of(inflight);
    inflight->part->n_settled++;
    inflight->part->dirty = true;
    bool may_be_refused =
        /* if the output is refused, a dead letter will need the message */
        inflight->out && bus_out_bytes(&inflight->out->out) > once->kafka->batch_bytes;
    if (inflight->raw && !may_be_refused) {
        rd_kafka_message_destroy(inflight->raw);
        inflight->raw = NULL;
    }
}

enum err_code once_settle(struct bus_consumer *base, struct bus_message *message, const struct bus_out *out)
{
    struct once *once = (struct once *)base;
    struct once_inflight *inflight = once_inflight_of(message);
    /* another owner settles the request, or the message needs no output */
    if (inflight->stray || !inflight->request || message->history) {
        once_inflight_free(inflight);
        return ERR_OK;
    }
    if (out) {
        unsigned topic = ONCE_VERDICTS;
        while (topic < ONCE_TOPICS && strcmp(once->topics[topic], out->topic) != 0) topic++;
        if (topic == ONCE_TOPICS) return ERR_CONFIG;
        if (bus_out_bytes(out) > bus_max_bytes(&once->kafka->bus, out->topic) || out->n_headers > BUS_MAX_HEADERS)
            return ERR_LIMIT_BYTES;
        inflight->out = copy_new(once, message, out, once->topics[topic]);
        if (!inflight->out) return ERR_NOMEM;
    }
    queue_settled(once, inflight);
    return ERR_OK;
}

/* Builds the dead letter of a request that cannot be settled otherwise. */
static void make_letter(struct once *once, const struct once_inflight *inflight, enum err_code why, const char *text,
                        struct letter *letter, struct bus_out *out)
{
    const struct letter_cause cause = {.group = once->group,
                                       .stage = "coordinator",
                                       .code = why,
                                       .text = text,
                                       .now_ns = bus_now_ns(&once->kafka->bus)};
    const char *topic = once->topics[ONCE_LETTERS];
    letter_make(letter, &inflight->public, &cause, topic, bus_max_bytes(&once->kafka->bus, topic), out);
}

enum err_code once_put_aside(struct once *once, struct once_inflight *inflight, enum err_code why, const char *text)
{
    struct letter letter;
    struct bus_out out;
    make_letter(once, inflight, why, text, &letter, &out);
    return once_settle(&once->consumer, &inflight->public, &out);
}

/* Removes the request that `at` points to from its producer's queue. */
static void unqueue(struct once_producer *producer, struct once_inflight **at)
{
    producer->n_settled--;
    producer->settled_bytes -= bytes_of(*at);
    *at = (*at)->next_settled;
}

void once_forget_settled(const struct once_partition *part)
{
    struct once_producer *producer = part->producer;
    struct once_inflight **at = &producer->first_settled;
    producer->last_settled = NULL;
    while (*at) {
        if ((*at)->part == part) {
            unqueue(producer, at);
            continue;
        }
        producer->last_settled = *at;
        at = &(*at)->next_settled;
    }
}

/* --- transactions --- */

/* Produces the outputs at the front of the settled queue, in order. */
static enum err_code produce_all(struct once_producer *producer, struct err *err)
{
    enum err_code code = ERR_OK;
    uint32_t n = 0;
    uint64_t bytes = 0;
    for (struct once_inflight *inflight = producer->first_settled; inflight; inflight = inflight->next_settled) {
        if (!inflight->part->assigned) continue;
        if (n == BATCH_MAX || bytes > BATCH_BYTES) break;
        if (inflight->out && !MUTATED(no_flush))
            code = txn_produce(producer->txn, &inflight->out->out, &inflight->mark, err);
        if (code) break;
        bytes += bytes_of(inflight);
        inflight->state = ONCE_IN_TRANSACTION;
        metrics_histogram_count(&producer->once->stats.waits, producer->transaction.began_ns - inflight->settled_ns);
        n++;
    }
    return code;
}

/* Computes the ledger of a partition as it will be after the commit. */
static void look_ahead(const struct once_partition *part, const struct once *once, struct ledger *out)
{
    int64_t first[LEDGER_OUTPUTS] = {-1, -1};
    *out = part->ledger;
    for (const struct once_inflight *inflight = part->inflight; inflight; inflight = inflight->next) {
        if (inflight->state != ONCE_IN_TRANSACTION) continue;
        ledger_finish(out, inflight->public.offset);
        if (!inflight->out) continue;
        int64_t *least = &first[inflight->out->out.topic == once->topics[ONCE_LETTERS]];
        if (*least < 0 || inflight->mark.offset < *least) *least = inflight->mark.offset;
    }
    for (unsigned i = 0; i < LEDGER_OUTPUTS; i++)
        if (first[i] >= 0) out->outputs[i] = first[i];
}

/* INVARIANT I6: adds each partition with settled requests or other changes to the list of offsets. */
static void put_offsets(struct once_producer *producer, rd_kafka_topic_partition_list_t *list)
{
    struct once *once = producer->once;
    for (uint32_t i = 0; i < once->n_parts; i++) {
        struct once_partition *part = once->parts[i];
        char text[LEDGER_TEXT];
        struct ledger ahead;
        if (part->producer != producer || !part->assigned || !part->dirty) continue;
        look_ahead(part, once, &ahead);
        rd_kafka_topic_partition_t *entry =
            rd_kafka_topic_partition_list_add(list, once->topics[ONCE_REQUESTS], part->partition);
        part->ahead_low = ahead.low;
        part->ahead_len = ledger_encode(&ahead, part->ahead_text);
        part->committing = true;
        part->dirty = false; /* later changes belong to the next commit */
        if (MUTATED(no_bitmap)) memset(ahead.finished, 0, sizeof ahead.finished);
        entry->offset = ahead.low;
        entry->metadata_size = ledger_encode(&ahead, text);
        entry->metadata = strdup(text);
        if (!entry->metadata) once_fail(once, ERR_NOMEM, "no memory for a commit");
    }
}

/* INVARIANT I2: marks requests as finished, and partitions as claimed. This is done only here, after the commit has
 * returned. */
static void finish_all(struct once_producer *producer)
{
    struct once *once = producer->once;
    struct once_inflight **at = &producer->first_settled;
    if (MUTATED(no_flush)) (void)mutation_pause();
    for (uint32_t i = 0; i < once->n_parts; i++) {
        struct once_partition *part = once->parts[i];
        if (part->producer != producer || !part->assigned || !part->committing) continue;
        struct ledger ahead;
        look_ahead(part, once, &ahead);
        part->ledger = ahead; /* the new ledger also has the requests that were opened since the commit began */
        part->text_low = part->ahead_low;
        part->text_len = part->ahead_len;
        memcpy(part->text, part->ahead_text, sizeof part->text);
        part->claimed = true;
        part->committing = false;
    }
    producer->last_settled = NULL;
    while (*at) {
        struct once_inflight *inflight = *at;
        if (inflight->state != ONCE_IN_TRANSACTION) {
            producer->last_settled = inflight;
            inflight->part->dirty = true;
            at = &inflight->next_settled;
            continue;
        }
        unqueue(producer, at);
        inflight->part->n_settled--;
        if (MUTATED(no_flush) && inflight->out) kafka_produce(&once->kafka->bus, &inflight->out->out, 1, -1, NULL);
        once_inflight_free(inflight);
    }
}

/* Returns the requests of a dropped transaction to the queue. */
static void take_back(struct once_producer *producer)
{
    struct once *once = producer->once;
    if (MUTATED(bit_before_commit)) finish_all(producer);
    for (struct once_inflight *inflight = producer->first_settled; inflight; inflight = inflight->next_settled)
        inflight->state = ONCE_SETTLED;
    for (uint32_t i = 0; i < once->n_parts; i++) {
        struct once_partition *part = once->parts[i];
        if (part->producer != producer) continue;
        part->dirty |= part->committing;
        part->committing = false;
    }
    once->stats.aborted++;
    producer->retry_ns = clock_now_ns() + RETRY_MS * INT64_C(1000000);
}

/* Replaces an output that brokers will always refuse with a dead letter, which is small. If the dead letter is refused
 * too, the next one is smaller, because the limit is halved each time. Returns ERR_CONFIG if the batch was too
 * large. */
static enum err_code replace_refused(struct once *once, struct once_inflight *inflight, struct err *err)
{
    struct letter letter;
    struct bus_out out;
    const struct bus_out *old = &inflight->out->out;
    if (!kafka_is_refused(once->kafka, old->topic, bus_out_bytes(old)))
        return err_set(err, ERR_CONFIG,
                       "a batch is larger than topic %.100s accepts" ERR_HINT "check max.message.bytes of the topic",
                       old->topic);
    make_letter(once, inflight, ERR_LIMIT_BYTES, "the output is larger than its topic accepts", &letter, &out);
    struct once_copy *copy = copy_new(once, &inflight->public, &out, once->topics[ONCE_LETTERS]);
    if (!copy) return err_set(err, ERR_NOMEM, "no memory for a dead letter");
    inflight->part->producer->settled_bytes += copy->out.len;
    inflight->part->producer->settled_bytes -= old->len;
    free(inflight->out);
    inflight->out = copy;
    once->stats.refused++;
    return ERR_OK;
}

static enum err_code replace_all_refused(struct once_producer *producer, struct err *err)
{
    enum err_code code = ERR_OK;
    for (struct once_inflight *inflight = producer->first_settled; inflight && !code; inflight = inflight->next_settled)
        if (inflight->mark.refused) {
            inflight->mark.refused = false;
            code = replace_refused(producer->once, inflight, err);
        }
    return code;
}

/* --- the two calls; they run on the producer's background thread --- */

static void write_outputs(void *ctx)
{
    struct once_producer *producer = ctx;
    producer->transaction.code = txn_flush(producer->txn, &producer->transaction.err);
}

static void commit_offsets(void *ctx)
{
    struct once_producer *producer = ctx;
    struct once_transaction *now = &producer->transaction;
    now->code = txn_commit(producer->txn, now->offsets, now->membership, &now->err);
}

/* --- the reader's steps before, between and after these calls --- */

static void has_committed(struct once_producer *producer)
{
    struct bus_once_stats *stats = &producer->once->stats;
    int64_t took = producer->took_ns = producer->transacted_ns - producer->transaction.began_ns;
    stats->committed++;
    stats->commit_ns += took;
    metrics_histogram_count(&stats->commits, took);
    metrics_histogram_count(&stats->ends, producer->transacted_ns - producer->transaction.written_ns);
    if (took > stats->commit_max_ns) stats->commit_max_ns = took;
    finish_all(producer);
}

static enum err_code has_failed(struct once_producer *producer, enum err_code code)
{
    struct err renewing = {0}, *err = &producer->transaction.err;
    const struct log_field why = log_field_text("why", err->text);
    bool passes = err_class(code) == ERR_CLASS_RETRY;
    if (passes) log_event(LOG_LEVEL_WARN, "kafka", &why, 1, "transaction aborted, retrying");
    if (passes && (txn_drop(producer->txn, &renewing) || replace_all_refused(producer, &renewing)))
        passes = false, code = renewing.code, *err = renewing;
    take_back(producer);
    if (!passes) once_fail(producer->once, code, err->text);
    return passes ? code : producer->once->failure.code;
}

static enum err_code end_transaction(struct once_producer *producer, enum err_code code)
{
    struct once_transaction *now = &producer->transaction;
    producer->transacted_ns = clock_now_ns();
    now->phase = ONCE_NO_TRANSACTION;
    if (now->offsets) rd_kafka_topic_partition_list_destroy(now->offsets);
    if (now->membership && now->membership != producer->once->membership)
        rd_kafka_consumer_group_metadata_destroy(now->membership);
    now->offsets = NULL;
    now->membership = NULL;
    if (code) return has_failed(producer, code);
    has_committed(producer);
    return ERR_OK;
}

static enum err_code begin_transaction(struct once_producer *producer)
{
    struct once_transaction *now = &producer->transaction;
    *now = (struct once_transaction){.began_ns = clock_now_ns()};
    if (MUTATED(metadata_anew)) (void)mutation_pause();
    enum err_code code = txn_begin(producer->txn, &now->err);
    if (!code) code = produce_all(producer, &now->err);
    if (code) return end_transaction(producer, code);
    now->phase = ONCE_WRITING;
    background_begin(producer->background, write_outputs, producer);
    return ERR_OK;
}

static enum err_code begin_commit(struct once_producer *producer)
{
    struct once *once = producer->once;
    struct once_transaction *now = &producer->transaction;
    enum err_code code = ERR_OK;
    now->written_ns = clock_now_ns();
    metrics_histogram_count(&once->stats.writes, now->written_ns - now->began_ns);
    bool fourth = (once->stats.committed + once->stats.aborted) % 4 == 3;
    if (fourth && (FORCED(dropped_transactions) || MUTATED(bit_before_commit)))
        code = err_set(&now->err, ERR_UNREACHABLE, "injected failure");
    now->offsets = rd_kafka_topic_partition_list_new(8);
    if (!code) put_offsets(producer, now->offsets);
    if (!code && once->failure.code) code = once->failure.code;
    if (code) return end_transaction(producer, code);
    now->membership = MUTATED(metadata_anew) ? rd_kafka_consumer_group_metadata_new(once->group) : once->membership;
    now->phase = ONCE_COMMITTING;
    background_begin(producer->background, commit_offsets, producer);
    return ERR_OK;
}

/* Continues the transaction. Must be called after its call has returned. */
static enum err_code go_on(struct once_producer *producer)
{
    enum err_code code = producer->transaction.code;
    bool written = producer->transaction.phase == ONCE_WRITING && !code;
    return written ? begin_commit(producer) : end_transaction(producer, code);
}

static bool is_any_dirty(const struct once_producer *producer)
{
    const struct once *once = producer->once;
    bool any = false;
    for (uint32_t i = 0; i < once->n_parts; i++)
        any |= once->parts[i]->producer == producer && once->parts[i]->assigned && once->parts[i]->dirty;
    return any;
}

static enum err_code wait_for(struct once_producer *producer)
{
    enum err_code code = ERR_OK;
    while (producer->transaction.phase != ONCE_NO_TRANSACTION) {
        background_wait(producer->background);
        code = go_on(producer);
    }
    return code;
}

void once_transact_wait(struct once *once)
{
    for (uint32_t i = 0; i < once->n_producers; i++) wait_for(&once->producers[i]);
}

static enum err_code begin_if_dirty(struct once_producer *producer)
{
    const struct once *once = producer->once;
    if (once->failure.code) return once->failure.code;
    return once->membership && is_any_dirty(producer) ? begin_transaction(producer) : ERR_OK;
}

enum err_code once_transact_one(struct once_producer *producer)
{
    wait_for(producer);
    enum err_code code = begin_if_dirty(producer);
    return code ? code : wait_for(producer);
}

enum err_code once_transact(struct once *once)
{
    enum err_code first = ERR_OK;
    once_transact_wait(once);
    for (uint32_t i = 0; i < once->n_producers; i++) {
        enum err_code code = begin_if_dirty(&once->producers[i]);
        if (!first) first = code;
    }
    for (uint32_t i = 0; i < once->n_producers; i++) {
        enum err_code code = wait_for(&once->producers[i]);
        if (!first) first = code;
    }
    return first;
}

static bool is_any_settled(const struct once *once)
{
    bool any = false;
    for (uint32_t i = 0; i < once->n_producers; i++)
        any |= once->producers[i].n_settled && is_any_dirty(&once->producers[i]);
    return any;
}

void once_transact_all(struct once *once)
{
    while (!once_transact(once) && is_any_settled(once)) {
    }
}

/* Returns the time of the producer's next transaction, on clock_now_ns. Returns INT64_MAX if there is nothing to
 * commit. */
static int64_t due_ns(const struct once_producer *producer, bool idle)
{
    const struct once *once = producer->once;
    if (producer->transaction.phase != ONCE_NO_TRANSACTION || !once->membership || !is_any_dirty(producer))
        return INT64_MAX;
    int64_t pause = producer->n_settled ? once->commit_ns : TIDY_MS * INT64_C(1000000);
    if (idle && producer->n_settled) pause = MARKERS_MS * INT64_C(1000000);
    int64_t fair = idle ? 0 : WORK_SHARE * producer->took_ns, most = TIDY_MS * INT64_C(1000000);
    if (pause < fair) pause = fair < most ? fair : most; /* limits the share of time that commits take under load */
    int64_t due = producer->transacted_ns + pause;
    if (producer->n_settled >= BATCH_MAX || producer->settled_bytes > BATCH_BYTES) due = 0;
    return due > producer->retry_ns ? due : producer->retry_ns;
}

int64_t once_next_transaction(const struct once *once)
{
    int64_t next = INT64_MAX;
    for (uint32_t i = 0; i < once->n_producers; i++) {
        int64_t due = due_ns(&once->producers[i], true);
        if (due < next) next = due;
    }
    return next;
}

enum err_code once_transact_if_due(struct once *once, bool idle)
{
    for (uint32_t i = 0; i < once->n_producers; i++) {
        struct once_producer *producer = &once->producers[i];
        while (producer->transaction.phase != ONCE_NO_TRANSACTION && background_is_done(producer->background))
            go_on(producer);
    }
    int64_t now = clock_now_ns();
    poison_clear_sound(once, now);
    for (uint32_t i = 0; i < once->n_producers && !once->failure.code; i++)
        if (now >= due_ns(&once->producers[i], idle)) begin_transaction(&once->producers[i]);
    return once->failure.code;
}
