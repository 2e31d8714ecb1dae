/* Tests a worker alone: tasks, results, and tasks that cannot run. */
#include "tests/support/wait.h"
#include "tests/unit/db/fixture.h"
#include "tests/unit/worker/rig.h"

#include "lib/base/clock.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fixture zoo;
static const char *const roots[] = {zoo.dir};
static struct rig rig;

static void begin(void)
{
    fixture_init_as(&zoo, "zoo",
                    "CREATE TABLE animal(name TEXT, age INT); INSERT INTO animal VALUES('Leo', 7), ('Mia', 4)");
    rig_begin(&rig);
}

static void end(void)
{
    rig_end(&rig);
    fixture_end(&zoo);
}
TestSuite(worker, .init = begin, .fini = end);

static void start(const char *const *families, uint32_t n)
{
    rig_start(&rig, (struct worker_config){.families = families,
                                           .n_families = n,
                                           .databases = {.roots = roots, .n_roots = 1},
                                           .max_attempts = 3,
                                           .retry_ms = 1,
                                           .executor = EXECUTOR_PROGRAM});
}

static const struct msg_key KEY = {2, 7};

static struct msg_task task_of(const char *family, const char *sql)
{
    return (struct msg_task){.key = KEY,
                             .hash = {1, strlen(sql)},
                             .candidate = 4,
                             .family = family,
                             .db = "zoo",
                             .question = "How old is Leo?",
                             .sql = {sql, (uint32_t)strlen(sql)}};
}

Test(worker, result_has_all_signals_of_family)
{
    start((const char *const[]){"structure"}, 1);
    struct msg_task task = task_of("structure", "SELECT age FROM animal WHERE name = 'Leo'");
    rig_put(&rig, &task);
    struct msg_result *result = rig_next(&rig);
    unsigned n, expected = 0;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n; i++) expected += all[i]->family == VSIG_STRUCTURE && !all[i]->off_by_default;
    cr_assert_str_eq(result->code, "ok");
    cr_assert_eq(result->n_signals, expected);
    cr_assert_eq(result->hash[1], task.hash[1]);
    cr_assert_eq(result->candidate, 4);
    cr_assert_null(result->execution, "only the execution family tells of the result");
}

Test(worker, clause_of_finding_is_text_of_candidate)
{
    const char *sql = "SELECT name FROM animal GROUP BY name";
    start(NULL, 0);
    struct msg_task task = task_of("structure", sql);
    rig_put(&rig, &task);
    struct msg_result *result = rig_next(&rig);
    cr_assert_gt(result->n_findings, 0);
    for (uint32_t i = 0; i < result->n_findings; i++)
        for (uint32_t k = 0; k < result->findings[i].n_clauses; k++) {
            const struct msg_clause *clause = &result->findings[i].clauses[k];
            cr_assert_eq(strlen(clause->text), clause->end - clause->start);
            cr_assert_eq(memcmp(clause->text, sql + clause->start, strlen(clause->text)), 0);
        }
}

Test(worker, feature_that_sqlite_lacks_is_named)
{
    struct msg_task task = task_of("execution", "SELECT name FROM animal WHERE name ILIKE 'l%'");
    const char *families[] = {"execution"};
    start(families, 1);
    rig_put(&rig, &task);
    const struct msg_result *result = rig_next(&rig);
    cr_assert(result->invalid && result->n_findings == 1);
    const struct msg_finding *finding = &result->findings[0];
    cr_expect_str_eq(finding->message, "ILIKE is PostgreSQL syntax; in SQLite use LIKE, which ignores case");
    cr_assert_eq(finding->n_clauses, 1);
    cr_expect_str_eq(finding->clauses[0].text, "ILIKE");
}

/* The results of a request share one message, if the coordinator can read such messages. */
Test(worker, results_of_a_request_share_a_message)
{
    const unsigned n = VSIG_FAMILY_COUNT - 1;
    for (unsigned f = 0; f < n; f++) {
        struct msg_task task = task_of(vsig_family_name((enum vsig_family)f), "SELECT age FROM animal");
        task.joins = true;
        rig_put(&rig, &task);
    }
    start(NULL, 0);
    struct bus_message *message = rig_next_message(&rig, 0);
    const char *at = message->value;
    unsigned families = 0;
    for (size_t left = message->len, used; left; at += used, left -= used) {
        struct msg_result *result;
        struct err err = {0};
        cr_assert_eq(msg_next_result(&rig.arena, at, left, &result, &used, &err), ERR_OK, "%s", err.text);
        cr_assert_str_eq(result->code, "ok");
        families |= 1U << vsig_family_by_name(result->family);
    }
    cr_assert_eq(families, (1U << n) - 1, "each family once");
    bus_ack(rig.results, message);
    rig_stop(&rig);
    cr_assert(rig_is_empty(&rig), "and there is no other");
}

/* A coordinator with one topic sends a request of five candidates as one message. The worker must reply with one
 * message. */
Test(worker, tasks_that_share_a_message_are_answered_together)
{
    static const char *const statements[] = {"SELECT age FROM animal", "SELECT name FROM animal", "SELECT 1",
                                             "SELECT 2", "SELECT nothing FROM animal"};
    enum { FAMILIES = VSIG_FAMILY_COUNT - 1, CANDIDATES = 5 };
    struct msg_task tasks[CANDIDATES * FAMILIES];
    for (uint32_t i = 0; i < CANDIDATES * FAMILIES; i++) {
        tasks[i] = task_of(vsig_family_name((enum vsig_family)(i % FAMILIES)), statements[i / FAMILIES]);
        tasks[i].candidate = i / FAMILIES;
        tasks[i].hash[1] = i / FAMILIES;
        tasks[i].joins = true;
    }
    cr_assert_eq(CANDIDATES * FAMILIES, MSG_MAX_JOINED);
    rig_put_joined(&rig, BUS_TASKS_ALL, tasks, CANDIDATES * FAMILIES);
    start(NULL, 0);
    struct bus_message *message = rig_next_message(&rig, 0);
    const char *at = message->value;
    uint32_t families[CANDIDATES] = {0};
    for (size_t left = message->len, used; left; at += used, left -= used) {
        struct msg_result *result;
        struct err err = {0};
        cr_assert_eq(msg_next_result(&rig.arena, at, left, &result, &used, &err), ERR_OK, "%s", err.text);
        cr_assert_str_eq(result->code, "ok");
        cr_assert_eq(result->invalid, result->candidate == CANDIDATES - 1);
        families[result->candidate] |= 1U << vsig_family_by_name(result->family);
    }
    for (uint32_t i = 0; i < CANDIDATES; i++) cr_expect_eq(families[i], (1U << FAMILIES) - 1, "candidate %u", i);
    bus_ack(rig.results, message);
    rig_stop(&rig);
    start(NULL, 0);
    rig_stop(&rig);
    cr_assert(rig_is_empty(&rig), "it was acked: nobody judges it again");
}

/* A worker that runs only some families leaves the tasks of other families to other workers. */
Test(worker, shared_topic_is_read_only_by_full_workers)
{
    const char *some[] = {"structure", "join", "execution", "value", "question"};
    struct msg_task task = task_of("structure", "SELECT age FROM animal");
    start(some, 5);
    rig_put_joined(&rig, BUS_TASKS_ALL, &task, 1);
    rig_put(&rig, &task);
    cr_assert_str_eq(rig_next(&rig)->code, "ok");
    rig_stop(&rig);
    cr_assert(rig_is_empty(&rig), "the other one is still there");
}

static bool has_counted_five(void *p)
{
    struct worker_stats *stats = p;
    *stats = (struct worker_stats){0};
    worker_stats(rig.worker, stats);
    return stats->tasks == 5 && stats->answered == 3;
}

/* The task with the locked database is redelivered. The other tasks of its message are not. */
Test(worker, only_failed_task_of_message_is_retried)
{
    char *path = g_strconcat(zoo.dir, "/pond.sqlite", NULL);
    sqlite3 *writer;
    cr_assert_eq(sqlite3_open(path, &writer), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(writer, "CREATE TABLE fish(age INT); BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    struct msg_task tasks[3];
    for (uint32_t i = 0; i < 3; i++) {
        tasks[i] = task_of("execution", "SELECT 1");
        tasks[i].candidate = i;
        tasks[i].hash[1] = i;
    }
    tasks[1].db = "pond";
    rig_put_joined(&rig, BUS_TASKS_PREFIX "execution", tasks, 3);
    start(NULL, 0);
    uint32_t seen = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const struct msg_result *result = rig_next(&rig);
        cr_expect_str_eq(result->code, result->candidate == 1 ? "db_locked" : "ok");
        seen |= 1U << result->candidate;
    }
    cr_expect_eq(seen, 7, "each of them once");
    struct worker_stats stats = {0};
    cr_assert(wait_until(has_counted_five, &stats, 20000), "%lu tasks", (unsigned long)stats.tasks);
    cr_expect_eq(stats.retried, 2, "three attempts in all, of the one");
    cr_expect_eq(stats.answered, 3);
    rig_stop(&rig);
    start(NULL, 0);
    rig_stop(&rig);
    cr_assert(rig_is_empty(&rig), "nothing is left, nothing was answered twice");
    sqlite3_exec(writer, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(writer);
    g_remove(path);
    g_free(path);
}

Test(worker, families_of_candidate_share_its_work)
{
    const unsigned n = VSIG_FAMILY_COUNT - 1; /* all families except llm, because no model is configured */
    for (unsigned f = 0; f < n; f++) {
        struct msg_task task = task_of(vsig_family_name((enum vsig_family)f), "SELECT age FROM animal");
        rig_put(&rig, &task);
    }
    start(NULL, 0);
    for (unsigned f = 0; f < n; f++) cr_assert_str_eq(rig_next(&rig)->code, "ok");
    struct worker_stats stats = {0};
    for (int64_t start_ns = clock_now_ns(); !stats.tasks && clock_now_ns() - start_ns < INT64_C(20000000000);)
        worker_stats(rig.worker, &stats);
    cr_assert_eq(stats.tasks, n);
    cr_assert_eq(stats.candidates, 1, "parsed and bound once");
    cr_assert_eq(stats.executed, 1, "run once");
    cr_assert_eq(stats.prepare_ns, 0, "and never prepared beside");
    cr_assert_eq(stats.answered, n);
    for (unsigned f = 0; f < n; f++) cr_assert_eq(metrics_histogram_total(&stats.families[f]), 1);
    cr_assert_eq(stats.families[VSIG_EXECUTION].sum_ns > 0, 1);
}

/* The analysis of the question may be reused. The candidate, its result and the other parts of the request may not. */
Test(worker, equal_requests_are_judged_separately)
{
    enum { REQUESTS = 3 };
    struct msg_uncertain uncertain = {.stage = "columns", .name = "animal.age", .p = 0.9};
    struct msg_linking linking = {.uncertain = &uncertain, .n_uncertain = 1};
    for (int64_t r = 0; r < REQUESTS; r++) {
        struct msg_task task = task_of(r == REQUESTS - 1 ? "question" : "execution", "SELECT age FROM animal");
        task.key = (struct msg_key){KEY.partition, KEY.offset + r};
        if (r == REQUESTS - 1) task.linking = &linking;
        rig_put(&rig, &task);
    }
    start(NULL, 0);
    bool heard = false;
    for (int64_t r = 0; r < REQUESTS; r++) {
        const struct msg_result *result = rig_next(&rig);
        cr_assert_str_eq(result->code, "ok");
        for (uint32_t i = 0; i < result->n_findings; i++)
            heard |= result->findings[i].signal == VSIG_ID_linking_uncertain;
    }
    cr_expect(heard, "the linking of the last");
    struct worker_stats stats = rig_stop(&rig);
    cr_expect_eq(stats.candidates, REQUESTS);
    cr_expect(stats.executed >= REQUESTS - 1, "no result is another request's");
}

static bool has_turned_since(void *when)
{
    return worker_liveness(rig.worker).heartbeat_ns > *(int64_t *)when && worker_liveness(rig.worker).in_flight == 0;
}

Test(worker, heartbeat_continues_without_work)
{
    start(NULL, 0);
    int64_t now = clock_now_ns();
    cr_assert(wait_until(has_turned_since, &now, 20000));
    now = clock_now_ns();
    cr_assert(wait_until(has_turned_since, &now, 20000));
}

Test(worker, late_task_is_answered_as_late)
{
    start(NULL, 0);
    struct msg_task task = task_of("execution", "SELECT age FROM animal");
    task.deadline_ns = bus_now_ns(rig.bus) - 1;
    rig_put(&rig, &task);
    struct msg_result *result = rig_next(&rig);
    cr_assert_str_eq(result->code, "deadline");
    cr_assert_gt(result->n_signals, 0);
    for (uint32_t i = 0; i < result->n_signals; i++) {
        cr_assert_eq(result->signals[i].state, MSG_UNAVAILABLE, "never silent");
        cr_assert_str_eq(result->signals[i].reason, "deadline");
    }
}

Test(worker, only_tasks_in_time_are_judged)
{
    struct msg_task tasks[3];
    for (uint32_t i = 0; i < 3; i++) {
        tasks[i] = task_of("execution", "SELECT age FROM animal");
        tasks[i].candidate = i;
        tasks[i].hash[1] = i;
        if (i != 1) tasks[i].deadline_ns = bus_now_ns(rig.bus) - 1;
    }
    rig_put_joined(&rig, BUS_TASKS_ALL, tasks, 3);
    start(NULL, 0);
    for (uint32_t i = 0; i < 3; i++) {
        const struct msg_result *result = rig_next(&rig);
        cr_expect_str_eq(result->code, result->candidate == 1 ? "ok" : "deadline");
    }
    const struct worker_stats stats = rig_stop(&rig);
    cr_expect(stats.late == 2 && stats.candidates == 1);
}

Test(worker, missing_database_is_reported)
{
    start(NULL, 0);
    struct msg_task task = task_of("join", "SELECT 1");
    task.db = "../zoo";
    rig_put(&rig, &task);
    struct msg_result *result = rig_next(&rig);
    cr_assert_str_eq(result->code, "db_missing");
    cr_assert(result->message && *result->message);
}

/* The sender of the request named a database, not a file. It must not learn where the file is. */
Test(worker, results_do_not_reveal_database_locations)
{
    static const struct {
        const char *db, *code;
    } rows[] = {{"nowhere", "db_missing"}, {"../zoo", "db_missing"}, {"junk", "db_corrupt"}, {"zero", "db_empty"}};
    char *junk = g_strconcat(zoo.dir, "/junk.sqlite", NULL), *zero = g_strconcat(zoo.dir, "/zero.sqlite", NULL);
    cr_assert(g_file_set_contents(junk,
                                  "this is no database at all, but long enough to be read as the header of one, "
                                  "which has one hundred bytes",
                                  -1, NULL));
    cr_assert(g_file_set_contents(zero, "", 0, NULL));
    start(NULL, 0);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct msg_task task = task_of("join", "SELECT 1");
        task.db = rows[i].db;
        rig_put(&rig, &task);
        struct msg_result *result = rig_next(&rig);
        cr_expect_str_eq(result->code, rows[i].code);
        cr_expect(strstr(result->message, rows[i].db), "%s", result->message);
        cr_expect(!strstr(result->message, zoo.dir) && !strstr(result->message, ".sqlite"), "%s", result->message);
    }
    g_remove(junk);
    g_remove(zero);
    g_free(junk);
    g_free(zero);
}

static bool has_counted_two(void *p)
{
    struct worker_stats *stats = p;
    *stats = (struct worker_stats){0};
    worker_stats(rig.worker, stats);
    return stats->tasks == 2;
}

Test(worker, unreadable_task_is_dead_lettered)
{
    start(NULL, 0);
    rig_put_bytes(&rig, BUS_TASKS_PREFIX "join", KEY, "junk", 4);
    struct bus_message *letter = rig_next_message(&rig, 0);
    cr_assert_str_eq(letter->topic, BUS_TASKS_DLQ);
    cr_assert_eq(letter->len, 4, "the message itself is untouched");
    cr_assert_str_eq(bus_header_get(letter, "x-dlq-topic"), BUS_TASKS_PREFIX "join");
    cr_assert_str_eq(bus_header_get(letter, "x-dlq-offset"), "0");
    cr_assert_str_eq(bus_header_get(letter, "x-dlq-code"), "malformed");
    cr_assert(bus_header_get(letter, "x-dlq-message"));
    bus_ack(rig.results, letter);
    struct msg_task task = task_of("join", "SELECT age FROM animal");
    rig_put(&rig, &task);
    cr_assert_str_eq(rig_next(&rig)->code, "ok", "the next one is not affected");
    struct worker_stats stats = {0};
    cr_assert(wait_until(has_counted_two, &stats, 20000));
    cr_assert(stats.dead == 1 && stats.dead_by[ERR_MALFORMED] == 1 && stats.answered == 1);
}

/* If one task of a message is invalid, no task of it is answered: the coordinator would take a partial answer for the
 * complete one. */
Test(worker, message_with_unreadable_task_is_dead_lettered_whole)
{
    static const char *const codes[] = {"malformed", "malformed", "limit_count"};
    struct msg_task tasks[MSG_MAX_JOINED + 1];
    for (uint32_t i = 0; i <= MSG_MAX_JOINED; i++) tasks[i] = task_of("join", "SELECT age FROM animal");
    struct msg_buffer broken = {0};
    cr_assert_eq(msg_append_task(&broken, &tasks[0]), ERR_OK);
    cr_assert_eq(msg_append_task(&broken, &tasks[1]), ERR_OK);
    rig_put_bytes(&rig, BUS_TASKS_PREFIX "join", KEY, broken.bytes, broken.len - 1);
    tasks[1].key.offset++; /* now a task of another request */
    rig_put_joined(&rig, BUS_TASKS_PREFIX "join", tasks, 2);
    tasks[1].key.offset--;
    rig_put_joined(&rig, BUS_TASKS_PREFIX "join", tasks, MSG_MAX_JOINED + 1);
    start(NULL, 0);
    for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct bus_message *letter = rig_next_message(&rig, 0);
        cr_assert_str_eq(letter->topic, BUS_TASKS_DLQ);
        unsigned long offset = strtoul(bus_header_get(letter, "x-dlq-offset"), NULL, 10);
        cr_assert_lt(offset, 3);
        cr_expect_str_eq(bus_header_get(letter, "x-dlq-code"), codes[offset]);
        if (offset == 0) cr_expect_eq(letter->len, broken.len - 1, "the whole message is kept");
        bus_ack(rig.results, letter);
    }
    msg_buffer_free(&broken);
    rig_put(&rig, &tasks[0]);
    cr_assert_str_eq(rig_next(&rig)->code, "ok", "the next one is not affected");
}

static bool has_counted_one(void *p)
{
    struct worker_stats *stats = p;
    *stats = (struct worker_stats){0};
    worker_stats(rig.worker, stats);
    return stats->tasks >= 1;
}

static struct executor_stats executors_after_a_task(const char *child)
{
    struct worker_stats stats;
    struct msg_task task = task_of("execution", "SELECT age FROM animal");
    if (child) g_setenv("ASSAY_TEST_CHILD", child, TRUE);
    start(NULL, 0);
    rig_put(&rig, &task);
    rig_next(&rig);
    cr_expect(wait_until(has_counted_one, &stats, 20000));
    rig_stop(&rig);
    return stats.executors;
}

Test(worker, executors_are_counted)
{
    struct executor_stats executors = executors_after_a_task(NULL);
    cr_expect(executors.started == 1 && executors.killed == 0 && executors.crashed == 0);
}

Test(worker, crashed_executors_are_counted)
{
    struct executor_stats executors = executors_after_a_task("crash");
    cr_expect(executors.crashed >= 1 && executors.started >= executors.crashed && executors.killed == 0,
              "%u started, %u crashed", executors.started, executors.crashed);
}

static bool next_is_ok(void *task)
{
    rig_put(&rig, task);
    return strcmp(rig_next(&rig)->code, "ok") == 0;
}

/* A writer holds the lock. The task is retried, and answered after the writer has finished. */
Test(worker, locked_database_is_retried)
{
    sqlite3 *writer = fixture_writer(zoo.path);
    cr_assert_eq(sqlite3_exec(writer, "BEGIN EXCLUSIVE", NULL, NULL, NULL), SQLITE_OK);
    start(NULL, 0);
    struct msg_task task = task_of("structure", "SELECT age FROM animal");
    rig_put(&rig, &task);
    struct msg_result *result = rig_next(&rig);
    cr_assert_str_eq(result->code, "db_locked", "in the end it says so: %s", result->code);
    struct worker_stats stats = {0};
    for (int64_t start_ns = clock_now_ns(); stats.retried < 2 && clock_now_ns() - start_ns < INT64_C(20000000000);
         stats.retried = 0, worker_stats(rig.worker, &stats))
        ;
    cr_assert_eq(stats.retried, 2, "three attempts in all");
    sqlite3_exec(writer, "ROLLBACK", NULL, NULL, NULL);
    sqlite3_close(writer);
    cr_assert(wait_until(next_is_ok, &task, 10000), "a failure to read the schema is cached for a second");
}

Test(worker, unfinished_tasks_pass_to_next_worker)
{
    start(NULL, 0);
    rig_stop(&rig);
    struct msg_task task = task_of("value", "SELECT age FROM animal");
    rig_put(&rig, &task);
    start(NULL, 0);
    cr_assert_str_eq(rig_next(&rig)->code, "ok");
}

Test(worker, unknown_families_are_refused_at_start)
{
    struct err err = {0};
    struct worker *none;
    struct worker_config config = {.bus = rig.bus,
                                   .families = (const char *const[]){"astrology"},
                                   .n_families = 1,
                                   .schemas = rig.schemas,
                                   .signals = rig.signals};
    cr_assert_eq(worker_new(&config, &none, &err), ERR_CONFIG);
    cr_assert(strstr(err.text, "astrology"), "%s", err.text);
    cr_assert_null(none);
}
