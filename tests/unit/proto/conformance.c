/* The conformance suite of conformance.h. Each test has its own topics and its own group. It produces numbered
 * messages, and checks order, ownership, redelivery and bounds. Waits are bounded, because a network may deliver
 * late. */
#include "tests/unit/proto/conformance.h"

#include "lib/base/clock.h"
#include "proto/bus/transport.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LIMIT_MS = 20000 };

/* Names of this test's topics and group. */
static char one[100], two[100], dlq[100], group[100];
static const char *const ONE[] = {one};
static const char *const TWO[] = {one, two};

static struct bus *open_bus(const struct conform *how, uint32_t messages, uint64_t bytes)
{
    struct bus_config config = {.queue_messages = messages,
                                .queue_bytes = bytes,
                                .properties = how->properties,
                                .n_properties = how->n_properties};
    struct bus *bus;
    struct err err = {0};
    snprintf(one, sizeof one, "%s.one", how->prefix);
    snprintf(two, sizeof two, "%s.two", how->prefix);
    snprintf(dlq, sizeof dlq, "%s.dlq", how->prefix);
    snprintf(group, sizeof group, "%s.group", how->prefix);
    cr_assert_eq(bus_open(how->transport, &config, &bus, &err), ERR_OK, "%s", err.text);
    return bus;
}

static struct bus_consumer *join(struct bus *bus, const char *const *topics, uint32_t n)
{
    struct bus_consumer *consumer;
    struct err err = {0};
    cr_assert_eq(bus_subscribe(bus, group, topics, n, &consumer, &err), ERR_OK, "%s", err.text);
    return consumer;
}

static struct bus_out message(const char *topic, const char *key, const char *value)
{
    return (struct bus_out){.topic = topic,
                            .partition = BUS_ANY_PARTITION,
                            .key = key,
                            .key_len = key ? (uint32_t)strlen(key) : 0,
                            .value = value,
                            .len = strlen(value)};
}

static void put(struct bus *bus, const char *topic, const char *key, const char *value)
{
    struct bus_out out = message(topic, key, value);
    cr_assert_eq(bus_produce(bus, &out, 1, LIMIT_MS, NULL), ERR_OK);
}

/* Polls one message of the requested topics, within a bounded time. */
static struct bus_message *get(struct bus_consumer *consumer, uint32_t want)
{
    struct bus_message *got;
    uint32_t n = 0;
    for (int64_t start = clock_now_ns(); !n && clock_now_ns() - start < LIMIT_MS * INT64_C(1000000);)
        cr_assert_eq(bus_poll(consumer, want, &got, 1, 1000, &n), ERR_OK);
    cr_assert_eq(n, 1, "no message came");
    return got;
}

/* Returns the number that the message has as its value. */
static int number(const struct bus_message *message)
{
    char text[16];
    cr_assert_lt(message->len, sizeof text);
    memcpy(text, message->value, message->len);
    text[message->len] = '\0';
    return atoi(text);
}

static void expect(struct bus_consumer *consumer, const char *value)
{
    struct bus_message *got = get(consumer, 0);
    cr_assert_eq(got->len, strlen(value));
    cr_assert(memcmp(got->value, value, got->len) == 0, "got %.*s, not %s", (int)got->len, (const char *)got->value,
              value);
    bus_ack(consumer, got);
}

static void expect_nothing(struct bus_consumer *consumer, uint32_t want)
{
    struct bus_message *got;
    uint32_t n;
    cr_assert_eq(bus_poll(consumer, want, &got, 1, 0, &n), ERR_OK);
    cr_assert_eq(n, 0);
}

static void finish(struct bus *bus, struct bus_consumer *consumer)
{
    bus_unsubscribe(consumer);
    bus_close(bus);
    leak_check();
}

void conform_delivery(const struct conform *how)
{
    struct bus *bus = open_bus(how, 0, 0);
    struct bus_consumer *consumer = join(bus, TWO, 2);
    expect_nothing(consumer, 0);
    int64_t before = bus_now_ns(bus);
    put(bus, two, "k", "hello");
    struct bus_message *got = get(consumer, 0);
    cr_assert_str_eq(got->topic, two);
    cr_assert_eq(got->topic_index, 1);
    cr_assert_eq(got->attempts, 0);
    cr_assert_geq(got->partition, 0);
    cr_assert_geq(got->time_ns, before);
    cr_assert_leq(got->time_ns, bus_now_ns(bus));
    cr_assert_eq(got->key_len, 1);
    cr_assert_eq(memcmp(got->key, "k", 1), 0);
    bus_ack(consumer, got);
    expect_nothing(consumer, 0);
    cr_assert_eq(bus_flush(bus, LIMIT_MS), ERR_OK);
    cr_assert_eq(bus_commit(consumer), ERR_OK);
    finish(bus, consumer);
}

void conform_headers(const struct conform *how)
{
    struct bus *bus = open_bus(how, 0, 0);
    struct bus_consumer *consumer = join(bus, ONE, 1);
    struct bus_header headers[] = {{"traceparent", "00-ab", 5}, {"x-empty", "", 0}};
    struct bus_out out = message(one, NULL, "v");
    out.headers = headers;
    out.n_headers = 2;
    cr_assert_eq(bus_produce(bus, &out, 1, LIMIT_MS, NULL), ERR_OK);
    struct bus_message *got = get(consumer, 0);
    cr_assert_str_eq(bus_header_get(got, "traceparent"), "00-ab");
    cr_assert_str_eq(bus_header_get(got, "x-empty"), "");
    cr_assert_null(bus_header_get(got, "x-other"));
    cr_assert_null(got->key);
    bus_ack(consumer, got);
    finish(bus, consumer);
}

/* Checks that offsets rise within a partition. Checks that messages of a key arrive in the order of production. */
void conform_order(const struct conform *how)
{
    enum { N = 200 };
    struct bus *bus = open_bus(how, 0, 0);
    struct bus_consumer *consumer = join(bus, ONE, 1);
    for (unsigned i = 0; i < N; i++) {
        char key[8], value[16];
        snprintf(key, sizeof key, "k%u", i % 7);
        snprintf(value, sizeof value, "%u", i);
        put(bus, one, key, value);
    }
    int last[7] = {-1, -1, -1, -1, -1, -1, -1};
    int64_t offset[8] = {-1, -1, -1, -1, -1, -1, -1, -1};
    for (unsigned i = 0; i < N; i++) {
        struct bus_message *got = get(consumer, 0);
        int value = number(got), key = ((const char *)got->key)[1] - '0';
        cr_assert_gt(value, last[key]);
        cr_assert_gt(got->offset, offset[got->partition & 7]);
        last[key] = value;
        offset[got->partition & 7] = got->offset;
        bus_ack(consumer, got);
    }
    finish(bus, consumer);
}

/* Polls both members until n messages have arrived, and records the receiver of each value. */
static void share(struct bus_consumer *const members[2], uint32_t n, int *owner)
{
    int64_t start = clock_now_ns();
    for (uint32_t came = 0, got; came < n && clock_now_ns() - start < LIMIT_MS * INT64_C(1000000);) {
        for (int who = 0; who < 2; who++) {
            struct bus_message *messages[8];
            cr_assert_eq(bus_poll(members[who], 0, messages, 8, 50, &got), ERR_OK);
            for (uint32_t i = 0; i < got; i++) {
                int value = number(messages[i]);
                came += owner[value] < 0; /* a message may come again */
                owner[value] = who;
                bus_ack(members[who], messages[i]);
            }
        }
    }
}

/* Shares the produced batch between the members. Returns true if the first three messages, which have one key, went to
 * one member. The second member joins meanwhile, and its partition may move between two of them. So the batch is
 * produced again, at most twice. */
static bool goes_to_one_owner(struct bus *bus, const struct bus_out batch[4], struct bus_consumer *const members[2])
{
    enum { TRIES = 3 };
    for (unsigned attempt = 0; attempt < TRIES; attempt++) {
        int owner[5] = {-1, -1, -1, -1, -1};
        if (attempt) cr_assert_eq(bus_produce(bus, batch, 4, LIMIT_MS, NULL), ERR_OK);
        share(members, 4, owner);
        for (unsigned i = 1; i < 5; i++) cr_assert_geq(owner[i], 0, "message %u did not come", i);
        if (owner[1] == owner[2] && owner[1] == owner[3]) return true;
    }
    return false;
}

/* Messages that are produced together arrive together, from all topics of the subscription. Those of one key arrive at
 * one member. */
void conform_batch(const struct conform *how)
{
    struct bus *bus = open_bus(how, 0, 0);
    struct bus_consumer *a = join(bus, TWO, 2), *b = join(bus, TWO, 2);
    struct bus_out batch[] = {message(one, "x", "1"), message(two, "x", "2"), message(one, "x", "3"),
                              message(one, "y", "4")};
    uint32_t taken = 0, n;
    cr_assert_eq(bus_produce(bus, batch, 4, LIMIT_MS, &taken), ERR_OK);
    cr_assert_eq(taken, 4);
    if (how->in_process) {
        struct bus_message *got[8];
        cr_assert_eq(bus_poll(a, 0, got, 8, LIMIT_MS, &n), ERR_OK);
        cr_assert_eq(n, 3, "a member gets one key at a time, with all topics; it got %u", n);
        for (uint32_t i = 0; i < n; i++) bus_ack(a, got[i]);
        expect(b, "4");
    } else {
        cr_assert(goes_to_one_owner(bus, batch, (struct bus_consumer *const[]){a, b}),
                  "partition i of all topics has one owner");
    }
    bus_unsubscribe(b);
    finish(bus, a);
}

/* A reader that polls fewer messages than exist gets complete sets: one message of each topic, then the next set. Over
 * a network a message may arrive slightly later than its set. */
void conform_sets(const struct conform *how)
{
    struct bus *bus = open_bus(how, 0, 0);
    struct bus_consumer *consumer = join(bus, TWO, 2);
    for (const char *c = "1234"; *c; c++) {
        struct bus_out set[] = {message(one, *c < '3' ? "a" : "b", (char[]){*c, '\0'}),
                                message(two, *c < '3' ? "a" : "b", (char[]){*c, '\0'})};
        cr_assert_eq(bus_produce(bus, set, 2, LIMIT_MS, NULL), ERR_OK);
    }
    for (const char *expected = "112233"; *expected; expected += 2) {
        struct bus_message *got[2];
        uint32_t n;
        cr_assert_eq(bus_poll(consumer, 0, got, 2, LIMIT_MS, &n), ERR_OK);
        cr_assert_eq(n, 2);
        for (uint32_t i = 0; i < n; i++) {
            cr_assert_eq(*(const char *)got[i]->value, expected[i]);
            bus_ack(consumer, got[i]);
        }
    }
    for (unsigned i = 0; i < 2; i++) bus_ack(consumer, get(consumer, 0));
    finish(bus, consumer);
}

void conform_backpressure(const struct conform *how)
{
    struct bus *bus = open_bus(how, 3, 0);
    struct bus_consumer *consumer = join(bus, TWO, 2);
    struct bus_out out = message(one, NULL, "v");
    for (unsigned i = 0; i < 3; i++) cr_assert_eq(bus_produce(bus, &out, 1, 0, NULL), ERR_OK);
    uint32_t taken = 9;
    cr_assert_eq(bus_produce(bus, &out, 1, 0, &taken), ERR_FULL);
    cr_assert_eq(taken, 0);
    cr_assert_eq(bus_produce(bus, &out, 1, 20, NULL), ERR_FULL);
    put(bus, two, NULL, "other topics still have room");
    struct bus_message *got = get(consumer, 1);
    cr_assert_eq(bus_produce(bus, &out, 1, 0, NULL), ERR_OK, "what was handed out leaves room");
    bus_nack(consumer, got, 0); /* nack never fails, with or without a bound on redeliveries */
    for (unsigned i = 0; i < 4; i++) bus_ack(consumer, get(consumer, 1));
    bus_ack(consumer, get(consumer, 2));
    expect_nothing(consumer, 0);
    finish(bus, consumer);
}

void conform_backpressure_bytes(const struct conform *how)
{
    struct bus *bus = open_bus(how, 0, 100);
    struct bus_consumer *consumer = join(bus, ONE, 1);
    char large[500];
    memset(large, 'x', sizeof large);
    struct bus_out out = {.topic = one, .partition = BUS_ANY_PARTITION, .value = large, .len = sizeof large};
    cr_assert_eq(bus_produce(bus, &out, 1, 0, NULL), ERR_OK, "an empty queue takes one of any size");
    out.len = 1;
    cr_assert_eq(bus_produce(bus, &out, 1, 0, NULL), ERR_FULL);
    bus_ack(consumer, get(consumer, 0));
    cr_assert_eq(bus_produce(bus, &out, 1, 0, NULL), ERR_OK);
    bus_ack(consumer, get(consumer, 0));
    finish(bus, consumer);
}

static void *put_later(void *bus)
{
    put(bus, one, "k", "late");
    return NULL;
}

/* A full queue delays its writer until the reader takes a message. Both messages have the same key. Messages without a
 * key may go to different partitions and arrive in any order. */
void conform_writer_waits(const struct conform *how)
{
    struct bus *bus = open_bus(how, 1, 0);
    struct bus_consumer *consumer = join(bus, ONE, 1);
    pthread_t writer;
    put(bus, one, "k", "early");
    cr_assert_eq(pthread_create(&writer, NULL, put_later, bus), 0);
    usleep(20000);
    expect(consumer, "early");
    expect(consumer, "late");
    pthread_join(writer, NULL);
    finish(bus, consumer);
}

/* A reader polls one topic of its subscription; messages of the other topic remain. */
void conform_hold_back(const struct conform *how)
{
    struct bus *bus = open_bus(how, 0, 0);
    struct bus_consumer *consumer = join(bus, TWO, 2);
    put(bus, one, NULL, "1");
    put(bus, two, NULL, "2");
    struct bus_message *got = get(consumer, 2);
    cr_assert_str_eq(got->topic, two);
    bus_ack(consumer, got);
    expect_nothing(consumer, 2);
    expect(consumer, "1");
    finish(bus, consumer);
}

void conform_nack(const struct conform *how)
{
    struct bus *bus = open_bus(how, 0, 0);
    struct bus_consumer *consumer = join(bus, ONE, 1);
    put(bus, one, "k", "1");
    put(bus, one, "k", "2");
    struct bus_message *got = get(consumer, 0);
    int64_t offset = got->offset;
    bus_nack(consumer, got, 0);
    got = get(consumer, 0);
    cr_assert_eq(got->offset, offset, "ahead of what was not handed out yet");
    cr_assert_eq(got->attempts, 1);
    bus_nack(consumer, got, 0);
    got = get(consumer, 0);
    cr_assert_eq(got->attempts, 2);
    bus_ack(consumer, got);
    expect(consumer, "2");
    finish(bus, consumer);
}

void conform_nack_delay(const struct conform *how)
{
    struct bus *bus = open_bus(how, 0, 0);
    struct bus_consumer *consumer = join(bus, ONE, 1);
    put(bus, one, "k", "1");
    put(bus, one, "k", "2");
    int64_t start = clock_now_ns();
    bus_nack(consumer, get(consumer, 0), 50);
    expect(consumer, "2");
    expect(consumer, "1");
    cr_assert_geq(clock_now_ns() - start, 50 * INT64_C(1000000));
    finish(bus, consumer);
}

/* If a member leaves without an ack, no message is lost. Another member gets them in order. */
void conform_crash(const struct conform *how)
{
    struct bus *bus = open_bus(how, 0, 0);
    struct bus_consumer *dies = join(bus, ONE, 1);
    for (const char *c = "123"; *c; c++) put(bus, one, "k", (char[]){*c, '\0'});
    bus_ack(dies, get(dies, 0));
    get(dies, 0);
    get(dies, 0);
    struct bus_consumer *lives = join(bus, ONE, 1);
    put(bus, one, "k", "4");
    expect_nothing(lives, 2);
    bus_unsubscribe(dies);
    struct bus_message *got = get(lives, 0);
    cr_assert_eq(memcmp(got->value, "2", 1), 0);
    cr_assert_eq(got->attempts, 1);
    bus_ack(lives, got);
    expect(lives, "3");
    expect(lives, "4");
    finish(bus, lives);
}

void conform_drain(const struct conform *how)
{
    struct bus *bus = open_bus(how, 0, 0);
    struct bus_consumer *leaves = join(bus, ONE, 1);
    put(bus, one, "k", "1");
    put(bus, one, "k", "2");
    struct bus_message *got = get(leaves, 0), *none;
    struct bus_consumer *stays = join(bus, ONE, 1);
    uint32_t n;
    bus_drain(leaves);
    cr_assert_eq(bus_poll(leaves, 0, &none, 1, 0, &n), ERR_CLOSED);
    bus_ack(leaves, got);
    bus_unsubscribe(leaves);
    expect(stays, "2");
    expect_nothing(stays, 0);
    finish(bus, stays);
}

static void *drain_later(void *consumer)
{
    usleep(20000);
    bus_drain(consumer);
    return NULL;
}

void conform_drain_wakes(const struct conform *how)
{
    struct bus *bus = open_bus(how, 0, 0);
    struct bus_consumer *consumer = join(bus, ONE, 1);
    struct bus_message *none;
    pthread_t other;
    uint32_t n;
    cr_assert_eq(pthread_create(&other, NULL, drain_later, consumer), 0);
    cr_assert_eq(bus_poll(consumer, 0, &none, 1, -1, &n), ERR_CLOSED);
    pthread_join(other, NULL);
    finish(bus, consumer);
}

void conform_before_subscribing(const struct conform *how)
{
    struct bus *bus = open_bus(how, 0, 0);
    put(bus, one, "k", "1");
    put(bus, two, "k", "2");
    put(bus, one, "k", "3");
    struct bus_consumer *consumer = join(bus, TWO, 2);
    struct bus_message *got = get(consumer, 2);
    cr_assert_eq(got->topic_index, 1);
    bus_ack(consumer, got);
    expect(consumer, "1");
    put(bus, one, "k", "4");
    expect(consumer, "3");
    expect(consumer, "4");
    finish(bus, consumer);
}

/* A message kills each reader. Its number of attempts rises, so that the third reader can dead-letter it. */
void conform_poison(const struct conform *how)
{
    struct bus *bus = open_bus(how, 0, 0);
    put(bus, one, "k", "poison");
    put(bus, one, "k", "sound");
    for (unsigned death = 0; death < 3; death++) {
        struct bus_consumer *dies = join(bus, ONE, 1);
        cr_assert_eq(get(dies, 0)->attempts, death);
        bus_unsubscribe(dies);
    }
    struct bus_consumer *careful = join(bus, ONE, 1), *reader = join(bus, (const char *[]){dlq}, 1);
    struct bus_message *got = get(careful, 0);
    cr_assert_eq(got->attempts, 3);
    struct bus_out letter = {.topic = dlq, .partition = BUS_ANY_PARTITION, .value = got->value, .len = got->len};
    cr_assert_eq(bus_produce(bus, &letter, 1, LIMIT_MS, NULL), ERR_OK);
    bus_ack(careful, got);
    expect(careful, "sound");
    expect(reader, "poison");
    bus_unsubscribe(reader);
    finish(bus, careful);
}

enum { WRITERS = 3, READERS = 3, EACH = 2000 };

struct crowd {
    struct bus *bus;
    struct bus_consumer *readers[READERS];
    atomic_uint seen[WRITERS * EACH];
    atomic_uint left;
    atomic_uint writer, reader;
};

static void *write_many(void *arg)
{
    struct crowd *crowd = arg;
    unsigned own = atomic_fetch_add(&crowd->writer, 1);
    for (unsigned i = 0; i < EACH; i++) {
        char key[16], value[16];
        snprintf(key, sizeof key, "%u-%u", own, i / 5);
        snprintf(value, sizeof value, "%u", own * EACH + i);
        put(crowd->bus, i % 2 ? one : two, key, value);
    }
    return NULL;
}

static void *read_many(void *arg)
{
    struct crowd *crowd = arg;
    struct bus_consumer *own = crowd->readers[atomic_fetch_add(&crowd->reader, 1)];
    struct bus_message *got[16];
    uint32_t n;
    while (bus_poll(own, 0, got, 16, 1000, &n) == ERR_OK && atomic_load(&crowd->left))
        for (uint32_t i = 0; i < n; i++) {
            if (got[i]->attempts == 0 && got[i]->offset % 17 == 0) {
                bus_nack(own, got[i], got[i]->offset % 2);
                continue;
            }
            bool first = atomic_fetch_add(&crowd->seen[number(got[i])], 1) == 0;
            bus_ack(own, got[i]);
            if (first && atomic_fetch_sub(&crowd->left, 1) == 1)
                for (unsigned k = 0; k < READERS; k++) bus_drain(crowd->readers[k]);
        }
    return NULL;
}

/* Many writers and readers, small queues and nacks: each message is handled exactly once. On a transport that moves
 * partitions between members, a few may be handled again. */
void conform_many_threads(const struct conform *how)
{
    static struct crowd crowd;
    pthread_t threads[WRITERS + READERS];
    crowd.bus = open_bus(how, 64, 0);
    crowd.left = WRITERS * EACH;
    for (unsigned i = 0; i < READERS; i++) crowd.readers[i] = join(crowd.bus, TWO, 2);
    for (unsigned i = 0; i < WRITERS; i++) pthread_create(&threads[i], NULL, write_many, &crowd);
    for (unsigned i = 0; i < READERS; i++) pthread_create(&threads[WRITERS + i], NULL, read_many, &crowd);
    for (unsigned i = 0; i < WRITERS + READERS; i++) pthread_join(threads[i], NULL);
    unsigned again = 0;
    for (unsigned i = 0; i < WRITERS * EACH; i++) {
        cr_assert_geq(crowd.seen[i], 1, "message %u did not come", i);
        again += crowd.seen[i] - 1;
    }
    cr_assert_leq(again, how->in_process ? 0 : WRITERS * EACH / 50, "%u came again", again);
    for (unsigned i = 0; i < READERS; i++) bus_unsubscribe(crowd.readers[i]);
    bus_close(crowd.bus);
    leak_check();
}

void conform_refuses(const struct conform *how)
{
    struct bus *bus = open_bus(how, 0, 0);
    struct bus_consumer *consumer, *first = join(bus, TWO, 2);
    struct err err = {0};
    cr_assert_eq(bus_subscribe(bus, group, TWO, 0, &consumer, &err), ERR_CONFIG);
    cr_assert_null(consumer);
    if (how->in_process) {
        cr_assert_eq(bus_subscribe(bus, "other", ONE, 1, &consumer, &err), ERR_CONFIG);
        cr_assert(strstr(err.text, one), "%s", err.text);
        cr_assert_null(consumer);
    }
    finish(bus, first);
}
