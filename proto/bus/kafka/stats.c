/* DESIGN: an array with the last report of each client. kafka_stats_sum adds the reports up.
 *
 * A report is the library's JSON. The counters of a client that is gone are added to `gone`, so sums never decrease. An
 * address identifies a client. If the counters at an address decrease, a new client has taken that address.
 */
#include "proto/bus/kafka/stats.h"

#include "lib/base/clock.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { FORGET_MS = 60000, MAX_CLIENTS = 1024 };

/* --- one report --- */

/* Reads a counter. Returns 0 if it is missing or if it is -1, which means unknown. */
static uint64_t count_of(const json_t *object, const char *name)
{
    json_int_t value = json_integer_value(json_object_get(object, name));
    return value > 0 ? (uint64_t)value : 0;
}

static bool is_text(const json_t *object, const char *name, const char *text)
{
    const char *value = json_string_value(json_object_get(object, name));
    return value && strcmp(value, text) == 0;
}

static void read_brokers(json_t *brokers, struct bus_traffic *out)
{
    const char *name;
    json_t *broker;
    json_object_foreach(brokers, name, broker)
    {
        out->connects += count_of(broker, "connects");
        out->disconnects += count_of(broker, "disconnects");
    }
}

/* Adds the lag of the partitions that are being fetched. Values of other partitions may date from before their
 * revocation. */
static void read_lag(json_t *topics, struct bus_traffic *out)
{
    const char *name, *number;
    json_t *topic, *partition;
    json_object_foreach(topics, name, topic)
    {
        json_object_foreach(json_object_get(topic, "partitions"), number, partition)
        {
            if (is_text(partition, "fetch_state", "active")) out->lag += count_of(partition, "consumer_lag");
        }
    }
}

static void read_report(const json_t *root, bool joins, struct bus_traffic *out)
{
    const json_t *group = json_object_get(root, "cgrp");
    *out = (struct bus_traffic){
        .clients = 1,
        .bytes_in = count_of(root, "rx_bytes"),
        .bytes_out = count_of(root, "tx_bytes"),
        .messages_in = count_of(root, "rxmsgs"),
        .messages_out = count_of(root, "txmsgs"),
        .queued = is_text(root, "type", "producer") ? count_of(root, "msg_cnt") : 0,
        .rebalances = count_of(group, "rebalance_cnt"),
        .members = joins,
        .joined = joins && is_text(group, "state", "up") && is_text(group, "join_state", "steady"),
    };
    read_brokers(json_object_get(root, "brokers"), out);
    read_lag(json_object_get(root, "topics"), out);
}

/* --- all reports --- */

/* Adds the values that never decrease. */
static void add_counters(struct bus_traffic *into, const struct bus_traffic *from)
{
    into->bytes_in += from->bytes_in;
    into->bytes_out += from->bytes_out;
    into->messages_in += from->messages_in;
    into->messages_out += from->messages_out;
    into->connects += from->connects;
    into->disconnects += from->disconnects;
    into->rebalances += from->rebalances;
}

static void add_state(struct bus_traffic *into, const struct bus_traffic *from)
{
    into->clients += from->clients;
    into->queued += from->queued;
    into->lag += from->lag;
    into->members += from->members;
    into->joined += from->joined;
}

/* Removes the client `gone`, and clients without a recent report. The caller holds the lock. */
static void forget(struct kafka_stats *stats, int64_t now, const void *gone)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < stats->n; i++)
        if (stats->reports[i].client == gone || now - stats->reports[i].at_ns > FORGET_MS * (int64_t)1000000)
            add_counters(&stats->gone, &stats->reports[i].traffic);
        else
            stats->reports[kept++] = stats->reports[i];
    stats->n = kept;
}

/* Returns the report of a client; creates it if missing. Returns NULL if there are too many clients or memory is short.
 * The caller holds the lock. */
static struct kafka_report *report_of(struct kafka_stats *stats, const void *client)
{
    for (uint32_t i = 0; i < stats->n; i++)
        if (stats->reports[i].client == client) return &stats->reports[i];
    if (stats->n == stats->max) {
        uint32_t max = stats->max ? 2 * stats->max : 8;
        struct kafka_report *more = max > MAX_CLIENTS ? NULL : realloc(stats->reports, max * sizeof *more);
        if (!more) return NULL;
        stats->reports = more;
        stats->max = max;
    }
    struct kafka_report *report = &stats->reports[stats->n++];
    *report = (struct kafka_report){.client = client};
    return report;
}

void kafka_stats_init(struct kafka_stats *stats)
{
    *stats = (struct kafka_stats){0};
    pthread_mutex_init(&stats->lock, NULL);
}

void kafka_stats_free(struct kafka_stats *stats)
{
    pthread_mutex_destroy(&stats->lock);
    free(stats->reports);
}

void kafka_stats_take(struct kafka_stats *stats, const void *client, bool joins, const char *json, size_t len)
{
    json_t *root = json_loadb(json, len, 0, NULL);
    struct bus_traffic traffic;
    if (!json_is_object(root)) {
        json_decref(root);
        return;
    }
    read_report(root, joins, &traffic);
    json_decref(root);
    pthread_mutex_lock(&stats->lock);
    int64_t now = clock_now_ns();
    forget(stats, now, NULL);
    struct kafka_report *report = report_of(stats, client);
    if (report) {
        /* a new client at the address of an old one starts from zero */
        if (traffic.bytes_out < report->traffic.bytes_out) add_counters(&stats->gone, &report->traffic);
        *report = (struct kafka_report){client, now, traffic};
    }
    pthread_mutex_unlock(&stats->lock);
}

void kafka_stats_forget(struct kafka_stats *stats, const void *client)
{
    pthread_mutex_lock(&stats->lock);
    forget(stats, clock_now_ns(), client);
    pthread_mutex_unlock(&stats->lock);
}

void kafka_stats_sum(struct kafka_stats *stats, struct bus_traffic *out)
{
    pthread_mutex_lock(&stats->lock);
    forget(stats, clock_now_ns(), NULL);
    *out = stats->gone;
    for (uint32_t i = 0; i < stats->n; i++) {
        add_counters(out, &stats->reports[i].traffic);
        add_state(out, &stats->reports[i].traffic);
    }
    pthread_mutex_unlock(&stats->lock);
}
