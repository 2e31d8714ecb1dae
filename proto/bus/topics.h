/* The topics that a fleet needs, and making or checking them.
 *
 * A plan says how a topic should be; a report how it was found. Nothing is ever changed or deleted: partitions cannot
 * shrink, growing moves keys, and other settings may have been changed on purpose. What differs is said.
 *
 * All calls talk to a broker and wait (bounded). Thread: one at a time.
 */
#ifndef ASSAY_PROTO_BUS_TOPICS_H
#define ASSAY_PROTO_BUS_TOPICS_H

#include "proto/bus/transport.h"

enum { TOPICS_MAX = 32, TOPIC_SETTINGS = 8 };

struct topic_plan {
    char name[80];
    int32_t partitions;
    int32_t replicas; /* 0: three, or as many as there are brokers */
    struct bus_property settings[TOPIC_SETTINGS];
    uint32_t n_settings;
    char numbers[3][24]; /* text of numeric settings */
};

enum topic_state { TOPIC_MISSING, TOPIC_MADE, TOPIC_AS_PLANNED, TOPIC_DIFFERS, TOPIC_STATE_COUNT };

struct topic_report {
    enum topic_state state;
    int32_t partitions, replicas; /* as found */
    char differs[300];            /* "partitions 4, not 24; ..." */
};

struct topics_config {
    int32_t partitions;      /* of requests, results, verdicts, feedback and assay.dlq, which go together; 0: 24 */
    int32_t task_partitions; /* of each family's tasks, of assay.tasks.all, of traces and of assay.tasks.dlq; 0: 24 */
    int32_t replicas;        /* 0: see above */
    int64_t
        retention_ms; /* of requests, tasks, results and traces; 0: 3 days. Must be below the brokers' offsets.retention */
    int64_t verdict_retention_ms;  /* 0: 7 days */
    int64_t letter_retention_ms;   /* of the dead letters; 0: 30 days */
    int64_t feedback_retention_ms; /* 0: 400 days */
    const char *const *families;
    uint32_t n_families;
};

/* Fill `plans` (TOPICS_MAX of them) and return how many; 0: too many families, or a name that is too long. */
uint32_t topics_plan(const struct topics_config *config, struct topic_plan *plans);

/* How the topics are. ERR_CONFIG for a transport without topics of its own; else errors of the brokers. `reports` has n
 * entries. */
enum err_code topics_describe(struct bus *bus, const struct topic_plan *plans, uint32_t n, struct topic_report *reports,
                              struct err *err);

/* The same, and make what is missing; returns when all of it can be written to. Doing it again changes nothing. */
enum err_code topics_create(struct bus *bus, const struct topic_plan *plans, uint32_t n, struct topic_report *reports,
                            struct err *err);

/* Let a group of coordinators begin at the start of the requests: one that has never read is refused by
 * bus_subscribe_once, for it may be a typing error. False in *made: it has read before, nothing is changed. The topics
 * of `once` must be there. */
enum err_code topics_begin_group(struct bus *bus, const struct bus_once *once, bool *made, struct err *err);

/* Tells whether a member of the group has the name that bus_subscribe_once takes for `once`. A member that died counts
 * until its session times out. */
enum err_code topics_name_is_taken(struct bus *bus, const struct bus_once *once, bool *taken, struct err *err);

const char *topic_state_name(enum topic_state state); /* "missing", "made", "ok", "differs" */

#endif
