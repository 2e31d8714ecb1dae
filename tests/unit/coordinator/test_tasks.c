/* Tests how tasks are grouped into messages. Only tasks of the same request and topic share a message, up to a
 * bound. */
#include "tests/support/leak.h"
#include "tests/support/wait.h"
#include "tests/unit/coordinator/script.h"

#include "lib/base/clock.h"
#include "signals/vsig.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CANDIDATES = 16 };

static struct bus *bus;
static struct bus_consumer *tasks;
static struct scoring_models *models;
static struct coordinator *coordinator;
static pthread_t thread;
static char topics[FAMILIES + 1][64];

/* Opens a bus. `room` is the number of messages that a topic can hold; 0 means no limit. */
static void open_bus(uint32_t room)
{
    const struct bus_config config = {.queue_messages = room};
    const char *names[FAMILIES + 1];
    for (int i = 0; i < FAMILIES; i++)
        snprintf(topics[i], sizeof *topics, BUS_TASKS_PREFIX "%s", vsig_family_name((enum vsig_family)i));
    snprintf(topics[FAMILIES], sizeof *topics, BUS_TASKS_ALL);
    for (int i = 0; i <= FAMILIES; i++) names[i] = topics[i];
    cr_assert_eq(bus_open("local", &config, &bus, NULL), ERR_OK);
    cr_assert_eq(bus_subscribe(bus, "test", names, FAMILIES + 1, &tasks, NULL), ERR_OK);
}

static void close_bus(void)
{
    bus_unsubscribe(tasks);
    bus_close(bus);
}

static void begin(void)
{
    models = script_models();
    open_bus(0);
}

static void end(void)
{
    coordinator_stop(coordinator, true);
    pthread_join(thread, NULL);
    coordinator_free(coordinator);
    close_bus();
    models_free(models);
    leak_check();
}
TestSuite(tasks, .init = begin, .fini = end);

static void *run(void *unused)
{
    cr_expect_eq(coordinator_run(coordinator, NULL), ERR_OK);
    return unused;
}

/* Starts the coordinator after the requests are in their topic, so that it reads all of them in one step. */
static void start(enum coordinator_messages messages)
{
    struct coordinator_config config = {
        .bus = bus, .models = models, .defaults = {.strategy = MSG_RERANK}, .messages = messages};
    struct err err = {0};
    cr_assert_eq(coordinator_new(&config, &coordinator, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(pthread_create(&thread, NULL, run, NULL), 0);
}

static void ask_within(int64_t deadline_ms, uint32_t n_candidates, uint32_t len)
{
    struct msg_candidate candidates[MOST_CANDIDATES];
    char *texts[MOST_CANDIDATES];
    for (uint32_t i = 0; i < n_candidates; i++) {
        texts[i] = g_strdup_printf("SELECT '%0*u'", (int)len, i);
        candidates[i] = (struct msg_candidate){.sql = {texts[i], (uint32_t)strlen(texts[i])}, .score = NAN};
    }
    struct msg_request request = {.id = "q",
                                  .db = "zoo",
                                  .question = "?",
                                  .candidates = candidates,
                                  .n_candidates = n_candidates,
                                  .options = {.deadline_ms = deadline_ms}};
    struct msg_buffer buffer = {0};
    cr_assert_eq(msg_encode_request(&buffer, &request), ERR_OK);
    const struct bus_out out = {
        .topic = BUS_REQUESTS, .partition = BUS_ANY_PARTITION, .value = buffer.bytes, .len = buffer.len};
    cr_assert_eq(bus_produce(bus, &out, 1, 1000, NULL), ERR_OK);
    msg_buffer_free(&buffer);
    for (uint32_t i = 0; i < n_candidates; i++) g_free(texts[i]);
}

static void ask(uint32_t n_candidates, uint32_t len)
{
    ask_within(0, n_candidates, len);
}

/* The messages that arrived, the tasks in them, and the families of each candidate of each request. */
struct came {
    uint32_t messages, tasks, most; /* `most` is the largest number of tasks in one message */
    size_t largest;
    uint32_t families[3][MOST_CANDIDATES];
};

static void read_message(const struct bus_message *message, struct came *came)
{
    struct arena arena;
    struct err err = {0};
    char key[MSG_KEY_TEXT];
    const char *at = message->value;
    uint32_t n = 0;
    arena_init(&arena, 0);
    for (size_t left = message->len, used; left; at += used, left -= used, n++) {
        struct msg_task *task;
        cr_assert_eq(msg_next_task(&arena, at, left, &task, &used, &err), ERR_OK, "%s", err.text);
        cr_assert_eq(msg_key_text(task->key, key), message->key_len);
        cr_assert_eq(memcmp(key, message->key, message->key_len), 0, "all of the request that the key names");
        if (strcmp(message->topic, BUS_TASKS_ALL) != 0)
            cr_expect_str_eq(message->topic + strlen(BUS_TASKS_PREFIX), task->family);
        uint32_t *families = &came->families[task->key.offset][task->candidate];
        uint32_t own = 1U << vsig_family_by_name(task->family);
        cr_expect_eq(*families & own, 0, "once");
        *families |= own;
    }
    came->messages++;
    came->tasks += n;
    came->most = MAX(came->most, n);
    came->largest = MAX(came->largest, message->len);
    arena_free(&arena);
}

static struct came read_tasks(uint32_t n)
{
    struct came came = {0};
    int64_t until_ns = clock_now_ns() + INT64_C(20000000000);
    while (came.tasks < n && clock_now_ns() < until_ns) {
        struct bus_message *message;
        uint32_t got = 0;
        bus_poll(tasks, 0, &message, 1, 100, &got);
        if (!got) continue;
        read_message(message, &came);
        bus_ack(tasks, message);
    }
    cr_assert_eq(came.tasks, n);
    return came;
}

static void expect_all(const struct came *came, uint32_t request, uint32_t n_candidates)
{
    for (uint32_t i = 0; i < n_candidates; i++)
        cr_expect_eq(came->families[request][i], (1U << FAMILIES) - 1, "candidate %u", i);
}

/* Checks the number of messages for a request of three candidates. */
static void expect_messages(enum coordinator_messages sharing, unsigned messages)
{
    ask(3, 1);
    start(sharing);
    struct came came = read_tasks(3 * FAMILIES);
    cr_expect_eq(came.messages, messages);
    expect_all(&came, 0, 3);
}

/* By default each task has its own message, because workers of version 1.10 read only this form. */
Test(tasks, each_task_has_own_message_by_default)
{
    expect_messages(COORDINATOR_EACH, 3 * FAMILIES);
}

Test(tasks, tasks_of_family_share_message)
{
    expect_messages(COORDINATOR_BY_FAMILY, FAMILIES);
}

Test(tasks, single_topic_sends_one_message_per_request)
{
    expect_messages(COORDINATOR_BY_REQUEST, 1);
}

Test(tasks, message_holds_bounded_number_of_whole_candidates)
{
    ask(12, 1);
    start(COORDINATOR_BY_REQUEST);
    struct came came = read_tasks(12 * FAMILIES);
    cr_expect_eq(came.messages, 3);
    cr_expect_eq(came.most, MSG_MAX_JOINED);
    cr_expect_eq(came.most % FAMILIES, 0);
    expect_all(&came, 0, 12);
}

Test(tasks, large_message_takes_no_more_tasks)
{
    enum { LARGE = 50000, BOUND = 128 << 10 };
    ask(5, LARGE);
    start(COORDINATOR_BY_REQUEST);
    struct came came = read_tasks(5 * FAMILIES);
    cr_expect_leq(came.largest, BOUND);
    cr_expect_eq(came.most, BOUND / LARGE);
    expect_all(&came, 0, 5);
}

Test(tasks, two_requests_share_no_message)
{
    ask(2, 1);
    ask(2, 1);
    start(COORDINATOR_BY_REQUEST);
    struct came came = read_tasks(4 * FAMILIES);
    cr_expect_eq(came.messages, 2);
    expect_all(&came, 0, 2);
    expect_all(&came, 1, 2);
}

static bool has_sent(void *n)
{
    struct coordinator_stats stats = {0};
    coordinator_stats(coordinator, &stats);
    return stats.tasks == *(uint32_t *)n;
}

static bool has_decided_late(void *unused)
{
    struct coordinator_stats stats = {0};
    (void)unused;
    coordinator_stats(coordinator, &stats);
    return stats.deadlines == 1;
}

/* The workers were absent for longer than the deadline. Unsent tasks are dropped when the topic has capacity again. */
Test(tasks, unsent_tasks_of_expired_request_are_dropped)
{
    uint32_t first = FAMILIES;
    close_bus();
    open_bus(1);
    ask(1, 1);
    start(COORDINATOR_EACH);
    cr_assert(wait_until(has_sent, &first, 20000));
    ask_within(20, 1, 1);
    cr_assert(wait_until(has_decided_late, NULL, 20000));
    read_tasks(FAMILIES);
    ask(1, 1);
    struct came came = read_tasks(FAMILIES);
    expect_all(&came, 2, 1);
}
