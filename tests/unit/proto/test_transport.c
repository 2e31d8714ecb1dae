/* Runs the conformance suite over each transport, and tests the properties of the test transport. */
#include "lib/base/clock.h"
#include "tests/support/leak.h"
#include "tests/support/transport_mem.h"
#include "tests/unit/proto/conformance.h"

#include <criterion/criterion.h>
#include <string.h>

static void add_mem(void)
{
    mem_set(NULL);
}

TestSuite(local);
TestSuite(mem, .init = add_mem);

#define CONFORM(name)                                                                                                  \
    Test(local, name)                                                                                                  \
    {                                                                                                                  \
        conform_##name(&(struct conform){.transport = "local", .prefix = "t", .in_process = true});                    \
    }                                                                                                                  \
    Test(mem, name)                                                                                                    \
    {                                                                                                                  \
        conform_##name(&(struct conform){.transport = "mem", .prefix = "t", .in_process = true});                      \
    }

CONFORM(delivery)
CONFORM(headers)
CONFORM(order)
CONFORM(batch)
CONFORM(sets)
CONFORM(backpressure)
CONFORM(backpressure_bytes)
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

Test(transport, unknown_name_lists_the_known_ones)
{
    struct bus *bus;
    struct err err = {0};
    cr_assert_eq(bus_open("pigeon", NULL, &bus, &err), ERR_CONFIG);
    cr_assert(strstr(err.text, "pigeon") && strstr(err.text, "local"), "%s", err.text);
    cr_assert_null(bus);
}

/* --- kafka, without a broker --- */

static enum err_code open_kafka(const struct bus_property *properties, uint32_t n, struct err *err)
{
    struct bus_config config = {.properties = properties, .n_properties = n, .connect_ms = 700};
    struct bus *bus;
    enum err_code code = bus_open("kafka", &config, &bus, err);
    cr_assert_null(bus);
    leak_check();
    return code;
}

Test(kafka, unreachable_broker_is_reported_in_time)
{
    struct bus_property nobody[] = {{"bootstrap.servers", "127.0.0.1:1"}};
    struct err err = {0};
    int64_t start = clock_now_ns();
    cr_assert_eq(open_kafka(nobody, 1, &err), ERR_UNREACHABLE);
    cr_assert_lt(clock_now_ns() - start, 10 * INT64_C(1000000000));
    cr_assert(strstr(err.text, "127.0.0.1:1"), "%s", err.text);
}

Test(kafka, properties_are_checked_without_showing_secrets)
{
    static const struct {
        struct bus_property property;
        const char *said;
    } cases[] = {
        {{"no.such.property", "1"}, "no.such.property"},
        {{"linger.ms", "soon"}, "linger.ms"},
        {{"enable.auto.commit", "true"}, "enable.auto.commit cannot be set"},
        {{"transactional.id", "x"}, "transactional.id cannot be set"},
        {{"ssl.key.pem", "hunter2"}, "kafka: "},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bus_property both[] = {{"bootstrap.servers", "127.0.0.1:1"}, cases[i].property};
        struct err err = {0};
        cr_assert_neq(open_kafka(both, 2, &err), ERR_OK);
        cr_assert(strstr(err.text, cases[i].said), "%s", err.text);
        cr_assert_null(strstr(err.text, "hunter2"), "%s", err.text);
    }
    struct err err = {0};
    cr_assert_eq(open_kafka(NULL, 0, &err), ERR_CONFIG);
    cr_assert(strstr(err.text, "bootstrap.servers"), "%s", err.text);
    cr_assert(bus_property_is_secret("sasl.password") && bus_property_is_secret("ssl.key.password"));
    cr_assert_not(bus_property_is_secret("sasl.username"));
}

Test(transport, names_are_registered_once)
{
    mem_set(NULL);
    cr_assert_not(bus_transport_register(&bus_mem));
    cr_assert_not(bus_transport_register(&bus_local));
}

Test(faults, faults_follow_their_pattern)
{
    const struct mem_faults faults = {.topics = "t.", .full_every = 3, .duplicate_every = 2, .again_every = 4};
    struct bus_out out = {.topic = "t.one", .partition = BUS_ANY_PARTITION, .value = "v", .len = 1};
    struct bus *bus;
    struct bus_consumer *consumer;
    unsigned taken = 0, seen = 0;
    mem_set(&faults);
    cr_assert_eq(bus_open("mem", NULL, &bus, NULL), ERR_OK);
    cr_assert_eq(bus_subscribe(bus, "g", (const char *[]){"t.one"}, 1, &consumer, NULL), ERR_OK);
    for (unsigned i = 0; i < 9; i++) taken += bus_produce(bus, &out, 1, 0, NULL) == ERR_OK;
    cr_assert_eq(taken, 6);
    for (;;) {
        struct bus_message *got;
        uint32_t n;
        bus_poll(consumer, 0, &got, 1, 0, &n);
        if (!n) break;
        seen++;
        bus_ack(consumer, got);
    }
    cr_assert_eq(mem_counts().full, 3);
    cr_assert_eq(mem_counts().duplicated, 3);
    cr_assert_gt(mem_counts().again, 0);
    cr_assert_eq(seen, 9 + mem_counts().again);
    bus_unsubscribe(consumer);
    bus_close(bus);
    leak_check();
}
