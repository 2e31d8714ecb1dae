/* DESIGN: a consumer that assigns itself every partition, with offsets looked up at the start.
 *
 * The end of a partition is a position, not a record. The offset before it may be a transaction marker, an aborted
 * record or a hole left by compaction. No record with such an offset arrives. A partition is done when a record at or
 * past its end arrives. It is also done when the library reports that the log ends there (enable.partition.eof). The
 * looked-up ends respect read_committed: they are last stable offsets, which precede any open transaction.
 *
 * If records are ordered by time, each partition has its own queue, and the oldest of their first records is returned.
 * No record is returned before all partitions have one or are done. Records of equal time are ordered by partition, so
 * a second reading gives the same order. The memory is queued.max.messages.kbytes for each partition, plus these first
 * records.
 */
#include "proto/bus/kafka/kafka.h"
#include "proto/bus/range.h"

#include "lib/base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ANSWER_MS = 10000, WAIT_SLICE_MS = 50 };

struct part {
    rd_kafka_queue_t *queue;  /* NULL if the partition's queue is forwarded to that of the consumer */
    rd_kafka_message_t *head; /* next record of the partition, which was read and not returned */
    bool done;
};

struct range {
    struct kafka *kafka;
    struct kafka_context context;
    rd_kafka_t *client;
    char *topic;
    struct range_part *public;
    struct part *parts; /* has the same indexes as `public` */
    uint32_t n;
    bool in_order;
    rd_kafka_message_t *raw; /* the library's message that `message` refers to */
    struct bus_message message;
    struct bus_header headers[BUS_MAX_HEADERS];
};

static const struct kafka_preset presets[] = {
    {"check.crcs", "true"},
    {"enable.auto.commit", "false"},
    {"enable.auto.offset.store", "false"},
    {"enable.partition.eof", "true"},
    {"isolation.level", "read_committed"},
    {"auto.offset.reset", "error"}, /* if unread records are deleted, the loss must be reported */
    {"allow.auto.create.topics", "false"},
    {"queued.max.messages.kbytes", "2048"},
    {"queued.min.messages", "1000"},
};

/* --- opening --- */

static struct kafka *kafka_of(struct bus *bus, struct err *err)
{
    if (bus->transport == &bus_kafka) return (struct kafka *)bus;
    err_set(err, ERR_CONFIG, "transport '%s' does not store past messages", bus->transport->name);
    return NULL;
}

static enum err_code make_client(struct range *range, const char *group, struct err *err)
{
    char reason[200];
    rd_kafka_conf_t *conf = kafka_conf(&range->context, presets, sizeof presets / sizeof *presets, err);
    if (!conf) return ERR_CONFIG;
    if (rd_kafka_conf_set(conf, "group.id", group, reason, sizeof reason) != RD_KAFKA_CONF_OK) {
        rd_kafka_conf_destroy(conf);
        return err_set(err, ERR_CONFIG, "kafka: invalid group: %s", reason);
    }
    range->client = kafka_client(RD_KAFKA_CONSUMER, conf, err);
    if (!range->client) return ERR_CONFIG;
    rd_kafka_poll_set_consumer(range->client);
    return kafka_reach(range->kafka, range->client, err);
}

/* Counts the topic's partitions. Searches the list of all topics, because a query by name may create the topic. */
static enum err_code count_partitions(rd_kafka_t *client, const char *topic, uint32_t *n, struct err *err)
{
    const rd_kafka_metadata_t *metadata;
    rd_kafka_resp_err_t error = rd_kafka_metadata(client, 1, NULL, &metadata, ANSWER_MS);
    *n = 0;
    if (error) return kafka_err(err, error, topic);
    error = RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    for (int i = 0; i < metadata->topic_cnt; i++) {
        if (strcmp(metadata->topics[i].topic, topic) != 0) continue;
        error = metadata->topics[i].err;
        *n = error ? 0 : (uint32_t)metadata->topics[i].partition_cnt;
    }
    rd_kafka_metadata_destroy(metadata);
    if (error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        return err_set(err, ERR_CONFIG, "topic '%s' does not exist", topic);
    return error ? kafka_err(err, error, topic) : ERR_OK;
}

enum err_code range_topic_exists(struct bus *bus, const char *topic, struct err *err)
{
    struct kafka *kafka = kafka_of(bus, err);
    uint32_t n;
    return kafka ? count_partitions(kafka->producer, topic, &n, err) : ERR_CONFIG;
}

static rd_kafka_topic_partition_list_t *list_of(const struct range *range)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)range->n);
    for (uint32_t i = 0; i < range->n; i++)
        rd_kafka_topic_partition_list_add(list, range->topic, range->public[i].partition);
    return list;
}

static int64_t clamp(int64_t offset, int64_t low, int64_t high)
{
    return offset < low ? low : offset > high ? high : offset;
}

/* Writes the offsets of a point to `out`, one for each partition. Limits them to [low, high]. */
static enum err_code find(struct range *range, const struct range_point *point, const int64_t *low, const int64_t *high,
                          int64_t *out, struct err *err)
{
    for (uint32_t i = 0; i < range->n; i++) {
        if (point->kind == RANGE_FIRST) out[i] = low[i];
        if (point->kind == RANGE_LAST) out[i] = high[i];
        if (point->kind == RANGE_NEVER) out[i] = INT64_MAX;
        if (point->kind == RANGE_OFFSET) out[i] = clamp(point->value, low[i], high[i]);
    }
    if (point->kind != RANGE_TIME) return ERR_OK;
    rd_kafka_topic_partition_list_t *list = list_of(range);
    for (int i = 0; i < list->cnt; i++) list->elems[i].offset = point->value;
    rd_kafka_resp_err_t error = rd_kafka_offsets_for_times(range->client, list, ANSWER_MS);
    for (int i = 0; i < list->cnt && !error; i++) {
        int64_t found = list->elems[i].offset;
        error = list->elems[i].err;
        out[i] = found < 0 ? high[i] : clamp(found, low[i], high[i]); /* below 0: all records are older than the time */
    }
    rd_kafka_topic_partition_list_destroy(list);
    return error ? kafka_err(err, error, range->topic) : ERR_OK;
}

/* Moves the start of each partition to the group's offset if that is later. */
static enum err_code resume(struct range *range, struct err *err)
{
    rd_kafka_topic_partition_list_t *list = list_of(range);
    rd_kafka_resp_err_t error = rd_kafka_committed(range->client, list, ANSWER_MS);
    for (int i = 0; i < list->cnt && !error; i++) {
        struct range_part *part = &range->public[i];
        error = list->elems[i].err;
        if (list->elems[i].offset > part->from) part->from = clamp(list->elems[i].offset, part->from, part->to);
    }
    rd_kafka_topic_partition_list_destroy(list);
    return error ? kafka_err(err, error, range->topic) : ERR_OK;
}

static enum err_code find_bounds(struct range *range, int64_t *low, int64_t *high, struct err *err)
{
    for (uint32_t i = 0; i < range->n; i++) {
        rd_kafka_resp_err_t error = rd_kafka_query_watermark_offsets(
            range->client, range->topic, range->public[i].partition, &low[i], &high[i], ANSWER_MS);
        if (error) return kafka_err(err, error, range->topic);
    }
    return ERR_OK;
}

/* Finds the start and the end of each partition. */
static enum err_code locate(struct range *range, const struct range_config *config, struct err *err)
{
    int64_t *offsets = calloc(4 * (size_t)range->n + 1, sizeof *offsets);
    if (!offsets) return err_set(err, ERR_NOMEM, "no memory for offsets");
    int64_t *low = offsets, *high = low + range->n, *from = high + range->n, *to = from + range->n;
    enum err_code code = find_bounds(range, low, high, err);
    if (!code) code = find(range, &config->from, low, high, from, err);
    if (!code) code = find(range, &config->to, low, high, to, err);
    for (uint32_t i = 0; i < range->n && !code; i++) {
        range->public[i].from = from[i] < to[i] ? from[i] : to[i];
        range->public[i].to = to[i];
    }
    free(offsets);
    if (!code && config->resume) code = resume(range, err);
    for (uint32_t i = 0; i < range->n && !code; i++) {
        range->public[i].at = range->public[i].from;
        range->parts[i].done = range->public[i].from >= range->public[i].to;
    }
    return code;
}

static enum err_code start(struct range *range, struct err *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)range->n);
    for (uint32_t i = 0; i < range->n; i++) {
        const struct range_part *part = &range->public[i];
        if (range->parts[i].done) continue;
        rd_kafka_topic_partition_list_add(list, range->topic, part->partition)->offset = part->from;
        if (!range->in_order) continue;
        /* This must precede the fetch. The library does not change the forwarding of a queue that the application has
         * set. */
        range->parts[i].queue = rd_kafka_queue_get_partition(range->client, range->topic, part->partition);
        if (range->parts[i].queue) rd_kafka_queue_forward(range->parts[i].queue, NULL);
    }
    rd_kafka_resp_err_t error = rd_kafka_assign(range->client, list);
    rd_kafka_topic_partition_list_destroy(list);
    return error ? kafka_err(err, error, range->topic) : ERR_OK;
}

enum err_code range_open(struct bus *bus, const struct range_config *config, struct range **out, struct err *err)
{
    struct kafka *kafka = kafka_of(bus, err);
    *out = NULL;
    if (!kafka) return ERR_CONFIG;
    struct range *range = calloc(1, sizeof *range);
    if (!range) return err_set(err, ERR_NOMEM, "no memory for a range");
    range->kafka = kafka;
    range->context = (struct kafka_context){kafka, range, false};
    range->topic = strdup(config->topic);
    range->in_order = config->in_order && config->to.kind != RANGE_NEVER;
    enum err_code code = range->topic ? make_client(range, config->group, err) : ERR_NOMEM;
    if (!code) code = count_partitions(range->client, range->topic, &range->n, err);
    if (!code) {
        range->public = calloc((size_t)range->n + 1, sizeof *range->public);
        range->parts = calloc((size_t)range->n + 1, sizeof *range->parts);
        if (!range->public || !range->parts) {
            code = ERR_NOMEM;
            err_set(err, code, "no memory for partitions");
        }
    }
    for (uint32_t i = 0; i < range->n && !code; i++) range->public[i].partition = (int32_t)i;
    if (!code) code = locate(range, config, err);
    if (!code) code = start(range, err);
    if (code) {
        range_close(range);
        return code;
    }
    *out = range;
    return ERR_OK;
}

void range_close(struct range *range)
{
    if (!range) return;
    if (range->raw) rd_kafka_message_destroy(range->raw);
    for (uint32_t i = 0; range->parts && i < range->n; i++) {
        if (range->parts[i].head) rd_kafka_message_destroy(range->parts[i].head);
        if (range->parts[i].queue) rd_kafka_queue_destroy(range->parts[i].queue);
    }
    if (range->client) {
        rd_kafka_consumer_close(range->client);
        rd_kafka_destroy(range->client);
    }
    free(range->public);
    free(range->parts);
    free(range->topic);
    free(range);
}

/* --- reading --- */

/* Handles the library's report that a partition ends at `offset`. If that is before the expected end, the log itself
 * may have been truncated (an unclean election). The partition then ends here. */
static void at_end(struct range *range, uint32_t i, int64_t offset)
{
    struct range_part *part = &range->public[i];
    int64_t low = 0, high = 0;
    if (part->to == INT64_MAX) return;
    if (offset < part->to && (rd_kafka_query_watermark_offsets(range->client, range->topic, part->partition, &low,
                                                               &high, ANSWER_MS) != RD_KAFKA_RESP_ERR_NO_ERROR ||
                              high > offset))
        return;
    part->at = part->to;
    range->parts[i].done = true;
}

static enum err_code on_problem(struct range *range, const rd_kafka_message_t *raw, struct err *err)
{
    if (raw->err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET)
        return err_set(err, ERR_IO, "%s: records of partition %d were deleted before they were read", range->topic,
                       raw->partition);
    enum err_code code = kafka_code(raw->err);
    if (err_class(code) != ERR_CLASS_FATAL) return ERR_OK; /* an outage, from which the library recovers on its own */
    return err_set(err, code, "%s: %s", range->topic, rd_kafka_message_errstr(raw));
}

/* Handles a message from the library. A record in the range becomes the next record of its partition. */
static enum err_code take(struct range *range, rd_kafka_message_t *raw, struct err *err)
{
    uint32_t i = (uint32_t)raw->partition;
    enum err_code code = ERR_OK;
    bool known = raw->partition >= 0 && i < range->n && !range->parts[i].done;
    if (raw->err && raw->err != RD_KAFKA_RESP_ERR__PARTITION_EOF)
        code = on_problem(range, raw, err);
    else if (known && raw->err)
        at_end(range, i, raw->offset);
    else if (known && raw->offset < range->public[i].to) {
        if (range->parts[i].head) return err_set(err, ERR_INTERNAL, "%s: unexpected record", range->topic);
        range->parts[i].head = raw;
        return ERR_OK;
    } else if (known) {
        range->public[i].at = range->public[i].to;
        range->parts[i].done = true;
    }
    rd_kafka_message_destroy(raw);
    return code;
}

static int64_t time_of(const rd_kafka_message_t *raw)
{
    rd_kafka_timestamp_type_t type;
    return rd_kafka_message_timestamp(raw, &type);
}

/* Returns the partition with the next record, or n. *missing is a partition without a next record that is not done, or
 * n. */
static uint32_t whose_turn(const struct range *range, uint32_t *missing)
{
    uint32_t turn = range->n;
    *missing = range->n;
    for (uint32_t i = 0; i < range->n; i++) {
        const rd_kafka_message_t *head = range->parts[i].head;
        if (!head && !range->parts[i].done) *missing = i;
        if (head && (turn == range->n || time_of(head) < time_of(range->parts[turn].head))) turn = i;
    }
    return turn;
}

/* Returns the library's next message for the partition `missing`. Also polls the consumer's own queue, which has the
 * client's errors. This poll also shows the library that the application is alive. */
static rd_kafka_message_t *hear(struct range *range, uint32_t missing, int64_t timeout_ms)
{
    int wait = (int)(timeout_ms < WAIT_SLICE_MS ? timeout_ms : WAIT_SLICE_MS);
    if (!range->in_order) return rd_kafka_consumer_poll(range->client, wait);
    rd_kafka_message_t *raw = rd_kafka_consumer_poll(range->client, 0);
    return raw || !range->parts[missing].queue ? raw : rd_kafka_consume_queue(range->parts[missing].queue, wait);
}

static const struct bus_message *hand_out(struct range *range, uint32_t i)
{
    rd_kafka_message_t *raw = range->parts[i].head;
    if (range->raw) rd_kafka_message_destroy(range->raw);
    range->raw = raw;
    range->parts[i].head = NULL;
    range->public[i].at = raw->offset + 1;
    kafka_fill(&range->message, range->headers, kafka_headers_of(raw), raw);
    range->message.topic = range->topic;
    return &range->message;
}

enum err_code range_poll(struct range *range, int64_t timeout_ms, const struct bus_message **out, struct err *err)
{
    int64_t until = clock_now_ns() + timeout_ms * 1000000;
    *out = NULL;
    for (;;) {
        uint32_t missing, turn = whose_turn(range, &missing);
        if (turn < range->n && (!range->in_order || missing == range->n)) {
            *out = hand_out(range, turn);
            return ERR_OK;
        }
        if (missing == range->n) return ERR_CLOSED;
        int64_t left_ms = (until - clock_now_ns()) / 1000000;
        rd_kafka_message_t *raw = hear(range, missing, left_ms > 0 ? left_ms : 0);
        enum err_code code = raw ? take(range, raw, err) : left_ms <= 0 ? ERR_FULL : ERR_OK;
        if (code) return code;
    }
}

const struct range_part *range_parts(const struct range *range, uint32_t *n)
{
    *n = range->n;
    return range->public;
}

enum err_code range_commit(struct range *range, const int64_t *next, struct err *err)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)range->n);
    for (uint32_t i = 0; i < range->n; i++)
        if (next[i] >= 0)
            rd_kafka_topic_partition_list_add(list, range->topic, range->public[i].partition)->offset = next[i];
    rd_kafka_queue_t *queue = rd_kafka_queue_new(range->client);
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    if (list->cnt) error = rd_kafka_commit_queue(range->client, list, queue, NULL, NULL);
    if (list->cnt && !error) { /* rd_kafka_commit has no timeout */
        rd_kafka_event_t *event = rd_kafka_queue_poll(queue, ANSWER_MS);
        error = event ? rd_kafka_event_error(event) : RD_KAFKA_RESP_ERR__TIMED_OUT;
        if (event) rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_topic_partition_list_destroy(list);
    return error ? kafka_err(err, error, "cannot read the group's offsets") : ERR_OK;
}
