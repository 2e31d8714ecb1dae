/* A slow candidate must not block the tasks behind it, and results must be unchanged. */
#include "tests/support/wait.h"
#include "tests/unit/db/fixture.h"
#include "tests/unit/worker/rig.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

enum { QUICK = 50 };

/* A statement that takes some 300 ms on an idle machine. A limit on steps ends it instead of a limit on time, so that
 * the outcome is the same everywhere. */
static const char SLOW[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000000) "
                           "SELECT count(*) FROM n, (SELECT count(*) FROM animal)";

static struct fixture zoo;
static const char *const roots[] = {zoo.dir};
static const struct worker_database FILES[] = {
    {.name = "yard", .path = zoo.path}}; /* zoo's file under another name: to a worker, another database */
static struct rig rig;

static void begin(void)
{
    fixture_init_as(&zoo, "zoo", "CREATE TABLE animal(name TEXT, age INT); INSERT INTO animal VALUES('Leo', 7)");
    rig_begin(&rig);
}

static void end(void)
{
    rig_end(&rig);
    fixture_end(&zoo);
}
TestSuite(lanes, .init = begin, .fini = end);

static void start(uint32_t slow_threads)
{
    rig_start(&rig, (struct worker_config){.databases = {.roots = roots, .n_roots = 1, .files = FILES, .n_files = 1},
                                           .limits = {.time_ms = 60000},
                                           .slow_threads = slow_threads,
                                           .executor = EXECUTOR_PROGRAM});
}

static struct msg_task task_of(const char *family, const char *sql, uint32_t candidate)
{
    return (struct msg_task){.key = {0, candidate},
                             .hash = {candidate, 1},
                             .candidate = candidate,
                             .family = family,
                             .db = "zoo",
                             .question = "How old is Leo?",
                             .sql = {sql, (uint32_t)strlen(sql)}};
}

static void put(const char *family, const char *sql, uint32_t candidate)
{
    const struct msg_task task = task_of(family, sql, candidate);
    rig_put(&rig, &task);
}

static void put_quick(uint32_t from)
{
    for (uint32_t i = from; i < from + QUICK; i++) put("execution", "SELECT age FROM animal", i);
}

Test(lanes, quick_candidates_overtake_slow_one)
{
    put("execution", SLOW, 0);
    put_quick(1);
    start(1);
    for (unsigned i = 0; i < QUICK; i++)
        cr_expect_neq(rig_next(&rig)->candidate, 0, "the slow one is before %u quick", QUICK - i);
    const struct msg_result *slow = rig_next(&rig);
    cr_expect_eq(slow->candidate, 0);
    cr_expect_str_eq(slow->code, "ok");
    const struct worker_stats stats = rig_stop(&rig);
    cr_expect_geq(stats.slow, 1);
    cr_expect_eq(stats.answered, QUICK + 1);
}

Test(lanes, candidates_wait_without_slow_lane)
{
    put("execution", SLOW, 0);
    put_quick(1);
    start(0);
    cr_expect_eq(rig_next(&rig)->candidate, 0);
    rig_stop(&rig);
}

/* The tasks of a slow candidate stay together, so that its statement runs once. */
Test(lanes, slow_candidate_runs_once)
{
    const unsigned n = VSIG_FAMILY_COUNT - 1; /* all families except llm, because no model is configured */
    for (unsigned f = 0; f < n; f++) put(vsig_family_name((enum vsig_family)f), SLOW, 0);
    start(2);
    for (unsigned f = 0; f < n; f++) cr_assert_str_eq(rig_next(&rig)->code, "ok");
    const struct worker_stats stats = rig_stop(&rig);
    cr_expect_eq(stats.candidates, 1);
    cr_expect_eq(stats.executed, 1);
}

/* Other tasks of its message overtake the slow candidate. The message is acknowledged only after the slow candidate has
 * ended. */
Test(lanes, slow_candidate_does_not_block_its_message)
{
    enum { N = 6 };
    struct msg_task tasks[N];
    for (uint32_t i = 0; i < N; i++) {
        tasks[i] = task_of("execution", i ? "SELECT age FROM animal" : SLOW, i);
        tasks[i].key.offset = 0;
    }
    rig_put_joined(&rig, BUS_TASKS_ALL, tasks, N);
    start(1);
    for (uint32_t i = 1; i < N; i++)
        cr_expect_neq(rig_next(&rig)->candidate, 0, "the slow one is before %u quick", N - i);
    const struct worker_stats stats = rig_stop(&rig); /* stopping completes the tasks that were read */
    const struct msg_result *slow = rig_next(&rig);
    cr_expect_eq(slow->candidate, 0);
    cr_expect_str_eq(slow->code, "ok");
    cr_expect_eq(stats.slow, 1);
    cr_expect_eq(stats.answered, N);
    start(1);
    put("execution", "SELECT 7", N);
    cr_expect_eq(rig_next(&rig)->candidate, N, "nothing of the message came again");
    rig_stop(&rig);
}

static bool some_run_aside(void *most)
{
    struct worker_stats stats = {0};
    worker_stats(rig.worker, &stats);
    *(uint32_t *)most = MAX(*(uint32_t *)most, stats.slow_running);
    return stats.slow_running == 2;
}

/* Tasks in progress are answered when the worker stops. The number of candidates in slow lanes never exceeded its
 * limit. */
Test(lanes, stopping_loses_no_slow_candidate)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < 5; i++) put("execution", SLOW, i);
    start(2);
    cr_assert(wait_until(some_run_aside, &most, 20000));
    rig_stop(&rig);
    cr_expect_eq(most, 2);
    bool seen[5] = {0};
    for (uint32_t i = 0; i < 5; i++) {
        const struct msg_result *result = rig_next(&rig);
        cr_expect_str_eq(result->code, "ok");
        seen[result->candidate] = true;
    }
    for (uint32_t i = 0; i < 5; i++) cr_expect(seen[i], "candidate %u", i);
}

/* The request is cancelled. This ends its statement and its other families. */
static const char ENDLESS[] = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i > 0) "
                              "SELECT count(*) FROM n, (SELECT count(*) FROM animal)";

static bool is_stopped(void *request)
{
    return !worker_stop_request(rig.worker, *(const struct msg_key *)request);
}

static bool runs_aside(void *unused)
{
    struct worker_stats stats = {0};
    (void)unused;
    worker_stats(rig.worker, &stats);
    return stats.slow_running == 1;
}

Test(lanes, stopped_request_ends_its_statement)
{
    struct msg_key request = {0, 7}, other = {0, 8};
    for (unsigned i = 0; i < 2; i++) put(i ? "structure" : "execution", ENDLESS, 7);
    start(1);
    cr_assert(wait_until(runs_aside, NULL, 20000));
    cr_expect_not(worker_stop_request(rig.worker, other), "nobody has that one");
    cr_expect(runs_aside(NULL));
    cr_assert(wait_until(is_stopped, &request, 20000), "its limit is a minute");
    for (unsigned i = 0; i < 2; i++) cr_expect_str_eq(rig_next(&rig)->code, "cancelled");
    put("execution", "SELECT age FROM animal", 7);
    cr_expect_str_eq(rig_next(&rig)->code, "ok", "what comes later is another matter");
    rig_stop(&rig);
}

/* Returns all of the result except its duration. */
static char *said(struct msg_result *result)
{
    struct msg_buffer buffer = {0};
    result->ns = 0;
    if (result->execution) result->execution->ns = 0;
    cr_assert_eq(msg_encode_result(&buffer, result), ERR_OK);
    char *hash = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)buffer.bytes, buffer.len);
    msg_buffer_free(&buffer);
    return hash;
}

static void judge_all(uint32_t slow_threads, char *hashes[3])
{
    static const char *const statements[] = {SLOW, "SELECT age FROM animal", "SELECT nothing FROM animal"};
    for (uint32_t i = 0; i < 3; i++) put("execution", statements[i], i);
    start(slow_threads);
    for (uint32_t i = 0; i < 3; i++) {
        struct msg_result *result = rig_next(&rig);
        hashes[result->candidate] = said(result);
    }
    rig_stop(&rig);
}

Test(lanes, results_are_equal_with_and_without_lanes)
{
    char *with[3] = {0}, *without[3] = {0};
    judge_all(2, with);
    judge_all(0, without);
    for (uint32_t i = 0; i < 3; i++) {
        cr_expect_str_eq(with[i], without[i], "candidate %u", i);
        g_free(with[i]);
        g_free(without[i]);
    }
}

/* The large request arrived first. */
Test(lanes, small_request_is_served_before_large_one)
{
    for (uint32_t i = 0; i < 6; i++) put("structure", "SELECT age FROM animal", 1);
    put("structure", "SELECT age FROM animal", 2);
    start(0);
    cr_expect_eq(rig_next(&rig)->candidate, 2);
    rig_stop(&rig);
}

/* --- databases in turn -------------------------------------------------------------------------------------------- */

/* Sends one message with the tasks of a request: `n` candidates on one database. */
static void put_request(const char *db, uint32_t request, const char *sql, uint32_t n)
{
    struct msg_task tasks[MSG_MAX_JOINED];
    for (uint32_t i = 0; i < n; i++) {
        tasks[i] = task_of("execution", sql, request);
        tasks[i].hash[1] = i;
        tasks[i].db = db;
    }
    rig_put_joined(&rig, BUS_TASKS_ALL, tasks, n);
}

Test(lanes, busy_database_does_not_block_others)
{
    for (uint32_t i = 1; i < BATCH; i++) put_request("zoo", i, "SELECT age FROM animal", 1);
    put_request("yard", BATCH, "SELECT age FROM animal", 1);
    start(0);
    cr_expect_eq(rig_next(&rig)->candidate, 1);
    cr_expect_eq(rig_next(&rig)->candidate, BATCH, "it comes second, and not last");
    for (uint32_t i = 2; i < BATCH; i++) cr_expect_eq(rig_next(&rig)->candidate, i, "as they came");
    rig_stop(&rig);
}

/* Requests of one database are served in the order of size. Of two databases, the one with the smaller share so far is
 * served. */
Test(lanes, databases_take_turns_by_task)
{
    static const struct {
        const char *db;
        uint32_t n;
    } requests[] = {{"zoo", 8}, {"zoo", 2}, {"zoo", 2}, {"yard", 3}, {"zoo", 30}, {"yard", 6}, {"yard", 1}};
    static const uint32_t ORDER[] = {6, 1, 2, 3, 5, 0, 4}; /* ends at task 1, 2, 4, 4, 10, 12, 42 of its database */
    for (uint32_t i = 0; i < G_N_ELEMENTS(requests); i++)
        put_request(requests[i].db, i, "SELECT age FROM animal", requests[i].n);
    start(0);
    for (uint32_t at = 0; at < G_N_ELEMENTS(ORDER); at++)
        for (uint32_t i = 0; i < requests[ORDER[at]].n; i++)
            cr_expect_eq(rig_next(&rig)->candidate, ORDER[at], "turn %u", at);
    rig_stop(&rig);
}

/* There is one more slow candidate than there are slow lanes. */
Test(lanes, slow_database_does_not_block_others)
{
    for (uint32_t i = 0; i < 3; i++) put_request("zoo", i, SLOW, 1);
    for (uint32_t i = 3; i < QUICK; i++) put_request("yard", i, "SELECT age FROM animal", 1);
    start(1);
    for (uint32_t i = 3; i < QUICK; i++)
        cr_expect_eq(rig_next(&rig)->candidate, i, "a slow one is before it, or their order changed");
    for (uint32_t i = 0; i < 3; i++) cr_expect_lt(rig_next(&rig)->candidate, 3);
    const struct worker_stats stats = rig_stop(&rig);
    cr_expect_eq(stats.answered, QUICK);
}
