/* A worker under test: in a thread of its own, on a local transport, with what is handed in and what comes out. */
#ifndef ASSAY_TESTS_UNIT_WORKER_RIG_H
#define ASSAY_TESTS_UNIT_WORKER_RIG_H

#include "worker/internal.h"

struct rig {
    struct bus *bus;
    struct bus_consumer *results; /* and, as its second topic, dead letters of tasks */
    struct schema_cache *schemas;
    struct vsig_options *signals;
    struct arena arena;    /* of results that were read */
    struct worker *worker; /* NULL: none runs */
    pthread_t thread;
};

void rig_begin(struct rig *rig);
/* Stops a worker that runs. */
void rig_end(struct rig *rig);

/* Run a worker; its transport, schemas and signals are the rig's. */
void rig_start(struct rig *rig, struct worker_config config);
/* Stop it once what it has in hand is done. What it has counted in all. */
struct worker_stats rig_stop(struct rig *rig);

/* A message to this topic, with a header of its own. */
void rig_put_bytes(struct rig *rig, const char *topic, struct msg_key key, const void *bytes, size_t len);
/* Tasks of one request, in one message. */
void rig_put_joined(struct rig *rig, const char *topic, const struct msg_task *tasks, uint32_t n);
/* One, to the topic of its family. */
void rig_put(struct rig *rig, const struct msg_task *task);

/* The next of the topics in `want` (bit 0: results, bit 1: dead letters; 0: both); the caller acks it. */
struct bus_message *rig_next_message(struct rig *rig, uint32_t want);
/* The next result, which is to be before any dead letter. The arena's. */
struct msg_result *rig_next(struct rig *rig);
/* Is there no more? */
bool rig_is_empty(struct rig *rig);

#endif
