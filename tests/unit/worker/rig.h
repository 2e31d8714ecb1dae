/* A worker under test, in a thread of its own on a local transport, with functions that send tasks and read results. */
#ifndef ASSAY_TESTS_UNIT_WORKER_RIG_H
#define ASSAY_TESTS_UNIT_WORKER_RIG_H

#include "worker/internal.h"

struct rig {
    struct bus *bus;
    struct bus_consumer *results; /* the topic, and as the second one the dead letters of tasks */
    struct schema_cache *schemas;
    struct vsig_options *signals;
    struct arena arena;    /* of the results that were read */
    struct worker *worker; /* NULL if no worker runs */
    pthread_t thread;
};

void rig_begin(struct rig *rig);
/* Stops a running worker. */
void rig_end(struct rig *rig);

/* Starts a worker; its transport, schemas and signals are the rig's. */
void rig_start(struct rig *rig, struct worker_config config);
/* Stops the worker once its current work is done. Returns all its counters. */
struct worker_stats rig_stop(struct rig *rig);

/* Sends a message to this topic, with its own header. */
void rig_put_bytes(struct rig *rig, const char *topic, struct msg_key key, const void *bytes, size_t len);
/* Sends tasks of one request in one message. */
void rig_put_joined(struct rig *rig, const char *topic, const struct msg_task *tasks, uint32_t n);
/* Sends one task to the topic of its family. */
void rig_put(struct rig *rig, const struct msg_task *task);

/* Polls the next message of the topics in `want` (bit 0: results, bit 1: dead letters; 0: both). The caller acks it. */
struct bus_message *rig_next_message(struct rig *rig, uint32_t want);
/* Returns the next result, which must arrive before any dead letter. It is in the arena. */
struct msg_result *rig_next(struct rig *rig);
/* Returns true if no further message arrives. */
bool rig_is_empty(struct rig *rig);

#endif
