/* DESIGN: delivery at least once over Apache Kafka, with librdkafka (2.0.2 or newer).
 *
 *    client.c           configuration, errors as text, reachability, the shared clock
 *    limits.c           size limits of each topic's messages
 *    producer.c         one idempotent producer for each bus; counts and bounds the messages in flight
 *    consumer.c         consumers: one polling thread each, and partition queues that are read on demand
 *    window.c           messages that a partition has handed out, and the offset that may be committed
 *    consumer_common.c  code shared by both kinds of consumer
 *
 * Follow-up messages before acks. A consumer acks a message after it has *produced* the messages that follow from it.
 * On Kafka, produced messages may still be in a buffer. Each produced message therefore has a number, and an ack stores
 * the number reached. The committed offset passes the acked message only when all messages with lower numbers have been
 * delivered. A crash thus repeats work and loses none, and no call waits for a round trip.
 *
 * If a broker permanently refuses a message, the bus fails: bus_health gives the reason, and no later ack counts. An
 * outage is not such a failure. Messages have no timeout of their own, buffers fill, and produce returns ERR_FULL until
 * the brokers are available again.
 *
 * A paused topic is simply not read. Each partition has its own queue, in which messages of paused topics stay. The
 * library's pause and resume are not used, because they discard the prefetched messages. The memory is bounded by
 * queued.max.messages.kbytes for each partition.
 *
 * A rebalance revokes all partitions and assigns some again. The range assignor keeps partition i of requests and
 * results together. Before the revocation, held messages get time to be acked. The delivery counts of the others are
 * written to the commit's metadata, so `attempts` grows across processes, even those that crash.
 *
 * To detect crashes, an owner writes a count of crashes before it hands out anything. It clears the count when it
 * leaves in an orderly way or has lived for a minute. After the second crash, an owner hands out one message at a time
 * and records it first, so the count identifies a poison message.
 *
 * Exactly once. The coordinator uses another reader, made by bus_subscribe_once, with the same properties and brokers.
 * Its offsets are committed in the transaction of its verdicts (exactly_once/once.c has that design). Tasks use the
 * bus's own producer in both cases.
 *
 * The clock is that of the brokers. Topics are LogAppendTime, so a message's time is that of the partition's leader.
 * bus_now_ns returns the local wall clock, corrected by the least amount that agrees with all delivery reports. Its
 * resolution is a millisecond, like that of message times.
 */
#include "proto/bus/kafka/kafka.h"

#include "lib/base/clock.h"

#include <stdlib.h>
#include <string.h>

LATE_LIBRARY(librdkafka, LIBRDKAFKA_CALLS, LIBRDKAFKA_FILE, LIBRDKAFKA_PACKAGE)

enum { DEFAULT_MESSAGES = 10000 };
static const uint64_t DEFAULT_BYTES = 64UL << 20;

static void properties_free(struct kafka *kafka)
{
    for (uint32_t i = 0; i < kafka->n_properties; i++) {
        free((char *)kafka->properties[i].name);
        free((char *)kafka->properties[i].value);
    }
    free(kafka->properties);
}

static enum err_code properties_copy(struct kafka *kafka, const struct bus_config *config, struct err *err)
{
    kafka->properties = calloc(config->n_properties + 1, sizeof *kafka->properties);
    if (!kafka->properties) return err_set(err, ERR_NOMEM, "no memory for the properties");
    for (uint32_t i = 0; i < config->n_properties; i++) {
        struct bus_property *copy = &kafka->properties[kafka->n_properties++];
        copy->name = strdup(config->properties[i].name);
        copy->value = strdup(config->properties[i].value);
        if (!copy->name || !copy->value) return err_set(err, ERR_NOMEM, "no memory for the properties");
    }
    return ERR_OK;
}

static void kafka_free(struct kafka *kafka)
{
    properties_free(kafka);
    pthread_cond_destroy(&kafka->progress);
    pthread_mutex_destroy(&kafka->lock);
    kafka_stats_free(&kafka->stats);
    free(kafka);
}

static enum err_code kafka_open(const struct bus_config *config, struct bus **out, struct err *err)
{
    *out = NULL;
    enum err_code code = librdkafka_open(err);
    if (code) return code;
    struct kafka *kafka = calloc(1, sizeof *kafka);
    if (!kafka) return err_set(err, ERR_NOMEM, "no memory for the transport");
    kafka->bus.transport = &bus_kafka;
    kafka->context.kafka = kafka;
    kafka->max_messages = config->queue_messages ? config->queue_messages : DEFAULT_MESSAGES;
    kafka->max_bytes = config->queue_bytes ? config->queue_bytes : DEFAULT_BYTES;
    kafka->connect_ms = config->connect_ms ? config->connect_ms : KAFKA_CONNECT_MS;
    pthread_mutex_init(&kafka->lock, NULL);
    kafka_stats_init(&kafka->stats);
    clock_cond_init(&kafka->progress);
    code = properties_copy(kafka, config, err);
    if (!code) code = kafka_producer_open(kafka, err);
    if (code) {
        kafka_free(kafka);
        return code;
    }
    *out = &kafka->bus;
    return ERR_OK;
}

static void kafka_close(struct bus *bus)
{
    kafka_producer_close((struct kafka *)bus);
    kafka_free((struct kafka *)bus);
}

static int64_t kafka_now_ns(struct bus *bus)
{
    struct kafka *kafka = (struct kafka *)bus;
    return (kafka_local_ms() + atomic_load(&kafka->ahead_ms)) * 1000000;
}

static enum err_code kafka_health(struct bus *bus, struct err *err)
{
    struct kafka *kafka = (struct kafka *)bus;
    pthread_mutex_lock(&kafka->lock);
    struct err failure = kafka->failure;
    pthread_mutex_unlock(&kafka->lock);
    return failure.code ? err_set(err, failure.code, "%s", failure.text) : ERR_OK;
}

static void kafka_traffic(struct bus *bus, struct bus_traffic *out)
{
    kafka_stats_sum(&((struct kafka *)bus)->stats, out);
}

const struct bus_transport bus_kafka = {
    .name = "kafka",
    .shared = true,
    .open = kafka_open,
    .close = kafka_close,
    .know_topics = kafka_know_topics,
    .max_bytes = kafka_max_bytes,
    .produce = kafka_produce,
    .produce_with_report = kafka_produce_with_report,
    .flush = kafka_flush,
    .subscribe = kafka_subscribe,
    .poll = kafka_poll,
    .ack = kafka_ack,
    .nack = kafka_nack,
    .commit = kafka_commit,
    .drain = kafka_drain,
    .unsubscribe = kafka_unsubscribe,
    .subscribe_once = kafka_subscribe_once,
    .now_ns = kafka_now_ns,
    .health = kafka_health,
    .traffic = kafka_traffic,
};
