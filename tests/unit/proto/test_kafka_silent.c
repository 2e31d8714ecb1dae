/* Tests brokers that do not answer. Waits are bounded by connect_ms, the error names the cause, and its class is retry.
 * No broker runs: one port has a listener that never answers, another port has no listener. */
#include "proto/bus/kafka/kafka.h"

#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "tests/support/leak.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A wait of CONNECT_MS must end within LATE_MS. This allows for a busy machine, but is less than the usual 10 s. */
enum { CONNECT_MS = 300, LATE_MS = 8000 };

static int port;
static char servers[32];

/* Takes a port. The test holds it with or without a listener, so that no other process listens on it. */
static void take_port(bool listening)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof address;
    port = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(port >= 0 && bind(port, (struct sockaddr *)&address, len) == 0);
    cr_assert_eq(getsockname(port, (struct sockaddr *)&address, &len), 0);
    if (listening) cr_assert_eq(listen(port, 16), 0);
    snprintf(servers, sizeof servers, "127.0.0.1:%d", ntohs(address.sin_port));
}

static void end(void)
{
    if (port > 0) close(port);
    leak_check();
}
TestSuite(kafka_silent, .fini = end, .timeout = 60);

static int64_t ms_since(int64_t start_ns)
{
    return (clock_now_ns() - start_ns) / 1000000;
}

static void expect_unreachable(bool listening)
{
    take_port(listening);
    struct bus_property property = {"bootstrap.servers", servers};
    struct bus_config config = {.properties = &property, .n_properties = 1, .connect_ms = CONNECT_MS};
    struct bus *bus;
    struct err err = {0};
    int64_t start = clock_now_ns();
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); /* librdkafka writes its messages to this file */
    log_open(nowhere, LOG_FORM_TEXT, LOG_LEVEL_ERROR);
    cr_assert_eq(bus_open("kafka", &config, &bus, &err), ERR_UNREACHABLE, "%s", err.text);
    cr_expect_null(bus);
    cr_expect_eq(err_class(err.code), ERR_CLASS_RETRY);
    cr_expect(strstr(err.text, "no broker answered"), "%s", err.text);
    cr_expect_geq(ms_since(start), CONNECT_MS);
    cr_expect_lt(ms_since(start), LATE_MS);
    log_open(-1, LOG_FORM_TEXT, LOG_LEVEL_ERROR);
    close(nowhere);
}

Test(kafka_silent, open_times_out_on_silent_broker)
{
    expect_unreachable(true);
}

Test(kafka_silent, open_fails_without_listener)
{
    expect_unreachable(false);
}

/* Makes the producer of a bus whose brokers stopped answering after the bus was opened. */
static void begin_silent(struct kafka *kafka)
{
    char why[256];
    struct err err = {0};
    take_port(true);
    *kafka = (struct kafka){.bus.max_message = 1 << 20, .least_limit = 1 << 20, .connect_ms = CONNECT_MS};
    pthread_mutex_init(&kafka->lock, NULL);
    cr_assert_eq(librdkafka_open(&err), ERR_OK, "%s", err.text);
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    cr_assert_eq(rd_kafka_conf_set(conf, "bootstrap.servers", servers, why, sizeof why), RD_KAFKA_CONF_OK, "%s", why);
    kafka->producer = kafka_client(RD_KAFKA_PRODUCER, conf, &err);
    cr_assert(kafka->producer, "%s", err.text);
}

Test(kafka_silent, limits_are_kept_with_warning)
{
    static const char *const topics[] = {"one", "two"};
    struct kafka kafka;
    struct err err = {0};
    char text[4096] = "";
    FILE *file = tmpfile();
    begin_silent(&kafka);
    log_open(fileno(file), LOG_FORM_TEXT, LOG_LEVEL_WARN);
    int64_t start = clock_now_ns();
    cr_expect_eq(kafka_know_topics(&kafka.bus, topics, 2, &err), ERR_OK, "%s", err.text);
    cr_expect_geq(ms_since(start), CONNECT_MS);
    cr_expect_lt(ms_since(start), LATE_MS, "%lld ms", (long long)ms_since(start));
    log_open(-1, LOG_FORM_TEXT, LOG_LEVEL_INFO);
    cr_expect_gt(pread(fileno(file), text, sizeof text - 1, 0), 0);
    cr_expect(strstr(text, "no broker answered"), "%s", text);
    cr_expect_eq(kafka_max_bytes(&kafka.bus, "one"), 1 << 20);
    cr_expect_eq(kafka.n_limits, 2, "a refusal later still has something to lower");
    fclose(file);
    rd_kafka_destroy(kafka.producer);
    pthread_mutex_destroy(&kafka.lock);
}
