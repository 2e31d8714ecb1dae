/* Functions shared by both kinds of consumers: the wakeup, conversion of messages, and errors that end a consumer. */
#include "proto/bus/kafka/kafka.h"

#include "lib/base/clock.h"

#include <errno.h>
#include <time.h>

enum { NEW_TOPIC_MS = 3000 };

/* --- the wakeup --- */

void wakeup_init(struct wakeup *wakeup)
{
    pthread_mutex_init(&wakeup->lock, NULL);
    clock_cond_init(&wakeup->signalled);
}

void wakeup_free(struct wakeup *wakeup)
{
    pthread_cond_destroy(&wakeup->signalled);
    pthread_mutex_destroy(&wakeup->lock);
}

void wakeup_signal(struct wakeup *wakeup)
{
    pthread_mutex_lock(&wakeup->lock);
    wakeup->count++;
    pthread_cond_broadcast(&wakeup->signalled);
    pthread_mutex_unlock(&wakeup->lock);
}

uint64_t wakeup_count(struct wakeup *wakeup)
{
    pthread_mutex_lock(&wakeup->lock);
    uint64_t count = wakeup->count;
    pthread_mutex_unlock(&wakeup->lock);
    return count;
}

void wakeup_wait(struct wakeup *wakeup, uint64_t heard, int64_t ms)
{
    struct timespec until = clock_after_ms(ms);
    pthread_mutex_lock(&wakeup->lock);
    while (wakeup->count == heard && pthread_cond_timedwait(&wakeup->signalled, &wakeup->lock, &until) != ETIMEDOUT) {
    }
    pthread_mutex_unlock(&wakeup->lock);
}

void kafka_wakeup(rd_kafka_t *client, void *wakeup)
{
    (void)client;
    wakeup_signal(wakeup);
}

/* --- messages --- */

rd_kafka_headers_t *kafka_headers_of(const rd_kafka_message_t *raw)
{
    rd_kafka_headers_t *headers = NULL;
    return rd_kafka_message_headers(raw, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR ? headers : NULL;
}

uint32_t kafka_count_headers(const rd_kafka_headers_t *headers)
{
    size_t n = headers ? rd_kafka_header_cnt(headers) : 0;
    return n < BUS_MAX_HEADERS ? (uint32_t)n : BUS_MAX_HEADERS;
}

void kafka_fill(struct bus_message *out, struct bus_header *into, const rd_kafka_headers_t *headers,
                const rd_kafka_message_t *raw)
{
    rd_kafka_timestamp_type_t type;
    uint32_t n = kafka_count_headers(headers);
    for (uint32_t i = 0; i < n; i++) {
        const void *value = NULL;
        size_t len = 0;
        rd_kafka_header_get_all(headers, i, &into[i].name, &value, &len);
        into[i].value = value ? value : "";
        into[i].len = value ? (uint32_t)len : 0;
    }
    *out = (struct bus_message){
        .partition = raw->partition,
        .offset = raw->offset,
        .key = raw->key,
        .key_len = (uint32_t)raw->key_len,
        .value = raw->payload ? raw->payload : "",
        .len = raw->len,
        .headers = into,
        .n_headers = n,
        .time_ns = rd_kafka_message_timestamp(raw, &type) * 1000000,
    };
}

/* --- errors --- */

bool kafka_is_final(rd_kafka_resp_err_t error)
{
    switch (error) {
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED:
        /* MAX_POLL_EXCEEDED: the group took the partitions back, and the consumer joins again */
        return false;
    default: return err_class(kafka_code(error)) == ERR_CLASS_FATAL;
    }
}

static enum err_code topic_error(struct kafka *kafka, rd_kafka_t *client, const char *topic, rd_kafka_resp_err_t *out,
                                 struct err *err)
{
    const rd_kafka_metadata_t *metadata;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client, topic, NULL);
    if (!handle) return kafka_err(err, rd_kafka_last_error(), topic);
    rd_kafka_resp_err_t error = rd_kafka_metadata(client, 0, handle, &metadata, (int)kafka->connect_ms);
    rd_kafka_topic_destroy(handle);
    if (error) return kafka_err(err, error, topic);
    *out = metadata->topic_cnt ? metadata->topics[0].err : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    rd_kafka_metadata_destroy(metadata);
    return ERR_OK;
}

/* Retries for NEW_TOPIC_MS, because some brokers learn of a new topic later than others. */
enum err_code kafka_check_topic(struct kafka *kafka, rd_kafka_t *client, const char *topic, struct err *err)
{
    int64_t limit = clock_now_ns() + NEW_TOPIC_MS * INT64_C(1000000);
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    for (;;) {
        enum err_code code = topic_error(kafka, client, topic, &error, err);
        if (code) return code;
        if (error != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || clock_now_ns() > limit) break;
        struct timespec pause = {.tv_nsec = 100000000};
        nanosleep(&pause, NULL);
    }
    if (error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
        return err_set(err, ERR_CONFIG, "topic %s does not exist" ERR_HINT "create it with `assay topics create`",
                       topic);
    if (error && error != RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE) return kafka_err(err, error, topic);
    return ERR_OK;
}
