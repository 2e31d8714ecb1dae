/* Inside the kafka transport: what its files share. The design is in transport_kafka.c; nobody else includes this. */
#ifndef ASSAY_PROTO_KAFKA_H
#define ASSAY_PROTO_KAFKA_H

#include "proto/transport.h"

#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdatomic.h>

enum { KAFKA_CONNECT_MS = 10000, KAFKA_POLL_MS = 100 };

/* What the library hands to callbacks. */
struct kafka_context {
    struct kafka *kafka;
    void *owner; /* the consumer */
};

struct kafka {
    struct bus bus;
    struct kafka_context context;
    struct bus_property *properties; /* own copies */
    uint32_t n_properties;
    uint32_t max_messages;
    uint64_t max_bytes;
    size_t max_message; /* message.max.bytes */
    int64_t connect_ms;
    rd_kafka_t *producer;
    pthread_t thread; /* serves the producer's callbacks */
    atomic_bool stop;
    atomic_llong logged_ms;

    pthread_mutex_t lock; /* of all below; taken last */
    pthread_cond_t progress;
    struct pending *oldest, *newest; /* produced, no delivery report yet */
    uint64_t next_number;            /* of what is produced next */
    uint32_t n;
    uint64_t bytes;
    struct err failure; /* the first thing that cannot be mended */
    struct err trouble; /* what the library complained about last */
    int64_t ahead_ms;   /* the brokers' clock against ours */
};

/* --- kafka_client.c: configuration, errors, being reachable --- */

struct kafka_preset {
    const char *name, *value;
};

/* The code of a library's error. Anything not known to be harmless or passing is fatal. Thread: any. */
enum err_code kafka_code(rd_kafka_resp_err_t error);

/* Fill `err` with an error of the library, in words. */
enum err_code kafka_err(struct err *err, rd_kafka_resp_err_t error, const char *what);

/* A configuration: common presets, those given, then the user's properties. NULL: `err` says which is wrong. */
rd_kafka_conf_t *kafka_conf(struct kafka_context *context, const struct kafka_preset *presets, uint32_t n,
                            struct err *err);

/* A client that takes over `conf`, also on failure. */
rd_kafka_t *kafka_client(rd_kafka_type_t type, rd_kafka_conf_t *conf, struct err *err);

/* Wait until a broker answers; at most connect_ms. Then `err` holds the library's last complaint. */
enum err_code kafka_reach(struct kafka *kafka, rd_kafka_t *client, struct err *err);

/* Remember that nothing can go on. The first reason stays. */
void kafka_fail(struct kafka *kafka, enum err_code code, const char *text);

/* Milliseconds since 1970 on this machine's clock. */
int64_t kafka_local_ms(void);

/* The brokers' clock was at `broker_ms` at some time between two of ours. */
void kafka_learn_clock(struct kafka *kafka, int64_t broker_ms, int64_t from_ms, int64_t to_ms);

/* A point on CLOCK_MONOTONIC that many milliseconds ahead, for pthread_cond_timedwait. */
struct timespec kafka_until(int64_t ms);

/* --- kafka_out.c --- */

enum err_code kafka_out_open(struct kafka *kafka, struct err *err);
void kafka_out_close(struct kafka *kafka);
enum err_code kafka_produce(struct bus *bus, const struct bus_out *messages, uint32_t n, int64_t timeout_ms,
                            uint32_t *taken);
enum err_code kafka_flush(struct bus *bus, int64_t timeout_ms);

/* Everything produced before this number is safe, and the number of what comes next. */
uint64_t kafka_arrived(struct kafka *kafka);
uint64_t kafka_next_number(struct kafka *kafka);

/* --- kafka_in.c --- */

enum err_code kafka_subscribe(struct bus *bus, const char *group, const char *const *topics, uint32_t n,
                              struct bus_consumer **out, struct err *err);
enum err_code kafka_poll(struct bus_consumer *consumer, uint32_t want, struct bus_message **out, uint32_t max,
                         int64_t timeout_ms, uint32_t *n);
void kafka_ack(struct bus_consumer *consumer, struct bus_message *message);
void kafka_nack(struct bus_consumer *consumer, struct bus_message *message, int64_t delay_ms);
enum err_code kafka_commit(struct bus_consumer *consumer);
void kafka_drain(struct bus_consumer *consumer);
void kafka_unsubscribe(struct bus_consumer *consumer);

#endif
