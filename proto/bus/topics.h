/* The topics of a fleet: planning, checking and creating them.
 *
 * A plan has the intended properties of a topic, and a report has its actual properties. Existing topics are never
 * changed or deleted. Partitions cannot be removed, adding some moves keys, and an operator may have changed other
 * settings on purpose. Reports name the differences.
 *
 * All calls wait for a broker, with a timeout. Thread: one at a time.
 */
#ifndef ASSAY_PROTO_BUS_TOPICS_H
#define ASSAY_PROTO_BUS_TOPICS_H

#include "proto/bus/transport.h"

enum { TOPICS_MAX = 32, TOPIC_SETTINGS = 8 };

struct topic_plan {
    char name[80];
    int32_t partitions;
    int32_t replicas; /* 0: three, or the number of brokers if it is lower */
    struct bus_property settings[TOPIC_SETTINGS];
    uint32_t n_settings;
    char numbers[3][24]; /* storage for the texts of numeric settings */
};

enum topic_state { TOPIC_MISSING, TOPIC_MADE, TOPIC_AS_PLANNED, TOPIC_DIFFERS, TOPIC_STATE_COUNT };

struct topic_report {
    enum topic_state state;
    int32_t partitions, replicas; /* actual numbers */
    char differs[300];            /* text such as "partitions 4, not 24; ..." */
};

struct topics_config {
    int32_t partitions;      /* partitions of requests, results, verdicts, feedback and assay.dlq, which must be equal;
                              * 0: 24 */
    int32_t task_partitions; /* partitions of each family's tasks, of assay.tasks.all, of traces and of assay.tasks.dlq;
                              * 0: 24 */
    int32_t replicas;        /* 0: as in topic_plan.replicas */
    int64_t
        /* retention of requests, tasks, results and traces; 0: 3 days; must be below the brokers' offsets.retention */
        retention_ms;
    int64_t verdict_retention_ms;  /* retention of verdicts; 0: 7 days */
    int64_t letter_retention_ms;   /* retention of dead letters; 0: 30 days */
    int64_t feedback_retention_ms; /* retention of feedback; 0: 400 days */
    const char *const *families;
    uint32_t n_families;
};

/* Fills `plans`, which has TOPICS_MAX entries, and returns the number of plans. Returns 0 if there are too many
 * families or a name is too long. */
uint32_t topics_plan(const struct topics_config *config, struct topic_plan *plans);

/* Reads the state of the topics into `reports`, which has n entries. Returns ERR_CONFIG for a transport without topics
 * of its own, or an error of the brokers. */
enum err_code topics_describe(struct bus *bus, const struct topic_plan *plans, uint32_t n, struct topic_report *reports,
                              struct err *err);

/* Creates missing topics, and fills `reports` as topics_describe does. Returns when all topics can be written to.
 * Idempotent. */
enum err_code topics_create(struct bus *bus, const struct topic_plan *plans, uint32_t n, struct topic_report *reports,
                            struct err *err);

/* Lets a new group of coordinators begin at the start of the requests. Without this call, bus_subscribe_once refuses a
 * group that has never read, because its name may be a typing error. If the group has read before, sets *made to false
 * and changes nothing. The topics of `once` must exist. */
enum err_code topics_begin_group(struct bus *bus, const struct bus_once *once, bool *made, struct err *err);

/* Checks whether a member of the group already has the name that bus_subscribe_once would use for `once`. A dead member
 * counts until its session times out. */
enum err_code topics_name_is_taken(struct bus *bus, const struct bus_once *once, bool *taken, struct err *err);

const char *topic_state_name(enum topic_state state); /* Returns "missing", "made", "ok" or "differs". */

#endif
