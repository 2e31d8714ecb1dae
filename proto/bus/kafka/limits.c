/* DESIGN: the size limit of each topic is known before a message is produced.
 *
 * A bus accepts messages of up to MSG_MAX_BYTES, but manually created topics accept only 1 MiB by the brokers' default.
 * A process therefore names the topics that it writes to (bus_know_topics). The brokers report their max.message.bytes,
 * and bus_max_bytes returns the lower of both limits. If the query is not permitted, or gets no reply within
 * connect_ms, the limit of the bus stays, and a warning is logged.
 *
 * A setting may also change later. If a broker refuses a message that was sent alone, the message is too large for its
 * topic. The limit of that topic is then set to half of the message's size, so refusals soon end whatever the setting
 * is. If the message was sent with others, the broker refused the batch and not the single message. Only an operator
 * can fix that. Topics that accept less than a batch are therefore refused at the start.
 *
 * Sizes are compared before compression, so the result does not depend on the compression ratio.
 */
#include "proto/bus/kafka/kafka.h"

#include "lib/base/log.h"

#include <stdlib.h>
#include <string.h>

enum { OVERHEAD = 64 << 10, LEAST = 2 * OVERHEAD };

size_t kafka_without_overhead(size_t largest)
{
    return largest > 2 * (size_t)OVERHEAD ? largest - OVERHEAD : largest / 2;
}

/* Returns the limit of a topic, or NULL if it was never queried. */
static struct kafka_limit *find(struct kafka *kafka, const char *topic)
{
    uint32_t n = atomic_load(&kafka->n_limits);
    for (uint32_t i = 0; i < n; i++)
        if (strcmp(kafka->limits[i].topic, topic) == 0) return &kafka->limits[i];
    return NULL;
}

size_t kafka_max_bytes(struct bus *bus, const char *topic)
{
    const struct kafka_limit *limit = find((struct kafka *)bus, topic);
    size_t most = limit ? atomic_load(&limit->most) : bus->max_message;
    return most < bus->max_message ? most : bus->max_message;
}

bool kafka_fits(struct kafka *kafka, const struct bus_out *out)
{
    size_t bytes = bus_out_bytes(out);
    return bytes <= atomic_load(&kafka->least_limit) || bytes <= kafka_max_bytes(&kafka->bus, out->topic);
}

/* Lowers the limit of a topic. The caller holds the lock. */
static void lower(struct kafka *kafka, struct kafka_limit *limit, size_t most)
{
    atomic_store(&limit->most, most);
    if (most < atomic_load(&kafka->least_limit)) atomic_store(&kafka->least_limit, most);
}

bool kafka_is_refused(struct kafka *kafka, const char *topic, size_t bytes)
{
    pthread_mutex_lock(&kafka->lock);
    struct kafka_limit *limit = find(kafka, topic);
    bool alone = bytes > kafka->batch_bytes && limit;
    if (alone && bytes / 2 < atomic_load(&limit->most)) lower(kafka, limit, bytes / 2);
    pthread_mutex_unlock(&kafka->lock);
    const struct log_field fields[] = {log_field_text("topic", topic), log_field_number("bytes", (int64_t)bytes)};
    if (alone)
        log_event(LOG_LEVEL_WARN, "kafka", fields, 2,
                  "message rejected as too large: check max.message.bytes of the topic");
    return alone;
}

/* --- queries --- */

static void add(struct kafka *kafka, const char *topic)
{
    pthread_mutex_lock(&kafka->lock);
    uint32_t n = atomic_load(&kafka->n_limits);
    if (!find(kafka, topic) && n < KAFKA_LIMITS) {
        struct kafka_limit *limit = &kafka->limits[n];
        strncpy(limit->topic, topic, sizeof limit->topic - 1);
        atomic_store(&limit->most, kafka->bus.max_message);
        atomic_store(&kafka->n_limits, n + 1); /* set last, so that every row that readers see is complete */
    }
    pthread_mutex_unlock(&kafka->lock);
}

static const char *largest_of(const rd_kafka_ConfigResource_t *resource)
{
    size_t n;
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resource, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(rd_kafka_ConfigEntry_name(entries[i]), "max.message.bytes") == 0)
            return rd_kafka_ConfigEntry_value(entries[i]);
    return NULL;
}

static void say_unknown(const char *topic, const char *why)
{
    const struct log_field fields[] = {log_field_text("topic", topic), log_field_text("why", why)};
    log_event(LOG_LEVEL_WARN, "kafka", fields, 2, "maximum message size of the topic is unknown: using the default");
}

static enum err_code take(struct kafka *kafka, const rd_kafka_ConfigResource_t *resource, struct err *err)
{
    const char *topic = rd_kafka_ConfigResource_name(resource), *text = largest_of(resource);
    rd_kafka_resp_err_t error = rd_kafka_ConfigResource_error(resource);
    size_t largest = text ? strtoul(text, NULL, 10) : 0,
           needed = kafka->batch_bytes > LEAST ? kafka->batch_bytes : LEAST;
    if (error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART) return ERR_OK; /* this broker does not know the topic yet */
    if (error || !largest) {
        say_unknown(topic, error ? rd_kafka_err2str(error) : "not reported by the broker");
        return ERR_OK;
    }
    if (largest < needed)
        return err_set(err, ERR_CONFIG,
                       "topic %.100s accepts at most %zu bytes (max.message.bytes), but a batch has up to %zu" ERR_HINT
                       "raise max.message.bytes, or set -X batch.size (at least %d)",
                       topic, largest, needed, LEAST);
    pthread_mutex_lock(&kafka->lock);
    struct kafka_limit *limit = find(kafka, topic);
    if (limit && kafka_without_overhead(largest) < atomic_load(&limit->most))
        lower(kafka, limit, kafka_without_overhead(largest));
    bool lowered = limit && atomic_load(&limit->most) < kafka->bus.max_message;
    pthread_mutex_unlock(&kafka->lock);
    const struct log_field fields[] = {log_field_text("topic", topic), log_field_number("bytes", (int64_t)largest)};
    if (lowered)
        log_event(LOG_LEVEL_INFO, "kafka", fields, 2, "topic accepts only smaller messages than the default limit");
    return ERR_OK;
}

static enum err_code take_all(struct kafka *kafka, rd_kafka_event_t *event, struct err *err)
{
    size_t n;
    enum err_code code = ERR_OK;
    const rd_kafka_ConfigResource_t **resources =
        rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event), &n);
    for (size_t i = 0; i < n && !code; i++) code = take(kafka, resources[i], err);
    return code;
}

enum err_code kafka_know_topics(struct bus *bus, const char *const *topics, uint32_t n, struct err *err)
{
    struct kafka *kafka = (struct kafka *)bus;
    rd_kafka_ConfigResource_t *resources[KAFKA_LIMITS];
    uint32_t count = 0;
    for (; count < n && count < KAFKA_LIMITS; count++) {
        add(kafka, topics[count]);
        resources[count] = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topics[count]);
    }
    if (!count) return ERR_OK;
    rd_kafka_queue_t *queue = rd_kafka_queue_new(kafka->producer);
    rd_kafka_DescribeConfigs(kafka->producer, resources, count, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, (int)kafka->connect_ms);
    bool answered = event && rd_kafka_event_type(event) == RD_KAFKA_EVENT_DESCRIBECONFIGS_RESULT;
    enum err_code code = ERR_OK;
    if (!answered || rd_kafka_event_error(event))
        say_unknown("all", answered ? rd_kafka_event_error_string(event) : "no broker answered");
    else
        code = take_all(kafka, event, err);
    if (event) rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(queue);
    rd_kafka_ConfigResource_destroy_array(resources, count);
    return code;
}
