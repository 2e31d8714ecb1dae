#include "tests/unit/worker/rig.h"

#include "lib/base/clock.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

static const char *const TOPICS[] = {BUS_RESULTS, BUS_TASKS_DLQ};

void rig_begin(struct rig *rig)
{
    *rig = (struct rig){.schemas = schema_cache_new(NULL, 0), .signals = vsig_options_new()};
    cr_assert_eq(bus_open("local", NULL, &rig->bus, NULL), ERR_OK);
    cr_assert_eq(bus_subscribe(rig->bus, "test", TOPICS, 2, &rig->results, NULL), ERR_OK);
    arena_init(&rig->arena, 0);
}

void rig_end(struct rig *rig)
{
    if (rig->worker) rig_stop(rig);
    bus_unsubscribe(rig->results);
    bus_close(rig->bus);
    schema_cache_free(rig->schemas);
    vsig_options_free(rig->signals);
    arena_free(&rig->arena);
}

/* --- the worker --- */

static void *run(void *worker)
{
    cr_expect_eq(worker_run(worker, NULL), ERR_OK);
    return NULL;
}

void rig_start(struct rig *rig, struct worker_config config)
{
    struct err err = {0};
    config.bus = rig->bus;
    config.schemas = rig->schemas;
    config.signals = rig->signals;
    cr_assert_eq(worker_new(&config, &rig->worker, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(pthread_create(&rig->thread, NULL, run, rig->worker), 0);
}

struct worker_stats rig_stop(struct rig *rig)
{
    struct worker_stats stats = {0};
    worker_stop(rig->worker);
    pthread_join(rig->thread, NULL);
    worker_stats(rig->worker, &stats);
    cr_expect_eq(worker_liveness(rig->worker).in_flight, 0);
    cr_expect_eq(stats.slow_running, 0);
    worker_free(rig->worker);
    rig->worker = NULL;
    return stats;
}

/* --- in --- */

void rig_put_bytes(struct rig *rig, const char *topic, struct msg_key key, const void *bytes, size_t len)
{
    static const struct bus_header header = {"traceparent", "00-ab", 5};
    char text[MSG_KEY_TEXT];
    const struct bus_out out = {.topic = topic,
                                .partition = BUS_ANY_PARTITION,
                                .key = text,
                                .key_len = msg_key_text(key, text),
                                .value = bytes,
                                .len = len,
                                .headers = &header,
                                .n_headers = 1};
    cr_assert_eq(bus_produce(rig->bus, &out, 1, 1000, NULL), ERR_OK);
}

void rig_put_joined(struct rig *rig, const char *topic, const struct msg_task *tasks, uint32_t n)
{
    struct msg_buffer buffer = {0};
    for (uint32_t i = 0; i < n; i++) cr_assert_eq(msg_append_task(&buffer, &tasks[i]), ERR_OK);
    rig_put_bytes(rig, topic, tasks->key, buffer.bytes, buffer.len);
    msg_buffer_free(&buffer);
}

void rig_put(struct rig *rig, const struct msg_task *task)
{
    char topic[64];
    snprintf(topic, sizeof topic, BUS_TASKS_PREFIX "%s", task->family);
    rig_put_joined(rig, topic, task, 1);
}

/* --- out --- */

struct bus_message *rig_next_message(struct rig *rig, uint32_t want)
{
    struct bus_message *message;
    uint32_t n = 0;
    for (int64_t until_ns = clock_now_ns() + INT64_C(60000000000); !n && clock_now_ns() < until_ns;)
        bus_poll(rig->results, want, &message, 1, 1000, &n);
    cr_assert_eq(n, 1, "no answer came");
    return message;
}

struct msg_result *rig_next(struct rig *rig)
{
    struct msg_result *result;
    struct err err = {0};
    char key[MSG_KEY_TEXT];
    struct bus_message *message = rig_next_message(rig, 0);
    cr_assert_str_eq(message->topic, BUS_RESULTS);
    cr_assert_eq(msg_decode_result(&rig->arena, message->value, message->len, &result, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(message->key_len, msg_key_text(result->key, key));
    cr_assert_eq(memcmp(message->key, key, message->key_len), 0, "the key is that of the request");
    bus_ack(rig->results, message);
    return result;
}

bool rig_is_empty(struct rig *rig)
{
    struct bus_message *message;
    uint32_t n = 0;
    bus_poll(rig->results, 0, &message, 1, 0, &n);
    return n == 0;
}
