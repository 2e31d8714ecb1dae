/* Internal declarations of the Kafka reader that settles each request exactly once. The design is described in once.c.
 *
 * settle.c commits requests, and poison.c finds requests that kill their owner. takeover.c takes over partitions. txn.c
 * is the transactional producer. watchdog.c ends a process that hangs in a library call.
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

/* Returns a watchdog: a thread that ends the process with _exit(WATCHDOG_STATUS) when a call exceeds its time limit.
 * Returns NULL if memory is short. */
struct watchdog *watchdog_new(void);
void watchdog_free(struct watchdog *watchdog);
/* Starts watching one library call, until watchdog_end. `ms` is its time limit. Time in which the whole process was
 * stopped does not count. */
void watchdog_begin(struct watchdog *watchdog, const char *what, int64_t ms);
void watchdog_end(struct watchdog *watchdog);

/* --- background.c --- */

struct background;

/* Returns a thread that runs one call at a time, and signals `wakeup` when a call has returned. Returns NULL if the
 * thread cannot be created. */
struct background *background_new(struct wakeup *wakeup);
/* Waits for the running call and frees the thread. NULL is allowed. */
void background_free(struct background *background);
/* Starts a call. No other call may be running. */
void background_begin(struct background *background, void (*call)(void *ctx), void *ctx);
/* Returns true if no call is running. The output of the last call may then be read. */
bool background_is_done(struct background *background);
void background_wait(struct background *background);

/* --- txn.c --- */

struct txn;

/* The state of one output in a transaction. */
struct txn_mark {
    struct txn *txn;
    int64_t offset; /* set once the output is delivered */
    bool refused;   /* refused because it, or the batch that contained it, was too large */
};

/* Opens a transactional producer with `id` as its transactional.id. Once it returns ERR_OK, no transaction of an
 * earlier owner of that id can be committed. */
enum err_code txn_open(struct kafka *kafka, const char *id, struct txn **out, struct err *err);
void txn_close(struct txn *txn); /* NULL is allowed */

/* Begins a transaction. The caller then calls txn_produce as often as needed, and finally txn_commit or txn_drop. */
enum err_code txn_begin(struct txn *txn, struct err *err);
/* Produces one output. `mark` must live until the end of the transaction. */
enum err_code txn_produce(struct txn *txn, const struct bus_out *out, struct txn_mark *mark, struct err *err);
/* Waits until all outputs are acknowledged. */
enum err_code txn_flush(struct txn *txn, struct err *err);
/* Commits outputs and offsets. Returns ERR_OK if all are committed. After a code of class retry, none of them is or
 * will be committed. After a code of class fatal, the outcome is unknown. */
enum err_code txn_commit(struct txn *txn, const rd_kafka_topic_partition_list_t *offsets,
                         const rd_kafka_consumer_group_metadata_t *membership, struct err *err);
/* Drops the transaction after a failure of class retry. No part of it becomes visible, and a new producer is ready
 * afterwards. */
enum err_code txn_drop(struct txn *txn, struct err *err);

/* Returns a client that queries the ends of logs, including open transactions. */
rd_kafka_t *txn_client(struct txn *txn);

/* --- once.c --- */

enum { ONCE_MAX_NAME = 200 };
/* Writes the name that a reader with these settings has in its group. */
void once_name(const struct bus_once *how, char out[ONCE_MAX_NAME]);

enum { ONCE_RESULTS = BUS_ONCE_RESULTS, ONCE_REQUESTS = BUS_ONCE_REQUESTS, ONCE_VERDICTS, ONCE_LETTERS, ONCE_TOPICS };
enum {
    ONCE_CALL_MS = 45000,      /* timeout of a library call */
    ONCE_TAKE_OVER_MS = 25000, /* timeout of waiting for another owner's transaction, for stable offsets, and for
                                * verdicts */
};

enum once_state { ONCE_READER, ONCE_AGAIN, ONCE_SETTLED, ONCE_IN_TRANSACTION };

/* A message in flight. The reader holds a request until it settles the request; then the next transaction holds it. */
struct once_inflight {
    struct bus_message public;
    struct once_partition *part;
    struct once_inflight *previous, *next; /* links in the partition's list */
    struct once_inflight *next_settled;
    rd_kafka_message_t *raw;
    struct once_copy *out; /* output that settles the request; NULL if there is none */
    struct txn_mark mark;
    int64_t due_ns, settled_ns;
    enum once_state state;
    bool request, stray;
    struct bus_header headers[];
};

/* The state of one partition number, in all four topics. */
struct once_partition {
    int32_t partition;
    struct once_producer *producer; /* producer of the partition's outputs and commits */
    struct ledger ledger;           /* INVARIANT I2: its finished requests are committed */
    char text[LEDGER_TEXT];         /* last ledger committed by this process; "" before the first */
    size_t text_len;
    int64_t text_low;
    rd_kafka_queue_t *queues[BUS_ONCE_TOPICS]; /* NULL if the partition is not assigned */
    rd_kafka_message_t *parked;                /* a request that cannot be opened yet */
    struct once_inflight *inflight, *strays;
    uint32_t n_again, n_settled; /* number of nacked requests to redeliver; number of settled requests to commit */
    int64_t since_ns;
    int64_t from;         /* offset at which reading requests begins */
    int64_t catch_up_end; /* end of the results' log at the take-over */
    int64_t probe_end;    /* requests below this offset are opened a few at a time, because consecutive owners died */
    int64_t alert_end;    /* replaces probe_end once one of these requests was dead-lettered */
    uint32_t level;       /* number of owners that died while they opened a few requests at a time */
    bool noted;           /* a commit of this owner has recorded up to which offset it opens requests */
    int64_t before_end;   /* an earlier owner may have opened requests below this offset */
    bool assigned;        /* assigned to this process; transactions may include it */
    bool closed;          /* assigned to this process, but not read, because another topic lacks this partition */
    bool claimed;         /* may be read: a commit has recorded this process as the owner */
    bool sound;           /* this owner is no longer suspected */
    bool dirty;           /* the state has changes that are not committed */
    bool taken_away;      /* the loss of the partition must still be reported to the reader */

    /* State of the commit in progress. */
    bool committing;
    char ahead_text[LEDGER_TEXT];
    size_t ahead_len;
    int64_t ahead_low;
};

/* The current transaction of a producer. While one of its calls runs, that call owns `code` and `err`. */
enum once_phase { ONCE_NO_TRANSACTION, ONCE_WRITING, ONCE_COMMITTING };
struct once_transaction {
    enum once_phase phase;
    int64_t began_ns, written_ns;
    rd_kafka_topic_partition_list_t *offsets; /* offsets to commit; NULL before the commit */
    /* membership for the commit: once.membership, except in tests with mutations */
    rd_kafka_consumer_group_metadata_t *membership;
    enum err_code code; /* result of the last call */
    struct err err;
};

/* A transactional producer for some of the partitions, with the settled requests of these partitions and its
 * transaction. */
struct once_producer {
    struct once *once;
    struct txn *txn;
    struct background *background;
    struct once_transaction transaction;
    struct once_inflight *first_settled, *last_settled;
    uint32_t n_settled;
    uint64_t settled_bytes;
    int64_t transacted_ns, took_ns, retry_ns; /* end and duration of the last transaction; earliest time of the next
                                               * attempt */
};

struct once {
    struct bus_consumer consumer;
    struct kafka_context context;
    struct kafka_context readback; /* context of the clients that read back, one at a time; they are not members of the
                                    * group */
    struct kafka *kafka;
    rd_kafka_t *client;
    struct watchdog *watchdog; /* watches the calls of clients that read back */
    struct wakeup wakeup;
    char *topics[ONCE_TOPICS], *group, *from, *cluster;
    int64_t commit_ns;
    uint32_t history;
    uint64_t writer;
    rd_kafka_consumer_group_metadata_t *membership; /* INVARIANT I3: membership of the current assignment; NULL without
                                                     * an assignment */
    struct once_partition **parts;                  /* indexed by partition */
    uint32_t n_parts, next_part;
    struct once_producer *producers; /* partition p belongs to producers[p % n_producers] */
    uint32_t n_producers;
    int64_t restore_ns; /* start of the current take-over; 0 if there is none */
    uint32_t n_closed;  /* number of partitions that another of the four topics lacks */
    int64_t look_ns;    /* time of the next search for missing co-partitions */
    atomic_bool drained;
    bool closing;
    struct err failure;
    struct bus_once_stats stats;
};

void once_fail(struct once *once, enum err_code code, const char *text);
/* Writes the names of the four topics to `out`, indexed by the enum, with defaults for missing names. The names are not
 * copied. */
void once_topics(const struct bus_once *how, char **out);
/* Frees all messages of a partition except those that the reader holds, which become strays. */
void once_forget(struct once_partition *part);
/* Returns the state of a partition. Creates the state if it is missing. Returns NULL if memory is short. */
struct once_partition *once_partition_get(struct once *once, int32_t partition);

/* Returns the entry of a message that was handed out. */
static inline struct once_inflight *once_inflight_of(struct bus_message *message)
{
    return (struct once_inflight *)(void *)message;
}
/* Removes the message from its partition's list, and frees it with its output. The message must not be in the settled
 * queue. */
void once_inflight_free(struct once_inflight *inflight);

/* --- settle.c --- */

/* Implements bus_settle: queues the message for a transaction. Returns ERR_CONFIG if the output's topic is not an
 * output topic, and ERR_LIMIT_BYTES if the output is too large for its topic. */
enum err_code once_settle(struct bus_consumer *base, struct bus_message *message, const struct bus_out *out);
/* Settles a request with a dead letter that contains the error. */
enum err_code once_put_aside(struct once *once, struct once_inflight *inflight, enum err_code why, const char *text);
/* Removes the partition's settled requests from the queue. once_forget frees them. */
void once_forget_settled(const struct once_partition *part);

/* Waits until all current transactions have ended. Must be called before a change to data that transactions use: the
 * assignment, the membership, and the state of a revoked partition. */
void once_transact_wait(struct once *once);
/* Runs one transaction of this producer to its end, with the settled requests and other changes of its partitions. A
 * code of class retry means that the caller can try again later. */
enum err_code once_transact_one(struct once_producer *producer);
/* Runs one transaction of each producer, all in parallel. Returns the first failure. */
enum err_code once_transact(struct once *once);
/* Runs transactions until one fails or until nothing remains to be committed. */
void once_transact_all(struct once *once);
/* Returns the time at which the next transaction begins if the reader is idle, on clock_now_ns. Returns INT64_MAX if
 * there is nothing to commit. */
int64_t once_next_transaction(const struct once *once);
/* Continues the current transactions and begins those that are due. `idle` is true if the reader has nothing to do.
 * Does not wait. Returns failures of class fatal only. */
enum err_code once_transact_if_due(struct once *once, bool idle);

/* --- poison.c --- */

enum poison_answer { POISON_OPEN, POISON_LATER, POISON_FOUND /* the caller must dead-letter the request */ };

/* Counts a crash of the previous owner, which did not commit its departure. The partition is being taken over, and its
 * ledger must be as committed. */
void poison_count_crash(struct once_partition *part);
/* Determines which requests may have killed the earlier owners. Must be called when all finished requests are known.
 * The suspects are the requests that the last owner recorded, or else all that it may have opened. If all recorded
 * requests are finished, that owner did not die because of this partition. */
void poison_recall(struct once_partition *part);
/* Clears all suspicion. The next commit records this. */
void poison_clear(struct once_partition *part);
/* Clears the suspicion of partitions whose suspects are finished, or whose owner has lived long enough (crashes.h). */
void poison_clear_sound(struct once *once, int64_t now_ns);
/* Returns true if any request of this partition may be opened now. */
bool poison_may_open(const struct once *once, const struct once_partition *part);
/* Decides whether the next request, at `offset`, may be opened. A commit must first record which requests may be
 * opened; the function starts this if needed. */
enum poison_answer poison_ask(struct once *once, struct once_partition *part, int64_t offset);

/* --- takeover.c --- */

/* The start and end offsets of one partition's logs, in all four topics. */
struct once_logs {
    int64_t start[ONCE_TOPICS], end[ONCE_TOPICS];
};
enum err_code once_query_logs(rd_kafka_t *client, char *const *topics, int32_t partition, struct once_logs *out,
                              struct err *err);
/* Initializes the ledger of a partition that was never read. `from_end` skips existing requests. */
void once_begin(struct ledger *ledger, uint64_t log_id, const struct once_logs *logs, bool from_end);
/* Writes the number of partitions of a topic to *out. Returns ERR_CONFIG if the topic is missing. */
enum err_code once_count_partitions(rd_kafka_t *client, const char *topic, int32_t *out, struct err *err);

/* Takes over newly assigned partitions of the requests: restores their states, claims the partitions, starts
 * reading. */
void once_take_over(struct once *once, const rd_kafka_topic_partition_list_t *partitions);
/* Checks at intervals whether missing co-partitions now exist, and then opens the partitions that lacked them. */
void once_look_for_copartitions(struct once *once);
/* Stops reading the partition. The reader still holds its messages. */
void once_close_partition(struct once_partition *part);

#endif
