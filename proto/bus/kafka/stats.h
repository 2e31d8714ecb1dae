/* The statistics that librdkafka reports every few seconds, reduced to those that an operator needs.
 *
 * Each client of a bus (producers, one consumer per reader) reports its own statistics as JSON (librdkafka's
 * STATISTICS.md). The last report of each client is stored, and kafka_stats_sum adds them up. A client is gone after
 * FORGET_MS without a report, or after kafka_stats_forget. Its counters are preserved, so that sums never decrease.
 */
#ifndef ASSAY_PROTO_BUS_KAFKA_STATS_H
#define ASSAY_PROTO_BUS_KAFKA_STATS_H

#include "proto/bus/transport.h"

#include <pthread.h>

#define KAFKA_STATS_INTERVAL_MS "5000"

struct kafka_report {
    const void *client; /* unique address of the reporting client */
    int64_t at_ns;
    struct bus_traffic traffic;
};

struct kafka_stats {
    pthread_mutex_t lock;
    struct kafka_report *reports;
    uint32_t n, max;
    struct bus_traffic gone; /* sum of the counters of clients that are gone */
};

void kafka_stats_init(struct kafka_stats *stats);
void kafka_stats_free(struct kafka_stats *stats);

/* Stores a report; ignores an unreadable one. `joins` is true if the client is a member of a group or joining one. It
 * is needed because a client that only has a group's name always reports that it is joining. Thread: any. */
void kafka_stats_take(struct kafka_stats *stats, const void *client, bool joins, const char *json, size_t len);

/* Removes a closed client, whose lag is then no longer counted. Does nothing for a client that never reported. Thread:
 * any. */
void kafka_stats_forget(struct kafka_stats *stats, const void *client);

/* Writes the sum of all reports to `out`. Thread: any. */
void kafka_stats_sum(struct kafka_stats *stats, struct bus_traffic *out);

#endif
