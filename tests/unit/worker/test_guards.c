/* Tests how databases and workers are protected: the circuit breaker, the statement limit without Redis, and the trial
 * of suspected poison tasks in a child process. */
#include "tests/support/leak.h"
#include "tests/support/wait.h"
#include "tests/unit/db/fixture.h"
#include "tests/unit/worker/rig.h"
#include "worker/db_breakers.h"
#include "worker/isolated.h"
#include "worker/permits.h"

#include "lib/base/clock.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- the breaker -------------------------------------------------------------------------------------------------- */

static struct breakers *breakers;

/* The breaker reads this clock, which a test advances. On a busy machine, a real pause of some milliseconds could end
 * before the next check. */
static int64_t breaker_now_ns = 1000000000;

static int64_t breaker_time(void)
{
    return breaker_now_ns;
}

static void pass_ms(int64_t ms)
{
    breaker_now_ns += ms * 1000000;
}

static bool may_go(void *unused)
{
    int64_t wait_ms;
    (void)unused;
    return breakers_admit(breakers, "shop", &wait_ms, NULL) == ERR_OK;
}

static void fail_times(unsigned n)
{
    for (unsigned i = 0; i < n; i++) breakers_report(breakers, "shop", BREAKER_FAILED);
}

static void begin_breakers(void)
{
    clock_set_source(breaker_time);
    breakers = breakers_new(&(struct breakers_config){.failures = 3, .pause_ms = 40, .most_pause_ms = 100});
}

static void end_breakers(void)
{
    breakers_free(breakers);
    leak_check();
}
TestSuite(breaker, .init = begin_breakers, .fini = end_breakers);

Test(breaker, opens_after_failures_in_a_row)
{
    struct err err = {0};
    int64_t wait_ms;
    fail_times(2);
    cr_expect(may_go(NULL));
    breakers_report(breakers, "shop", BREAKER_ALIVE);
    fail_times(2);
    cr_expect(may_go(NULL), "a success between them starts the count anew");
    breakers_report(breakers, "shop", BREAKER_FAILED);
    cr_expect_eq(breakers_admit(breakers, "shop", &wait_ms, &err), ERR_DB_UNAVAILABLE);
    cr_expect_eq(err_class(err.code), ERR_CLASS_RETRY);
    cr_expect(wait_ms >= 30 && wait_ms <= 101, "%lld", (long long)wait_ms);
    cr_expect_eq(breakers_admit(breakers, "other", &wait_ms, NULL), ERR_OK, "each database has its own");
    cr_expect_eq(breakers_opened(breakers), 1);
    cr_expect_eq(breakers_open_now(breakers), 1);
}

Test(breaker, successful_trial_after_pause_closes_breaker)
{
    fail_times(3);
    pass_ms(29);
    cr_expect_not(may_go(NULL), "the pause is 40 ms, give or take a quarter");
    pass_ms(22);
    cr_assert(may_go(NULL), "after the pause one goes");
    cr_expect_not(may_go(NULL), "and only one");
    breakers_report(breakers, "shop", BREAKER_ALIVE);
    cr_expect(may_go(NULL) && may_go(NULL), "it is closed");
    cr_expect_eq(breakers_open_now(breakers), 0);
}

/* --- statements that run on after their cancellation
 * --------------------------------------------------------------- */

static struct db_abandoned stuck;
static uint32_t runs_on; /* number of statements that the server reports as running on */
static unsigned n_asked;

static struct db_abandoned count_stuck(const char *path)
{
    cr_expect_str_eq(path, "postgresql:///shop");
    return stuck;
}

static enum err_code ask_stuck(const char *path, struct err *err)
{
    (void)path;
    n_asked++;
    if (runs_on == UINT32_MAX) return err_set(err, ERR_UNREACHABLE, "away");
    stuck.running = runs_on;
    return ERR_OK;
}

static enum err_code check_stuck(void)
{
    int64_t wait_ms = 0;
    struct err err = {0};
    enum err_code code = breakers_check_abandoned(breakers, "shop", "postgresql:///shop", &wait_ms, &err);
    cr_expect(!code || (wait_ms == 200 && strstr(err.text, "shop")), "%s", err.text);
    return code;
}

static void begin_stuck(void)
{
    clock_set_source(breaker_time);
    stuck = (struct db_abandoned){0};
    n_asked = 0;
    breakers = breakers_new(
        &(struct breakers_config){.only_abandoned = true, .ask_ms = 200, .count = count_stuck, .ask = ask_stuck});
}
TestSuite(abandoned, .init = begin_stuck, .fini = end_breakers);

Test(abandoned, two_running_statements_open_the_breaker_until_gone)
{
    cr_expect_eq(check_stuck(), ERR_OK);
    cr_expect_eq(n_asked, 0, "nothing was ever given up: nobody is asked");
    stuck = (struct db_abandoned){.running = 1, .ever = 1};
    runs_on = 1;
    cr_expect_eq(check_stuck(), ERR_OK, "one may be");
    stuck = (struct db_abandoned){.running = 2, .ever = 2};
    runs_on = 2;
    cr_expect_eq(check_stuck(), ERR_DB_UNAVAILABLE);
    cr_expect_eq(breakers_open_now(breakers), 1);
    cr_expect_eq(breakers_opened(breakers), 1);
    runs_on = 0;
    cr_expect_eq(check_stuck(), ERR_DB_UNAVAILABLE, "the server is asked once in a while");
    cr_expect_eq(n_asked, 1);
    pass_ms(201);
    cr_expect_eq(check_stuck(), ERR_OK);
    cr_expect_eq(n_asked, 2);
    cr_expect_eq(breakers_open_now(breakers), 0);
}

Test(abandoned, unreachable_server_keeps_the_breaker_open)
{
    stuck = (struct db_abandoned){.running = 2, .ever = 2};
    runs_on = UINT32_MAX;
    cr_expect_eq(check_stuck(), ERR_DB_UNAVAILABLE);
    pass_ms(201);
    cr_expect_eq(check_stuck(), ERR_DB_UNAVAILABLE);
}

Test(abandoned, scattered_failures_do_not_open_breaker)
{
    fail_times(20);
    cr_expect(may_go(NULL));
}

/* --- permits without Redis ---------------------------------------------------------------------------------------- */

Test(permits, each_process_has_its_share_without_redis)
{
    struct permits *permits;
    struct permit *held[3] = {NULL}, *more = NULL;
    struct err err = {0};
    cr_assert_eq(permits_open(&(struct permits_config){.processes = 4}, &permits, &err), ERR_OK);
    for (int i = 0; i < 3; i++) cr_assert_eq(permits_take(permits, "shop", 12, 0, &held[i], &err), ERR_OK);
    cr_expect_eq(permits_take(permits, "shop", 12, clock_now_ns() + 20000000, &more, &err), ERR_FULL, "3 = 12 / 4");
    cr_expect_eq(err_class(err.code), ERR_CLASS_RETRY);
    cr_expect_null(more);
    cr_expect_eq(permits_take(permits, "other", 2, 0, &more, &err), ERR_OK, "each database by itself, one at least");
    permits_give(permits, more);
    permits_give(permits, held[0]);
    cr_expect_eq(permits_take(permits, "shop", 12, 0, &held[0], &err), ERR_OK);
    for (int i = 0; i < 3; i++) permits_give(permits, held[i]);
    struct permits_stats stats;
    permits_get_stats(permits, &stats);
    cr_expect_eq(stats.taken, 0);
    cr_expect_eq(stats.local, 5);
    cr_expect_eq(stats.refused, 1);
    permits_close(permits);
    leak_check();
}

struct giver {
    struct permits *permits;
    struct permit *permit;
};

static void *give_soon(void *arg)
{
    struct giver *giver = arg;
    g_usleep(30000);
    permits_give(giver->permits, giver->permit);
    return NULL;
}

Test(permits, waiter_gets_released_slot)
{
    struct giver giver = {0};
    struct permit *second;
    pthread_t thread;
    cr_assert_eq(permits_open(&(struct permits_config){.processes = 1}, &giver.permits, NULL), ERR_OK);
    cr_assert_eq(permits_take(giver.permits, "shop", 1, 0, &giver.permit, NULL), ERR_OK);
    pthread_create(&thread, NULL, give_soon, &giver);
    cr_expect_eq(permits_take(giver.permits, "shop", 1, clock_now_ns() + INT64_C(20000000000), &second, NULL), ERR_OK);
    pthread_join(thread, NULL);
    permits_give(giver.permits, second);
    permits_close(giver.permits);
    leak_check();
}

/* --- trial in a child process
 * ---------------------------------------------------------------------------------------- */

static enum err_code try_shell(const char *script, size_t input, struct msg_buffer *output, struct err *err)
{
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    char *bytes = g_strnfill(input, 'x');
    signal(SIGPIPE, SIG_IGN);
    enum err_code code = isolated_run(argv, "ASSAY_TRIAL=7", bytes, input, 3000, 1 << 20, output, err);
    g_free(bytes);
    return code;
}

Test(isolated, trial_reports_how_process_ended)
{
    struct msg_buffer output = {0};
    struct err err = {0};
    cr_expect_eq(try_shell("printf %s $ASSAY_TRIAL; wc -c", 300000, &output, &err), ERR_OK, "%s", err.text);
    cr_expect(output.len >= 7 && memmem(output.bytes, output.len, "7300000", 7), "%.*s", (int)output.len, output.bytes);
    cr_expect_eq(try_shell("kill -SEGV $$", 10, &output, &err), ERR_REJECTED);
    cr_expect(strstr(err.text, "Segmentation"), "%s", err.text);
    cr_expect_eq(try_shell("cat >/dev/null; kill -ABRT $$", 300000, &output, &err), ERR_REJECTED);
    cr_expect_eq(try_shell("exit 3", 10, &output, &err), ERR_UNREACHABLE, "nothing is known of the task");
    cr_expect_eq(try_shell("exec sleep 60", 10, &output, &err), ERR_DEADLINE);
    const char *const nothing[] = {"/nonexistent/assay", NULL};
    cr_expect_eq(isolated_run(nothing, "A=b", "", 0, 100, 10, &output, &err), ERR_UNREACHABLE);
    msg_buffer_free(&output);
    leak_check();
}

/* --- a worker with these guards
 * -------------------------------------------------------------------------------------- */

static struct rig rig;
static struct fixture here;
static struct worker_database entries[2];
static unsigned n_trials;
static enum err_code trial_says;
static size_t trial_spares; /* length of the tasks that the trial finds harmless */

static void begin(void)
{
    fixture_init(&here, "CREATE TABLE t(a); INSERT INTO t VALUES(1)");
    /* A server that does not exist; the address refuses connections at once. */
    entries[0] = (struct worker_database){.name = "gone", .path = "host=127.0.0.1 port=1 dbname=x user=x"};
    entries[1] = (struct worker_database){.name = "here", .path = here.path};
    rig_begin(&rig);
}

static enum err_code pretend_isolated(void *ctx, const void *task, size_t len, int64_t limit_ms,
                                      struct msg_buffer *result, struct err *err)
{
    n_trials++;
    if (trial_says && len != trial_spares) return err_set(err, trial_says, "it ended");
    return isolated_evaluate(ctx, task, len, limit_ms, result, err);
}

static void start(struct worker_config config)
{
    static struct worker_config kept;
    config.databases = (struct worker_databases){.files = entries, .n_files = 2};
    config.schemas = rig.schemas;
    config.signals = rig.signals;
    config.retry_ms = 1;
    kept = config;
    if (config.evaluate_isolated) config.isolated_ctx = &kept;
    rig_start(&rig, config);
}

static void end(void)
{
    rig_end(&rig);
    breakers_free(breakers);
    fixture_end(&here);
}
TestSuite(guards, .init = begin, .fini = end);

static void put(const char *db, int64_t deadline_ms)
{
    struct msg_task task = {.key = {0, 1},
                            .hash = {1, 1},
                            .family = "execution",
                            .db = db,
                            .sql = {"SELECT a FROM t", 15},
                            .deadline_ns = deadline_ms ? bus_now_ns(rig.bus) + deadline_ms * 1000000 : 0};
    rig_put(&rig, &task);
}

static const char *next_code(void)
{
    const struct msg_result *result = rig_next(&rig);
    for (uint32_t i = 0; i < result->n_signals; i++)
        if (strcmp(result->code, "ok") != 0) cr_expect_eq(result->signals[i].state, MSG_UNAVAILABLE, "never silent");
    return result->code;
}

Test(guards, unavailable_database_opens_circuit_and_is_reported)
{
    breakers = breakers_new(&(struct breakers_config){.failures = 2, .pause_ms = 60000, .most_pause_ms = 60000});
    start((struct worker_config){.breakers = breakers, .max_attempts = 2});
    put("gone", 0);
    cr_expect_str_eq(next_code(), "unreachable", "no deadline: two attempts");
    cr_expect_eq(breakers_open_now(breakers), 1);
    put("gone", 10000);
    int64_t started = clock_now_ns();
    cr_expect_str_eq(next_code(), "db_unavailable");
    cr_expect_lt(clock_now_ns() - started, INT64_C(8000000000), "it would open after the deadline: said at once");
    put("here", 3000);
    cr_expect_str_eq(next_code(), "ok", "others are judged");
}

Test(guards, task_waits_for_database_until_deadline)
{
    breakers = breakers_new(&(struct breakers_config){.failures = 2, .pause_ms = 50, .most_pause_ms = 50});
    start((struct worker_config){.breakers = breakers, .max_attempts = 2});
    put("gone", 1500);
    int64_t started = clock_now_ns();
    const char *code = next_code();
    cr_expect(strcmp(code, "db_unavailable") == 0 || strcmp(code, "unreachable") == 0, "%s", code);
    cr_expect_gt(clock_now_ns() - started, INT64_C(500000000), "more than two attempts, for it has a deadline");
}

static struct db_abandoned two_abandoned(const char *path)
{
    bool away = strstr(path, "127.0.0.1") != NULL;
    return (struct db_abandoned){.running = away ? 2 : 0, .ever = away ? 2 : 0};
}

Test(guards, task_of_a_stuck_database_is_unavailable)
{
    breakers = breakers_new(
        &(struct breakers_config){.only_abandoned = true, .ask_ms = 100, .count = two_abandoned, .ask = ask_stuck});
    runs_on = UINT32_MAX;
    start((struct worker_config){.breakers = breakers, .max_attempts = 2});
    put("gone", 0);
    cr_expect_str_eq(next_code(), "db_unavailable");
    put("here", 3000);
    cr_expect_str_eq(next_code(), "ok", "others are judged");
}

Test(guards, missing_slot_waits_then_is_reported)
{
    struct permits *permits;
    struct permit *taken;
    entries[1].max_statements = 1;
    cr_assert_eq(permits_open(&(struct permits_config){.processes = 1}, &permits, NULL), ERR_OK);
    cr_assert_eq(permits_take(permits, "here", 1, 0, &taken, NULL), ERR_OK);
    start((struct worker_config){.permits = permits});
    put("here", 1200);
    cr_expect_str_eq(next_code(), "full");
    permits_give(permits, taken);
    put("here", 5000);
    cr_expect_str_eq(next_code(), "ok");
    cr_assert_eq(permits_take(permits, "here", 1, clock_now_ns() + INT64_C(5000000000), &taken, NULL), ERR_OK,
                 "it is given back when the batch is done");
    permits_give(permits, taken);
    rig_stop(&rig);
    permits_close(permits);
    entries[1].max_statements = 0;
    start((struct worker_config){0});
}

/* Delivers a message `times` times to consumers that end without an ack. */
static void deliver_and_leave(unsigned times)
{
    static const char *const topic[] = {BUS_TASKS_PREFIX "execution"};
    for (unsigned i = 0; i < times; i++) {
        struct bus_consumer *other;
        struct bus_message *message;
        uint32_t n = 0;
        cr_assert_eq(bus_subscribe(rig.bus, WORKER_GROUP, topic, 1, &other, NULL), ERR_OK);
        cr_assert_eq(bus_poll(other, 0, &message, 1, 5000, &n), ERR_OK);
        cr_assert_eq(n, 1);
        bus_unsubscribe(other);
    }
}

static const char *const ONE[] = {"execution"}; /* the subscription of deliver_and_leave */

Test(guards, suspected_task_is_tried_in_own_process)
{
    put("here", 0);
    deliver_and_leave(1);
    start((struct worker_config){.evaluate_isolated = pretend_isolated, .families = ONE, .n_families = 1});
    cr_expect_str_eq(next_code(), "ok");
    cr_expect_eq(n_trials, 0, "one crash may be anybody's");
    rig_stop(&rig);
    put("here", 0);
    deliver_and_leave(2);
    start((struct worker_config){.evaluate_isolated = pretend_isolated, .families = ONE, .n_families = 1});
    cr_expect_str_eq(next_code(), "ok", "it was innocent: its answer is the answer");
    cr_expect_eq(n_trials, 1);
}

Test(guards, poison_task_is_answered_and_dead_lettered)
{
    put("here", 0);
    deliver_and_leave(2);
    trial_says = ERR_REJECTED;
    start((struct worker_config){.evaluate_isolated = pretend_isolated, .families = ONE, .n_families = 1});
    struct bus_message *letter = rig_next_message(&rig, 2);
    cr_expect_str_eq(bus_header_get(letter, "x-dlq-code"), "rejected");
    cr_expect_str_eq(bus_header_get(letter, "x-dlq-stage"), "judge");
    cr_expect_str_eq(bus_header_get(letter, "x-dlq-group"), WORKER_GROUP);
    cr_expect_str_eq(bus_header_get(letter, "traceparent"), "00-ab", "its own headers are untouched");
    bus_ack(rig.results, letter);
    cr_expect_str_eq(next_code(), "rejected");
    trial_says = ERR_OK;
    put("here", 0);
    cr_expect_str_eq(next_code(), "ok", "and the worker lives");
}

/* Each task of the message is tried in its own child process. Only the poison task is dead-lettered. */
Test(guards, tasks_of_suspected_message_are_tried_separately)
{
    struct msg_buffer buffer = {0};
    struct msg_task task = {
        .key = {0, 1}, .hash = {1, 1}, .family = "execution", .db = "here", .sql = {"SELECT a FROM t", 15}};
    cr_assert_eq(msg_append_task(&buffer, &task), ERR_OK);
    size_t one = buffer.len;
    task.hash[1] = task.candidate = 2;
    cr_assert_eq(msg_append_task(&buffer, &task), ERR_OK);
    rig_put_bytes(&rig, BUS_TASKS_PREFIX "execution", task.key, buffer.bytes, buffer.len);
    deliver_and_leave(2);
    trial_says = ERR_REJECTED;
    trial_spares = buffer.len - one;
    start((struct worker_config){.evaluate_isolated = pretend_isolated, .families = ONE, .n_families = 1});
    struct bus_message *letter = rig_next_message(&rig, 2);
    cr_expect_str_eq(bus_header_get(letter, "x-dlq-stage"), "judge");
    cr_expect_eq(letter->len, one);
    cr_expect_eq(memcmp(letter->value, buffer.bytes, one), 0, "the one that kills, as it came");
    bus_ack(rig.results, letter);
    cr_expect_str_eq(next_code(), "rejected");
    cr_expect_str_eq(next_code(), "ok", "its neighbour is judged");
    cr_expect_eq(n_trials, 2);
    trial_says = ERR_OK;
    trial_spares = 0;
    msg_buffer_free(&buffer);
}
