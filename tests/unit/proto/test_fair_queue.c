/* Tests the fair queue, alone and as a topic of the local transport. Flows are served round robin at each level, and
 * never beyond their limits. */
#include "proto/bus/fair_queue.h"
#include "proto/bus/transport.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 64 };

struct entry {
    struct fair_item item; /* the first member, so that its address is also that of the entry */
    unsigned name;
};

static struct fair_queue *queue;
static const uint32_t no_limits[FAIR_LEVELS];

static void free_entry(struct fair_item *item)
{
    free(item);
}

static void done(void)
{
    if (queue) fair_queue_free(queue, free_entry);
    queue = NULL;
    leak_check();
}
TestSuite(fair_queue, .fini = done);

static void add(unsigned name, uint64_t tenant, uint64_t db, uint64_t request)
{
    static int64_t order;
    struct entry *entry = calloc(1, sizeof *entry);
    entry->name = name;
    entry->item.order = ++order;
    fair_queue_add(queue, &entry->item, (const uint64_t[]){tenant, db, request});
}

/* Returns the next item, or NULL if none may be served. The caller releases the item. */
static struct entry *take(void)
{
    struct fair_item *item = fair_queue_first(queue);
    if (item) fair_queue_take(item);
    return (struct entry *)(void *)item;
}

static void release(struct entry *entry)
{
    fair_queue_release(&entry->item);
    free(entry);
}

/* Takes the next items, checks their names and releases them at once. */
static void expect(const unsigned *names, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        struct entry *entry = take();
        cr_assert_not_null(entry, "number %u", i);
        cr_expect_eq(entry->name, names[i], "number %u is %u", i, entry->name);
        release(entry);
    }
}
#define EXPECT(...) expect((const unsigned[]){__VA_ARGS__}, sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

Test(fair_queue, items_of_one_path_keep_their_order)
{
    queue = fair_queue_new(no_limits);
    for (unsigned i = 0; i < 5; i++) add(i, 1, 1, 1);
    EXPECT(0, 1, 2, 3, 4);
    cr_expect_null(fair_queue_first(queue));
}

Test(fair_queue, late_tenant_is_served_second)
{
    queue = fair_queue_new(no_limits);
    for (unsigned i = 0; i < 50; i++) add(i, 1, 1, i + 1);
    EXPECT(0);
    add(100, 2, 1, 1);
    add(101, 2, 1, 1);
    EXPECT(1, 100, 2, 101, 3, 4);
}

/* A tenant's share does not depend on how many databases and requests it has. */
Test(fair_queue, databases_and_requests_share_tenants_turn)
{
    queue = fair_queue_new(no_limits);
    add(10, 1, 1, 1), add(11, 1, 1, 2), add(20, 1, 2, 1), add(21, 1, 2, 1);
    add(90, 2, 1, 1), add(91, 2, 1, 1), add(92, 2, 1, 1);
    EXPECT(10, 90, 20, 91, 11, 92, 21);
}

Test(fair_queue, flow_at_its_limit_is_skipped)
{
    queue = fair_queue_new((const uint32_t[]){2, 0, 1});
    for (unsigned i = 0; i < 3; i++) add(i, 1, 1, 1);
    add(10, 1, 1, 2), add(11, 1, 1, 3), add(90, 2, 1, 1);
    struct entry *first = take(), *other = take();
    cr_expect_eq(first->name, 0);
    cr_expect_eq(other->name, 90);
    struct entry *second = take();
    cr_expect_eq(second->name, 10, "the first request has one in flight");
    cr_expect_null(fair_queue_first(queue), "the tenant has two");
    release(first);
    struct entry *third = take();
    cr_expect_eq(third->name, 11, "the next request in turn");
    release(second);
    release(third);
    release(other);
    EXPECT(1, 2);
}

Test(fair_queue, flow_zero_has_no_limit)
{
    queue = fair_queue_new((const uint32_t[]){1, 1, 1});
    for (unsigned i = 0; i < 3; i++) add(i, 0, 0, 0);
    struct entry *held[3];
    for (unsigned i = 0; i < 3; i++) cr_assert_not_null(held[i] = take());
    for (unsigned i = 0; i < 3; i++) release(held[i]);
}

Test(fair_queue, removal_affects_only_its_path)
{
    queue = fair_queue_new(no_limits);
    add(0, 1, 1, 1), add(1, 1, 1, 1), add(2, 1, 1, 2);
    struct entry *held = take(); /* taken, so no longer in the queue */
    struct fair_item *removed = fair_queue_remove(queue, (const uint64_t[]){1, 1, 1});
    cr_assert_not_null(removed);
    cr_expect_eq(((struct entry *)(void *)removed)->name, 1);
    free(removed);
    cr_expect_null(fair_queue_remove(queue, (const uint64_t[]){1, 1, 1}));
    cr_expect_null(fair_queue_remove(queue, (const uint64_t[]){7, 7, 7}));
    release(held);
    EXPECT(2);
}

/* --- as a topic --------------------------------------------------------------------------------------------------- */

#define TOPIC "tasks"

static struct bus *bus;
static struct bus_consumer *readers[2];

static void open_topic(uint32_t tenant, uint32_t request)
{
    static const char *const topics[] = {TOPIC};
    const struct bus_fair fair = {TOPIC, {tenant, 0, request}};
    struct err err = {0};
    cr_assert_eq(bus_open("local", &(struct bus_config){.fair = &fair, .n_fair = 1}, &bus, &err), ERR_OK, "%s",
                 err.text);
    for (unsigned i = 0; i < 2; i++) cr_assert_eq(bus_subscribe(bus, "g", topics, 1, &readers[i], &err), ERR_OK);
}

static void close_topic(void)
{
    for (unsigned i = 0; i < 2; i++) bus_unsubscribe(readers[i]);
    bus_close(bus);
    leak_check();
}
TestSuite(fair_topic, .fini = close_topic);

static void put(const char *value, uint64_t tenant, uint64_t request)
{
    const uint64_t flow[BUS_FLOW_LEVELS] = {tenant, 1, request};
    const struct bus_out out = {
        .topic = TOPIC, .partition = BUS_ANY_PARTITION, .value = value, .len = strlen(value), .flow = flow};
    cr_assert_eq(bus_produce(bus, &out, 1, 0, NULL), ERR_OK);
}

/* Returns the next message, or NULL if none may be polled. */
static struct bus_message *poll_one(unsigned reader)
{
    struct bus_message *messages[MAX];
    uint32_t n;
    cr_assert_eq(bus_poll(readers[reader], 0, messages, MAX, 0, &n), ERR_OK);
    cr_assert_leq(n, 1);
    return n ? messages[0] : NULL;
}

static bool is(const struct bus_message *message, const char *value)
{
    return message && message->len == strlen(value) && memcmp(message->value, value, message->len) == 0;
}

Test(fair_topic, limit_holds_until_the_message_is_acked)
{
    open_topic(1, 0);
    put("a1", 1, 1), put("a2", 1, 2), put("b1", 2, 1);
    struct bus_message *a = poll_one(0), *b = poll_one(1);
    cr_expect(is(a, "a1") && is(b, "b1"));
    cr_expect_eq(a->flow[0], 1);
    cr_expect_null(poll_one(0));
    bus_ack(readers[1], b);
    cr_expect_null(poll_one(0), "it was another tenant's");
    bus_ack(readers[0], a);
    a = poll_one(1);
    cr_expect(is(a, "a2"));
    bus_ack(readers[1], a);
}

Test(fair_topic, nacked_message_is_redelivered_first)
{
    open_topic(1, 0);
    put("a1", 1, 1), put("a2", 1, 1);
    bus_nack(readers[0], poll_one(0), 0);
    struct bus_message *a = poll_one(1);
    cr_expect(is(a, "a1"));
    cr_expect_eq(a->attempts, 1);
    bus_ack(readers[1], a);
}

Test(fair_topic, unacked_messages_of_closed_reader_are_redelivered)
{
    open_topic(1, 0);
    put("a1", 1, 1);
    cr_expect(is(poll_one(0), "a1"));
    bus_unsubscribe(readers[0]);
    readers[0] = NULL;
    struct bus_message *a = poll_one(1);
    cr_expect(is(a, "a1"));
    bus_ack(readers[1], a);
}

/* Only one message is polled, because after it the turn may be another tenant's. */
Test(fair_topic, lone_reader_gets_one_message_a_poll)
{
    open_topic(0, 0);
    bus_unsubscribe(readers[1]);
    readers[1] = NULL;
    for (unsigned i = 0; i < 3; i++) put("a", 1, i + 1);
    for (unsigned i = 0; i < 3; i++) bus_ack(readers[0], poll_one(0)); /* the queue is empty after these */
    cr_expect_null(poll_one(0));
}

Test(fair_topic, forgotten_messages_are_not_delivered)
{
    open_topic(0, 1);
    put("a1", 1, 1), put("a2", 1, 1), put("b1", 1, 2);
    struct bus_message *a = poll_one(0);
    bus_forget(bus, TOPIC, (const uint64_t[]){1, 1, 1});
    struct bus_message *b = poll_one(0);
    cr_expect(is(b, "b1"));
    bus_ack(readers[0], a);
    cr_expect_null(poll_one(0));
    bus_ack(readers[0], b);
}
