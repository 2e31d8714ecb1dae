/* Inside the kafka transport: what its files share. The design is in transport_kafka.c; nobody else includes this. */
#ifndef ASSAY_PROTO_BUS_KAFKA_KAFKA_H
#define ASSAY_PROTO_BUS_KAFKA_KAFKA_H

#include "proto/bus/kafka/librdkafka.h"
#include "proto/bus/kafka/stats.h"
#include "proto/bus/transport.h"

#include <pthread.h>
#include <stdatomic.h>

enum { KAFKA_CONNECT_MS = 10000, KAFKA_POLL_MS = 100 };

/* What the library hands to callbacks. */
struct kafka_context {
    struct kafka *kafka;
    void *owner; /* the consumer */
    bool joins;  /* a group; else a consumer that takes its partitions itself, and is asked about no membership */
};

enum { KAFKA_LIMITS = 40 };

/* What a topic takes, where somebody asked. */
struct kafka_limit {
    char topic[128];
    atomic_size_t most; /* of bus_out_bytes */
};

struct kafka {
    struct bus bus;
    struct kafka_context context;
    struct bus_property *properties; /* own copies */
    uint32_t n_properties;
    uint32_t max_messages;
    uint64_t max_bytes;
    int64_t connect_ms;
    rd_kafka_t *producer;
    pthread_t thread; /* serves the producer's callbacks */
    atomic_bool stop;

    pthread_mutex_t lock; /* of all below; taken last */
    pthread_cond_t progress;
    struct pending *oldest, *newest; /* produced, no delivery report yet */
    struct pending *spare;           /* for what is produced next */
    uint64_t next_number;            /* of what is produced next */
    uint32_t n;
    uint64_t bytes;
    size_t batch_bytes; /* messages up to this size may travel together; set once */
    struct err failure; /* the first thing that cannot be mended */
    struct err trouble; /* what the library complained about last */
    /* Asked for with every message, so read without the lock; written under it. */
    struct kafka_limit limits[KAFKA_LIMITS]; /* a row that is there stays */
    atomic_uint n_limits;
    atomic_size_t least_limit; /* what is not larger fits everywhere */
    atomic_llong ahead_ms;     /* the brokers' clock against ours */

    struct kafka_stats stats; /* has a lock of its own */
};

/* --- client.c: configuration, errors, being reachable --- */

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

/* --- consumer_common.c: what consumers share --- */

/* Counts what happened, so that nothing rung between looking and waiting is missed. */
struct wakeup {
    pthread_mutex_t lock;
    pthread_cond_t signalled;
    uint64_t count;
};

void wakeup_init(struct wakeup *wakeup);
void wakeup_free(struct wakeup *wakeup);
void wakeup_signal(struct wakeup *wakeup);
uint64_t wakeup_count(struct wakeup *wakeup);
/* Until something rings that was not counted in `heard`, or ms have passed. */
void wakeup_wait(struct wakeup *wakeup, uint64_t heard, int64_t ms);

/* For rd_kafka_queue_cb_event_enable, with the wakeup that it signals. Thread: the library's. */
void kafka_wakeup(rd_kafka_t *client, void *wakeup);

/* Of a message that came in; NULL: it has none, and then the library looks anew each time that it is asked. */
rd_kafka_headers_t *kafka_headers_of(const rd_kafka_message_t *raw);
uint32_t kafka_count_headers(const rd_kafka_headers_t *headers);
/* The library's message as the transport shows it, but for its topic. `headers` are its own, `into` has
 * kafka_count_headers entries; names and values stay the library's, which ends values with a NUL. */
void kafka_fill(struct bus_message *out, struct bus_header *into, const rd_kafka_headers_t *headers,
                const rd_kafka_message_t *raw);

/* Does this end the consumer? A topic that a broker does not know was there when we joined: that broker is behind, or
 * somebody is making it anew. */
bool kafka_is_final(rd_kafka_resp_err_t error);

/* Joining a group that reads a topic which is not there would wait in silence. */
enum err_code kafka_check_topic(struct kafka *kafka, rd_kafka_t *client, const char *topic, struct err *err);

/* --- limits.c: how large messages may be --- */

/* What a message may be where the library and its brokers take `largest`: they, and exactly_once/settle.c, add to it.
 */
size_t kafka_without_overhead(size_t largest);

enum err_code kafka_know_topics(struct bus *bus, const char *const *topics, uint32_t n, struct err *err);
size_t kafka_max_bytes(struct bus *bus, const char *topic);

/* Under the lock. */
bool kafka_fits(struct kafka *kafka, const struct bus_out *out);

/* A broker refused a message of that size as too large. True: it was the message, and from now on less counts as too
 * large; false: perhaps it was the batch that it was in, or nobody has asked about this topic. */
bool kafka_is_refused(struct kafka *kafka, const char *topic, size_t bytes);

/* --- producer.c --- */

/* NULL: there are none. The library takes them over when it takes the message. */
rd_kafka_headers_t *kafka_headers(const struct bus_out *out);

enum err_code kafka_producer_open(struct kafka *kafka, struct err *err);
void kafka_producer_close(struct kafka *kafka);
enum err_code kafka_produce_with_report(struct bus *bus, const struct bus_out *message, bus_delivered *delivered,
                                        void *ctx);
enum err_code kafka_produce(struct bus *bus, const struct bus_out *messages, uint32_t n, int64_t timeout_ms,
                            uint32_t *taken);
enum err_code kafka_flush(struct bus *bus, int64_t timeout_ms);

/* Everything produced before this number is safe, and the number of what comes next. */
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
