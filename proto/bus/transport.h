/* How messages travel: one table of slots a transport, thin wrappers that hold the contract.
 *
 * Ownership:
 *   1. after a failed open or subscribe nothing is to be closed; what they gave is closed once
 *   2. produce copies, so the caller keeps what it handed in
 *   3. a polled message belongs to its consumer until it is acked or nacked, which frees it
 *
 * At least once: a message that was polled and never acked comes again, to this or another consumer of the group, after
 * a nack, a close or a crash; bus_message.attempts counts. Within one key and topic, messages are handed out in the
 * order they were produced. A message is acked only after everything that it led to was produced.
 *
 * Adding a transport: one file, one filled table, one row in transport.c, the conformance suite
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
#define BUS_FEEDBACK     "assay.feedback" /* what people say of verdicts; no process of the fleet reads it */
#define BUS_TRACES       "assay.traces" /* of schema linkers at work; `assay link judge` reads it, no process of the fleet */
#define BUS_DLQ          "assay.dlq"
#define BUS_TASKS_DLQ    "assay.tasks.dlq"
#define BUS_TASKS_PREFIX "assay.tasks."      /* followed by the family */
#define BUS_TASKS_ALL    "assay.tasks.all"   /* of all families but llm */
#define BUS_GROUP        "assay-coordinator" /* of coordinators */

/* Headers of what a request was settled with: which request, and who settled it. Numbers are decimal. */
#define BUS_OF_PARTITION "request-partition"
#define BUS_OF_OFFSET    "request-offset"
#define BUS_OF_GROUP     "request-group"

enum { BUS_ANY_PARTITION = -1, BUS_MAX_TOPICS = 16, BUS_MAX_HEADERS = 32, BUS_FLOW_LEVELS = 3 };

struct bus_header {
    const char *name;
    const char *value;
    uint32_t len;
};

/* A message on its way out. */
struct bus_out {
    const char *topic;
    int32_t partition; /* BUS_ANY_PARTITION: chosen by the key */
    const void *key;   /* NULL: none; messages of one key keep their order */
    uint32_t key_len;
    const void *value;
    size_t len;
    const struct bus_header *headers;
    uint32_t n_headers;
    /* [BUS_FLOW_LEVELS]: tenant, database and request of the message, in numbers; NULL: nobody's. Only bus_config.fair
     * reads it. */
    const uint64_t *flow;
};

/* A message that came in. Everything it points to lives as long as itself. */
struct bus_message {
    const char *topic;
    uint32_t topic_index; /* in the subscription */
    int32_t partition;
    int64_t offset; /* rises within topic and partition */
    const void *key;
    uint32_t key_len;
    const void *value;
    size_t len;
    const struct bus_header *headers;
    uint32_t n_headers;
    const uint64_t *flow; /* as it was produced; NULL: none, or the topic is not fair */
    int64_t time_ns;      /* when the transport took it, on bus_now_ns's clock */
    int64_t taken_ns;     /* when its reader took it up, on the same clock; the reader's to set */
    uint32_t attempts;    /* deliveries before this one, as far as known */
    bool history;         /* settled before, shown again for what can be learnt from it (bus_subscribe_once): ack it */
};

/* A property of the library beneath, by its own name ("bootstrap.servers"). */
struct bus_property {
    const char *name, *value;
};

/* A topic whose messages are handed out round robin, one a poll: tenants, then databases of a tenant, then requests. */
struct bus_fair {
    const char *topic;
    /* Messages that readers hold of one flow of a level at most; 0: any number. Flow 0 has no limit. */
    uint32_t limits[BUS_FLOW_LEVELS];
};

struct bus_config {
    uint32_t
        queue_messages;   /* bound of one topic; 0: 1,024. kafka: of all that no broker has acknowledged; 0: 10,000 */
    uint64_t queue_bytes; /* likewise in bytes of keys, values and headers; 0: 64 MiB. One larger message still fits */
    const struct bus_property *properties; /* a later one of a name counts; copied; local takes none */
    uint32_t n_properties;
    int64_t connect_ms;          /* how long to wait for servers at the start; 0: 10 s */
    const struct bus_fair *fair; /* of local; other transports take none. Copied, its names too */
    uint32_t n_fair;
};

/* What goes to and from servers, as of some seconds ago. */
struct bus_traffic {
    uint32_t clients;                                        /* that have told; 0: nothing is known, yet or at all */
    uint64_t bytes_in, bytes_out, messages_in, messages_out; /* these and the next only go up */
    uint64_t connects, disconnects, rebalances;
    uint64_t queued;          /* produced, and not yet safe with a server */
    uint64_t lag;             /* messages of own partitions that are not handled yet */
    uint32_t members, joined; /* consumers; those of them whose group knows what they read */
};

/* What a reader joins that settles each request exactly once. Partition i of the four topics belongs together. */
struct bus_once {
    const char *group;
    const char *instance; /* another one in each living process of the group, the same after a restart; NULL: "0" */
    const char *results, *requests, *verdicts, *letters; /* topics; NULL: BUS_... */
    const char *from;   /* where a group begins that has never read: "beginning", "end"; NULL: it is refused */
    int64_t commit_ms;  /* between two transactions while there is something to read; 0: 100 */
    uint32_t producers; /* that have a transaction at a time each, for their share of the partitions; 0: 1 */
    uint32_t history;   /* requests before the first open one that are shown again; 0: 4,096 */
};
enum { BUS_ONCE_RESULTS, BUS_ONCE_REQUESTS, BUS_ONCE_TOPICS }; /* topic_index of its messages */

enum { BUS_ONCE_GAPS = 64 };

/* A partition: how many offsets lie between the first that is not settled and the last that was read. */
struct bus_once_gap {
    int32_t partition;
    int64_t gap; /* 0: also when it is somebody else's now */
};

struct bus_once_stats {
    uint64_t committed, aborted;      /* transactions */
    int64_t commit_ns, commit_max_ns; /* from begin to the end of commit: sum, longest */
    struct metrics_histogram commits; /* and how they are spread */
    struct metrics_histogram waits;   /* of outputs, from being settled until their transaction begins */
    struct metrics_histogram writes;  /* of transactions, from begin until all outputs are acknowledged */
    struct metrics_histogram ends;    /* and from there until they are committed */
    uint64_t takeovers;               /* partitions taken over from another owner, or from this one's past */
    uint64_t lost;                    /* requests that retention took before they were settled */
    uint64_t poison;                  /* requests put aside because their owners died */
    uint64_t refused;                 /* verdicts that the brokers took for too large; a letter took their place */
    uint32_t open;                    /* read, not settled */
    uint32_t waiting;                 /* settled, not committed */
    struct bus_once_gap gaps[BUS_ONCE_GAPS]; /* of the first so many partitions */
    uint32_t n_gaps;
    int64_t restored_ns;  /* what the last take-over took, until its answers of the past were read */
    int64_t restoring_ns; /* since one began that goes on; 0: none does */
    uint32_t closed;      /* own partitions that are not read, for another topic lacks them */
};

struct bus;          /* a connection, or the queues of this process. Thread: any */
struct bus_consumer; /* one member of a group. Thread: its own, except for bus_drain */

/* Where a message came to lie. Thread: one of the bus's own; it must not call the bus. */
typedef void bus_delivered(void *ctx, int32_t partition, int64_t offset);

struct bus_transport {
    const char *name;
    bool shared; /* others write requests and read verdicts: in the forms of proto/message/edge.h, and perhaps twice */

    /* open, close */
    enum err_code (*open)(const struct bus_config *config, struct bus **out, struct err *err);
    void (*close)(struct bus *bus);

    /* out */
    enum err_code (*know_topics)(struct bus *bus, const char *const *topics, uint32_t n, struct err *err); /* or NULL */
    size_t (*max_bytes)(struct bus *bus, const char *topic); /* NULL: max_message whatever the topic */
    enum err_code (*produce)(struct bus *bus, const struct bus_out *messages, uint32_t n, int64_t timeout_ms,
                             uint32_t *taken);
    enum err_code (*flush)(struct bus *bus, int64_t timeout_ms); /* NULL: produce is already durable */

    void (*forget)(struct bus *bus, const char *topic,
                   const uint64_t flow[BUS_FLOW_LEVELS]); /* NULL: nothing is fair */

    enum err_code (*produce_with_report)(struct bus *bus, const struct bus_out *message, bus_delivered *delivered,
                                         void *ctx); /* NULL: places mean nothing */

    /* in */
    enum err_code (*subscribe)(struct bus *bus, const char *group, const char *const *topics, uint32_t n,
                               struct bus_consumer **out, struct err *err);
    enum err_code (*poll)(struct bus_consumer *consumer, uint32_t want, struct bus_message **out, uint32_t max,
                          int64_t timeout_ms, uint32_t *n);
    void (*ack)(struct bus_consumer *consumer, struct bus_message *message);
    void (*nack)(struct bus_consumer *consumer, struct bus_message *message, int64_t delay_ms);
    enum err_code (*commit)(struct bus_consumer *consumer); /* NULL: every ack stands by itself */
    void (*drain)(struct bus_consumer *consumer);
    void (*unsubscribe)(struct bus_consumer *consumer);

    /* in, exactly once; all NULL: as above */
    enum err_code (*subscribe_once)(struct bus *bus, const struct bus_once *once, struct bus_consumer **out,
                                    struct err *err);
    enum err_code (*settle)(struct bus_consumer *consumer, struct bus_message *message, const struct bus_out *out);
    bool (*catching_up)(struct bus_consumer *consumer, int32_t partition);
    bool (*taken_away)(struct bus_consumer *consumer, int32_t *partition);
    void (*once_stats)(struct bus_consumer *consumer, struct bus_once_stats *out);

    int64_t (*now_ns)(struct bus *bus);                        /* NULL: clock_now_ns */
    enum err_code (*health)(struct bus *bus, struct err *err); /* NULL: nothing outside can fail */
    void (*traffic)(struct bus *bus, struct bus_traffic *out); /* NULL: there are no servers */
};

/* Every bus and consumer begins with this; transports extend it. */
struct bus {
    const struct bus_transport *transport;
    size_t max_message; /* what bus_out_bytes of one may be; 0: MSG_MAX_BYTES */
};
struct bus_consumer {
    const struct bus_transport *transport;
};

extern const struct bus_transport bus_local, bus_kafka;

/* The transport of that name. NULL: none; `err` (ERR_CONFIG) lists the known ones. */
const struct bus_transport *bus_transport_find(const char *name, struct err *err);

/* Add one to the table. False: the name is taken, or the table is full. Tests add theirs; before threads start. */
bool bus_transport_register(const struct bus_transport *transport);

enum err_code bus_open(const char *transport, const struct bus_config *config, struct bus **out, struct err *err);

/* All consumers must be gone. NULL is fine. */
static inline void bus_close(struct bus *bus)
{
    if (bus) bus->transport->close(bus);
}

/* Hand over n messages in order. ERR_OK: all were taken. ERR_FULL: only the first *taken (may be NULL) were, because a
 * queue stayed full for timeout_ms (0: do not wait, below 0: wait for ever). ERR_LIMIT_BYTES: the message after those
 * is larger than the transport takes. A fatal code: nobody will ever take more, bus_health says why. Of messages that
 * share a key and stand side by side in one call, all are taken or none; only a writer that dies may leave a part. */
static inline enum err_code bus_produce(struct bus *bus, const struct bus_out *messages, uint32_t n, int64_t timeout_ms,
                                        uint32_t *taken)
{
    return bus->transport->produce(bus, messages, n, timeout_ms, taken);
}

/* Send one message and be called back, once, with its position; not at all if it never arrives (bus_health says why),
 * is refused as too large for its topic, or the bus is closed before. ERR_FULL: no room now. Other codes as of
 * bus_produce, ERR_CONFIG where places mean nothing. */
static inline enum err_code bus_produce_with_report(struct bus *bus, const struct bus_out *message,
                                                    bus_delivered *delivered, void *ctx)
{
    return bus->transport->produce_with_report ? bus->transport->produce_with_report(bus, message, delivered, ctx)
                                               : ERR_CONFIG;
}

/* Drops the messages of that flow that no reader holds. */
static inline void bus_forget(struct bus *bus, const char *topic, const uint64_t flow[BUS_FLOW_LEVELS])
{
    if (bus->transport->forget) bus->transport->forget(bus, topic, flow);
}

/* Wait until everything produced so far is safe. ERR_FULL: not within timeout_ms. */
static inline enum err_code bus_flush(struct bus *bus, int64_t timeout_ms)
{
    return bus->transport->flush ? bus->transport->flush(bus, timeout_ms) : ERR_OK;
}

/* Join `group` and read these topics (at most BUS_MAX_TOPICS). Members of a group share the messages. What was produced
 * before anybody subscribed waits. A topic has one group in the local transport: another one is ERR_CONFIG. */
static inline enum err_code bus_subscribe(struct bus *bus, const char *group, const char *const *topics, uint32_t n,
                                          struct bus_consumer **out, struct err *err)
{
    return bus->transport->subscribe(bus, group, topics, n, out, err);
}

/* Up to `max` messages of the wanted topics (bit i: topic i of the subscription; 0: all of them). Waits up to
 * timeout_ms for the first (0: does not, below 0: for ever), never for more. What is not wanted stays where it is: this
 * is how a reader holds back one topic and goes on with another. Messages of one key come together where the transport
 * can do that. ERR_OK with *n = 0: none came. ERR_CLOSED: drained. */
static inline enum err_code bus_poll(struct bus_consumer *consumer, uint32_t want, struct bus_message **out,
                                     uint32_t max, int64_t timeout_ms, uint32_t *n)
{
    return consumer->transport->poll(consumer, want, out, max, timeout_ms, n);
}

/* Done with it, for good. Frees the message. */
static inline void bus_ack(struct bus_consumer *consumer, struct bus_message *message)
{
    consumer->transport->ack(consumer, message);
}

/* Could not be handled: hand it out again, not before delay_ms have passed, ahead of what has not been handed out yet.
 * Frees the message. */
static inline void bus_nack(struct bus_consumer *consumer, struct bus_message *message, int64_t delay_ms)
{
    consumer->transport->nack(consumer, message, delay_ms);
}

/* End of a step: what was produced since the last commit and the acks since then become true together. */
static inline enum err_code bus_commit(struct bus_consumer *consumer)
{
    return consumer->transport->commit ? consumer->transport->commit(consumer) : ERR_OK;
}

/* Stop intake: a waiting poll returns, this and later ones with ERR_CLOSED. What was polled may still be acked. Thread:
 * any. */
static inline void bus_drain(struct bus_consumer *consumer)
{
    consumer->transport->drain(consumer);
}

/* Leave the group. Messages that were neither acked nor nacked go back to it, in order. NULL is fine. */
static inline void bus_unsubscribe(struct bus_consumer *consumer)
{
    if (consumer) consumer->transport->unsubscribe(consumer);
}

/* Join as a reader of requests and results of which each request is settled exactly once, whoever dies. A transport
 * without that (`local`, which dies with its writers) subscribes plainly to the two topics. Results need no more than
 * an ack; those of open requests are shown again after a take-over. */
enum err_code bus_subscribe_once(struct bus *bus, const struct bus_once *once, struct bus_consumer **out,
                                 struct err *err);

/* `out` (NULL: nothing) is produced and the message is done as one: both become true or neither, at a commit at most
 * bus_once.commit_ms away. The message is taken over, `out` is copied. A plain transport produces, then acks. ERR_FULL,
 * ERR_LIMIT_BYTES and fatal codes as of bus_produce: then the message is still the caller's. */
static inline enum err_code bus_settle(struct bus_consumer *consumer, struct bus *bus, struct bus_message *message,
                                       const struct bus_out *out)
{
    if (consumer->transport->settle) return consumer->transport->settle(consumer, message, out);
    enum err_code code = out ? bus_produce(bus, out, 1, 0, NULL) : ERR_OK;
    if (!code) consumer->transport->ack(consumer, message);
    return code;
}

/* Are there still answers in the log of results that were given before this reader took the partition over? Tasks of
 * its requests had better wait: the answer may be among them. BUS_ANY_PARTITION: of any that it has. */
static inline bool bus_catching_up(struct bus_consumer *consumer, int32_t partition)
{
    return consumer->transport->catching_up && consumer->transport->catching_up(consumer, partition);
}

/* A partition that went to another process during the last poll, which settles what the caller holds of it. True until
 * all have been named; each message of it must be nacked. To be asked after each poll, before its messages are used. */
static inline bool bus_taken_away(struct bus_consumer *consumer, int32_t *partition)
{
    return consumer->transport->taken_away && consumer->transport->taken_away(consumer, partition);
}

static inline void bus_once_stats(struct bus_consumer *consumer, struct bus_once_stats *out)
{
    *out = (struct bus_once_stats){0};
    if (consumer->transport->once_stats) consumer->transport->once_stats(consumer, out);
}

/* Bytes of key, value, and the headers' names and values. Thread: any; so are the next five. */
size_t bus_out_bytes(const struct bus_out *out);

/* The largest bus_out_bytes that this bus takes for that topic. It may shrink. */
size_t bus_max_bytes(struct bus *bus, const char *topic);

/* Find out how large messages of these topics may be; bus_max_bytes and ERR_LIMIT_BYTES follow it from then on. What
 * cannot be found out, within connect_ms, is logged and changes nothing. ERR_CONFIG: a topic takes less than is needed
 * at all. */
enum err_code bus_know_topics(struct bus *bus, const char *const *topics, uint32_t n, struct err *err);

/* A deep copy, for those who keep a message: bus_out_room bytes of `room` and n_headers of `headers`. Texts end with
 * NUL; the topic stays the caller's. */
size_t bus_out_room(const struct bus_out *out);
void bus_out_copy(const struct bus_out *out, char *room, struct bus_header *headers, struct bus_out *copy);

/* ERR_OK, or what ended this bus: the reason behind a fatal code of the calls above. */
static inline enum err_code bus_health(struct bus *bus, struct err *err)
{
    return bus->transport->health ? bus->transport->health(bus, err) : ERR_OK;
}

/* Thread: any. */
static inline void bus_traffic(struct bus *bus, struct bus_traffic *out)
{
    *out = (struct bus_traffic){0};
    if (bus->transport->traffic) bus->transport->traffic(bus, out);
}

/* Must the value of this property stay out of logs and printed settings? */
bool bus_property_is_secret(const char *name);

/* The clock that deadlines in messages are on: shared by all that use this transport. */
int64_t bus_now_ns(struct bus *bus);

/* The value of a header, NUL-terminated; NULL when there is none. */
const char *bus_header_get(const struct bus_message *message, const char *name);

#endif
