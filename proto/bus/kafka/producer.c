/* DESIGN: the producer has a list of messages without a delivery report, oldest first.
 *
 * The list provides three functions that the library lacks. The first is a bound that accepts a single large message
 * and takes the messages of a key together. The second is a number: all messages with lower numbers have been
 * delivered. An ack counts only when this number has reached it (window.c). The third is a permanent failure state. The
 * library's own bounds are so wide that they are not reached first.
 *
 * message.timeout.ms is 0, which means no limit. With a limit, a message could time out and be lost, and a lost message
 * ends the bus. During an outage the message waits, and the writer gets ERR_FULL. Operators who prefer that the process
 * ends can set the limit (-X message.timeout.ms=60000).
 *
 * The partitioner is murmur2_random, as in the Java clients, so that all producers send a key to the same partition.
 */
#include "proto/bus/kafka/kafka.h"
#include "proto/message/msg.h"

#include "lib/base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLOSE_MS = 5000, OVERHEAD = 64 << 10, SPARE_MESSAGES = 100000, MOST = 10000000 };

struct pending {
    struct pending *previous, *next;
    uint64_t number;
    uint64_t bytes;
    int64_t sent_ms;
    bus_delivered *delivered; /* NULL if no report is requested */
    void *ctx;
};

/* --- delivery --- */

/* Removes a message from the list. Keeps its entry for a later message, because malloc is slow when one thread
 * allocates and another frees. The caller holds the lock. */
static void forget(struct kafka *kafka, struct pending *pending)
{
    *(pending->previous ? &pending->previous->next : &kafka->oldest) = pending->next;
    *(pending->next ? &pending->next->previous : &kafka->newest) = pending->previous;
    kafka->n--;
    kafka->bytes -= pending->bytes;
    pending->next = kafka->spare;
    kafka->spare = pending;
}

static void say_lost(struct kafka *kafka, const rd_kafka_message_t *report)
{
    char text[ERR_TEXT_MAX];
    snprintf(text, sizeof text, "a message to topic %s was not delivered: %s%s", rd_kafka_topic_name(report->rkt),
             rd_kafka_err2str(report->err),
             report->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ? "; check max.message.bytes of the topic" : "");
    kafka_fail(kafka, kafka_code(report->err), text);
}

/* Handles a delivery report. A message that was not delivered stays in the list, so that the acks that depend on it
 * never count. A message that is too large for its topic is removed. It would be refused every time; its request ends
 * without it at the deadline. */
static void on_delivery(rd_kafka_t *producer, const rd_kafka_message_t *report, void *opaque)
{
    struct kafka *kafka = ((struct kafka_context *)opaque)->kafka;
    struct pending *pending = report->_private;
    rd_kafka_timestamp_type_t type;
    int64_t broker_ms = rd_kafka_message_timestamp(report, &type);
    (void)producer;
    bool refused = report->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE &&
                   kafka_is_refused(kafka, rd_kafka_topic_name(report->rkt), pending->bytes);
    if (report->err && !refused) {
        if (!atomic_load(&kafka->stop)) say_lost(kafka, report);
        return;
    }
    pthread_mutex_lock(&kafka->lock);
    bus_delivered *delivered = refused ? NULL : pending->delivered;
    void *ctx = pending->ctx;
    if (type == RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME)
        kafka_learn_clock(kafka, broker_ms, pending->sent_ms, kafka_local_ms());
    forget(kafka, pending);
    pthread_cond_broadcast(&kafka->progress);
    pthread_mutex_unlock(&kafka->lock);
    if (delivered) delivered(ctx, report->partition, report->offset);
}

uint64_t kafka_arrived(struct kafka *kafka)
{
    pthread_mutex_lock(&kafka->lock);
    uint64_t number = kafka->oldest ? kafka->oldest->number : kafka->next_number;
    pthread_mutex_unlock(&kafka->lock);
    return number;
}

uint64_t kafka_next_number(struct kafka *kafka)
{
    pthread_mutex_lock(&kafka->lock);
    uint64_t number = kafka->next_number;
    pthread_mutex_unlock(&kafka->lock);
    return number;
}

/* --- open, close --- */

static void *serve(void *arg)
{
    struct kafka *kafka = arg;
    while (!atomic_load(&kafka->stop)) rd_kafka_poll(kafka->producer, KAFKA_POLL_MS);
    return NULL;
}

/* Builds the configuration. Sets the library's bounds wider than those of the bus. */
static rd_kafka_conf_t *producer_conf(struct kafka *kafka, struct err *err)
{
    char largest[32], kbytes[32], messages[32];
    uint64_t all = (kafka->max_bytes >> 10) + 2 * ((uint64_t)(MSG_MAX_BYTES + OVERHEAD) >> 10);
    uint64_t count = (uint64_t)kafka->max_messages + SPARE_MESSAGES;
    snprintf(largest, sizeof largest, "%d", MSG_MAX_BYTES + OVERHEAD);
    snprintf(kbytes, sizeof kbytes, "%llu", (unsigned long long)(all < INT32_MAX ? all : INT32_MAX));
    snprintf(messages, sizeof messages, "%llu", (unsigned long long)(count < MOST ? count : MOST));
    const struct kafka_preset presets[] = {
        {"enable.idempotence", "true"},
        {"message.timeout.ms", "0"},
        {"linger.ms", "5"},
        {"compression.type", "lz4"},
        {"partitioner", "murmur2_random"},
        {"message.max.bytes", largest},
        {"queue.buffering.max.kbytes", kbytes},
        {"queue.buffering.max.messages", messages},
    };
    rd_kafka_conf_t *conf = kafka_conf(&kafka->context, presets, sizeof presets / sizeof *presets, err);
    size_t size = sizeof largest;
    if (!conf) return NULL;
    if (rd_kafka_conf_get(conf, "message.max.bytes", largest, &size) == RD_KAFKA_CONF_OK)
        kafka->bus.max_message = kafka_without_overhead(strtoul(largest, NULL, 10));
    size = sizeof largest;
    atomic_store(&kafka->least_limit, kafka->bus.max_message);
    kafka->batch_bytes = rd_kafka_conf_get(conf, "batch.size", largest, &size) == RD_KAFKA_CONF_OK
                             ? strtoul(largest, NULL, 10)
                             : kafka->bus.max_message;
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    return conf;
}

enum err_code kafka_producer_open(struct kafka *kafka, struct err *err)
{
    rd_kafka_conf_t *conf = producer_conf(kafka, err);
    if (!conf) return ERR_CONFIG;
    kafka->producer = kafka_client(RD_KAFKA_PRODUCER, conf, err);
    if (!kafka->producer) return ERR_CONFIG;
    atomic_store(&kafka->stop, false);
    if (pthread_create(&kafka->thread, NULL, serve, kafka) != 0) {
        rd_kafka_destroy(kafka->producer);
        return err_set(err, ERR_NOMEM, "kafka: cannot create the producer thread");
    }
    enum err_code code = kafka_reach(kafka, kafka->producer, err);
    if (code) kafka_producer_close(kafka);
    return code;
}

static void free_all(struct pending *pending)
{
    for (struct pending *next; pending; pending = next) {
        next = pending->next;
        free(pending);
    }
}

/* Waits briefly for outstanding deliveries, then drops the rest. Acks that depend on a dropped message never count. */
void kafka_producer_close(struct kafka *kafka)
{
    kafka_flush(&kafka->bus, kafka->oldest ? CLOSE_MS : 0);
    atomic_store(&kafka->stop, true);
    pthread_join(kafka->thread, NULL);
    rd_kafka_purge(kafka->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_poll(kafka->producer, 0);
    rd_kafka_destroy(kafka->producer);
    free_all(kafka->oldest);
    free_all(kafka->spare);
}

/* --- produce --- */

static bool same_key(const struct bus_out *a, const struct bus_out *b)
{
    if (!a->key || !b->key) return false;
    return a->key_len == b->key_len && memcmp(a->key, b->key, a->key_len) == 0;
}

/* Returns the number of leading messages with one key, and the sum of their bytes. */
static uint32_t run_of(const struct bus_out *messages, uint32_t n, uint64_t *bytes)
{
    uint32_t length = 1;
    *bytes = bus_out_bytes(&messages[0]);
    for (; length < n && same_key(&messages[0], &messages[length]); length++)
        *bytes += bus_out_bytes(&messages[length]);
    return length;
}

/* Returns true if these messages fit. An empty queue accepts any run, because a run larger than the bound could
 * otherwise never be sent. */
static bool has_room(const struct kafka *kafka, uint32_t n, uint64_t bytes)
{
    return kafka->n == 0 || (kafka->n + n <= kafka->max_messages && kafka->bytes + bytes <= kafka->max_bytes);
}

/* Waits until there is capacity for these messages. Returns ERR_FULL on timeout, and the permanent failure if there is
 * one. The caller holds the lock. */
static enum err_code wait_for_room(struct kafka *kafka, uint32_t n, uint64_t bytes, const struct timespec *limit,
                                   int64_t timeout_ms)
{
    while (!kafka->failure.code && !has_room(kafka, n, bytes)) {
        if (timeout_ms == 0) return ERR_FULL;
        if (timeout_ms < 0)
            pthread_cond_wait(&kafka->progress, &kafka->lock);
        else if (pthread_cond_timedwait(&kafka->progress, &kafka->lock, limit) == ETIMEDOUT)
            return has_room(kafka, n, bytes) ? ERR_OK : ERR_FULL;
    }
    return kafka->failure.code;
}

rd_kafka_headers_t *kafka_headers(const struct bus_out *out)
{
    if (!out->n_headers) return NULL;
    rd_kafka_headers_t *headers = rd_kafka_headers_new(out->n_headers);
    for (uint32_t i = 0; i < out->n_headers; i++)
        rd_kafka_header_add(headers, out->headers[i].name, -1, out->headers[i].value, (ssize_t)out->headers[i].len);
    return headers;
}

/* Adds a message to the list. Must be called before the message is produced, because its report may arrive before
 * produceva returns. The caller holds the lock. */
static struct pending *remember(struct kafka *kafka, const struct bus_out *out, int64_t now_ms,
                                bus_delivered *delivered, void *ctx)
{
    struct pending *pending = kafka->spare ? kafka->spare : malloc(sizeof *pending);
    if (!pending) return NULL;
    if (kafka->spare) kafka->spare = pending->next;
    *pending = (struct pending){.previous = kafka->newest,
                                .number = kafka->next_number++,
                                .bytes = bus_out_bytes(out),
                                .sent_ms = now_ms,
                                .delivered = delivered,
                                .ctx = ctx};
    *(kafka->newest ? &kafka->newest->next : &kafka->oldest) = pending;
    kafka->newest = pending;
    kafka->n++;
    kafka->bytes += pending->bytes;
    return pending;
}

/* Produces one message. The caller holds the lock, so numbers have the order of the messages. */
static enum err_code hand_over(struct kafka *kafka, const struct bus_out *out, int64_t now_ms, bus_delivered *delivered,
                               void *ctx)
{
    struct pending *pending = remember(kafka, out, now_ms, delivered, ctx);
    if (!pending) return ERR_NOMEM;
    rd_kafka_headers_t *headers = kafka_headers(out);
    rd_kafka_vu_t fields[8] = {
        {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = out->topic},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = out->partition < 0 ? RD_KAFKA_PARTITION_UA : out->partition},
        {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {(void *)out->value, out->len}},
        {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {(void *)out->key, out->key_len}},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
        {.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = pending},
        {.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers},
    };
    rd_kafka_error_t *error = rd_kafka_produceva(kafka->producer, fields, headers ? 7 : 6);
    if (!error) return ERR_OK;
    enum err_code code = kafka_code(rd_kafka_error_code(error));
    rd_kafka_error_destroy(error);
    if (headers) rd_kafka_headers_destroy(headers);
    forget(kafka, pending);
    return code;
}

static enum err_code hand_over_run(struct kafka *kafka, const struct bus_out *run, uint32_t length, int64_t now_ms,
                                   uint32_t *taken)
{
    for (uint32_t i = 0; i < length; i++)
        if (!kafka_fits(kafka, &run[i])) return ERR_LIMIT_BYTES;
    for (uint32_t i = 0; i < length; i++) {
        enum err_code code = hand_over(kafka, &run[i], now_ms, NULL, NULL);
        if (code) return code;
        ++*taken;
    }
    return ERR_OK;
}

enum err_code kafka_produce(struct bus *bus, const struct bus_out *messages, uint32_t n, int64_t timeout_ms,
                            uint32_t *taken)
{
    struct kafka *kafka = (struct kafka *)bus;
    struct timespec limit = clock_after_ms(timeout_ms > 0 ? timeout_ms : 0);
    uint32_t done = 0;
    enum err_code code = ERR_OK;
    int64_t now_ms = kafka_local_ms(); /* must be earlier than the time at which each message is sent */
    pthread_mutex_lock(&kafka->lock);
    while (done < n && !code) {
        uint64_t bytes;
        uint32_t length = run_of(messages + done, n - done, &bytes);
        code = wait_for_room(kafka, length, bytes, &limit, timeout_ms);
        if (!code) code = hand_over_run(kafka, messages + done, length, now_ms, &done);
    }
    pthread_mutex_unlock(&kafka->lock);
    if (taken) *taken = done;
    return code;
}

enum err_code kafka_produce_with_report(struct bus *bus, const struct bus_out *message, bus_delivered *delivered,
                                        void *ctx)
{
    struct kafka *kafka = (struct kafka *)bus;
    struct timespec now = clock_after_ms(0);
    size_t bytes = bus_out_bytes(message);
    if (bytes > bus_max_bytes(bus, message->topic)) return ERR_LIMIT_BYTES;
    pthread_mutex_lock(&kafka->lock);
    enum err_code code = wait_for_room(kafka, 1, bytes, &now, 0);
    if (!code) code = hand_over(kafka, message, kafka_local_ms(), delivered, ctx);
    pthread_mutex_unlock(&kafka->lock);
    return code;
}

enum err_code kafka_flush(struct bus *bus, int64_t timeout_ms)
{
    struct kafka *kafka = (struct kafka *)bus;
    struct timespec limit = clock_after_ms(timeout_ms > 0 ? timeout_ms : 0);
    enum err_code code = ERR_OK;
    pthread_mutex_lock(&kafka->lock);
    uint64_t all = kafka->next_number;
    while (!code && kafka->oldest && kafka->oldest->number < all) {
        if (kafka->failure.code)
            code = kafka->failure.code;
        else if (timeout_ms < 0)
            pthread_cond_wait(&kafka->progress, &kafka->lock);
        else if (timeout_ms == 0 || pthread_cond_timedwait(&kafka->progress, &kafka->lock, &limit) == ETIMEDOUT)
            code = kafka->oldest && kafka->oldest->number < all ? ERR_FULL : ERR_OK;
    }
    pthread_mutex_unlock(&kafka->lock);
    return code;
}
