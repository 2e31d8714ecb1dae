/* Tests the kafka transport on a real broker: the conformance suite, then faults that only servers and processes can
 * cause. Each test has its own topics and groups, so that a failed test affects no other. */
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "proto/bus/topics.h"
#include "tests/live/broker.h"
#include "tests/support/leak.h"
#include "tests/support/wait.h"
#include "tests/unit/proto/conformance.h"

#include <criterion/criterion.h>
#include <librdkafka/rdkafka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LIMIT_MS = 40000 };

TestSuite(conform, .timeout = 120);
TestSuite(kafka, .timeout = 120);
TestSuite(faults, .timeout = 120);

#define CONFORM(name)                                                                                                  \
    Test(conform, name)                                                                                                \
    {                                                                                                                  \
        broker_needed();                                                                                               \
        const char *prefix = broker_prefix(#name);                                                                     \
        broker_topics(prefix, 2, (const char *const[]){"one", "two", "dlq", NULL});                                    \
        struct broker_properties properties = broker_properties(NULL);                                                 \
        conform_##name(&(struct conform){                                                                              \
            .transport = "kafka", .prefix = prefix, .properties = properties.list, .n_properties = properties.n});     \
    }

CONFORM(delivery)
CONFORM(headers)
CONFORM(order)
CONFORM(batch)
CONFORM(writer_waits)
CONFORM(hold_back)
CONFORM(nack)
CONFORM(nack_delay)
CONFORM(crash)
CONFORM(drain)
CONFORM(drain_wakes)
CONFORM(before_subscribing)
CONFORM(poison)
CONFORM(many_threads)
CONFORM(refuses)

/* --- helpers --- */

static char topic[BROKER_NAME], other[BROKER_NAME], group[BROKER_NAME];

static void names(const char *test, int32_t partitions)
{
    const struct broker_topic both[] = {{"one", topic}, {"two", other}, {NULL, NULL}};
    broker_scene(test, partitions, both, group);
}

static struct bus_consumer *join(struct bus *bus)
{
    struct bus_consumer *consumer;
    struct err err = {0};
    const char *const topics[] = {topic};
    cr_assert_eq(bus_subscribe(bus, group, topics, 1, &consumer, &err), ERR_OK, "%s", err.text);
    return consumer;
}

static enum err_code put(struct bus *bus, const char *to, const char *key, const char *value, int64_t timeout_ms)
{
    struct bus_out out = {.topic = to,
                          .partition = BUS_ANY_PARTITION,
                          .key = key,
                          .key_len = key ? (uint32_t)strlen(key) : 0,
                          .value = value,
                          .len = strlen(value)};
    return bus_produce(bus, &out, 1, timeout_ms, NULL);
}

static struct bus_message *get(struct bus_consumer *consumer)
{
    struct bus_message *got;
    uint32_t n = 0;
    for (int64_t start = clock_now_ns(); !n && clock_now_ns() - start < LIMIT_MS * INT64_C(1000000);)
        cr_assert_eq(bus_poll(consumer, 0, &got, 1, 1000, &n), ERR_OK);
    cr_assert_eq(n, 1, "no message came");
    return got;
}

static int number(const struct bus_message *message)
{
    char text[16];
    cr_assert_lt(message->len, sizeof text);
    memcpy(text, message->value, message->len);
    text[message->len] = '\0';
    return atoi(text);
}

static void finish(struct bus *bus, struct bus_consumer *consumer)
{
    bus_unsubscribe(consumer);
    bus_close(bus);
    leak_check();
}

/* --- reports to a writer --- */

/* With a long linger, messages wait for acknowledgement, so the queue fills up. */
Test(kafka, full_queue_is_reported_and_keeps_key_order)
{
    names("full", 1);
    struct bus *bus = broker_open((const struct bus_property[]){{"linger.ms", "3000"}, {NULL, NULL}}, 3);
    struct bus_out out[4];
    uint32_t taken = 9;
    for (unsigned i = 0; i < 4; i++)
        out[i] = (struct bus_out){.topic = topic,
                                  .partition = BUS_ANY_PARTITION,
                                  .key = i < 2 ? "a" : "b",
                                  .key_len = 1,
                                  .value = "v",
                                  .len = 1};
    cr_assert_eq(bus_produce(bus, out, 4, 0, &taken), ERR_FULL);
    cr_assert_eq(taken, 2, "of b none, for both had no room");
    cr_assert_eq(bus_produce(bus, out, 1, 0, &taken), ERR_OK);
    cr_assert_eq(bus_produce(bus, out, 1, 20, &taken), ERR_FULL);
    cr_assert_eq(taken, 0);
    cr_assert_eq(bus_flush(bus, 0), ERR_FULL);
    cr_assert_eq(bus_produce(bus, out, 4, LIMIT_MS, &taken), ERR_OK, "delivery makes room");
    cr_assert_eq(taken, 4);
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    finish(bus, NULL);
}

Test(kafka, byte_limit_accepts_one_large_message)
{
    names("bytes", 1);
    struct broker_properties properties =
        broker_properties((const struct bus_property[]){{"linger.ms", "2000"}, {NULL, NULL}});
    struct bus_config config = {.queue_bytes = 100, .properties = properties.list, .n_properties = properties.n};
    struct bus *bus;
    struct err err = {0};
    char large[500];
    memset(large, 'x', sizeof large);
    cr_assert_eq(bus_open("kafka", &config, &bus, &err), ERR_OK, "%s", err.text);
    struct bus_out out = {.topic = topic, .partition = 0, .value = large, .len = sizeof large};
    cr_assert_eq(bus_produce(bus, &out, 1, 0, NULL), ERR_OK);
    out.len = 1;
    cr_assert_eq(bus_produce(bus, &out, 1, 0, NULL), ERR_FULL);
    cr_assert_eq(bus_produce(bus, &out, 1, LIMIT_MS, NULL), ERR_OK);
    finish(bus, NULL);
}

Test(kafka, large_messages_pass_and_oversized_are_refused)
{
    enum { LARGE = 6 << 20 };
    names("large", 2);
    struct bus *bus = broker_open((const struct bus_property[]){{"message.max.bytes", "7000000"}, {NULL, NULL}}, 0);
    struct bus_consumer *consumer = join(bus);
    char *value = malloc(LARGE);
    for (size_t i = 0; i < LARGE; i++) value[i] = (char)(i * 2654435761U >> 13);
    struct bus_out out = {.topic = topic, .partition = 1, .value = value, .len = LARGE};
    cr_assert_eq(bus_produce(bus, &out, 1, LIMIT_MS, NULL), ERR_OK);
    struct bus_message *got = get(consumer);
    cr_assert_eq(got->partition, 1, "the partition that was asked for");
    cr_assert_eq(got->len, LARGE);
    cr_assert_eq(memcmp(got->value, value, LARGE), 0);
    bus_ack(consumer, got);
    out.len = 100;
    struct bus_out both[] = {out, out};
    both[1].len = LARGE;
    both[1].value = value = realloc(value, 2 * LARGE);
    both[0].value = value;
    both[1].len = 2 * LARGE;
    uint32_t taken;
    cr_assert_eq(bus_produce(bus, both, 2, LIMIT_MS, &taken), ERR_LIMIT_BYTES);
    cr_assert_eq(taken, 1);
    bus_ack(consumer, get(consumer));
    cr_assert_eq(bus_health(bus, NULL), ERR_OK, "one refused message ends nothing");
    free(value);
    finish(bus, consumer);
}

/* A topic accepts smaller messages than the client sends. The loss is reported, and the error is permanent. */
Test(kafka, refusal_by_broker_ends_bus)
{
    names("refusal", 1);
    struct bus *bus = broker_open((const struct bus_property[]){{"compression.type", "none"}, {NULL, NULL}}, 0);
    struct err err = {0};
    cr_assert_eq(put(bus, topic, "k", "fine", LIMIT_MS), ERR_OK);
    struct bus_out out = {.topic = topic, .partition = 0, .value = calloc(1, 40 << 20), .len = 40 << 20};
    cr_assert_eq(bus_produce(bus, &out, 1, LIMIT_MS, NULL), ERR_OK);
    cr_assert_eq(err_class(bus_flush(bus, LIMIT_MS)), ERR_CLASS_FATAL);
    cr_assert_eq(err_class(bus_health(bus, &err)), ERR_CLASS_FATAL);
    cr_assert(strstr(err.text, topic), "%s", err.text);
    cr_assert_eq(err_class(put(bus, topic, "k", "more", 0)), ERR_CLASS_FATAL);
    free((void *)out.value);
    finish(bus, NULL);
}

/* --- configuration --- */

Test(kafka, configuration_errors_are_reported)
{
    names("wrong", 1);
    struct bus *bus = broker_open(NULL, 0), *none;
    struct bus_consumer *consumer;
    struct err err = {0};
    cr_assert_eq(bus_subscribe(bus, group, (const char *const[]){"live.no.such.topic"}, 1, &consumer, &err),
                 ERR_CONFIG);
    cr_assert(strstr(err.text, "live.no.such.topic") && strstr(err.text, "assay topics create"), "%s", err.text);
    cr_assert_null(consumer);

    struct broker_properties wrong =
        broker_properties((const struct bus_property[]){{"security.protocol", "SASL_PLAINTEXT"},
                                                        {"sasl.mechanism", "PLAIN"},
                                                        {"sasl.username", "nobody"},
                                                        {"sasl.password", "hunter2"},
                                                        {NULL, NULL}});
    struct bus_config config = {.properties = wrong.list, .n_properties = wrong.n, .connect_ms = 8000};
    cr_assert_neq(bus_open("kafka", &config, &none, &err), ERR_OK, "credentials at a listener that takes none");
    cr_assert_null(none);
    cr_assert_null(strstr(err.text, "hunter2"), "%s", err.text);
    finish(bus, NULL);
}

Test(kafka, tls_and_sasl_are_supported)
{
    broker_needed();
    const char *secure = getenv("ASSAY_TEST_KAFKA_SECURE"), *authority = getenv("ASSAY_TEST_KAFKA_CA");
    if (!secure || !authority) cr_skip_test("no secure listener: ASSAY_TEST_KAFKA_SECURE is not set");
    struct bus_property list[] = {{"bootstrap.servers", secure},   {"security.protocol", "SASL_SSL"},
                                  {"ssl.ca.location", authority},  {"sasl.mechanism", "PLAIN"},
                                  {"sasl.username", "assay"},      {"sasl.password", "assay-secret"},
                                  {"client.id", "live-tls-tester"}};
    struct bus_config config = {.properties = list, .n_properties = 7};
    struct bus *bus;
    struct err err = {0};
    cr_assert_eq(bus_open("kafka", &config, &bus, &err), ERR_OK, "%s", err.text);
    bus_close(bus);

    list[5].value = "wrong-secret";
    int64_t start = clock_now_ns();
    cr_assert_eq(bus_open("kafka", &config, &bus, &err), ERR_CONFIG, "%s", err.text);
    cr_assert_lt(clock_now_ns() - start, 8 * INT64_C(1000000000), "refused credentials are not tried till the end");
    cr_assert(strstr(err.text, "uthentication"), "%s", err.text);
    cr_assert_null(strstr(err.text, "wrong-secret"), "%s", err.text);
    leak_check();
}

/* --- the size limit without the right to read it --- */

enum { LARGE = 2 << 20, TOPIC_BYTES = 1048588, ASKING_MS = 15000 };

/* Opens a plain librdkafka client, for operations that a bus does not have. */
static rd_kafka_t *client_open(const struct bus_property *properties, uint32_t n)
{
    char reason[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    for (uint32_t i = 0; i < n; i++)
        cr_assert_eq(rd_kafka_conf_set(conf, properties[i].name, properties[i].value, reason, sizeof reason),
                     RD_KAFKA_CONF_OK, "%s", reason);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, reason, sizeof reason);
    cr_assert(client, "%s", reason);
    return client;
}

/* Gives the user of the secure listener two rights only: to write to the topic and to describe it. */
static void may_only_write(const char *name)
{
    struct bus_property list[] = {{"bootstrap.servers", getenv("ASSAY_TEST_KAFKA")}};
    rd_kafka_t *client = client_open(list, 1);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_AclBinding_t *acl =
        rd_kafka_AclBinding_new(RD_KAFKA_RESOURCE_TOPIC, name, RD_KAFKA_RESOURCE_PATTERN_LITERAL, "User:assay", "*",
                                RD_KAFKA_ACL_OPERATION_WRITE, RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, NULL, 0);
    rd_kafka_CreateAcls(client, &acl, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, ASKING_MS);
    size_t n = 0;
    const rd_kafka_acl_result_t **results =
        event ? rd_kafka_CreateAcls_result_acls(rd_kafka_event_CreateAcls_result(event), &n) : NULL;
    cr_assert(n == 1 && !rd_kafka_acl_result_error(results[0]), "the broker takes no ACLs: %s",
              event ? rd_kafka_event_error_string(event) : "no answer");
    rd_kafka_event_destroy(event);
    rd_kafka_AclBinding_destroy(acl);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(client);
}

struct asking {
    rd_kafka_t *client;
    const char *topic;
};

/* Returns true if the broker denies this client access to the topic's configuration. */
static bool is_not_told(void *context)
{
    const struct asking *asking = context;
    rd_kafka_queue_t *queue = rd_kafka_queue_new(asking->client);
    rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, asking->topic);
    rd_kafka_DescribeConfigs(asking->client, &resource, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, ASKING_MS);
    size_t n = 0;
    const rd_kafka_ConfigResource_t **answers =
        event ? rd_kafka_DescribeConfigs_result_resources(rd_kafka_event_DescribeConfigs_result(event), &n) : NULL;
    bool refused = n == 1 && rd_kafka_ConfigResource_error(answers[0]) == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
    if (event) rd_kafka_event_destroy(event);
    rd_kafka_ConfigResource_destroy(resource);
    rd_kafka_queue_destroy(queue);
    return refused;
}

static void set_largest(const char *name, int bytes)
{
    char text[16];
    struct bus_property list[] = {{"bootstrap.servers", getenv("ASSAY_TEST_KAFKA")}};
    rd_kafka_t *client = client_open(list, 1);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_ConfigResource_t *resource = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, name);
    snprintf(text, sizeof text, "%d", bytes);
    rd_kafka_ConfigResource_set_config(resource, "max.message.bytes", text);
    rd_kafka_AlterConfigs(client, &resource, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, ASKING_MS);
    cr_assert(event && !rd_kafka_event_error(event));
    rd_kafka_event_destroy(event);
    rd_kafka_ConfigResource_destroy(resource);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(client);
}

/* Returns the log in the file. Free with free. */
static char *log_text(int fd)
{
    char *text = calloc(1, LOG_LINE * 8);
    cr_assert(text && pread(fd, text, LOG_LINE * 8 - 1, 0) >= 0);
    return text;
}

/* The brokers deny reading the size limit of one topic. The bus uses its default limit for that topic only, and warns
 * the operator. If the broker then refuses a message, other work continues. */
Test(kafka, unreadable_size_limit_uses_default)
{
    names("rights", 1);
    const char *secure = getenv("ASSAY_TEST_KAFKA_SECURE"), *authority = getenv("ASSAY_TEST_KAFKA_CA");
    if (!secure || !authority) cr_skip_test("no secure listener: ASSAY_TEST_KAFKA_SECURE is not set");
    struct bus_property list[] = {{"bootstrap.servers", secure},  {"security.protocol", "SASL_SSL"},
                                  {"ssl.ca.location", authority}, {"sasl.mechanism", "PLAIN"},
                                  {"sasl.username", "assay"},     {"sasl.password", "assay-secret"}};
    set_largest(topic, TOPIC_BYTES);
    set_largest(other, TOPIC_BYTES);
    may_only_write(topic);
    struct asking asking = {client_open(list, 6), topic};
    cr_assert(wait_until(is_not_told, &asking, LIMIT_MS));
    rd_kafka_destroy(asking.client);

    char path[] = "/tmp/assay-live-XXXXXX";
    int log = mkstemp(path);
    cr_assert_geq(log, 0);
    unlink(path);
    log_open(log, LOG_FORM_JSON, LOG_LEVEL_WARN);
    struct bus_config config = {.properties = list, .n_properties = 6};
    struct bus *bus;
    struct err err = {0};
    cr_assert_eq(bus_open("kafka", &config, &bus, &err), ERR_OK, "%s", err.text);
    const char *const both[] = {topic, other};
    cr_assert_eq(bus_know_topics(bus, both, 2, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(bus_max_bytes(bus, topic), bus_max_bytes(bus, "of which nothing is known"));
    cr_expect_leq(bus_max_bytes(bus, other), TOPIC_BYTES, "which it may ask for");
    char *said = log_text(log);
    cr_expect(strstr(said, topic) && strstr(said, "unknown") && strstr(said, "uthorization"), "%s", said);
    cr_expect_null(strstr(said, other), "%s", said);

    char *large = malloc(LARGE + 1);
    uint64_t state = 1; /* random bytes, because messages may be compressed */
    for (int i = 0; i < LARGE; i++) large[i] = (char)('!' + (state = state * 6364136223846793005U + 1) % 90);
    large[LARGE] = '\0';
    cr_expect_eq(put(bus, topic, "k", large, LIMIT_MS), ERR_OK, "nobody knows yet");
    cr_expect_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    cr_expect_eq(bus_health(bus, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(put(bus, topic, "k", large, LIMIT_MS), ERR_LIMIT_BYTES, "and now it is known");
    cr_expect_eq(put(bus, topic, "k", "small", LIMIT_MS), ERR_OK);
    cr_expect_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    free(large);
    free(said);
    close(log);
    finish(bus, NULL);
}

Test(kafka, topics_are_created_once_and_compared)
{
    broker_needed();
    static struct topic_plan plans[TOPICS_MAX];
    struct topic_report reports[TOPICS_MAX];
    struct err err = {0};
    const char *prefix = broker_prefix("topics");
    const char *const families[] = {"structure", "join"};
    uint32_t n = topics_plan(
        &(struct topics_config){.partitions = 3, .task_partitions = 2, .families = families, .n_families = 2}, plans);
    cr_assert_eq(n, 10);
    for (uint32_t i = 0; i < n; i++) { /* not the real names, which other tests use */
        char name[80];
        snprintf(name, sizeof name, "%.40s%s", prefix, plans[i].name + strlen("assay"));
        snprintf(plans[i].name, sizeof plans[i].name, "%s", name);
    }
    struct bus *bus = broker_open(NULL, 0);
    cr_assert_eq(topics_describe(bus, plans, n, reports, &err), ERR_OK, "%s", err.text);
    for (uint32_t i = 0; i < n; i++) cr_assert_eq(reports[i].state, TOPIC_MISSING);
    cr_assert_eq(topics_create(bus, plans, n, reports, &err), ERR_OK, "%s", err.text);
    for (uint32_t i = 0; i < n; i++)
        cr_assert_eq(reports[i].state, TOPIC_MADE, "%s: %s", plans[i].name, reports[i].differs);
    cr_assert_eq(topics_create(bus, plans, n, reports, &err), ERR_OK, "%s", err.text);
    for (uint32_t i = 0; i < n; i++)
        cr_assert_eq(reports[i].state, TOPIC_AS_PLANNED, "%s: %s", plans[i].name, reports[i].differs);
    plans[2].partitions = 4;
    plans[3].settings[1].value = "compact";
    cr_assert_eq(topics_create(bus, plans, n, reports, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(reports[2].state, TOPIC_DIFFERS);
    cr_assert_str_eq(reports[2].differs, "partitions 3, not 4");
    cr_assert_str_eq(reports[3].differs, "cleanup.policy delete, not compact");
    plans[0].replicas = 7;
    snprintf(plans[0].name, sizeof plans[0].name, "%.40s.more", prefix);
    cr_assert_eq(topics_create(bus, plans, 1, reports, &err), ERR_CONFIG, "seven replicas on one broker");
    cr_assert(strstr(err.text, plans[0].name), "%s", err.text);
    finish(bus, NULL);
}

/* --- processes that die --- */

/* Starts a child that reads. It acks and commits the first `acked` messages, reports to the parent after `tell_after`
 * messages, and then waits to be killed. */
static pid_t reader_child(int *word, unsigned tell_after, unsigned acked)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (child) {
        close(ends[1]);
        *word = ends[0];
        return child;
    }
    struct bus *bus = broker_open(NULL, 0);
    struct bus_consumer *consumer = join(bus);
    for (unsigned i = 0; i < tell_after; i++) {
        struct bus_message *got = get(consumer);
        if (i < acked) bus_ack(consumer, got);
    }
    if (bus_commit(consumer) != ERR_OK || write(ends[1], "", 1) != 1) _exit(1);
    for (;;) pause();
}

Test(faults, killed_readers_unacked_messages_are_redelivered)
{
    names("kill9", 1);
    struct bus *bus;
    int word;
    pid_t child = reader_child(&word, 5, 3);
    bus = broker_open(NULL, 0);
    for (const char *c = "1234567"; *c; c++) cr_assert_eq(put(bus, topic, "k", (char[]){*c, '\0'}, LIMIT_MS), ERR_OK);
    broker_kill(child, word);
    struct bus_consumer *consumer = join(bus);
    for (int expected = 4; expected <= 7; expected++) {
        struct bus_message *got = get(consumer);
        cr_assert_eq(number(got), expected);
        cr_assert_eq(got->attempts, 1, "handed out, or perhaps, by the one that died");
        bus_ack(consumer, got);
    }
    finish(bus, consumer);
}

/* An ack takes effect only when the messages produced before it are delivered. In this test they never are. */
Test(faults, lost_output_discards_its_ack)
{
    names("consequence", 1);
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    pid_t child = fork();
    if (!child) {
        struct bus *bus = broker_open((const struct bus_property[]){{"linger.ms", "60000"}, {NULL, NULL}}, 0);
        struct bus_consumer *consumer = join(bus);
        bus_ack(consumer, get(consumer)); /* this ack follows no produced message */
        struct bus_message *got = get(consumer);
        put(bus, other, "k", "result", 0);
        bus_ack(consumer, got);
        struct bus_message *none;
        uint32_t n;
        for (int64_t start = clock_now_ns(); clock_now_ns() - start < 2500 * INT64_C(1000000);) /* commits run here */
            bus_poll(consumer, 0, &none, 1, 100, &n);
        if (write(ends[1], "", 1) != 1) _exit(1);
        for (;;) pause();
    }
    close(ends[1]);
    struct bus *bus = broker_open(NULL, 0);
    cr_assert_eq(put(bus, topic, "k", "1", LIMIT_MS), ERR_OK);
    cr_assert_eq(put(bus, topic, "k", "2", LIMIT_MS), ERR_OK);
    broker_kill(child, ends[0]);
    struct bus_consumer *consumer = join(bus);
    struct bus_message *got = get(consumer);
    cr_assert_eq(number(got), 2, "1 was done, 2 was not");
    bus_ack(consumer, got);
    finish(bus, consumer);
}

/* A message kills its reader; the messages around it are harmless. Each reader that dies raises the message's number of
 * attempts, until a reader dead-letters it. */
Test(faults, poison_message_is_detected_by_attempts)
{
    enum { GIVE_UP = 3, MOST_DEATHS = 8 };
    names("poison", 1);
    unsigned deaths = 0;
    for (int status = 1; status && deaths <= MOST_DEATHS;) {
        pid_t child = fork();
        if (!child) {
            struct bus *bus = broker_open(NULL, 0);
            struct bus_consumer *consumer = join(bus);
            if (deaths == 0)
                for (const char *c = "1203"; *c; c++) put(bus, topic, "k", (char[]){*c, '\0'}, LIMIT_MS);
            for (;;) {
                struct bus_message *got = get(consumer);
                if (number(got) == 0 && got->attempts < GIVE_UP) raise(SIGKILL);
                bool last = number(got) == 3;
                if (number(got) == 0) put(bus, other, NULL, "0", LIMIT_MS);
                if (number(got) != 0 && got->attempts >= GIVE_UP) _exit(3); /* a harmless message is under suspicion */
                bus_ack(consumer, got);
                if (last) break;
            }
            bus_unsubscribe(consumer);
            bus_close(bus);
            _exit(0);
        }
        cr_assert_eq(waitpid(child, &status, 0), child);
        if (WIFEXITED(status))
            cr_assert_eq(WEXITSTATUS(status), 0, "reader %u ended with %d", deaths, WEXITSTATUS(status));
        deaths += status != 0;
    }
    cr_assert_geq(deaths, GIVE_UP);
    cr_assert_leq(deaths, GIVE_UP + 1, "%u readers died", deaths);
}

/* --- members that come and go --- */

struct tally {
    int last;
    unsigned seen[600];
    unsigned again;
};

static void read_some(struct bus_consumer *consumer, struct tally *tally, uint32_t max)
{
    struct bus_message *got[32];
    uint32_t n;
    cr_assert_eq(bus_poll(consumer, 0, got, max, 50, &n), ERR_OK);
    for (uint32_t i = 0; i < n; i++) {
        tally->again += tally->seen[number(got[i])]++ > 0;
        bus_ack(consumer, got[i]);
    }
}

static unsigned missing(const struct tally *tally, unsigned n)
{
    unsigned lost = 0;
    for (unsigned i = 0; i < n; i++) lost += tally->seen[i] == 0;
    return lost;
}

Test(kafka, rebalances_lose_no_message)
{
    enum { N = 600, MEMBERS = 3 };
    static struct tally tally;
    names("members", 6);
    struct bus *bus = broker_open((const struct bus_property[]){{"session.timeout.ms", "15000"}, {NULL, NULL}}, 0);
    struct bus_consumer *members[MEMBERS] = {join(bus)};
    for (unsigned i = 0; i < N; i++) {
        char key[8], value[8];
        snprintf(key, sizeof key, "k%u", i % 40);
        snprintf(value, sizeof value, "%u", i);
        cr_assert_eq(put(bus, topic, key, value, LIMIT_MS), ERR_OK);
        if (i % 100 == 50) {
            unsigned which = i / 100 % MEMBERS;
            if (members[which] && which) {
                bus_unsubscribe(members[which]);
                members[which] = NULL;
            } else if (!members[which]) {
                members[which] = join(bus);
            }
        }
        for (unsigned m = 0; m < MEMBERS && i % 10 == 0; m++)
            if (members[m]) read_some(members[m], &tally, 8);
    }
    for (int64_t start = clock_now_ns(); missing(&tally, N) && clock_now_ns() - start < LIMIT_MS * INT64_C(1000000);)
        for (unsigned m = 0; m < MEMBERS; m++)
            if (members[m]) read_some(members[m], &tally, 32);
    cr_assert_eq(missing(&tally, N), 0, "%u were lost", missing(&tally, N));
    cr_assert_leq(tally.again, 10, "all was acked before partitions moved, yet %u came again", tally.again);
    for (unsigned m = 1; m < MEMBERS; m++) bus_unsubscribe(members[m]);
    finish(bus, members[0]);
}

/* A member holds a message while its partition is revoked and assigned again. The message is neither lost nor started
 * twice. */
Test(kafka, work_in_progress_survives_rebalance)
{
    names("inhand", 1);
    struct bus *bus = broker_open(NULL, 0);
    struct bus_consumer *first = join(bus);
    for (const char *c = "123"; *c; c++) cr_assert_eq(put(bus, topic, "k", (char[]){*c, '\0'}, LIMIT_MS), ERR_OK);
    struct bus_message *one = get(first), *two = get(first);
    struct bus_consumer *second = join(bus); /* joining causes a rebalance while messages one and two are in progress */
    struct bus_message *got;
    uint32_t n, seconds = 0;
    for (int64_t start = clock_now_ns(); clock_now_ns() - start < 3000 * INT64_C(1000000);) {
        cr_assert_eq(bus_poll(second, 0, &got, 1, 100, &n), ERR_OK);
        if (!n) continue;
        cr_assert_leq(number(got), 3);
        bus_nack(second, got, 0);
        seconds++;
        break;
    }
    bus_unsubscribe(second); /* the partition returns to the first member */
    bus_ack(first, one);
    bus_ack(first, two);
    got = get(first);
    if (!seconds) cr_assert_eq(number(got), 3, "what was in hand all the time is not handed out again");
    while (number(got) < 3) {
        bus_ack(first, got);
        got = get(first);
    }
    bus_ack(first, got);
    finish(bus, first);
}

/* A message that was nacked with a delay also delays the commit of later acks. So the revocation of a partition waits
 * for it. Otherwise all of this work would be repeated. */
Test(kafka, delayed_messages_finish_before_revocation)
{
    enum { N = 40, MORE = 500 };
    static struct tally firsts, seconds;
    bool waits[2] = {false};
    names("waits", 2);
    struct bus *bus = broker_open((const struct bus_property[]){{"heartbeat.interval.ms", "100"}, {NULL, NULL}}, 0);
    struct bus_consumer *first = join(bus), *second = NULL;
    for (int i = 0; i < N; i++)
        cr_assert_eq(put(bus, topic, (char[]){(char)('a' + i % 20), '\0'},
                         (char[]){(char)('0' + i / 10), (char)('0' + i % 10), '\0'}, LIMIT_MS),
                     ERR_OK);
    for (int i = 0; i < N; i++) {
        struct bus_message *got = get(first);
        bool lowest = !waits[got->partition];
        waits[got->partition] = true;
        if (lowest)
            bus_nack(first, got, 600);
        else
            bus_ack(first, got);
    }
    cr_assert(waits[0] && waits[1], "the keys went to both partitions");
    second = join(bus);
    for (int i = N; missing(&seconds, MORE) == MORE && i < MORE; i++) {
        char key[2] = {(char)('a' + i % 20), '\0'}, value[8];
        snprintf(value, sizeof value, "%d", i);
        cr_assert_eq(put(bus, topic, key, value, LIMIT_MS), ERR_OK);
        read_some(first, &firsts, 32);
        read_some(second, &seconds, 32);
    }
    cr_assert_lt(missing(&seconds, MORE), MORE, "a partition has moved");
    cr_assert_eq(missing(&seconds, N), N, "the second member found only what came after");
    cr_assert_eq(missing(&firsts, N), N - 2, "the first has finished what waited");
    bus_unsubscribe(second);
    finish(bus, first);
}

/* --- broker outages --- */

Test(faults, restarted_broker_is_only_interruption)
{
    enum { N = 300 };
    static struct tally tally;
    names("restart", 2);
    struct bus *bus = broker_open(NULL, 0);
    struct bus_consumer *consumer = join(bus);
    for (unsigned i = 0; i < N; i++) {
        char value[8];
        snprintf(value, sizeof value, "%u", i);
        cr_assert_eq(put(bus, topic, "k", value, LIMIT_MS), ERR_OK);
        if (i == 100) {
            for (int64_t start = clock_now_ns();
                 tally.seen[50] == 0 && clock_now_ns() - start < LIMIT_MS * INT64_C(1000000);)
                read_some(consumer, &tally, 8);
            cr_assert_eq(tally.seen[50], 1, "it never began");
            broker_command("kill", "kafka-1");
        }
        if (i == 200) broker_command("up", "kafka-1");
    }
    int64_t start = clock_now_ns();
    while (missing(&tally, N) && clock_now_ns() - start < LIMIT_MS * INT64_C(1000000)) read_some(consumer, &tally, 32);
    cr_assert_eq(missing(&tally, N), 0, "%u were lost", missing(&tally, N));
    cr_assert_eq(bus_health(bus, NULL), ERR_OK);
    finish(bus, consumer);
}
