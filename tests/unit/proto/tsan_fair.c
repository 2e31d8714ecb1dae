/* A fair topic with many threads, under ThreadSanitizer: writers of several tenants, and readers that ack, nack and
 * forget. Exit status 0 means that every message was acknowledged exactly once, and no tenant exceeded its limit in
 * flight. */
#include "lib/base/clock.h"
#include "proto/bus/transport.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOPIC "tasks"

enum { TENANTS = 3, EACH = 2000, READERS = 4, LIMIT = 2, GIVE_UP_MS = 120000 };

static struct bus *bus;
static struct bus_consumer *readers[READERS];
static atomic_uint in_flight[TENANTS], acked[TENANTS];

static void die(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static unsigned sum_acked(void)
{
    unsigned sum = 0;
    for (unsigned i = 0; i < TENANTS; i++) sum += atomic_load(&acked[i]);
    return sum;
}

static void *write_messages(void *arg)
{
    uint64_t tenant = (uint64_t)(uintptr_t)arg;
    for (unsigned i = 0; i < EACH; i++) {
        const uint64_t flow[BUS_FLOW_LEVELS] = {tenant, 1, i % 7 + 1};
        const struct bus_out out = {
            .topic = TOPIC, .partition = BUS_ANY_PARTITION, .value = "m", .len = 1, .flow = flow};
        if (bus_produce(bus, &out, 1, -1, NULL)) die("a message was not taken");
        if (i % 100 == 0) bus_forget(bus, TOPIC, (const uint64_t[]){tenant, 2, 1}); /* a tenant without messages */
    }
    return NULL;
}

static void take(struct bus_consumer *reader, struct bus_message *message)
{
    unsigned tenant = (unsigned)message->flow[0] - 1;
    if (atomic_fetch_add(&in_flight[tenant], 1) >= LIMIT) die("a tenant is beyond its limit");
    bool again = message->attempts == 0 && message->offset % 5 == 0;
    atomic_fetch_sub(&in_flight[tenant], 1);
    if (again) {
        bus_nack(reader, message, message->offset % 2);
    } else {
        atomic_fetch_add(&acked[tenant], 1);
        bus_ack(reader, message);
    }
}

static void *read_messages(void *arg)
{
    struct bus_consumer *reader = arg;
    int64_t until = clock_now_ns() + GIVE_UP_MS * INT64_C(1000000);
    while (sum_acked() < TENANTS * EACH) {
        struct bus_message *message;
        uint32_t n;
        if (clock_now_ns() > until) die("messages are missing");
        if (bus_poll(reader, 0, &message, 1, 20, &n)) die("poll failed");
        if (n) take(reader, message);
    }
    return NULL;
}

int main(void)
{
    static const char *const topics[] = {TOPIC};
    const struct bus_fair fair = {TOPIC, {LIMIT, LIMIT, 1}};
    pthread_t threads[READERS + TENANTS];
    struct err err = {0};
    if (bus_open("local", &(struct bus_config){.queue_messages = 64, .fair = &fair, .n_fair = 1}, &bus, &err)) return 2;
    for (unsigned i = 0; i < READERS; i++)
        if (bus_subscribe(bus, "g", topics, 1, &readers[i], &err)) return 2;
    for (unsigned i = 0; i < READERS; i++) pthread_create(&threads[i], NULL, read_messages, readers[i]);
    for (uintptr_t i = 0; i < TENANTS; i++)
        pthread_create(&threads[READERS + i], NULL, write_messages, (void *)(i + 1));
    for (unsigned i = 0; i < READERS + TENANTS; i++) pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < READERS; i++) bus_unsubscribe(readers[i]);
    bus_close(bus);
    return sum_acked() == TENANTS * EACH ? 0 : 1;
}
