/* The message bus. Each transport is a table of functions. Thin wrapper functions have the contracts.
 *
 * Ownership:
 *   1. after a failed open or subscribe there is nothing to close; a returned object is closed once
 *   2. produce copies, so the caller keeps its arguments
 *   3. a polled message belongs to its consumer until it is acked or nacked, which frees it
 *
 * Delivery is at least once. A message that was polled but not acked is redelivered after a nack, a close or a crash.
 * It goes to this or another consumer of the group. The field bus_message.attempts counts the deliveries. Within one
 * key and topic, messages are delivered in the order of production. A consumer acks a message only after it has
 * produced all messages that follow from it.
 *
 * A new transport needs one file with one filled table, and one row in transport.c. It must pass the conformance suite
 * (tests/unit/proto/conformance.c).
 */
#ifndef ASSAY_PROTO_BUS_TRANSPORT_H
#define ASSAY_PROTO_BUS_TRANSPORT_H

#include "lib/base/error.h"
#include "lib/base/metrics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUS_REQUESTS     "assay.requests"
#define BUS_RESULTS      "assay.results"
#define BUS_VERDICTS     "assay.verdicts"
#define BUS_FEEDBACK     "assay.feedback" /* user feedback on verdicts; not read by the fleet */
#define BUS_TRACES       "assay.traces"   /* traces of schema linkers; read by `assay link judge`, not by the fleet */
#define BUS_DLQ          "assay.dlq"
#define BUS_TASKS_DLQ    "assay.tasks.dlq"
#define BUS_TASKS_PREFIX "assay.tasks."      /* the name of the family follows */
#define BUS_TASKS_ALL    "assay.tasks.all"   /* tasks of all families but llm */
#define BUS_GROUP        "assay-coordinator" /* group of coordinators */

/* Headers of the records that settle a request: the position of the request and the group that settles it. Numbers are
 * decimal. */
#define BUS_OF_PARTITION "request-partition"
#define BUS_OF_OFFSET    "request-offset"
#define BUS_OF_GROUP     "request-group"

enum { BUS_ANY_PARTITION = -1, BUS_MAX_TOPICS = 16, BUS_MAX_HEADERS = 32, BUS_FLOW_LEVELS = 3 };

struct bus_header {
    const char *name;
    const char *value;
    uint32_t len;
};

/* An outgoing message. */
struct bus_out {
    const char *topic;
    int32_t partition; /* BUS_ANY_PARTITION: the key determines the partition */
    const void *key;   /* NULL if there is no key; messages with the same key keep their order */
    uint32_t key_len;
    const void *value;
    size_t len;
    const struct bus_header *headers;
    uint32_t n_headers;
    /* Numbers of tenant, database and request (BUS_FLOW_LEVELS numbers). NULL if the message has no owner. Used only
     * for the topics of bus_config.fair. */
    const uint64_t *flow;
};

/* An incoming message. All data that it points to live as long as the message. */
struct bus_message {
    const char *topic;
    uint32_t topic_index; /* index in the subscription */
    int32_t partition;
    int64_t offset; /* increases within topic and partition */
    const void *key;
    uint32_t key_len;
    const void *value;
    size_t len;
    const struct bus_header *headers;
    uint32_t n_headers;
    const uint64_t *flow; /* flow given to bus_produce; NULL if none was given or the topic is not in bus_config.fair */
    int64_t time_ns;      /* time of arrival at the transport, on the clock of bus_now_ns */
    int64_t taken_ns;     /* time when the reader started to process it, on the same clock; set by the reader */
    uint32_t attempts;    /* number of known deliveries before this one */
    bool history;         /* the message was settled before and is delivered again only as history (bus_subscribe_once);
                           * it must be acked */
};

/* A property of the client library. Its name is that of the library ("bootstrap.servers"). */
struct bus_property {
    const char *name, *value;
};

/* A topic whose messages are delivered round robin, one per poll: by tenant, then by database, then by request. */
struct bus_fair {
    const char *topic;
    /* Maximum number of messages in flight for one flow of a level; 0 means no limit. Flow 0 has no limit. */
    uint32_t limits[BUS_FLOW_LEVELS];
};

struct bus_config {
    uint32_t
        /* Maximum number of messages of one topic; 0: 1,024. For kafka: maximum number of messages that no broker has
         * acknowledged; 0: 10,000. */
        queue_messages;
    /* Maximum bytes of keys, values and headers of these messages; 0: 64 MiB. One larger message is accepted while
     * there is no other one. */
    uint64_t queue_bytes;
    const struct bus_property *properties; /* a later property replaces an earlier one of the same name; copied; local
                                            * accepts none */
    uint32_t n_properties;
    int64_t connect_ms;          /* timeout for reaching servers at the start; 0: 10 s */
    const struct bus_fair *fair; /* only for local; copied with its names */
    uint32_t n_fair;
};

/* Traffic with servers. The values are some seconds old. */
struct bus_traffic {
    /* number of clients that have reported; if 0, all values are unknown */
    uint32_t clients;
    uint64_t bytes_in, bytes_out, messages_in, messages_out; /* monotonic, like the counters of the next line */
    uint64_t connects, disconnects, rebalances;
    uint64_t queued;          /* messages produced but not yet acknowledged by a server */
    uint64_t lag;             /* number of unhandled messages in the partitions assigned to this process */
    uint32_t members, joined; /* number of consumers, and of those to which their group has assigned partitions */
};

/* Settings of a reader that settles each request exactly once. Partition i of one topic belongs to partition i of the
 * other three. */
struct bus_once {
    const char *group;
    /* unique among running processes of the group, and the same after a restart; NULL: "0" */
    const char *instance;
    const char *results, *requests, *verdicts, *letters; /* names of the four topics; NULL: BUS_RESULTS and so on */
    /* where a group that has never read begins: "beginning" or "end"; NULL refuses such a group */
    const char *from;
    int64_t commit_ms; /* interval between transactions in ms while there are messages to read; 0: 100 */
    /* number of producers; each has one transaction at a time, for its share of the partitions; 0: 1 */
    uint32_t producers;
    uint32_t history; /* number of requests before the first open one that are delivered again as history; 0: 4,096 */
};
enum { BUS_ONCE_RESULTS, BUS_ONCE_REQUESTS, BUS_ONCE_TOPICS }; /* values of topic_index in messages of this reader */

enum { BUS_ONCE_GAPS = 64 };

/* A partition, and the number of offsets from its first unsettled to its last read record. */
struct bus_once_gap {
    int32_t partition;
    int64_t gap; /* also 0 if the partition now has another owner */
};

struct bus_once_stats {
    uint64_t committed, aborted;      /* number of transactions */
    int64_t commit_ns, commit_max_ns; /* sum and maximum of the time from begin to end of a commit */
    struct metrics_histogram commits; /* distribution of the time of a commit */
    struct metrics_histogram waits;   /* time of an output from settling to the begin of its transaction */
    struct metrics_histogram writes;  /* time of a transaction from its begin until all outputs are acknowledged */
    struct metrics_histogram ends;    /* time of a transaction from there until it is committed */
    /* partitions taken over from another owner, or from this process before its restart */
    uint64_t takeovers;
    uint64_t lost;   /* requests that retention deleted before they were settled */
    uint64_t poison; /* requests dead-lettered because processes that had opened them died */
    /* verdicts that the brokers refused as too large; a dead letter replaced each of them */
    uint64_t refused;
    uint32_t open;                           /* requests read and not settled */
    uint32_t waiting;                        /* requests settled and not committed */
    struct bus_once_gap gaps[BUS_ONCE_GAPS]; /* gaps of the first BUS_ONCE_GAPS partitions */
    uint32_t n_gaps;
    int64_t restored_ns;  /* duration of the last take-over, from its start until its earlier results were read */
    int64_t restoring_ns; /* age of the current take-over; 0 if there is none */
    uint32_t closed;      /* number of assigned partitions that are not read, because another topic lacks them */
};

struct bus;          /* A connection to servers, or the queues of this process. Thread: any. */
struct bus_consumer; /* One member of a group. Thread: that of the member, except for bus_drain. */

/* Receives the position of a produced message. It must not call the bus. Thread: one of the bus's own. */
typedef void bus_delivered(void *ctx, int32_t partition, int64_t offset);

struct bus_transport {
    const char *name;
    /* true if other programs write requests and read verdicts, as in proto/message/edge.h; requests may then be
     * duplicated. */
    bool shared;

    /* open, close */
    enum err_code (*open)(const struct bus_config *config, struct bus **out, struct err *err);
    void (*close)(struct bus *bus);

    /* out */
    /* NULL if the transport needs no such query */
    enum err_code (*know_topics)(struct bus *bus, const char *const *topics, uint32_t n, struct err *err);
    /* NULL if bus.max_message applies to every topic */
    size_t (*max_bytes)(struct bus *bus, const char *topic);
    enum err_code (*produce)(struct bus *bus, const struct bus_out *messages, uint32_t n, int64_t timeout_ms,
                             uint32_t *taken);
    enum err_code (*flush)(struct bus *bus, int64_t timeout_ms); /* NULL if messages are durable once produce returns */

    void (*forget)(struct bus *bus, const char *topic,
                   const uint64_t flow[BUS_FLOW_LEVELS]); /* NULL if the transport does not support bus_fair */

    enum err_code (*produce_with_report)(struct bus *bus, const struct bus_out *message, bus_delivered *delivered,
                                         void *ctx); /* NULL if messages have no positions */

    /* in */
    enum err_code (*subscribe)(struct bus *bus, const char *group, const char *const *topics, uint32_t n,
                               struct bus_consumer **out, struct err *err);
    enum err_code (*poll)(struct bus_consumer *consumer, uint32_t want, struct bus_message **out, uint32_t max,
                          int64_t timeout_ms, uint32_t *n);
    void (*ack)(struct bus_consumer *consumer, struct bus_message *message);
    void (*nack)(struct bus_consumer *consumer, struct bus_message *message, int64_t delay_ms);
    enum err_code (*commit)(struct bus_consumer *consumer); /* NULL if each ack is final */
    void (*drain)(struct bus_consumer *consumer);
    void (*unsubscribe)(struct bus_consumer *consumer);

    /* --- in, exactly once; all are NULL if the transport only delivers at least once --- */
    enum err_code (*subscribe_once)(struct bus *bus, const struct bus_once *once, struct bus_consumer **out,
                                    struct err *err);
    enum err_code (*settle)(struct bus_consumer *consumer, struct bus_message *message, const struct bus_out *out);
    bool (*catching_up)(struct bus_consumer *consumer, int32_t partition);
    bool (*taken_away)(struct bus_consumer *consumer, int32_t *partition);
    void (*once_stats)(struct bus_consumer *consumer, struct bus_once_stats *out);

    int64_t (*now_ns)(struct bus *bus);                        /* NULL: clock_now_ns is used */
    enum err_code (*health)(struct bus *bus, struct err *err); /* NULL if the transport cannot fail from outside */
    void (*traffic)(struct bus *bus, struct bus_traffic *out); /* NULL if the transport has no servers */
};

/* First member of every bus and consumer. Transports append their own data. */
struct bus {
    const struct bus_transport *transport;
    size_t max_message; /* maximum bus_out_bytes of a message; 0: MSG_MAX_BYTES */
};
struct bus_consumer {
    const struct bus_transport *transport;
};

extern const struct bus_transport bus_local, bus_kafka;

/* Returns the transport of that name. Returns NULL if it is unknown; `err` (ERR_CONFIG) then lists the known names. */
const struct bus_transport *bus_transport_find(const char *name, struct err *err);

/* Adds a transport to the table. Returns false if the name is taken or the table is full. Tests add their transports
 * with it before threads start. */
bool bus_transport_register(const struct bus_transport *transport);

enum err_code bus_open(const char *transport, const struct bus_config *config, struct bus **out, struct err *err);

/* Closes the bus. All consumers must be closed before. NULL is allowed. */
static inline void bus_close(struct bus *bus)
{
    if (bus) bus->transport->close(bus);
}

/* Produces n messages in order. Returns ERR_OK if the bus took all of them.
 *
 * Returns ERR_FULL if a queue stayed full for timeout_ms; the bus then took only the first *taken (may be NULL)
 * messages. A timeout of 0 returns at once; a negative one waits without limit. Returns ERR_LIMIT_BYTES if the message
 * after those is too large for the transport. After a fatal code the bus takes no more messages, and bus_health gives
 * the reason. Of adjacent messages with one key, the bus takes all or none; only a crash of the writer may leave a
 * part.
 */
static inline enum err_code bus_produce(struct bus *bus, const struct bus_out *messages, uint32_t n, int64_t timeout_ms,
                                        uint32_t *taken)
{
    return bus->transport->produce(bus, messages, n, timeout_ms, taken);
}

/* Sends one message and reports its position, once. There is no report if the message never arrives (see bus_health),
 * is too large for its topic, or the bus is closed before it arrives. Returns ERR_FULL if the queue is full, ERR_CONFIG
 * if the transport has no positions, and other codes as bus_produce does. */
static inline enum err_code bus_produce_with_report(struct bus *bus, const struct bus_out *message,
                                                    bus_delivered *delivered, void *ctx)
{
    return bus->transport->produce_with_report ? bus->transport->produce_with_report(bus, message, delivered, ctx)
                                               : ERR_CONFIG;
}

/* Drops the messages of that flow, except those in flight. */
static inline void bus_forget(struct bus *bus, const char *topic, const uint64_t flow[BUS_FLOW_LEVELS])
{
    if (bus->transport->forget) bus->transport->forget(bus, topic, flow);
}

/* Waits until all messages produced so far are durable. Returns ERR_FULL after timeout_ms. */
static inline enum err_code bus_flush(struct bus *bus, int64_t timeout_ms)
{
    return bus->transport->flush ? bus->transport->flush(bus, timeout_ms) : ERR_OK;
}

/* Joins `group` and reads these topics (at most BUS_MAX_TOPICS). Members of a group share the messages. Messages
 * produced before the first subscription are retained. In the local transport a topic has only one group; a second
 * group gets ERR_CONFIG. */
static inline enum err_code bus_subscribe(struct bus *bus, const char *group, const char *const *topics, uint32_t n,
                                          struct bus_consumer **out, struct err *err)
{
    return bus->transport->subscribe(bus, group, topics, n, out, err);
}

/* Polls up to `max` messages of the topics in `want` (bit i: topic i of the subscription; 0: all topics). Waits up to
 * timeout_ms for the first message (0 returns at once, below 0 waits without limit), but does not wait for further
 * ones. Messages of other topics stay queued, so a reader can pause one topic and continue with another. Messages of
 * one key arrive together if the transport supports it. Returns ERR_OK with *n = 0 on timeout, and ERR_CLOSED if
 * drained. */
static inline enum err_code bus_poll(struct bus_consumer *consumer, uint32_t want, struct bus_message **out,
                                     uint32_t max, int64_t timeout_ms, uint32_t *n)
{
    return consumer->transport->poll(consumer, want, out, max, timeout_ms, n);
}

/* Marks the message as permanently handled, and frees it. */
static inline void bus_ack(struct bus_consumer *consumer, struct bus_message *message)
{
    consumer->transport->ack(consumer, message);
}

/* Requests redelivery of a message that could not be handled, at the earliest after delay_ms. The message is then
 * delivered before messages that have not been delivered yet. Frees the message. */
static inline void bus_nack(struct bus_consumer *consumer, struct bus_message *message, int64_t delay_ms)
{
    consumer->transport->nack(consumer, message, delay_ms);
}

/* Ends a step. The messages produced and the acks made since the last commit become visible together. */
static inline enum err_code bus_commit(struct bus_consumer *consumer)
{
    return consumer->transport->commit ? consumer->transport->commit(consumer) : ERR_OK;
}

/* Stops receiving: a waiting poll and all later polls return ERR_CLOSED. Polled messages may still be acked. Thread:
 * any. */
static inline void bus_drain(struct bus_consumer *consumer)
{
    consumer->transport->drain(consumer);
}

/* Leaves the group. Messages that were neither acked nor nacked return to the group, in order. NULL is allowed. */
static inline void bus_unsubscribe(struct bus_consumer *consumer)
{
    if (consumer) consumer->transport->unsubscribe(consumer);
}

/* Joins a group as a reader of requests and results. It settles each request exactly once, even if processes die. A
 * transport without this guarantee (`local`, which ends with its writers) uses bus_subscribe on the two topics. Results
 * need only an ack. After a take-over, results of open requests are delivered again. */
enum err_code bus_subscribe_once(struct bus *bus, const struct bus_once *once, struct bus_consumer **out,
                                 struct err *err);

/* Produces `out` (may be NULL) and finishes the message in one transaction, committed at most bus_once.commit_ms later.
 * Takes ownership of the message and copies `out`. A transport without transactions produces, then acks. Returns
 * ERR_FULL, ERR_LIMIT_BYTES and fatal codes as bus_produce does; the caller then still owns the message. */
static inline enum err_code bus_settle(struct bus_consumer *consumer, struct bus *bus, struct bus_message *message,
                                       const struct bus_out *out)
{
    if (consumer->transport->settle) return consumer->transport->settle(consumer, message, out);
    enum err_code code = out ? bus_produce(bus, out, 1, 0, NULL) : ERR_OK;
    if (!code) consumer->transport->ack(consumer, message);
    return code;
}

/* Returns true if results from before this reader's take-over of the partition are still unread. The reader should
 * delay tasks of the partition's requests, because those results may already answer them. BUS_ANY_PARTITION checks all
 * of the reader's partitions. */
static inline bool bus_catching_up(struct bus_consumer *consumer, int32_t partition)
{
    return consumer->transport->catching_up && consumer->transport->catching_up(consumer, partition);
}

/* Returns true and a partition that another process took over during the last poll. That process now settles the
 * partition's requests, and the caller must nack each of its messages. Returns false if all such partitions have been
 * reported. Must be called after each poll, before the polled messages are used. */
static inline bool bus_taken_away(struct bus_consumer *consumer, int32_t *partition)
{
    return consumer->transport->taken_away && consumer->transport->taken_away(consumer, partition);
}

static inline void bus_once_stats(struct bus_consumer *consumer, struct bus_once_stats *out)
{
    *out = (struct bus_once_stats){0};
    if (consumer->transport->once_stats) consumer->transport->once_stats(consumer, out);
}

/* Returns the bytes of key, value, and names and values of the headers. Thread: any, as for the next five functions. */
size_t bus_out_bytes(const struct bus_out *out);

/* Returns the maximum bus_out_bytes that this bus accepts for that topic. The value may decrease. */
size_t bus_max_bytes(struct bus *bus, const char *topic);

/* Queries the size limits of these topics, which bus_max_bytes and ERR_LIMIT_BYTES then use. If a limit cannot be found
 * within connect_ms, this is logged and the default stays. Returns ERR_CONFIG if a topic's limit is below the
 * minimum. */
enum err_code bus_know_topics(struct bus *bus, const char *const *topics, uint32_t n, struct err *err);

/* Makes a deep copy of a message. The copy uses bus_out_room bytes of `room` and n_headers entries of `headers`. Texts
 * end with NUL. The topic is not copied. */
size_t bus_out_room(const struct bus_out *out);
void bus_out_copy(const struct bus_out *out, char *room, struct bus_header *headers, struct bus_out *copy);

/* Returns ERR_OK, or the error that ended this bus. This error is the reason for a fatal code of the other
 * functions. */
static inline enum err_code bus_health(struct bus *bus, struct err *err)
{
    return bus->transport->health ? bus->transport->health(bus, err) : ERR_OK;
}

/* Copies the counts of the transport's traffic; they are zero if the transport has none. Thread: any. */
static inline void bus_traffic(struct bus *bus, struct bus_traffic *out)
{
    *out = (struct bus_traffic){0};
    if (bus->transport->traffic) bus->transport->traffic(bus, out);
}

/* Returns true if the value of this property must not appear in logs and printed settings. */
bool bus_property_is_secret(const char *name);

/* Returns the time on the clock of message deadlines. All users of this transport share that clock. */
int64_t bus_now_ns(struct bus *bus);

/* Returns the value of a header, NUL-terminated, or NULL if it is missing. */
const char *bus_header_get(const struct bus_message *message, const char *name);

#endif
