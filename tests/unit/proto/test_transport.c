/* The conformance suite over each transport, and what only the tests' own one does. */
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
        conform_##name("local");                                                                                       \
    }                                                                                                                  \
    Test(mem, name)                                                                                                    \
    {                                                                                                                  \
        conform_##name("mem");                                                                                         \
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

Test(transport, names_are_registered_once)
{
    mem_set(NULL);
    cr_assert_not(bus_transport_register(&bus_mem));
    cr_assert_not(bus_transport_register(&bus_local));
}

Test(faults, strike_on_their_pattern)
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
