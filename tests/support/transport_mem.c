/* The transport "mem": a layer that injects faults, on top of the local transport. Atomic counters number the calls.
 * `struct mem_faults` sets which numbers fail. */
#include "tests/support/transport_mem.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct mem_bus {
    struct bus bus;
    struct bus *inner;
};

struct mem_consumer {
    struct bus_consumer consumer;
    struct bus_consumer *inner;
};

static struct mem_faults faults;
enum { FULL, DUPLICATED, AGAIN, SPLIT, LATE, N_FAULTS };
static atomic_uint calls[N_FAULTS], hits[N_FAULTS];

void mem_set(const struct mem_faults *wanted)
{
    bus_transport_register(&bus_mem);
    faults = wanted ? *wanted : (struct mem_faults){0};
    for (unsigned i = 0; i < N_FAULTS; i++) {
        atomic_store(&calls[i], 0);
        atomic_store(&hits[i], 0);
    }
}

struct mem_counts mem_counts(void)
{
    return (struct mem_counts){hits[FULL], hits[DUPLICATED], hits[AGAIN], hits[SPLIT], hits[LATE]};
}

static bool strikes(unsigned fault, unsigned every, const char *topic)
{
    if (!every || (topic && faults.topics && strncmp(topic, faults.topics, strlen(faults.topics)) != 0)) return false;
    bool hit = atomic_fetch_add(&calls[fault], 1) % every == every - 1;
    if (hit) atomic_fetch_add(&hits[fault], 1);
    return hit;
}

static enum err_code mem_open(const struct bus_config *config, struct bus **out, struct err *err)
{
    struct mem_bus *mem = calloc(1, sizeof *mem);
    if (!mem) return err_set(err, ERR_NOMEM, "no memory");
    mem->bus.transport = &bus_mem;
    enum err_code code = bus_open("local", config, &mem->inner, err);
    if (code) {
        free(mem);
        return code;
    }
    *out = &mem->bus;
    return ERR_OK;
}

static void mem_close(struct bus *bus)
{
    bus_close(((struct mem_bus *)bus)->inner);
    free(bus);
}

static size_t mem_max_bytes(struct bus *bus, const char *topic)
{
    bool small = faults.largest && (!faults.topics || strncmp(topic, faults.topics, strlen(faults.topics)) == 0);
    return small ? faults.largest : bus_max_bytes(((struct mem_bus *)bus)->inner, topic);
}

static enum err_code mem_produce(struct bus *bus, const struct bus_out *messages, uint32_t n, int64_t timeout_ms,
                                 uint32_t *taken)
{
    struct bus *inner = ((struct mem_bus *)bus)->inner;
    uint32_t unused;
    if (!taken) taken = &unused;
    *taken = 0;
    for (uint32_t i = 0; i < n; i++)
        if (bus_out_bytes(&messages[i]) > mem_max_bytes(bus, messages[i].topic)) return ERR_LIMIT_BYTES;
    if (n && timeout_ms >= 0 && strikes(FULL, faults.full_every, messages[0].topic)) return ERR_FULL;
    if (n > 1 && timeout_ms >= 0 && strikes(SPLIT, faults.split_every, messages[0].topic)) {
        enum err_code code = bus_produce(inner, messages, 1, timeout_ms, taken);
        return code ? code : ERR_FULL;
    }
    enum err_code code = bus_produce(inner, messages, n, timeout_ms, taken);
    for (uint32_t i = 0; i < *taken; i++)
        if (strikes(DUPLICATED, faults.duplicate_every, messages[i].topic))
            bus_produce(inner, &messages[i], 1, timeout_ms < 0 ? -1 : 1000, NULL);
    return code;
}

static enum err_code mem_subscribe(struct bus *bus, const char *group, const char *const *topics, uint32_t n,
                                   struct bus_consumer **out, struct err *err)
{
    struct mem_consumer *consumer = calloc(1, sizeof *consumer);
    *out = NULL;
    if (!consumer) return err_set(err, ERR_NOMEM, "no memory");
    consumer->consumer.transport = &bus_mem;
    enum err_code code = bus_subscribe(((struct mem_bus *)bus)->inner, group, topics, n, &consumer->inner, err);
    if (code) {
        free(consumer);
        return code;
    }
    *out = &consumer->consumer;
    return ERR_OK;
}

static struct bus_consumer *inner_of(struct bus_consumer *consumer)
{
    return ((struct mem_consumer *)consumer)->inner;
}

static enum err_code mem_poll(struct bus_consumer *consumer, uint32_t want, struct bus_message **out, uint32_t max,
                              int64_t timeout_ms, uint32_t *n)
{
    *n = 0;
    if (strikes(LATE, faults.late_every, NULL)) return ERR_OK;
    return bus_poll(inner_of(consumer), want, out, max, timeout_ms, n);
}

static void mem_ack(struct bus_consumer *consumer, struct bus_message *message)
{
    if (strikes(AGAIN, faults.again_every, message->topic))
        bus_nack(inner_of(consumer), message, 0);
    else
        bus_ack(inner_of(consumer), message);
}

static void mem_nack(struct bus_consumer *consumer, struct bus_message *message, int64_t delay_ms)
{
    bus_nack(inner_of(consumer), message, delay_ms);
}

static void mem_drain(struct bus_consumer *consumer)
{
    bus_drain(inner_of(consumer));
}

static void mem_unsubscribe(struct bus_consumer *consumer)
{
    bus_unsubscribe(inner_of(consumer));
    free(consumer);
}

const struct bus_transport bus_mem = {
    .name = "mem",
    .open = mem_open,
    .close = mem_close,
    .max_bytes = mem_max_bytes,
    .produce = mem_produce,
    .subscribe = mem_subscribe,
    .poll = mem_poll,
    .ack = mem_ack,
    .nack = mem_nack,
    .drain = mem_drain,
    .unsubscribe = mem_unsubscribe,
};
