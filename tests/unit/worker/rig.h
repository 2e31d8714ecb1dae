/* Runs a worker under test in its own thread on a local transport. Functions send tasks to it and read its results. */
#ifndef ASSAY_TESTS_UNIT_WORKER_RIG_H
#define ASSAY_TESTS_UNIT_WORKER_RIG_H

#include "worker/internal.h"

struct rig {
    struct bus *bus;
    struct bus_consumer *results; /* two subscriptions: the topic of results, and the dead letters of tasks */
    struct schema_cache *schemas;
    struct vsig_options *signals;
    struct arena arena;    /* holds the results that were read */
    struct worker *worker; /* NULL if no worker runs */
    pthread_t thread;
};

void rig_begin(struct rig *rig);
/* Stops a running worker. */
void rig_end(struct rig *rig);

/* Starts a worker with the transport, schemas and signals of the rig. */
void rig_start(struct rig *rig, struct worker_config config);
/* Stops the worker after its current work. Returns its counters. */
struct worker_stats rig_stop(struct rig *rig);

/* Sends a message to this topic, with the given header. */
void rig_put_bytes(struct rig *rig, const char *topic, struct msg_key key, const void *bytes, size_t len);
/* Sends tasks of one request in one message. */
void rig_put_joined(struct rig *rig, const char *topic, const struct msg_task *tasks, uint32_t n);
/* Sends one task to the topic of its family. */
void rig_put(struct rig *rig, const struct msg_task *task);

/* Returns the next message of the topics in `want`: bit 0 for results, bit 1 for dead letters, 0 for both. The caller
 * acknowledges it. */
struct bus_message *rig_next_message(struct rig *rig, uint32_t want);
/* Returns the next result, which must arrive before any dead letter. It lives in the rig's arena. */
struct msg_result *rig_next(struct rig *rig);
/* Returns true if no further message arrives. */
bool rig_is_empty(struct rig *rig);

#endif
