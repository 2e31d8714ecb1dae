/* Internals of the Kafka reader that settles each request exactly once. The design is in once.c.
 *
 * Requests are committed by settle.c; poison.c finds those that kill their owner. Partitions are taken over by
 * takeover.c. The transactional producer is txn.c, and watchdog.c ends a process that hangs in a library call.
 *
 * Thread: the polling one, except for the watchdog and the two calls of a transaction that block on brokers
 * (background.c).
 */
#ifndef ASSAY_PROTO_BUS_KAFKA_EXACTLY_ONCE_ONCE_H
#define ASSAY_PROTO_BUS_KAFKA_EXACTLY_ONCE_ONCE_H

#include "proto/bus/kafka/exactly_once/ledger.h"
#include "proto/bus/kafka/kafka.h"

/* --- watchdog.c --- */

struct watchdog;

enum { WATCHDOG_STATUS = 70 };

/* Returns a watchdog: a thread that ends the process with _exit(WATCHDOG_STATUS) when a call exceeds its time. Returns
 * NULL if memory is short. */
struct watchdog *watchdog_new(void);
void watchdog_free(struct watchdog *watchdog);
/* Starts watching one library call, until watchdog_end. Time in which the whole process was stopped does not count. */
void watchdog_begin(struct watchdog *watchdog, const char *what, int64_t ms);
void watchdog_end(struct watchdog *watchdog);

/* --- background.c --- */

struct background;

/* Returns a thread that runs one call at a time and signals `wakeup` when a call has returned. Returns NULL if it
 * cannot be created. */
struct background *background_new(struct wakeup *wakeup);
/* Waits for the running call and frees the thread. NULL is allowed. */
void background_free(struct background *background);
/* Starts a call. No other call may be running. */
void background_begin(struct background *background, void (*call)(void *ctx), void *ctx);
/* Tells whether no call is running. Its output may then be read. */
bool background_is_done(struct background *background);
void background_wait(struct background *background);

/* --- txn.c --- */

struct txn;

/* The state of one output in a transaction. */
struct txn_mark {
    struct txn *txn;
    int64_t offset; /* set once it is delivered */
    bool refused;   /* refused as too large, or in a batch that was */
};

/* Opens a transactional producer with `id` as its transactional.id. After ERR_OK, no transaction of an earlier owner of
 * that name can still be committed. */
enum err_code txn_open(struct kafka *kafka, const char *id, struct txn **out, struct err *err);
void txn_close(struct txn *txn); /* NULL is allowed */

/* Begins a transaction. Then call txn_produce as often as needed, and end with txn_commit or txn_drop. */
enum err_code txn_begin(struct txn *txn, struct err *err);
/* Produces one output. `mark` must live until the end of the transaction. */
enum err_code txn_produce(struct txn *txn, const struct bus_out *out, struct txn_mark *mark, struct err *err);
/* Waits until all outputs are acknowledged. */
enum err_code txn_flush(struct txn *txn, struct err *err);
/* Commits outputs and offsets. ERR_OK: all are committed. Class retry: none of them is or will be. Class fatal: the
 * outcome is unknown. */
enum err_code txn_commit(struct txn *txn, const rd_kafka_topic_partition_list_t *offsets,
                         const rd_kafka_consumer_group_metadata_t *membership, struct err *err);
/* Drops the transaction after a failure of class retry. Nothing of it becomes visible, and a new producer is ready. */
enum err_code txn_drop(struct txn *txn, struct err *err);

/* Returns a client for querying the ends of logs, open transactions included. */
rd_kafka_t *txn_client(struct txn *txn);

/* --- once.c --- */

enum { ONCE_MAX_NAME = 200 };
/* Writes the name of a member in its group. */
void once_name(const struct bus_once *how, char out[ONCE_MAX_NAME]);

enum { ONCE_RESULTS = BUS_ONCE_RESULTS, ONCE_REQUESTS = BUS_ONCE_REQUESTS, ONCE_VERDICTS, ONCE_LETTERS, ONCE_TOPICS };
enum {
    ONCE_CALL_MS = 45000,      /* limit of a library call */
    ONCE_TAKE_OVER_MS = 25000, /* limit of waiting for another owner's transaction, for stable offsets and verdicts */
};

enum once_state { ONCE_READER, ONCE_AGAIN, ONCE_SETTLED, ONCE_IN_TRANSACTION };

/* A message in flight. The reader holds a request until it settles it; then the next transaction holds it. */
struct once_inflight {
    struct bus_message public;
    struct once_partition *part;
    struct once_inflight *previous, *next; /* in the partition's list */
    struct once_inflight *next_settled;
    rd_kafka_message_t *raw;
    struct once_copy *out; /* output that settles it; NULL without output */
    struct txn_mark mark;
    int64_t due_ns, settled_ns;
    enum once_state state;
    bool request, stray;
    struct bus_header headers[];
};

/* One partition of all four topics. */
struct once_partition {
    int32_t partition;
    struct once_producer *producer; /* for its outputs and commits */
    struct ledger ledger;           /* I2: its finished requests are committed */
    char text[LEDGER_TEXT];         /* last ledger committed by this process; "" before the first */
    size_t text_len;
    int64_t text_low;
    rd_kafka_queue_t *queues[BUS_ONCE_TOPICS]; /* NULL: not assigned */
    rd_kafka_message_t *parked;                /* request that cannot be opened yet */
    struct once_inflight *inflight, *strays;
    uint32_t n_again, n_settled; /* nacked requests to redeliver; requests waiting for a commit */
    int64_t since_ns;
    int64_t from;         /* where reading requests begins */
    int64_t catch_up_end; /* end of the results at the take-over */
    int64_t probe_end;    /* below it, requests are opened a few at a time after deaths in a row */
    int64_t alert_end;    /* the same bound, once one of them was dead-lettered */
    uint32_t level;       /* owners that died while they opened a few at a time */
    bool noted;           /* a commit of this owner has recorded up to which offset it opens requests */
    int64_t before_end;   /* an earlier owner may have opened requests below it */
    bool assigned;        /* assigned to this process; transactions may include it */
    bool closed;          /* assigned to this process, but not read, because another topic lacks this partition */
    bool claimed;         /* may be read: a commit has recorded this process as the owner */
    bool sound;           /* this owner is no longer suspected */
    bool dirty;           /* the state is ahead of the last commit */
    bool taken_away;      /* to be reported to the reader */

    /* State of the commit in progress. */
    bool committing;
    char ahead_text[LEDGER_TEXT];
    size_t ahead_len;
    int64_t ahead_low;
};

/* The current transaction. While one of its calls runs, the call owns `code` and `err`. */
enum once_phase { ONCE_NO_TRANSACTION, ONCE_WRITING, ONCE_COMMITTING };
struct once_transaction {
    enum once_phase phase;
    int64_t began_ns, written_ns;
    rd_kafka_topic_partition_list_t *offsets; /* offsets to commit; NULL before the commit */
    /* membership of the commit; once.membership, except for mutations */
    rd_kafka_consumer_group_metadata_t *membership;
    enum err_code code; /* of the last call */
    struct err err;
};

/* A transactional producer for some of the partitions, with their settled requests and its transaction. */
struct once_producer {
    struct once *once;
    struct txn *txn;
    struct background *background;
    struct once_transaction transaction;
    struct once_inflight *first_settled, *last_settled;
    uint32_t n_settled;
    uint64_t settled_bytes;
    int64_t transacted_ns, took_ns, retry_ns; /* end and duration of the last transaction; earliest next one */
};

struct once {
    struct bus_consumer consumer;
    struct kafka_context context;
    struct kafka_context readback; /* for the clients that read back, one after the other; not members */
    struct kafka *kafka;
    rd_kafka_t *client;
    struct watchdog *watchdog; /* for clients that read back */
    struct wakeup wakeup;
    char *topics[ONCE_TOPICS], *group, *from, *cluster;
    int64_t commit_ns;
    uint32_t history;
    uint64_t writer;
    rd_kafka_consumer_group_metadata_t *membership; /* I3: of the current assignment; NULL without one */
    struct once_partition **parts;                  /* by partition */
    uint32_t n_parts, next_part;
    struct once_producer *producers; /* partition p has producers[p % n_producers] */
    uint32_t n_producers;
    int64_t restore_ns; /* start of the current take-over; 0 if there is none */
    uint32_t n_closed;  /* partitions without their co-partitions */
    int64_t look_ns;    /* time of the next search for co-partitions */
    atomic_bool drained;
    bool closing;
    struct err failure;
    struct bus_once_stats stats;
};

void once_fail(struct once *once, enum err_code code, const char *text);
/* Writes the four topics by enum, with defaults for missing names. Not copied. */
void once_topics(const struct bus_once *how, char **out);
/* Frees all messages of a partition except those of the reader, which become strays. */
void once_forget(struct once_partition *part);
/* Returns the state of a partition and creates it if missing. Returns NULL if memory is short. */
struct once_partition *once_partition_get(struct once *once, int32_t partition);

/* Returns the entry of a message that was handed out. */
static inline struct once_inflight *once_inflight_of(struct bus_message *message)
{
    return (struct once_inflight *)(void *)message;
}
/* Removes the message from its partition's list and frees it with its output. It must not be in the settled queue. */
void once_inflight_free(struct once_inflight *inflight);

/* --- settle.c --- */

/* Implements bus_settle: queues the message for a transaction. Returns ERR_CONFIG if the topic is not an output topic,
 * and ERR_LIMIT_BYTES if the output is too large for it. */
enum err_code once_settle(struct bus_consumer *base, struct bus_message *message, const struct bus_out *out);
/* Settles a request with a dead letter that gives the reason. */
enum err_code once_put_aside(struct once *once, struct once_inflight *inflight, enum err_code why, const char *text);
/* Removes the partition's settled requests from the queue; once_forget frees them. */
void once_forget_settled(const struct once_partition *part);

/* Waits until all current transactions have ended. Must be called before a change to data that they use: the
 * assignment, the membership, the state of a revoked partition. */
void once_transact_wait(struct once *once);
/* Runs one transaction of this producer to its end, with its settled requests and other changes. Class retry: try
 * later. */
enum err_code once_transact_one(struct once_producer *producer);
/* Runs one transaction of each producer in parallel. Returns the first failure. */
enum err_code once_transact(struct once *once);
/* Runs transactions until one fails or nothing is left to commit. */
void once_transact_all(struct once *once);
/* Returns the time of the next transaction if the reader is idle, on clock_now_ns, or INT64_MAX if there is nothing to
 * commit. */
int64_t once_next_transaction(const struct once *once);
/* Continues the current transactions and begins those that are due. `idle`: the reader has nothing to do. Does not
 * wait. Returns failures of class fatal only. */
enum err_code once_transact_if_due(struct once *once, bool idle);

/* --- poison.c --- */

enum poison_answer { POISON_OPEN, POISON_LATER, POISON_FOUND /* dead-letter it */ };

/* Counts a crash: the partition is taken over from an owner that did not commit its departure. Its ledger is as
 * committed. */
void poison_count_crash(struct once_partition *part);
/* Determines the requests that may have killed the earlier owners, once all finished ones are known. These are the
 * requests that the last owner recorded, or all that it may have opened. If all recorded ones are finished, it did not
 * die of this partition. */
void poison_recall(struct once_partition *part);
/* Clears all suspicion; the next commit says so. */
void poison_clear(struct once_partition *part);
/* Clears the partitions whose suspects are finished, or whose owner has held them long enough to be sound. */
void poison_clear_sound(struct once *once, int64_t now_ns);
/* Tells whether any request of this partition may be opened now. */
bool poison_may_open(const struct once *once, const struct once_partition *part);
/* Tells whether the next request, at `offset`, may be opened. Records in a commit which requests it allows. */
enum poison_answer poison_ask(struct once *once, struct once_partition *part, int64_t offset);

/* --- takeover.c --- */

/* The logs of one partition, of all four topics. */
struct once_logs {
    int64_t start[ONCE_TOPICS], end[ONCE_TOPICS];
};
enum err_code once_query_logs(rd_kafka_t *client, char *const *topics, int32_t partition, struct once_logs *out,
                              struct err *err);
/* Initializes the ledger of an unread partition. `from_end` skips existing requests. */
void once_begin(struct ledger *ledger, uint64_t log_id, const struct once_logs *logs, bool from_end);
/* Counts the partitions of a topic. Returns ERR_CONFIG if the topic is missing. */
enum err_code once_count_partitions(rd_kafka_t *client, const char *topic, int32_t *out, struct err *err);

/* Takes over the newly assigned partitions of requests: restores their states, claims them, starts reading. */
void once_take_over(struct once *once, const rd_kafka_topic_partition_list_t *partitions);
/* Checks at intervals whether missing co-partitions now exist, and then opens their partitions. */
void once_look_for_copartitions(struct once *once);
/* Stops reading the partition. The reader keeps its messages. */
void once_close_partition(struct once_partition *part);

#endif
