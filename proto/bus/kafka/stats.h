/* The statistics that librdkafka reports every few seconds, reduced to those an operator needs.
 *
 * Each client of a bus (producers, one consumer a reader) reports for itself as JSON (librdkafka's STATISTICS.md). The
 * last report of each is stored, and all are added up on request. A client without a report for FORGET_MS, or passed to
 * kafka_stats_forget, is gone. Its counters are preserved, so that sums never fall.
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
    struct bus_traffic gone; /* counters of gone clients */
};

void kafka_stats_init(struct kafka_stats *stats);
void kafka_stats_free(struct kafka_stats *stats);

/* Stores a report; an unreadable one changes nothing. `joins` is true if the client is a member of a group or joining
 * one. A client that only has a group's name reports for ever that it is joining. Thread: any. */
void kafka_stats_take(struct kafka_stats *stats, const void *client, bool joins, const char *json, size_t len);

/* Removes a closed client, whose lag no longer counts. Does nothing for a client that never reported. Thread: any. */
void kafka_stats_forget(struct kafka_stats *stats, const void *client);

/* Writes the sum of all reports to `out`. Thread: any. */
void kafka_stats_sum(struct kafka_stats *stats, struct bus_traffic *out);

#endif
