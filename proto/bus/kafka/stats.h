/* What librdkafka tells about itself every few seconds, as far as an operator needs it.
 *
 * Each client of a bus (producers, one consumer a reader) reports for itself as JSON (librdkafka's STATISTICS.md); the
 * last report of each is kept and all are added up when somebody asks. A client that has not reported for FORGET_MS, or
 * was passed to kafka_stats_forget, is gone: what it counted is kept, so that counters never fall.
 */
#ifndef ASSAY_PROTO_BUS_KAFKA_STATS_H
#define ASSAY_PROTO_BUS_KAFKA_STATS_H

#include "proto/bus/transport.h"

#include <pthread.h>

#define KAFKA_STATS_INTERVAL_MS "5000"

struct kafka_report {
    const void *client; /* who reports: any address of its own */
    int64_t at_ns;
    struct bus_traffic traffic;
};

struct kafka_stats {
    pthread_mutex_t lock;
    struct kafka_report *reports;
    uint32_t n, max;
    struct bus_traffic gone; /* counters of clients that are no more */
};

void kafka_stats_init(struct kafka_stats *stats);
void kafka_stats_free(struct kafka_stats *stats);

/* Take in a report. One that cannot be read changes nothing. joins: the client is a member of a group, or is joining
 * one; a client that only has a group's name reports for ever that it is waiting to join. Thread: any. */
void kafka_stats_take(struct kafka_stats *stats, const void *client, bool joins, const char *json, size_t len);

/* That client was closed; its lag no longer counts. No effect for a client that never reported. Thread: any. */
void kafka_stats_forget(struct kafka_stats *stats, const void *client);

/* The sum. Thread: any. */
void kafka_stats_sum(struct kafka_stats *stats, struct bus_traffic *out);

#endif
