/* Inside the kafka transport: reading so that each request is settled exactly once. The design is in once.c; settle.c
 * commits what is settled, poison.c finds requests that kill their owner, takeover.c takes partitions over, txn.c is
 * the transactional producer, watchdog.c ends a process that hangs in a library call.
 *
 * Everything here runs on one thread, the one that polls, but the watchdog and the two calls of a transaction that wait
 * for brokers (background.c). */
#ifndef ASSAY_PROTO_BUS_KAFKA_EXACTLY_ONCE_ONCE_H
#define ASSAY_PROTO_BUS_KAFKA_EXACTLY_ONCE_ONCE_H

#include "proto/bus/kafka/exactly_once/ledger.h"
#include "proto/bus/kafka/kafka.h"

/* --- watchdog.c --- */

struct watchdog;

enum { WATCHDOG_STATUS = 70 };

/* A thread that ends the process with _exit(WATCHDOG_STATUS) when a call outlives its time. NULL: no memory. */
struct watchdog *watchdog_new(void);
void watchdog_free(struct watchdog *watchdog);
/* Between these two stands one call into the library. Time in which the whole process stood still does not count. */
void watchdog_begin(struct watchdog *watchdog, const char *what, int64_t ms);
void watchdog_end(struct watchdog *watchdog);

/* --- background.c --- */

struct background;

/* A thread that runs one call at a time; `wakeup` is signalled when one has returned. NULL: no thread. */
struct background *background_new(struct wakeup *wakeup);
/* Waits for the call under way. NULL is fine. */
void background_free(struct background *background);
/* Run this. None is under way. */
void background_begin(struct background *background, void (*call)(void *ctx), void *ctx);
/* Is none under way? What it wrote may be read then. */
bool background_is_done(struct background *background);
void background_wait(struct background *background);

/* --- txn.c --- */

struct txn;

/* What becomes of one output of a transaction. */
struct txn_mark {
    struct txn *txn;
    int64_t offset; /* once it is delivered */
    bool refused;   /* as too large, or in a batch that was */
};

/* `id` is the transactional.id. ERR_OK: nothing of an earlier owner of that name can become true any more. */
enum err_code txn_open(struct kafka *kafka, const char *id, struct txn **out, struct err *err);
void txn_close(struct txn *txn); /* NULL is fine */

/* Begin; then txn_produce as often as needed; then one of txn_commit and txn_drop. */
enum err_code txn_begin(struct txn *txn, struct err *err);
/* `mark` must live until the end of the transaction. */
enum err_code txn_produce(struct txn *txn, const struct bus_out *out, struct txn_mark *mark, struct err *err);
/* Wait until all is acknowledged. */
enum err_code txn_flush(struct txn *txn, struct err *err);
/* ERR_OK: outputs and offsets are committed. Class retry: none of them is or will be. Fatal: the outcome is unknown. */
enum err_code txn_commit(struct txn *txn, const rd_kafka_topic_partition_list_t *offsets,
                         const rd_kafka_consumer_group_metadata_t *membership, struct err *err);
/* After any failure of class retry: nothing of it is true, a new producer is ready. */
enum err_code txn_drop(struct txn *txn, struct err *err);

/* For asking where logs end, open transactions included. */
rd_kafka_t *txn_client(struct txn *txn);

/* --- once.c --- */

enum { ONCE_MAX_NAME = 200 };
/* The name of a member in its group. */
void once_name(const struct bus_once *how, char out[ONCE_MAX_NAME]);

enum { ONCE_RESULTS = BUS_ONCE_RESULTS, ONCE_REQUESTS = BUS_ONCE_REQUESTS, ONCE_VERDICTS, ONCE_LETTERS, ONCE_TOPICS };
enum {
    ONCE_CALL_MS = 45000,      /* after which a library call hangs */
    ONCE_TAKE_OVER_MS = 25000, /* stable offsets, and verdicts, wait for the end of somebody's transaction */
};

enum once_state { ONCE_READER, ONCE_AGAIN, ONCE_SETTLED, ONCE_IN_TRANSACTION };

/* A message on its way. Of requests the reader has it until it settles it, then the next transaction. */
struct once_inflight {
    struct bus_message public;
    struct once_partition *part;
    struct once_inflight *previous, *next; /* in the partition's list */
    struct once_inflight *next_settled;
    rd_kafka_message_t *raw;
    struct once_copy *out; /* what it was settled with; NULL: nothing */
    struct txn_mark mark;
    int64_t due_ns, settled_ns;
    enum once_state state;
    bool request, stray;
    struct bus_header headers[];
};

/* One partition of all four topics. */
struct once_partition {
    int32_t partition;
    struct once_producer *producer; /* of its outputs and commits */
    struct ledger ledger;           /* I2: what it calls finished is committed */
    char text[LEDGER_TEXT];         /* as this process committed it last; "": never */
    size_t text_len;
    int64_t text_low;
    rd_kafka_queue_t *queues[BUS_ONCE_TOPICS]; /* NULL: not assigned */
    rd_kafka_message_t *parked;                /* a request that cannot be opened yet */
    struct once_inflight *inflight, *strays;
    uint32_t n_again, n_settled; /* to be handed out again; waiting for a commit */
    int64_t since_ns;
    int64_t from;         /* where reading requests begins */
    int64_t catch_up_end; /* of the results when it was taken over */
    int64_t probe_end;    /* what is opened a few at a time, after deaths in a row, lies below */
    int64_t alert_end;    /* the same again, once one of them was put aside */
    uint32_t level;       /* owners that died while they opened a few at a time */
    bool noted;           /* this owner has written down what it opens */
    int64_t before_end;   /* what an owner before may have opened lies below */
    bool assigned;        /* may be in transactions */
    bool closed;          /* ours, but another topic lacks this partition: it is not read */
    bool claimed;         /* may be read: a commit says that it is ours */
    bool sound;           /* this owner is not suspected any more */
    bool dirty;           /* the commit says less than we know */
    bool taken_away;      /* to be told to the reader */

    /* In the commit under way; and what it says. */
    bool committing;
    char ahead_text[LEDGER_TEXT];
    size_t ahead_len;
    int64_t ahead_low;
};

/* The transaction at hand. While one of its calls runs, `code` and `err` are the call's. */
enum once_phase { ONCE_NO_TRANSACTION, ONCE_WRITING, ONCE_COMMITTING };
struct once_transaction {
    enum once_phase phase;
    int64_t began_ns, written_ns;
    rd_kafka_topic_partition_list_t *offsets;       /* of its commit; NULL: not made yet */
    rd_kafka_consumer_group_metadata_t *membership; /* of that; once.membership, but for mutations */
    enum err_code code;                             /* of the last call */
    struct err err;
};

/* A transactional producer, for some of the partitions: what is settled of them, and its transaction. */
struct once_producer {
    struct once *once;
    struct txn *txn;
    struct background *background;
    struct once_transaction transaction;
    struct once_inflight *first_settled, *last_settled;
    uint32_t n_settled;
    uint64_t settled_bytes;
    int64_t transacted_ns, took_ns, retry_ns; /* the last one's end and length; not before */
};

struct once {
    struct bus_consumer consumer;
    struct kafka_context context;
    struct kafka_context readback; /* of those that read back, one after the other: no members */
    struct kafka *kafka;
    rd_kafka_t *client;
    struct watchdog *watchdog; /* of what reads back */
    struct wakeup wakeup;
    char *topics[ONCE_TOPICS], *group, *from, *cluster;
    int64_t commit_ns;
    uint32_t history;
    uint64_t writer;
    rd_kafka_consumer_group_metadata_t *membership; /* I3: of the assignment at hand; NULL: there is none */
    struct once_partition **parts;                  /* by partition */
    uint32_t n_parts, next_part;
    struct once_producer *producers; /* partition p has producers[p % n_producers] */
    uint32_t n_producers;
    int64_t restore_ns; /* when a take-over began that goes on; 0: none does */
    uint32_t n_closed;  /* partitions without their co-partitions */
    int64_t look_ns;    /* when to look for them again */
    atomic_bool drained;
    bool closing;
    struct err failure;
    struct bus_once_stats stats;
};

void once_fail(struct once *once, enum err_code code, const char *text);
/* The four topics by enum, those left open by their default names. Not copied. */
void once_topics(const struct bus_once *how, char **out);
/* Everything of a partition that the reader does not have goes away; the rest are strays. */
void once_forget(struct once_partition *part);
/* The state of a partition, made if need be. NULL: no memory. */
struct once_partition *once_partition_get(struct once *once, int32_t partition);

/* The message that was handed out as `message`. */
static inline struct once_inflight *once_inflight_of(struct bus_message *message)
{
    return (struct once_inflight *)(void *)message;
}
/* Out of its partition's list, with what it was settled with. It must not be in the queue of what is settled. */
void once_inflight_free(struct once_inflight *inflight);

/* --- settle.c --- */

/* bus_settle: it waits for a transaction. ERR_CONFIG: not a topic of outputs. ERR_LIMIT_BYTES: too large for it. */
enum err_code once_settle(struct bus_consumer *base, struct bus_message *message, const struct bus_out *out);
/* Settled with a dead letter, which says why. */
enum err_code once_put_aside(struct once *once, struct once_inflight *inflight, enum err_code why, const char *text);
/* What is settled of this partition leaves the queue; once_forget frees it. */
void once_forget_settled(const struct once_partition *part);

/* Until all transactions under way have ended. Before anything that they use changes: the assignment, the membership,
 * the state of a partition that was taken away. */
void once_transact_wait(struct once *once);
/* A transaction of this producer with what is settled and what else changed, to its end. Class retry: later. */
enum err_code once_transact_one(struct once_producer *producer);
/* One of each producer, beside each other; the first failure. */
enum err_code once_transact(struct once *once);
/* As many as it takes, until one fails or nothing is left. */
void once_transact_all(struct once *once);
/* When the next one is due if the reader has nothing to do, in the clock's time; INT64_MAX: nothing waits for one. */
int64_t once_next_transaction(const struct once *once);
/* Go on with those under way, and begin what is due. `idle`: the reader has nothing to do. Does not wait. Only a failure
 * of class fatal is told. */
enum err_code once_transact_if_due(struct once *once, bool idle);

/* --- poison.c --- */

enum poison_answer { POISON_OPEN, POISON_LATER, POISON_FOUND /* put it aside */ };

/* A partition is taken over from an owner that did not commit as it left: one more. Its ledger is as the commit has
 * it. */
void poison_count_crash(struct once_partition *part);
/* What the owners before may have died of, once all that is finished is known: what the last one wrote down, or as much
 * as it may have opened. If all of what it wrote down is finished, it did not die of this partition. */
void poison_recall(struct once_partition *part);
/* Nothing is suspected any more; the next commit says so. */
void poison_clear(struct once_partition *part);
/* Clear the partitions whose suspects are finished, or that this owner has had for so long that it is sound. */
void poison_clear_sound(struct once *once, int64_t now_ns);
/* May any request of this partition be opened now? */
bool poison_may_open(const struct once *once, const struct once_partition *part);
/* May this one, the next? Writes down in a commit what it lets open. */
enum poison_answer poison_ask(struct once *once, struct once_partition *part, int64_t offset);

/* --- takeover.c --- */

/* The logs of one partition, of all four topics. */
struct once_logs {
    int64_t start[ONCE_TOPICS], end[ONCE_TOPICS];
};
enum err_code once_query_logs(rd_kafka_t *client, char *const *topics, int32_t partition, struct once_logs *out,
                              struct err *err);
/* The ledger of a partition where nothing was read yet: `from_end` skips what is there. */
void once_begin(struct ledger *ledger, uint64_t log_id, const struct once_logs *logs, bool from_end);
/* How many partitions a topic has. ERR_CONFIG: there is none of that name. */
enum err_code once_count_partitions(rd_kafka_t *client, const char *topic, int32_t *out, struct err *err);

/* The partitions of requests that this member has from now on: make their states, claim them, start reading. */
void once_take_over(struct once *once, const rd_kafka_topic_partition_list_t *partitions);
/* From time to time: partitions that other topics lacked, and which they have now, are opened. */
void once_look_for_copartitions(struct once *once);
/* Nothing of it is read any more; what the reader has stays. */
void once_close_partition(struct once_partition *part);

#endif
