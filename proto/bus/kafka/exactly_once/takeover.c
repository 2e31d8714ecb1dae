/* DESIGN: the steps from a new assignment to the first message. They run in the rebalance callback, on the reader's
 * thread:
 *
 *    membership ─▶ commits, stable ones ─▶ ledgers ─▶ verdicts and dead letters read back ─▶ claim ─▶ assign
 *
 * An open transaction of another owner delays the second step if it has a commit, and the fourth if it has an output.
 * It ends when that owner ends it, restarts, or is timed out by the brokers. Outputs after `outputs` of the ledger
 * count as finished, whatever the commit says. The reason is that a delayed "commit" may have made verdicts visible
 * without their offsets (KIP-890).
 *
 * The claim is a commit of the same state with this process's own number and one more crash. If this process dies, the
 * next owner can detect it. Messages are handed out only after the claim.
 *
 * If the commit of a reassigned partition is the last one of this process, the partition had no other owner meanwhile.
 * Its state then stays unchanged.
 *
 * Partition i of one topic belongs to partition i of the other three. Another topic may lack a partition of the
 * requests, if the counts differ or one topic was extended first. That partition is owned but stays closed. This is
 * logged and checked again every few seconds. The other partitions are read. When the missing co-partitions exist, all
 * owned partitions are assigned again, as after a rebalance.
 *
 * Requests are read from a little before low on. The settled ones are delivered as history, because duplicates of them
 * may follow.
 */
#include "proto/bus/kafka/exactly_once/once.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "proto/bus/mutation.h"

#include <stdlib.h>
#include <string.h>

enum { ASK_MS = 5000, PAUSE_MS = 100, LOOK_MS = 5000 };

static int64_t deadline(void)
{
    return clock_now_ns() + ONCE_TAKE_OVER_MS * INT64_C(1000000);
}

static void pause_a_moment(void)
{
    const struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
    nanosleep(&pause, NULL);
}

/* --- logs --- */

static enum err_code query_log(rd_kafka_t *client, const char *topic, int32_t partition, int64_t *start, int64_t *end,
                               struct err *err)
{
    int64_t limit = deadline();
    for (;;) {
        rd_kafka_resp_err_t error = rd_kafka_query_watermark_offsets(client, topic, partition, start, end, ASK_MS);
        if (!error) return ERR_OK;
        if (err_class(kafka_code(error)) != ERR_CLASS_RETRY || clock_now_ns() > limit)
            return kafka_err(err, error, topic);
        pause_a_moment();
    }
}

enum err_code once_query_logs(rd_kafka_t *client, char *const *topics, int32_t partition, struct once_logs *out,
                              struct err *err)
{
    enum err_code code = ERR_OK;
    for (unsigned i = 0; i < ONCE_TOPICS && !code; i++)
        code = query_log(client, topics[i], partition, &out->start[i], &out->end[i], err);
    return code;
}

enum err_code once_count_partitions(rd_kafka_t *client, const char *topic, int32_t *out, struct err *err)
{
    const rd_kafka_metadata_t *metadata;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client, topic, NULL);
    if (!handle) return kafka_err(err, rd_kafka_last_error(), topic);
    rd_kafka_resp_err_t error = rd_kafka_metadata(client, 0, handle, &metadata, ASK_MS);
    rd_kafka_topic_destroy(handle);
    if (error) return kafka_err(err, error, topic);
    *out = metadata->topic_cnt ? metadata->topics[0].partition_cnt : 0;
    rd_kafka_metadata_destroy(metadata);
    return *out ? ERR_OK
                : err_set(err, ERR_CONFIG, "topic %s does not exist" ERR_HINT "create it with `assay topics create`",
                          topic);
}

void once_begin(struct ledger *ledger, uint64_t log_id, const struct once_logs *logs, bool from_end)
{
    ledger_init(ledger, log_id, from_end ? logs->end[ONCE_REQUESTS] : logs->start[ONCE_REQUESTS],
                logs->end[ONCE_RESULTS]);
    for (unsigned i = 0; i < LEDGER_OUTPUTS; i++) ledger->outputs[i] = logs->end[ONCE_VERDICTS + i];
}

/* --- commits --- */

static bool is_settled(const rd_kafka_topic_partition_list_t *list)
{
    bool all = true;
    for (int i = 0; i < list->cnt; i++) all &= list->elems[i].err == RD_KAFKA_RESP_ERR_NO_ERROR;
    return all;
}

/* Reads the group's commits for the partitions in `list`. Waits until none of them has an error, such as an open
 * transaction. */
static enum err_code read_commits(struct once *once, rd_kafka_topic_partition_list_t *list, struct err *err)
{
    int64_t limit = deadline();
    for (;;) {
        rd_kafka_resp_err_t error = rd_kafka_committed(once->client, list, ASK_MS);
        if (!error && is_settled(list)) return ERR_OK;
        for (int i = 0; i < list->cnt && !error; i++) error = list->elems[i].err;
        bool passes =
            error == RD_KAFKA_RESP_ERR_UNSTABLE_OFFSET_COMMIT || err_class(kafka_code(error)) == ERR_CLASS_RETRY;
        if (!passes || clock_now_ns() > limit)
            return kafka_err(err, error, "cannot read the group's committed offsets");
        pause_a_moment();
    }
}

/* Sets *out to true if this group has ever read any partition of the requests. */
static enum err_code is_known(struct once *once, bool *out, struct err *err)
{
    int32_t n = 0;
    enum err_code code = once_count_partitions(once->client, once->topics[ONCE_REQUESTS], &n, err);
    if (code) return code;
    rd_kafka_topic_partition_list_t *all = rd_kafka_topic_partition_list_new(n);
    rd_kafka_topic_partition_list_add_range(all, once->topics[ONCE_REQUESTS], 0, n - 1);
    code = read_commits(once, all, err);
    *out = false;
    for (int i = 0; i < all->cnt && !code; i++) *out |= all->elems[i].offset >= 0;
    rd_kafka_topic_partition_list_destroy(all);
    return code;
}

/* Initializes a partition without a commit. If the group has read other partitions, this one is new, and all its
 * requests are unread. If the group has read none, its name may be a typing error, and it would judge all requests of
 * the past. */
static enum err_code begin_new(struct once *once, struct once_partition *part, uint64_t id,
                               const struct once_logs *logs, struct err *err)
{
    bool known = false;
    enum err_code code = is_known(once, &known, err);
    if (code) return code;
    if (!known && !once->from)
        return err_set(err, ERR_CONFIG,
                       "group %.100s has no committed offset in topic %s" ERR_HINT
                       "run `assay topics create`, or set --from beginning or end",
                       once->group, once->topics[ONCE_REQUESTS]);
    once_begin(&part->ledger, id, logs, !known && strcmp(once->from, "end") == 0);
    return ERR_OK;
}

static int64_t clamp(int64_t offset, int64_t start, int64_t end)
{
    return offset < start || offset > end ? start : offset;
}

static void say_lost(const rd_kafka_topic_partition_t *entry, uint64_t lost)
{
    const struct log_field fields[] = {log_field_text("topic", entry->topic),
                                       log_field_number("partition", entry->partition),
                                       log_field_number("requests", (int64_t)lost)};
    log_event(LOG_LEVEL_ERROR, "kafka", fields, 3, "requests are lost: retention deleted them before they were judged");
}

/* Restores the ledger of the previous owner. Limits its offsets to the existing records of the logs. */
static enum err_code restore(struct once *once, struct once_partition *part, const rd_kafka_topic_partition_t *entry,
                             struct once_logs *logs, struct err *err)
{
    uint64_t id = ledger_log_id(once->cluster, entry->topic, entry->partition);
    struct ledger *ledger = &part->ledger;
    enum err_code code = once_query_logs(txn_client(once->producers[0].txn), once->topics, entry->partition, logs, err);
    if (code) return code;
    if (entry->offset < 0)
        code = begin_new(once, part, id, logs, err);
    else
        code = ledger_decode(ledger, id, entry->offset, entry->metadata, entry->metadata_size, err);
    if (code) return code;
    if (ledger->low > logs->end[ONCE_REQUESTS])
        return err_set(err, ERR_CONFIG,
                       "the group's committed offset is past the end of topic %s" ERR_HINT
                       "check whether the topic was recreated",
                       entry->topic);
    uint64_t lost = ledger_skip_to(ledger, logs->start[ONCE_REQUESTS]);
    if (lost) say_lost(entry, lost);
    once->stats.lost += lost;
    once->stats.takeovers++;
    ledger->position = clamp(ledger->position, logs->start[ONCE_RESULTS], logs->end[ONCE_RESULTS]);
    for (unsigned i = 0; i < LEDGER_OUTPUTS; i++)
        ledger->outputs[i] = clamp(ledger->outputs[i], logs->start[ONCE_VERDICTS + i], logs->end[ONCE_VERDICTS + i]);
    part->from = ledger->low - once->history > logs->start[ONCE_REQUESTS] ? ledger->low - once->history
                                                                          : logs->start[ONCE_REQUESTS];
    part->text_len = 0;
    part->catch_up_end = MUTATED(end_instead_of_r) ? 0 : logs->end[ONCE_RESULTS];
    /* larger than in the last commit, because the owner may have opened requests since */
    part->before_end = logs->end[ONCE_REQUESTS];
    poison_count_crash(part);
    return ERR_OK;
}

/* Returns true if the commit is the last one of this process. */
static bool is_ours(const struct once_partition *part, const rd_kafka_topic_partition_t *entry)
{
    return part->text_len && part->text_low == entry->offset && part->text_len == entry->metadata_size &&
           memcmp(part->text, entry->metadata, part->text_len) == 0;
}

/* --- reading back --- */

/* An output log that is being read up to its end. */
struct tail {
    struct once_partition *part;
    int64_t end;
    bool done;
};

struct reading {
    struct once *once;
    rd_kafka_t *client;
    rd_kafka_topic_partition_list_t *list;
    struct tail *tails; /* has the same indexes as the list */
    int left;
};

static bool read_decimal(const char *text, int64_t *out)
{
    char *end;
    if (!text || *text < '0' || *text > '9') return false;
    *out = strtoll(text, &end, 10);
    return *end == '\0';
}

/* INVARIANT I7: records that the request of this output is finished. */
static void note(struct once *once, struct once_partition *part, const rd_kafka_message_t *raw)
{
    struct bus_header headers[BUS_MAX_HEADERS];
    struct bus_message message;
    int64_t partition, offset;
    kafka_fill(&message, headers, kafka_headers_of(raw), raw);
    const char *group = bus_header_get(&message, BUS_OF_GROUP);
    /* the output belongs to another group that judges the same requests */
    if (!group || strcmp(group, once->group) != 0) return;
    if (!read_decimal(bus_header_get(&message, BUS_OF_PARTITION), &partition) || partition != part->partition) return;
    if (read_decimal(bus_header_get(&message, BUS_OF_OFFSET), &offset)) ledger_finish(&part->ledger, offset);
}

static struct tail *tail_of(struct reading *reading, const rd_kafka_message_t *raw)
{
    const char *topic = raw->rkt ? rd_kafka_topic_name(raw->rkt) : "";
    for (int i = 0; i < reading->list->cnt; i++)
        if (reading->list->elems[i].partition == raw->partition && strcmp(reading->list->elems[i].topic, topic) == 0)
            return &reading->tails[i];
    return NULL;
}

static enum err_code read_one(struct reading *reading, const rd_kafka_message_t *raw, struct err *err)
{
    struct tail *tail = tail_of(reading, raw);
    bool end = raw->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (raw->err && !end) {
        bool passes = !kafka_is_final(raw->err);
        return passes ? ERR_OK : err_set(err, kafka_code(raw->err), "%s", rd_kafka_message_errstr(raw));
    }
    if (!tail || tail->done) return ERR_OK;
    if (!end) note(reading->once, tail->part, raw);
    tail->done = raw->offset + !end >= tail->end;
    reading->left -= tail->done;
    return ERR_OK;
}

static rd_kafka_t *readback_new(struct once *once, struct err *err)
{
    const struct kafka_preset presets[] = {
        {"group.id", once->group}, /* the client never joins the group and commits nothing */
        {"enable.auto.commit", "false"},
        {"enable.partition.eof", "true"}, /* also reports positions past transaction markers */
        {"isolation.level", "read_committed"},
        {"auto.offset.reset", "error"},
        {"fetch.wait.max.ms", "10"},
    };
    rd_kafka_conf_t *conf = kafka_conf(&once->readback, presets, sizeof presets / sizeof *presets, err);
    rd_kafka_t *client = conf ? kafka_client(RD_KAFKA_CONSUMER, conf, err) : NULL;
    if (client) rd_kafka_poll_set_consumer(client);
    return client;
}

static enum err_code read_tails(struct reading *reading, struct err *err)
{
    int64_t limit = deadline();
    enum err_code code = ERR_OK;
    rd_kafka_resp_err_t error = rd_kafka_assign(reading->client, reading->list);
    if (error) return kafka_err(err, error, "cannot read verdicts back");
    while (reading->left && !code) {
        rd_kafka_message_t *raw = rd_kafka_consumer_poll(reading->client, KAFKA_POLL_MS);
        if (raw) code = read_one(reading, raw, err);
        if (raw) rd_kafka_message_destroy(raw);
        if (!code && clock_now_ns() > limit)
            code = err_set(err, ERR_CLOSED, "timed out reading verdicts back: a transaction is still open");
    }
    return code;
}

static void add_tails(struct reading *reading, struct once_partition *part, const struct once_logs *logs)
{
    for (unsigned i = 0; i < LEDGER_OUTPUTS; i++) {
        const char *topic = reading->once->topics[ONCE_VERDICTS + i];
        if (part->ledger.outputs[i] >= logs->end[ONCE_VERDICTS + i]) continue;
        rd_kafka_topic_partition_list_add(reading->list, topic, part->partition)->offset = part->ledger.outputs[i];
        reading->tails[reading->left++] = (struct tail){part, logs->end[ONCE_VERDICTS + i], false};
    }
}

static enum err_code read_back(struct reading *reading, struct err *err)
{
    if (!reading->left) return ERR_OK;
    reading->client = readback_new(reading->once, err);
    if (!reading->client) return ERR_CONFIG;
    enum err_code code = read_tails(reading, err);
    watchdog_begin(reading->once->watchdog, "closing a reader", ONCE_CALL_MS);
    rd_kafka_destroy(reading->client);
    watchdog_end(reading->once->watchdog);
    kafka_stats_forget(&reading->once->kafka->stats, &reading->once->readback);
    return code;
}

/* --- taking over --- */

/* INVARIANT I3: reads the membership of this assignment. It is read only here. */
static enum err_code take_membership(struct once *once, struct err *err)
{
    char *member = rd_kafka_memberid(once->client);
    bool is_member = member && *member;
    if (member) rd_kafka_mem_free(once->client, member);
    if (once->membership) rd_kafka_consumer_group_metadata_destroy(once->membership);
    once->membership = is_member ? rd_kafka_consumer_group_metadata(once->client) : NULL;
    return once->membership
               ? ERR_OK
               : err_set(err, ERR_CLOSED, "partitions were assigned, but this process is not a member of the group");
}

static enum err_code restore_all(struct once *once, const rd_kafka_topic_partition_list_t *list, struct err *err)
{
    struct reading reading = {.once = once};
    enum err_code code = ERR_OK;
    reading.tails = calloc((size_t)list->cnt * LEDGER_OUTPUTS + 1, sizeof *reading.tails);
    if (!reading.tails) return err_set(err, ERR_NOMEM, "no memory for partitions");
    reading.list = rd_kafka_topic_partition_list_new(list->cnt);
    for (int i = 0; i < list->cnt && !code; i++) {
        struct once_logs logs;
        struct once_partition *part = once_partition_get(once, list->elems[i].partition);
        if (!part) {
            code = err_set(err, ERR_NOMEM, "no memory for a partition");
        } else if (is_ours(part, &list->elems[i])) {
            part->from = part->ledger.next;
        } else {
            once_forget(part);
            code = restore(once, part, &list->elems[i], &logs, err);
            if (!code) add_tails(&reading, part, &logs);
        }
    }
    if (!code) code = read_back(&reading, err);
    free(reading.tails);
    rd_kafka_topic_partition_list_destroy(reading.list);
    return code;
}

static void mark_ours(struct once_partition *part, const struct once *once)
{
    bool anew = !part->text_len;
    if (anew) poison_recall(part);
    part->assigned = part->dirty = true;
    part->claimed = part->sound = false;
    part->since_ns = clock_now_ns();
    part->ledger.writer = once->writer;
    /* stays 1 until this owner is sound, or commits its departure */
    if (!part->ledger.crashes) part->ledger.crashes = 1;
}

/* Deletes the state of partitions that went to another owner. */
static void forget_others(struct once *once)
{
    for (uint32_t i = 0; i < once->n_parts; i++) {
        struct once_partition *part = once->parts[i];
        if (part->assigned || !part->text_len) continue;
        once_forget(part);
        part->text_len = 0;
    }
}

/* Opens the queue of a partition. Must be called before the assignment, which starts the fetch. The library does not
 * change the forwarding of a queue that the application has set. */
static void open_queue(struct once *once, struct once_partition *part, unsigned topic)
{
    rd_kafka_queue_t *queue = rd_kafka_queue_get_partition(once->client, once->topics[topic], part->partition);
    if (!queue) {
        once_fail(once, ERR_NOMEM, "cannot create a queue for a partition");
        return;
    }
    rd_kafka_queue_forward(queue, NULL);
    rd_kafka_queue_cb_event_enable(queue, kafka_wakeup, &once->wakeup);
    part->queues[topic] = queue;
}

static void assign(struct once *once)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(8);
    for (uint32_t i = 0; i < once->n_parts; i++) {
        struct once_partition *part = once->parts[i];
        if (!part->assigned) continue;
        for (unsigned topic = 0; topic < BUS_ONCE_TOPICS; topic++) open_queue(once, part, topic);
        rd_kafka_topic_partition_list_add(list, once->topics[ONCE_REQUESTS], part->partition)->offset = part->from;
        rd_kafka_topic_partition_list_add(list, once->topics[ONCE_RESULTS], part->partition)->offset =
            MUTATED(end_instead_of_r) ? RD_KAFKA_OFFSET_END : part->ledger.position;
    }
    rd_kafka_resp_err_t error = rd_kafka_assign(once->client, list);
    if (error) once_fail(once, kafka_code(error), rd_kafka_err2str(error));
    rd_kafka_topic_partition_list_destroy(list);
}

/* --- co-partitions --- */

/* Returns the smallest number of partitions among the other topics in *out, and the topic that has it in *scarce.
 * Retries, because a slow broker may not know a topic yet. */
static enum err_code count_copartitions(struct once *once, int32_t *out, const char **scarce, struct err *err)
{
    static const unsigned copartitions[] = {ONCE_RESULTS, ONCE_VERDICTS, ONCE_LETTERS};
    int64_t limit = deadline();
    for (;; pause_a_moment()) {
        enum err_code code = ERR_OK;
        *out = INT32_MAX;
        for (unsigned i = 0; i < sizeof copartitions / sizeof *copartitions && !code; i++) {
            int32_t n = 0;
            code = once_count_partitions(once->client, once->topics[copartitions[i]], &n, err);
            if (!code && n < *out) *out = n, *scarce = once->topics[copartitions[i]];
        }
        bool passes = code == ERR_CONFIG || err_class(code) == ERR_CLASS_RETRY;
        if (!passes || clock_now_ns() > limit) return code;
    }
}

static void say_closed(const struct once *once, int32_t first, int32_t copartitions, const char *scarce)
{
    const struct log_field fields[] = {log_field_text("topic", once->topics[ONCE_REQUESTS]),
                                       log_field_number("closed", once->n_closed), log_field_number("first", first),
                                       log_field_text("lacking", scarce), log_field_number("partitions", copartitions)};
    log_event(LOG_LEVEL_WARN, "kafka", fields, sizeof fields / sizeof *fields,
              "requests of some partitions are not read: another topic has fewer partitions");
}

/* Removes partitions that lack co-partitions from the list, and marks them as closed. */
static enum err_code leave_closed(struct once *once, rd_kafka_topic_partition_list_t *list, struct err *err)
{
    int32_t copartitions, first = -1;
    const char *scarce = "";
    enum err_code code = count_copartitions(once, &copartitions, &scarce, err);
    once->n_closed = 0;
    for (int i = list->cnt; i-- > 0 && !code;) {
        int32_t partition = list->elems[i].partition;
        if (partition < copartitions) continue;
        struct once_partition *part = once_partition_get(once, partition);
        if (!part) return err_set(err, ERR_NOMEM, "no memory for a partition");
        part->closed = true;
        once->n_closed++;
        first = partition;
        rd_kafka_topic_partition_list_del_by_idx(list, i);
    }
    once->look_ns = clock_now_ns() + LOOK_MS * INT64_C(1000000);
    if (once->n_closed) say_closed(once, first, copartitions, scarce);
    return code;
}

/* Takes over the partitions in the list, under the current membership. */
static void open_all(struct once *once, rd_kafka_topic_partition_list_t *list)
{
    struct err err = {0};
    enum err_code code = once->failure.code;
    once->restore_ns = clock_now_ns();
    if (!code && list->cnt) code = leave_closed(once, list, &err);
    if (!code && list->cnt) code = read_commits(once, list, &err);
    if (!code) code = restore_all(once, list, &err);
    for (int i = 0; i < list->cnt && !code; i++) mark_ours(once_partition_get(once, list->elems[i].partition), once);
    if (code) {
        once_fail(once, code, err.text);
        rd_kafka_assign(once->client, NULL);
        return;
    }
    forget_others(once);
    assign(once);
    once_transact(once); /* the claim; it is retried later if the transaction is dropped */
    wakeup_signal(&once->wakeup);
}

void once_take_over(struct once *once, const rd_kafka_topic_partition_list_t *partitions)
{
    struct err err = {0};
    if (take_membership(once, &err)) {
        once_fail(once, err.code, err.text);
        rd_kafka_assign(once->client, NULL);
        return;
    }
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_copy(partitions);
    open_all(once, list);
    rd_kafka_topic_partition_list_destroy(list);
}

/* Returns true if a missing co-partition now exists. Logs those that are still missing. If a broker does not reply,
 * returns false, and the next check retries. */
static bool has_a_copartition_come(struct once *once)
{
    struct err err = {0};
    int32_t copartitions, first = -1;
    const char *scarce = "";
    if (once->look_ns > clock_now_ns()) return false;
    once->look_ns = clock_now_ns() + LOOK_MS * INT64_C(1000000);
    if (!once->membership || count_copartitions(once, &copartitions, &scarce, &err)) return false;
    for (uint32_t i = once->n_parts; i-- > 0;)
        if (once->parts[i]->closed) first = once->parts[i]->partition;
    if (first >= 0 && first >= copartitions) say_closed(once, first, copartitions, scarce);
    return first >= 0 && first < copartitions;
}

void once_look_for_copartitions(struct once *once)
{
    if (!has_a_copartition_come(once)) return;
    once_transact_wait(once);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)once->n_parts);
    for (uint32_t i = 0; i < once->n_parts; i++) {
        struct once_partition *part = once->parts[i];
        if (!part->assigned && !part->closed) continue;
        rd_kafka_topic_partition_list_add(list, once->topics[ONCE_REQUESTS], part->partition);
        once_close_partition(part);
    }
    rd_kafka_assign(once->client, NULL);
    open_all(once, list);
    rd_kafka_topic_partition_list_destroy(list);
}
