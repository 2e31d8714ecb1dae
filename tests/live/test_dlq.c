/* Tests dead letters on a real broker through the program, and a candidate that kills every process that judges it. */
#include "lib/base/clock.h"
#include "proto/bus/letter.h"
#include "proto/message/msg.h"
#include "tests/live/broker.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char letters[96], target[96];
static struct bus *bus;

struct run {
    int status;
    char *out, *err;
};

/* Runs `assay` with the given arguments and the address of the test server. */
static struct run assay(const char *first, ...)
{
    GPtrArray *argv = g_ptr_array_new();
    struct run run = {0};
    int status;
    va_list args;
    g_ptr_array_add(argv, (char *)ASSAY_BINARY);
    va_start(args, first);
    for (const char *word = first; word; word = va_arg(args, const char *)) g_ptr_array_add(argv, (char *)word);
    va_end(args);
    g_ptr_array_add(argv, (char *)"--servers");
    g_ptr_array_add(argv, getenv("ASSAY_TEST_KAFKA"));
    g_ptr_array_add(argv, NULL);
    char **env = g_environ_unsetenv(g_get_environ(), "ASSAY_TEST_KAFKA");
    cr_assert(g_spawn_sync(NULL, (char **)argv->pdata, env, 0, NULL, NULL, &run.out, &run.err, &status, NULL));
    run.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    g_strfreev(env);
    g_ptr_array_free(argv, TRUE);
    return run;
}

static void run_end(struct run *run)
{
    g_free(run->out);
    g_free(run->err);
}

static void begin(void)
{
    broker_needed();
    char own[32];
    const char *prefix = broker_prefix("dlq");
    snprintf(letters, sizeof letters, "%s.letters", prefix);
    broker_topics(prefix, 2, (const char *const[]){"letters", NULL});
    snprintf(own, sizeof own, "live-%lx-%d", (unsigned long)time(NULL), (int)getpid());
    snprintf(target, sizeof target, "%s%s", BUS_TASKS_PREFIX, own);
    broker_topics("assay.tasks", 2, (const char *const[]){own, NULL});
    bus = broker_open(NULL, 0);
}

static void end(void)
{
    bus_close(bus);
    leak_check();
}

static void put_letter(const char *key, const char *topic, enum err_code code, const char *text)
{
    const struct bus_header own = {"traceparent", "00-ab", 5};
    struct bus_message message = {.topic = topic,
                                  .partition = 1,
                                  .offset = 7,
                                  .key = key,
                                  .key_len = (uint32_t)strlen(key),
                                  .value = "not a task, hush-hush",
                                  .len = 21,
                                  .headers = &own,
                                  .n_headers = 1};
    struct letter_cause cause = {"g", "read", code, text, bus_now_ns(bus)};
    struct letter letter;
    struct bus_out out;
    letter_make(&letter, &message, &cause, letters, bus_max_bytes(bus, letters), &out);
    cr_assert_eq(bus_produce(bus, &out, 1, 10000, NULL), ERR_OK);
}

/* Runs a redrive. Returns the number of redelivered messages. */
static int sent(struct run run)
{
    const char *at = strstr(run.out, "\"sent\":");
    cr_assert(run.status == 0 && at, "%s%s", run.out, run.err);
    int n = atoi(at + strlen("\"sent\":"));
    run_end(&run);
    return n;
}
#define REDRIVE(...) sent(assay("dlq", "redrive", "--topic", letters, "--format", "jsonl", __VA_ARGS__, NULL))

/* Checks that the target topic has n messages with these keys, in this order. */
static void expect_target(unsigned n, const char *keys)
{
    struct bus_consumer *consumer;
    GString *seen = g_string_new(NULL);
    char group[64];
    const char *topic = target;
    snprintf(group, sizeof group, "look-%u-%d", n, (int)getpid());
    cr_assert_eq(bus_subscribe(bus, group, &topic, 1, &consumer, NULL), ERR_OK);
    for (int64_t until = clock_now_ns() + INT64_C(30000000000); seen->len < n && clock_now_ns() < until;) {
        struct bus_message *message;
        uint32_t got = 0;
        cr_assert_eq(bus_poll(consumer, 0, &message, 1, 500, &got), ERR_OK);
        if (!got) continue;
        g_string_append_len(seen, message->key, message->key_len);
        cr_expect_eq(message->partition, 1, "where it stood");
        cr_expect(message->len == 21 && memcmp(message->value, "not a task", 10) == 0);
        cr_expect_str_eq(bus_header_get(message, "traceparent"), "00-ab");
        cr_expect_str_eq(bus_header_get(message, "x-dlq-redriven"), "1");
        cr_expect_null(bus_header_get(message, "x-dlq-code"));
        bus_ack(consumer, message);
    }
    cr_expect_str_eq(seen->str, keys);
    g_string_free(seen, TRUE);
    bus_unsubscribe(consumer);
}

Test(dlq, dead_letters_are_listed_and_redelivered_once, .init = begin, .fini = end)
{
    put_letter("a", target, ERR_MALFORMED, "there is no column 'hush-hush'");
    put_letter("b", target, ERR_REJECTED, "it ended");
    put_letter("c", target, ERR_MALFORMED, "bad");
    put_letter("d", "__consumer_offsets", ERR_MALFORMED, "a letter that leads astray");
    put_letter("e", BUS_TASKS_DLQ, ERR_MALFORMED, "a letter that would go round");
    cr_assert_eq(bus_flush(bus, 30000), ERR_OK);
    struct run list = assay("dlq", "list", "--topic", letters, "--format", "jsonl", NULL);
    cr_expect_eq(list.status, 0, "%s", list.err);
    unsigned lines = 0;
    for (const char *c = list.out; *c; c++) lines += *c == '\n';
    cr_expect_eq(lines, 5);
    cr_expect(strstr(list.out, "there is no column '...'"), "%s", list.out);
    cr_expect_null(strstr(list.out, "hush"));
    run_end(&list);
    list = assay("dlq", "list", "--topic", letters, "--values", "--code", "malformed", "--limit", "1", "--format",
                 "json", NULL);
    cr_expect(strstr(list.out, "not a task, hush-hush"), "%s%s", list.out, list.err);
    run_end(&list);
    cr_expect_eq(REDRIVE("--code", "rejected", "--dry-run"), 1);
    cr_expect_eq(REDRIVE("--code", "rejected"), 1);
    cr_expect_eq(REDRIVE("--code", "rejected"), 0, "it remembers how far it got");
    expect_target(1, "b");
    cr_expect_eq(REDRIVE("--limit", "1"), 1);
    cr_expect_eq(REDRIVE("--limit", "2"), 1, "what is left, and never to topics that are not the fleet's");
    expect_target(3, "bac");
    cr_expect_eq(REDRIVE("--limit", "2"), 0);
    cr_expect_eq(REDRIVE("--code", "malformed"), 0, "they were sent without a code");
}

Test(dlq, errors_are_reported, .init = begin, .fini = end)
{
    struct run run = assay("dlq", "burn", NULL);
    cr_expect(run.status == 2 && strstr(run.err, "list or redrive"), "%s", run.err);
    run_end(&run);
    run = assay("dlq", "list", "--code", "sad", NULL);
    cr_expect(run.status == 2 && strstr(run.err, "unknown error code 'sad'"), "%s", run.err);
    run_end(&run);
    run = assay("dlq", "list", "--topic", "live.no.such.topic", NULL);
    cr_expect(run.status == 2 && strstr(run.err, "live.no.such.topic"), "%s", run.err);
    run_end(&run);
    run = assay("dlq", "list", "--topic", letters, "--from-time", "yesterday", NULL);
    cr_expect(run.status == 2 && strstr(run.err, "2026-01-31T12:00:00Z"), "%s", run.err);
    run_end(&run);
}

/* --- poison ------------------------------------------------------------------------------------------------------- */

static pid_t start_worker(const char *root, const char *group)
{
    const char *argv[] = {ASSAY_BINARY, "worker",
                          "--servers",  getenv("ASSAY_TEST_KAFKA"),
                          "--db-root",  root,
                          "--family",   "structure",
                          "--group",    group,
                          "-j",         "1",
                          "-X",         "session.timeout.ms=2000",
                          "-X",         "heartbeat.interval.ms=300",
                          NULL};
    char **env = g_environ_setenv(g_get_environ(), "ASSAY_CRASH_ON", "kaboom", TRUE);
    env = g_environ_unsetenv(env, "ASSAY_TEST_KAFKA");
    pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(127);
        execve(ASSAY_BINARY, (char *const *)argv, env);
        _exit(127);
    }
    g_strfreev(env);
    return pid;
}

static void put_task(const char *sql, int32_t offset, const char *db)
{
    struct msg_task task = {.key = {0, offset},
                            .hash = {(uint64_t)getpid(), (uint64_t)offset},
                            .family = "structure",
                            .db = db,
                            .sql = {sql, (uint32_t)strlen(sql)}};
    struct msg_buffer buffer = {0};
    cr_assert_eq(msg_encode_task(&buffer, &task), ERR_OK);
    struct bus_out out = {.topic = BUS_TASKS_PREFIX "structure",
                          .partition = 0,
                          .key = "0-1",
                          .key_len = 3,
                          .value = buffer.bytes,
                          .len = buffer.len};
    cr_assert_eq(bus_produce(bus, &out, 1, 10000, NULL), ERR_OK);
    msg_buffer_free(&buffer);
}

/* Reads the results of the test's tasks by offset, and the code of the poison task. */
static unsigned take_results(struct bus_consumer *consumer, bool *answered, unsigned n, char *code, size_t size)
{
    struct bus_message *messages[16];
    uint32_t got = 0;
    unsigned all = 0;
    struct arena arena;
    arena_init(&arena, 0);
    bus_poll(consumer, 0, messages, 16, 200, &got);
    for (uint32_t i = 0; i < got; i++) {
        struct msg_result *result;
        if (msg_decode_result(&arena, messages[i]->value, messages[i]->len, &result, NULL) == ERR_OK &&
            result->hash[0] == (uint64_t)getpid() && result->hash[1] < n) {
            answered[result->hash[1]] = true;
            if (strcmp(result->code, "ok") != 0) g_strlcpy(code, result->code, size);
        }
        bus_ack(consumer, messages[i]);
    }
    arena_free(&arena);
    for (unsigned i = 0; i < n; i++) all += answered[i];
    return all;
}

/* Workers that die are restarted, as by a supervisor. Every task is answered before the deadline of its family. Only
 * the poison candidate is rejected, and it becomes a dead letter. */
Test(dlq, only_poison_candidate_is_rejected, .init = begin, .fini = end, .timeout = 240)
{
#ifndef ASSAY_MUTATIONS
    cr_skip_test("this build has no ASSAY_CRASH_ON: -DASSAY_MUTATIONS=ON");
#endif
    enum { TASKS = 12, POISON = 5 };
    bool answered[TASKS] = {false};
    char dir[] = "/tmp/assay-dlq-XXXXXX", code[64] = "", group[64], make[256];
    const char *results = BUS_RESULTS;
    struct bus_consumer *consumer;
    unsigned starts = 0;
    cr_assert(mkdtemp(dir));
    snprintf(make, sizeof make, "sqlite3 %s/zoo.sqlite 'CREATE TABLE animal(name, age)'", dir);
    cr_assert_eq(system(make), 0);
    struct run topics = assay("topics", "create", NULL);
    run_end(&topics);
    snprintf(group, sizeof group, "poison-%lx-%d", (unsigned long)time(NULL), (int)getpid());
    for (int i = 0; i < TASKS; i++)
        put_task(i == POISON ? "SELECT name AS kaboom FROM animal" : "SELECT name FROM animal", i, "zoo");
    cr_assert_eq(bus_flush(bus, 30000), ERR_OK);
    cr_assert_eq(bus_subscribe(bus, group, &results, 1, &consumer, NULL), ERR_OK);
    pid_t pid = 0;
    for (int64_t until = clock_now_ns() + INT64_C(150000000000); clock_now_ns() < until;) {
        if (pid == 0) pid = start_worker(dir, group), starts++;
        if (waitpid(pid, NULL, WNOHANG) == pid) pid = 0;
        if (take_results(consumer, answered, TASKS, code, sizeof code) == TASKS) break;
    }
    cr_assert_gt(pid, 0, "the last worker lives");
    kill(pid, SIGTERM);
    waitpid(pid, NULL, 0);
    for (int i = 0; i < TASKS; i++) cr_expect(answered[i], "task %d has no answer", i);
    cr_expect_str_eq(code, "rejected", "one code but ok came: %s", code);
    bus_unsubscribe(consumer);
    struct run list =
        assay("dlq", "list", "--topic", BUS_TASKS_DLQ, "--code", "rejected", "--values", "--format", "jsonl", NULL);
    cr_expect(strstr(list.out, "kaboom"), "%s%s", list.out, list.err);
    unsigned rejected = 0; /* rejected by this group; it also received messages of earlier runs */
    for (const char *c = list.out; (c = strstr(c, group)); c++) rejected++;
    cr_expect_geq(rejected, 1);
    cr_expect_leq(starts, 1 + 3 * rejected, "%u workers for %u poisoned tasks", starts, rejected);
    run_end(&list);
    snprintf(make, sizeof make, "%s/zoo.sqlite", dir);
    unlink(make);
    rmdir(dir);
}
