/* Threads of a worker pass its lead on to each other. Candidates are fast and slow, statistics are read, requests are
 * cancelled, and the worker is stopped during work. It is a plain program, because Criterion does not start under
 * ThreadSanitizer. Exit status 0 means success. */
#include "lib/base/clock.h"
#include "worker/worker.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUNDS = 4, CANDIDATES = 60, FAMILIES = VSIG_FAMILY_COUNT - 1 /* all families except llm */ };

static const char *const STATEMENTS[] = {
    "SELECT age FROM animal", "SELECT nothing FROM animal",
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT count(*) FROM n"};

static char dir[] = "/tmp/assay-lanes-XXXXXX", path[64];
static struct bus *bus;
static struct worker *worker;
static atomic_uint answered;
static atomic_bool watching, stopping;

static void *work(void *unused)
{
    if (worker_run(worker, NULL)) abort();
    return unused;
}

static void *watch(void *unused)
{
    for (int64_t i = 0; atomic_load(&watching); i++) {
        struct worker_stats stats = {0};
        worker_stats(worker, &stats);
        worker_liveness(worker);
        worker_stop_request(worker, (struct msg_key){0, i % CANDIDATES}); /* tasks of a fourth one exist too */
        usleep(500);
    }
    return unused;
}

static void *collect(void *results)
{
    while (!atomic_load(&stopping)) {
        struct bus_message *message;
        uint32_t n = 0;
        bus_poll(results, 0, &message, 1, 10, &n);
        if (!n) continue;
        bus_ack(results, message);
        atomic_fetch_add(&answered, 1);
    }
    return NULL;
}

static void put(uint32_t candidate)
{
    const char *sql = STATEMENTS[candidate % (sizeof STATEMENTS / sizeof *STATEMENTS)];
    for (unsigned f = 0; f < FAMILIES; f++) {
        const struct msg_task task = {.key = {0, candidate / 4},
                                      .hash = {candidate, 1},
                                      .candidate = candidate,
                                      .family = vsig_family_name((enum vsig_family)f),
                                      .db = "zoo",
                                      .question = "How old is Leo?",
                                      .sql = {sql, (uint32_t)strlen(sql)}};
        struct msg_buffer buffer = {0};
        char topic[64];
        snprintf(topic, sizeof topic, BUS_TASKS_PREFIX "%s", task.family);
        if (msg_encode_task(&buffer, &task)) abort();
        const struct bus_out out = {
            .topic = topic, .partition = BUS_ANY_PARTITION, .value = buffer.bytes, .len = buffer.len};
        if (bus_produce(bus, &out, 1, 10000, NULL)) abort();
        msg_buffer_free(&buffer);
    }
}

static void make_database(void)
{
    sqlite3 *conn;
    if (!mkdtemp(dir)) abort();
    snprintf(path, sizeof path, "%s/zoo.sqlite", dir);
    if (sqlite3_open(path, &conn) || sqlite3_exec(conn, "CREATE TABLE animal(name TEXT, age INT)", NULL, NULL, NULL) ||
        sqlite3_close(conn))
        abort();
}

static void wait_for(uint32_t n)
{
    int64_t until_ns = clock_now_ns() + INT64_C(120000000000);
    while (atomic_load(&answered) < n && clock_now_ns() < until_ns) usleep(1000);
}

/* Runs a worker until `n` tasks are answered in total. Then stops it, even if some work is unfinished. */
static void run_until(const struct worker_config *config, uint32_t n, struct worker_stats *stats)
{
    pthread_t runs, watches;
    struct err err = {0};
    atomic_store(&watching, true);
    if (worker_new(config, &worker, &err)) fprintf(stderr, "%s\n", err.text), abort();
    pthread_create(&runs, NULL, work, NULL);
    pthread_create(&watches, NULL, watch, NULL);
    wait_for(n);
    worker_stop(worker);
    pthread_join(runs, NULL);
    atomic_store(&watching, false);
    pthread_join(watches, NULL);
    worker_stats(worker, stats);
    worker_free(worker);
}

int main(void)
{
    static const char *const topics[] = {BUS_RESULTS};
    const char *const roots[] = {dir};
    struct bus_consumer *results;
    struct worker_stats stats = {0};
    pthread_t collects;
    make_database();
    if (bus_open("local", NULL, &bus, NULL) || bus_subscribe(bus, "test", topics, 1, &results, NULL)) abort();
    struct vsig_options *signals = vsig_options_new();
    const struct worker_config config = {.bus = bus,
                                         .databases = {.roots = roots, .n_roots = 1},
                                         .schemas = schema_cache_new(NULL, 0),
                                         .signals = signals,
                                         .slow_threads = 2,
                                         .slow_ms = 1};
    pthread_create(&collects, NULL, collect, results);
    for (uint32_t i = 0; i < CANDIDATES; i++) put(i);
    for (uint32_t round = 1; round <= ROUNDS; round++)
        run_until(&config, round * CANDIDATES * FAMILIES / ROUNDS, &stats);
    atomic_store(&stopping, true);
    pthread_join(collects, NULL);
    schema_cache_free(config.schemas);
    vsig_options_free(signals);
    bus_unsubscribe(results);
    bus_close(bus);
    unlink(path);
    rmdir(dir);
    printf("%u answered, %llu aside\n", atomic_load(&answered), (unsigned long long)stats.slow);
    return atomic_load(&answered) == CANDIDATES * FAMILIES && stats.slow ? 0 : 1;
}
