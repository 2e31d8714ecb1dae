/* Internal declarations shared by the files of the Kafka transport. Only these files include it. The design is
 * described in transport_kafka.c. */
#ifndef ASSAY_PROTO_BUS_KAFKA_KAFKA_H
#define ASSAY_PROTO_BUS_KAFKA_KAFKA_H

#include "proto/bus/kafka/librdkafka.h"
#include "proto/bus/kafka/stats.h"
#include "proto/bus/transport.h"

#include <pthread.h>
#include <stdatomic.h>

enum { KAFKA_CONNECT_MS = 10000, KAFKA_POLL_MS = 100 };

/* Context argument of the library's callbacks. */
struct kafka_context {
    struct kafka *kafka;
    void *owner; /* the consumer that uses the client */
    bool joins;  /* true for a member of a group; false if the consumer assigns its partitions itself */
};

enum { KAFKA_LIMITS = 40 };

/* The size limit of a topic that was queried. */
struct kafka_limit {
    char topic[128];
    atomic_size_t most; /* maximum bus_out_bytes */
};

struct kafka {
    struct bus bus;
    struct kafka_context context;
    struct bus_property *properties; /* copies owned by this struct */
    uint32_t n_properties;
    uint32_t max_messages;
    uint64_t max_bytes;
    int64_t connect_ms;
    rd_kafka_t *producer;
    pthread_t thread; /* serves the producer's callbacks */
    atomic_bool stop;

    pthread_mutex_t lock; /* guards the fields below; last in the order of locks */
    pthread_cond_t progress;
    struct pending *oldest, *newest; /* messages without a delivery report yet */
    struct pending *spare;           /* free entries for later messages */
    uint64_t next_number;            /* number of the next produced message */
    uint32_t n;
    uint64_t bytes;
    size_t batch_bytes; /* messages up to this size may share a batch; set once */
    struct err failure; /* first permanent failure */
    struct err trouble; /* last error of the library */
    /* Read for every message without the lock, and written under it. */
    struct kafka_limit limits[KAFKA_LIMITS]; /* rows are appended and never removed */
    atomic_uint n_limits;
    atomic_size_t least_limit; /* messages up to this size fit every topic */
    atomic_llong ahead_ms;     /* brokers' clock minus the local clock */

    struct kafka_stats stats; /* has its own lock */
};

/* --- client.c: configuration, errors, reachability --- */

struct kafka_preset {
    const char *name, *value;
};

/* Returns the error code for a library's error. An error that is not known to be harmless or transient is fatal.
 * Thread: any. */
enum err_code kafka_code(rd_kafka_resp_err_t error);

/* Fills `err` with the text of a library's error and returns its code. */
enum err_code kafka_err(struct err *err, rd_kafka_resp_err_t error, const char *what);

/* Builds a configuration from common presets, then `presets`, then the user's properties. Returns NULL with `err` if a
 * property is invalid. */
rd_kafka_conf_t *kafka_conf(struct kafka_context *context, const struct kafka_preset *presets, uint32_t n,
                            struct err *err);

/* Creates a client. Takes ownership of `conf`, also on failure. */
rd_kafka_t *kafka_client(rd_kafka_type_t type, rd_kafka_conf_t *conf, struct err *err);

/* Waits until a broker answers, for at most connect_ms. On failure `err` has the library's last error. */
enum err_code kafka_reach(struct kafka *kafka, rd_kafka_t *client, struct err *err);

/* Records a permanent failure. Only the first failure is recorded. */
void kafka_fail(struct kafka *kafka, enum err_code code, const char *text);

/* Returns milliseconds since 1970 on this machine's clock. */
int64_t kafka_local_ms(void);

/* Adjusts the estimate of the brokers' clock, which showed `broker_ms` at some time between two local times. */
void kafka_learn_clock(struct kafka *kafka, int64_t broker_ms, int64_t from_ms, int64_t to_ms);

/* --- consumer_common.c: shared by the consumers --- */

/* A counter of signals. A waiter compares counts, so it misses no signal between its check and its wait. */
struct wakeup {
    pthread_mutex_t lock;
    pthread_cond_t signalled;
    uint64_t count;
};

void wakeup_init(struct wakeup *wakeup);
void wakeup_free(struct wakeup *wakeup);
void wakeup_signal(struct wakeup *wakeup);
uint64_t wakeup_count(struct wakeup *wakeup);
/* Waits for a signal after those counted in `heard`, for at most `ms` milliseconds. */
void wakeup_wait(struct wakeup *wakeup, uint64_t heard, int64_t ms);

/* Signals the wakeup; a callback for rd_kafka_queue_cb_event_enable. Thread: the library's. */
void kafka_wakeup(rd_kafka_t *client, void *wakeup);

/* Returns the headers of an incoming message, or NULL if it has none. Call it once, because the library does not cache
 * a missing result. */
rd_kafka_headers_t *kafka_headers_of(const rd_kafka_message_t *raw);
uint32_t kafka_count_headers(const rd_kafka_headers_t *headers);
/* Fills `out` from the library's message, except for its topic. `headers` are those of the message; `into` has
 * kafka_count_headers entries. The library owns names and values, and ends values with a NUL. */
void kafka_fill(struct bus_message *out, struct bus_header *into, const rd_kafka_headers_t *headers,
                const rd_kafka_message_t *raw);

/* Returns true if the error ends the consumer. A missing topic does not end it. The topic existed when the consumer
 * joined, so the broker has old data or the topic is being recreated. */
bool kafka_is_final(rd_kafka_resp_err_t error);

/* Returns an error if the topic is missing. Without this check, joining a group that reads a missing topic would wait
 * without an error. */
enum err_code kafka_check_topic(struct kafka *kafka, rd_kafka_t *client, const char *topic, struct err *err);

/* --- limits.c: size limits of messages --- */

/* Returns the maximum size of a message if the library and its brokers accept `largest` bytes. The difference is the
 * overhead that the library, the brokers and exactly_once/settle.c add. */
size_t kafka_without_overhead(size_t largest);

enum err_code kafka_know_topics(struct bus *bus, const char *const *topics, uint32_t n, struct err *err);
size_t kafka_max_bytes(struct bus *bus, const char *topic);

/* Returns true if the topic accepts a message of that size. The caller holds the lock. */
bool kafka_fits(struct kafka *kafka, const struct bus_out *out);

/* Handles a broker's refusal of a message of that size as too large. Returns true, and lowers the topic's limit, if the
 * message itself was too large. Returns false if the batch may have been too large, or if the topic's limit was never
 * queried. */
bool kafka_is_refused(struct kafka *kafka, const char *topic, size_t bytes);

/* --- producer.c --- */

/* Returns the headers for the library, or NULL if there are none. The library takes ownership when it accepts the
 * message. */
rd_kafka_headers_t *kafka_headers(const struct bus_out *out);

enum err_code kafka_producer_open(struct kafka *kafka, struct err *err);
void kafka_producer_close(struct kafka *kafka);
enum err_code kafka_produce_with_report(struct bus *bus, const struct bus_out *message, bus_delivered *delivered,
                                        void *ctx);
enum err_code kafka_produce(struct bus *bus, const struct bus_out *messages, uint32_t n, int64_t timeout_ms,
                            uint32_t *taken);
enum err_code kafka_flush(struct bus *bus, int64_t timeout_ms);

/* Returns a number: all produced messages with lower numbers have been delivered. */
uint64_t kafka_arrived(struct kafka *kafka);
uint64_t kafka_next_number(struct kafka *kafka);

/* --- consumer.c --- */

enum err_code kafka_subscribe(struct bus *bus, const char *group, const char *const *topics, uint32_t n,
                              struct bus_consumer **out, struct err *err);
enum err_code kafka_poll(struct bus_consumer *consumer, uint32_t want, struct bus_message **out, uint32_t max,
                         int64_t timeout_ms, uint32_t *n);
void kafka_ack(struct bus_consumer *consumer, struct bus_message *message);
void kafka_nack(struct bus_consumer *consumer, struct bus_message *message, int64_t delay_ms);
enum err_code kafka_commit(struct bus_consumer *consumer);
void kafka_drain(struct bus_consumer *consumer);
void kafka_unsubscribe(struct bus_consumer *consumer);

/* --- exactly_once/once.c --- */

enum err_code kafka_subscribe_once(struct bus *bus, const struct bus_once *how, struct bus_consumer **out,
                                   struct err *err);

#endif
