/* DESIGN: one reaction to every failure. This producer does not abort a transaction that it cannot commit: the
 * transaction is dropped together with the producer. A new producer of the same transactional.id gets a new epoch. The
 * broker then ends the old open transaction and refuses delayed messages of the old epoch. Otherwise a delayed "commit"
 * could end a later transaction (KIP-890; this library cannot do better).
 *
 * INVARIANT I4: a producer is replaced if the outcome of one of its transactions was in doubt. If a broker is lost
 * during a commit, a new producer follows even if the commit succeeds. The reason is that the library repeats the
 * request automatically, and the first copy may still arrive.
 *
 * An error that is neither retriable nor abortable means that the outcome is unknown, or that another process has this
 * producer's name. It is fatal here, and the next owner reads the state back from the log.
 *
 * isolation.level is read_uncommitted because the library also applies it when it queries the end of a log, and
 * once_query_logs needs the real end. This client reads no messages.
 */
#include "proto/bus/kafka/exactly_once/once.h"

#include "lib/base/clock.h"
#include "proto/bus/mutation.h"
#include "proto/message/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OVERHEAD = 64 << 10, QUERY_MS = 5000, MAX_AGE_H = 24 };

struct txn {
    struct kafka_context context; /* must be the first member, because it is the argument of the callbacks */
    struct kafka *kafka;
    struct watchdog *watchdog;
    rd_kafka_t *producer;
    char id[256];
    uint32_t under_way, lost; /* outputs of the current transaction: not acknowledged yet, and lost */
    rd_kafka_resp_err_t why;  /* error of the last lost output */
    bool fenced;
    bool disturbed; /* a broker was lost since the transaction began */
    int64_t made_ns;
};

/* --- the producer --- */

/* Returns true if another process has our transactional.id, or if the brokers have aborted this transaction. A fenced
 * producer does not take the id back, because two such producers would fence each other for ever. */
static bool is_fenced(rd_kafka_resp_err_t error)
{
    return error == RD_KAFKA_RESP_ERR__FENCED || error == RD_KAFKA_RESP_ERR_PRODUCER_FENCED ||
           error == RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH || error == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID;
}

static void on_delivery(rd_kafka_t *producer, const rd_kafka_message_t *report, void *opaque)
{
    struct txn *txn = ((struct kafka_context *)opaque)->owner;
    struct txn_mark *mark = report->_private;
    (void)producer;
    txn->under_way--;
    if (report->err) {
        txn->lost++;
        txn->why = report->err;
        txn->fenced |= is_fenced(report->err);
        mark->refused = report->err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
    } else {
        mark->offset = report->offset;
    }
}

static void on_error(rd_kafka_t *producer, int error, const char *reason, void *opaque)
{
    struct txn *txn = ((struct kafka_context *)opaque)->owner;
    (void)producer, (void)reason;
    txn->disturbed = true;
    txn->fenced |= is_fenced((rd_kafka_resp_err_t)error);
}

static rd_kafka_conf_t *producer_conf(struct txn *txn, struct err *err)
{
    char largest[32];
    snprintf(largest, sizeof largest, "%d", MSG_MAX_BYTES + OVERHEAD);
    const struct kafka_preset presets[] = {
        {"transactional.id", txn->id},
        {"transaction.timeout.ms", "10000"}, /* longest time for which a dead owner makes others wait */
        {"message.timeout.ms", "8000"},
        {"linger.ms", "1"},
        {"compression.type", "lz4"},
        {"message.max.bytes", largest},
        {"isolation.level", "read_uncommitted"},
        {"log.connection.close", "true"}, /* otherwise a lost connection is not reported */
    };
    rd_kafka_conf_t *conf = kafka_conf(&txn->context, presets, sizeof presets / sizeof *presets, err);
    if (!conf) return NULL;
    rd_kafka_conf_set_dr_msg_cb(conf, on_delivery);
    rd_kafka_conf_set_error_cb(conf, on_error);
    return conf;
}

static enum err_code code_of(rd_kafka_error_t *error, const char *what, struct err *err)
{
    if (!error) return ERR_OK;
    if (rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR_OFFSET_METADATA_TOO_LARGE) {
        rd_kafka_error_destroy(error);
        return err_set(err, ERR_CONFIG,
                       "%s: the offset metadata is too large" ERR_HINT
                       "set offset.metadata.max.bytes of the brokers to 4096 or more",
                       what);
    }
    bool passes = !rd_kafka_error_is_fatal(error) && !is_fenced(rd_kafka_error_code(error)) &&
                  (rd_kafka_error_is_retriable(error) || rd_kafka_error_txn_requires_abort(error));
    enum err_code code = err_set(err, passes ? ERR_UNREACHABLE : ERR_CLOSED, "%s: %s (%s)", what,
                                 rd_kafka_error_string(error), rd_kafka_error_name(error));
    rd_kafka_error_destroy(error);
    return code;
}

/* Initializes the producer. Retries until it succeeds; the watchdog limits the time. */
static enum err_code init_producer(struct txn *txn, struct err *err)
{
    enum err_code code;
    watchdog_begin(txn->watchdog, "starting a transactional producer", ONCE_CALL_MS);
    do {
        code =
            code_of(rd_kafka_init_transactions(txn->producer, QUERY_MS), "kafka: cannot initialize transactions", err);
    } while (code == ERR_UNREACHABLE);
    watchdog_end(txn->watchdog);
    return code;
}

static void drop_producer(struct txn *txn)
{
    if (!txn->producer) return;
    watchdog_begin(txn->watchdog, "closing a transactional producer", ONCE_CALL_MS);
    rd_kafka_purge(txn->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(txn->producer, 0);
    rd_kafka_destroy(txn->producer);
    watchdog_end(txn->watchdog);
    txn->producer = NULL;
}

static enum err_code make_producer(struct txn *txn, struct err *err)
{
    rd_kafka_conf_t *conf = producer_conf(txn, err);
    txn->producer = conf ? kafka_client(RD_KAFKA_PRODUCER, conf, err) : NULL;
    if (!txn->producer) return ERR_CONFIG;
    txn->made_ns = clock_now_ns();
    txn->under_way = txn->lost = 0;
    txn->fenced = false;
    enum err_code code = init_producer(txn, err);
    txn->disturbed = false;
    return code;
}

enum err_code txn_open(struct kafka *kafka, const char *id, struct txn **out, struct err *err)
{
    struct txn *txn = calloc(1, sizeof *txn);
    *out = NULL;
    if (!txn) return err_set(err, ERR_NOMEM, "no memory for transactions");
    txn->kafka = kafka;
    txn->context = (struct kafka_context){kafka, txn, false};
    txn->watchdog = watchdog_new();
    snprintf(txn->id, sizeof txn->id, "%s", id);
    enum err_code code =
        txn->watchdog ? make_producer(txn, err) : err_set(err, ERR_NOMEM, "cannot create a watchdog thread");
    if (code) {
        txn_close(txn);
        return code;
    }
    *out = txn;
    return ERR_OK;
}

void txn_close(struct txn *txn)
{
    if (!txn) return;
    drop_producer(txn);
    watchdog_free(txn->watchdog);
    free(txn);
}

enum err_code txn_drop(struct txn *txn, struct err *err)
{
    if (MUTATED(producer_reused)) {
        code_of(rd_kafka_abort_transaction(txn->producer, ONCE_CALL_MS), "kafka: cannot abort a transaction", err);
        return ERR_OK;
    }
    drop_producer(txn);
    return make_producer(txn, err);
}

/* --- a transaction --- */

enum err_code txn_begin(struct txn *txn, struct err *err)
{
    /* A broker forgets a transactional.id that was not used for a week, so a producer older than a day is replaced. */
    bool old = clock_now_ns() - txn->made_ns > MAX_AGE_H * INT64_C(3600000000000);
    rd_kafka_poll(txn->producer, 0);
    enum err_code code = old ? txn_drop(txn, err) : ERR_OK;
    if (code) return code;
    txn->under_way = txn->lost = 0;
    txn->disturbed = false;
    return code_of(rd_kafka_begin_transaction(txn->producer), "kafka: cannot begin a transaction", err);
}

enum err_code txn_produce(struct txn *txn, const struct bus_out *out, struct txn_mark *mark, struct err *err)
{
    rd_kafka_headers_t *headers = kafka_headers(out);
    *mark = (struct txn_mark){txn, -1, false};
    rd_kafka_vu_t fields[8] = {
        {.vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = out->topic},
        {.vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = out->partition},
        {.vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = {(void *)out->value, out->len}},
        {.vtype = RD_KAFKA_VTYPE_KEY, .u.mem = {(void *)out->key, out->key_len}},
        {.vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY},
        {.vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = mark},
        {.vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers},
    };
    rd_kafka_error_t *error = rd_kafka_produceva(txn->producer, fields, headers ? 7 : 6);
    if (!error) {
        txn->under_way++;
        return ERR_OK;
    }
    if (headers) rd_kafka_headers_destroy(headers);
    bool full = rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR__QUEUE_FULL;
    enum err_code code = code_of(error, "kafka: cannot produce a message", err);
    return full ? ERR_UNREACHABLE : code;
}

/* Finds out why messages were lost, because their reports only say that they were purged. In a failed transaction,
 * beginning another one is refused with the reason, and changes nothing. */
static enum err_code explain(struct txn *txn, struct err *err)
{
    rd_kafka_error_t *error = rd_kafka_begin_transaction(txn->producer);
    rd_kafka_resp_err_t why = error ? rd_kafka_error_code(error) : RD_KAFKA_RESP_ERR_NO_ERROR;
    bool known = error && why != RD_KAFKA_RESP_ERR__STATE;
    bool fatal = txn->fenced || is_fenced(why) || (error && rd_kafka_error_is_fatal(error));
    enum err_code code = err_set(err, fatal ? ERR_CLOSED : ERR_UNREACHABLE, "kafka: %u messages were not delivered: %s",
                                 txn->lost, known ? rd_kafka_error_string(error) : rd_kafka_err2str(txn->why));
    if (error) rd_kafka_error_destroy(error);
    return code;
}

/* INVARIANT I5: waits until all verdicts are in the log. Only then may the offsets of their requests enter the
 * transaction. A flush can succeed although messages failed, so failed messages are counted. */
enum err_code txn_flush(struct txn *txn, struct err *err)
{
    if (MUTATED(no_flush)) return ERR_OK;
    watchdog_begin(txn->watchdog, "sending verdicts", ONCE_CALL_MS);
    while (txn->under_way) rd_kafka_flush(txn->producer, KAFKA_POLL_MS);
    watchdog_end(txn->watchdog);
    return txn->lost ? explain(txn, err) : ERR_OK;
}

static enum err_code send_offsets(struct txn *txn, const rd_kafka_topic_partition_list_t *offsets,
                                  const rd_kafka_consumer_group_metadata_t *membership, struct err *err)
{
    watchdog_begin(txn->watchdog, "sending offsets", ONCE_CALL_MS);
    enum err_code code = code_of(rd_kafka_send_offsets_to_transaction(txn->producer, offsets, membership, ONCE_CALL_MS),
                                 "kafka: cannot send offsets", err);
    watchdog_end(txn->watchdog);
    return code;
}

/* Commits, and retries as long as the library allows it, because only a reply shows the outcome. If the library
 * requires an abort, the transaction was not committed. */
static enum err_code commit(struct txn *txn, struct err *err)
{
    rd_kafka_error_t *error;
    watchdog_begin(txn->watchdog, "committing a transaction", ONCE_CALL_MS);
    while ((error = rd_kafka_commit_transaction(txn->producer, -1)) && rd_kafka_error_is_retriable(error) &&
           !rd_kafka_error_txn_requires_abort(error))
        rd_kafka_error_destroy(error);
    watchdog_end(txn->watchdog);
    return code_of(error, "kafka: cannot commit a transaction", err);
}

enum err_code txn_commit(struct txn *txn, const rd_kafka_topic_partition_list_t *offsets,
                         const rd_kafka_consumer_group_metadata_t *membership, struct err *err)
{
    enum err_code code = send_offsets(txn, offsets, membership, err);
    if (!code) code = commit(txn, err);
    if (code) return code;
    rd_kafka_poll(txn->producer, 0); /* handles events about lost brokers */
    return txn->disturbed ? txn_drop(txn, err) : ERR_OK;
}

rd_kafka_t *txn_client(struct txn *txn)
{
    return txn->producer;
}
