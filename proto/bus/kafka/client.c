/* DESIGN: all clients are created in one way, from three layers of properties: those of all clients (`common`), those
 * of the client's role, and the user's. The user's values replace the others. The user cannot set a few properties on
 * which the transport's guarantees depend.
 *
 * Secrets: values are passed only to the library. A message about a secret property names it and does not show its
 * value.
 */
#include "proto/bus/kafka/kafka.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"

#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <time.h>

/* --- errors --- */

static const struct {
    rd_kafka_resp_err_t error;
    enum err_code code;
} errors[] = {
    {RD_KAFKA_RESP_ERR__QUEUE_FULL, ERR_FULL},
    {RD_KAFKA_RESP_ERR__TRANSPORT, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR__TIMED_OUT, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR__TIMED_OUT_QUEUE, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR__MSG_TIMED_OUT, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR__RESOLVE, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR__WAIT_COORD, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR__RETRY, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR_NOT_COORDINATOR, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR_REBALANCE_IN_PROGRESS, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR_NOT_ENOUGH_REPLICAS_AFTER_APPEND, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR_NOT_CONTROLLER, ERR_UNREACHABLE},
    {RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE, ERR_LIMIT_BYTES},
    {RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE, ERR_LIMIT_BYTES},
    {RD_KAFKA_RESP_ERR__FATAL, ERR_CLOSED},
    {RD_KAFKA_RESP_ERR__FENCED, ERR_CLOSED},
    {RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID, ERR_CLOSED},
    {RD_KAFKA_RESP_ERR__DESTROY, ERR_CLOSED},
    {RD_KAFKA_RESP_ERR__PURGE_QUEUE, ERR_CLOSED},
    {RD_KAFKA_RESP_ERR__PURGE_INFLIGHT, ERR_CLOSED},
};

enum err_code kafka_code(rd_kafka_resp_err_t error)
{
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return ERR_OK;
    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].error == error) return errors[i].code;
    return ERR_CONFIG; /* unknown names, missing rights, refused values: an operator must act */
}

enum err_code kafka_err(struct err *err, rd_kafka_resp_err_t error, const char *what)
{
    return err_set(err, kafka_code(error), "%s: %s (%s)", what, rd_kafka_err2str(error), rd_kafka_err2name(error));
}

void kafka_fail(struct kafka *kafka, enum err_code code, const char *text)
{
    pthread_mutex_lock(&kafka->lock);
    if (!kafka->failure.code) {
        err_set(&kafka->failure, err_class(code) == ERR_CLASS_FATAL ? code : ERR_CLOSED, "%s", text);
        const struct log_field why = log_field_text("why", text);
        log_event(LOG_LEVEL_ERROR, "kafka", &why, 1, "Kafka client failed permanently");
    }
    pthread_cond_broadcast(&kafka->progress);
    pthread_mutex_unlock(&kafka->lock);
}

/* Stores the library's last error, which explains why a start failed. */
static void on_error(rd_kafka_t *client, int error, const char *reason, void *opaque)
{
    struct kafka *kafka = ((struct kafka_context *)opaque)->kafka;
    char text[300];
    rd_kafka_resp_err_t fatal = RD_KAFKA_RESP_ERR_NO_ERROR;
    if (error == RD_KAFKA_RESP_ERR__FATAL) fatal = rd_kafka_fatal_error(client, text, sizeof text);
    if (fatal) kafka_fail(kafka, ERR_CLOSED, text);
    if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) return; /* less informative than the error that precedes it */
    pthread_mutex_lock(&kafka->lock);
    enum err_code code = kafka_code((rd_kafka_resp_err_t)error);
    if (!kafka->trouble.code || err_class(code) == ERR_CLASS_FATAL || err_class(kafka->trouble.code) != ERR_CLASS_FATAL)
        err_set(&kafka->trouble, code, "%s", reason);
    pthread_mutex_unlock(&kafka->lock);
}

/* Logs the library's warnings and errors. The log limits repetitions. */
static void on_log(const rd_kafka_t *client, int level, const char *facility, const char *text)
{
    (void)client;
    /* CONFWARN: a property of consumers was set on a producer */
    if (level > LOG_WARNING || strcmp(facility, "CONFWARN") == 0) return;
    const struct log_field fields[] = {log_field_text("facility", facility), log_field_text("said", text)};
    log_event(level < LOG_WARNING ? LOG_LEVEL_ERROR : LOG_LEVEL_WARN, "kafka", fields, 2, "librdkafka");
}

static int on_stats(rd_kafka_t *client, char *json, size_t len, void *opaque)
{
    struct kafka_context *context = opaque;
    (void)client;
    kafka_stats_take(&context->kafka->stats, context, context->joins, json, len);
    return 0; /* 0: the library frees the text */
}

/* --- configuration --- */

static const struct kafka_preset common[] = {
    {"client.id", "assay"},
    {"socket.nagle.disable", "true"},
    {"log.connection.close", "false"},
    {"topic.metadata.refresh.interval.ms", "10000"}, /* because some broker may not know a new topic yet */
    {"reconnect.backoff.max.ms", "2000"},
    {"socket.connection.setup.timeout.ms", "10000"},
    {"statistics.interval.ms", KAFKA_STATS_INTERVAL_MS},
};

/* Properties that users cannot set, because the transport's guarantees depend on them. Each has the reason. */
static const struct kafka_preset reserved[] = {
    {"group.id", "each component has its own group"},
    {"enable.auto.commit", "offsets are committed after delivery"},
    {"enable.auto.offset.store", "offsets are committed after delivery"},
    {"enable.idempotence", "the order of messages with one key depends on it"},
    {"partition.assignment.strategy", "one process must own requests and their results"},
    {"transactional.id", "the coordinator sets it"},
};

static const char *why_reserved(const char *name)
{
    for (unsigned i = 0; i < sizeof reserved / sizeof *reserved; i++)
        if (strcmp(reserved[i].name, name) == 0) return reserved[i].value;
    return NULL;
}

static enum err_code set_property(rd_kafka_conf_t *conf, const struct bus_property *property, struct err *err)
{
    char reason[300];
    const char *why = why_reserved(property->name);
    if (why) return err_set(err, ERR_CONFIG, "kafka: property %s cannot be set: %s", property->name, why);
    rd_kafka_conf_res_t result = rd_kafka_conf_set(conf, property->name, property->value, reason, sizeof reason);
    if (result == RD_KAFKA_CONF_OK) return ERR_OK;
    if (result == RD_KAFKA_CONF_UNKNOWN)
        return err_set(err, ERR_CONFIG, "kafka: unknown librdkafka property '%.80s'", property->name);
    if (bus_property_is_secret(property->name))
        return err_set(err, ERR_CONFIG, "kafka: invalid value of property %s", property->name);
    return err_set(err, ERR_CONFIG, "kafka: property %s: %s", property->name, reason);
}

static enum err_code set_presets(rd_kafka_conf_t *conf, const struct kafka_preset *presets, uint32_t n, struct err *err)
{
    char reason[300];
    for (uint32_t i = 0; i < n; i++)
        if (rd_kafka_conf_set(conf, presets[i].name, presets[i].value, reason, sizeof reason) != RD_KAFKA_CONF_OK)
            return err_set(err, ERR_INTERNAL, "kafka: %s", reason);
    return ERR_OK;
}

rd_kafka_conf_t *kafka_conf(struct kafka_context *context, const struct kafka_preset *presets, uint32_t n,
                            struct err *err)
{
    const struct kafka *kafka = context->kafka;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    enum err_code code = set_presets(conf, common, sizeof common / sizeof *common, err);
    if (!code) code = set_presets(conf, presets, n, err);
    for (uint32_t i = 0; i < kafka->n_properties && !code; i++) code = set_property(conf, &kafka->properties[i], err);
    char servers[8];
    size_t size = sizeof servers;
    if (!code && (rd_kafka_conf_get(conf, "bootstrap.servers", servers, &size) != RD_KAFKA_CONF_OK || size <= 1))
        code = err_set(err, ERR_CONFIG,
                       "kafka: bootstrap.servers is not set" ERR_HINT "set -X bootstrap.servers=HOST:PORT,...");
    if (code) {
        rd_kafka_conf_destroy(conf);
        return NULL;
    }
    rd_kafka_conf_set_opaque(conf, context);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_log_cb(conf, on_log);
    rd_kafka_conf_set_stats_cb(conf, on_stats);
    return conf;
}

rd_kafka_t *kafka_client(rd_kafka_type_t type, rd_kafka_conf_t *conf, struct err *err)
{
    char reason[300];
    rd_kafka_t *client = rd_kafka_new(type, conf, reason, sizeof reason);
    if (client) return client;
    rd_kafka_conf_destroy(conf);
    err_set(err, ERR_CONFIG, "kafka: %s", reason);
    return NULL;
}

/* --- reachability --- */

static struct err trouble_of(struct kafka *kafka)
{
    pthread_mutex_lock(&kafka->lock);
    struct err trouble = kafka->trouble;
    pthread_mutex_unlock(&kafka->lock);
    return trouble;
}

enum err_code kafka_reach(struct kafka *kafka, rd_kafka_t *client, struct err *err)
{
    int64_t limit = clock_now_ns() + kafka->connect_ms * 1000000;
    rd_kafka_resp_err_t error;
    do {
        const rd_kafka_metadata_t *metadata;
        error = rd_kafka_metadata(client, 0, NULL, &metadata, 500);
        if (!error) {
            rd_kafka_metadata_destroy(metadata);
            return ERR_OK;
        }
        /* the broker refused the client, so retrying does not help */
        if (err_class(trouble_of(kafka).code) == ERR_CLASS_FATAL) break;
    } while (clock_now_ns() < limit);
    struct err trouble = trouble_of(kafka);
    if (!trouble.code) return kafka_err(err, error, "kafka: no broker answered");
    return err_set(err, trouble.code, "kafka: no broker answered: %s", trouble.text);
}

/* --- time --- */

int64_t kafka_local_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Changes the offset between the clocks by the least amount that agrees with the report. One millisecond in both
 * directions allows for rounding. The caller holds the lock. */
void kafka_learn_clock(struct kafka *kafka, int64_t broker_ms, int64_t from_ms, int64_t to_ms)
{
    int64_t least = broker_ms - to_ms - 1, most = broker_ms - from_ms + 1;
    int64_t ahead = atomic_load(&kafka->ahead_ms);
    if (ahead < least) ahead = least;
    if (ahead > most) ahead = most;
    atomic_store(&kafka->ahead_ms, ahead);
}
