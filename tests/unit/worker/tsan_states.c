/* Several threads request the states of databases. Meanwhile the module's own thread inspects the databases, publishes
 * the states, and forgets unused ones. It is a plain program, because Criterion does not start under ThreadSanitizer.
 * Exit status 0 means that each database always had the same state, and that the module's thread inspected them. */
#include "lib/base/clock.h"
#include "tests/support/wait.h"
#include "worker/db_states.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The clock runs faster, so that a state that is unused for ten minutes is forgotten within the test. */
enum { THREADS = 4, NAMES = 5, RUN_MS = 3000, TURN_MS = 200, TIMES_FASTER = 2000 };

static char dir[] = "/tmp/assay-states-XXXXXX", path[64];
static struct db_states *states;
static char fingerprint[33], expected[NAMES][STATE_TEXT];
static atomic_uint told, failures;

static int64_t real_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000) + now.tv_nsec / 1000000;
}

static int64_t fast_now_ns(void)
{
    return real_ms() * 1000000 * TIMES_FASTER;
}

static void make_database(void)
{
    sqlite3 *conn;
    if (!mkdtemp(dir)) abort();
    snprintf(path, sizeof path, "%s/zoo.sqlite", dir);
    if (sqlite3_open(path, &conn) || sqlite3_exec(conn, "CREATE TABLE animal(name TEXT)", NULL, NULL, NULL) ||
        sqlite3_close(conn))
        abort();
}

static struct db *open_database(void)
{
    struct db *db;
    if (db_open(path, NULL, &db, NULL)) abort();
    return db;
}

static bool ask(const struct db *db, unsigned number, char out[STATE_TEXT])
{
    const char name[] = {(char)('a' + number), '\0'};
    return db_states_of(states, db, name, path, fingerprint, out);
}

struct asker {
    struct db *db;
    int64_t began_ms;
};

/* Requests the state of a different database in each round, so that the others are forgotten and read again. */
static bool has_asked_all_along(void *ctx)
{
    const struct asker *asker = ctx;
    char state[STATE_TEXT];
    int64_t past = real_ms() - asker->began_ms;
    unsigned number = (unsigned)(past / TURN_MS) % NAMES;
    if (!ask(asker->db, number, state) || strcmp(state, expected[number]) != 0) atomic_fetch_add(&failures, 1);
    atomic_fetch_add(&told, 1);
    return past >= RUN_MS;
}

static void *run(void *arg)
{
    struct db *db = open_database();
    struct asker asker = {db, real_ms()};
    char own[33];
    (void)arg;
    if (db_fingerprint(db, own, NULL) || !db_tells_changes(db)) atomic_fetch_add(&failures, 1);
    if (!wait_until(has_asked_all_along, &asker, 2 * RUN_MS)) atomic_fetch_add(&failures, 1);
    db_close(db);
    return NULL;
}

static bool is_told(void *db)
{
    char state[STATE_TEXT];
    return ask(db, 0, state);
}

/* Requests a state through a handle that has not inspected the file. So the state must come from the module's
 * thread. */
static bool was_looked_at(void)
{
    struct db *db = open_database();
    bool looked = wait_until(is_told, db, 20000);
    db_close(db);
    return looked;
}

int main(void)
{
    static const struct cache_config nowhere = {.address = "127.0.0.1:1"};
    struct vsig_options *signals = vsig_options_new();
    struct schema_cache *schemas = schema_cache_new(NULL, 0);
    const struct worker_config worker = {.schemas = schemas, .signals = signals, .limits = {.time_ms = 1000000000}};
    pthread_t threads[THREADS];
    clock_set_source(fast_now_ns); /* before the first handle, because that starts a watchdog that reads the clock */
    make_database();
    struct db *db = open_database();
    if (db_fingerprint(db, fingerprint, NULL) || db_states_open(&nowhere, &worker, &states, NULL)) abort();
    if (!was_looked_at()) atomic_fetch_add(&failures, 1);
    for (unsigned i = 0; i < NAMES; i++)
        if (!ask(db, i, expected[i])) atomic_fetch_add(&failures, 1);
    for (unsigned i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, run, NULL)) abort();
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    db_states_close(states);
    db_close(db);
    schema_cache_free(schemas);
    vsig_options_free(signals);
    unlink(path);
    rmdir(dir);
    printf("told %u times, %u failures\n", atomic_load(&told), atomic_load(&failures));
    return atomic_load(&failures) || !atomic_load(&told);
}
