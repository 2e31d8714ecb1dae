/* Tests the fleet's cache on a real Redis. Each test has its own Redis. Each `struct seat` simulates one worker process
 * with a cache and a database handle. */
#include "lib/base/clock.h"
#include "lib/base/log.h"
#include "server/fleet_metrics.h"
#include "tests/live/redis_server.h"
#include "tests/support/leak.h"
#include "tests/support/wait.h"
#include "tests/unit/db/fixture.h"
#include "worker/cache.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char SQL[] =
    "CREATE TABLE singer(id INTEGER PRIMARY KEY, name TEXT, age INT);"
    "INSERT INTO singer VALUES(1,'Ann Lee',31),(2,'Bo',44),(3,'Cy Young',NULL);"
    "CREATE TABLE concert(id INTEGER PRIMARY KEY, singer_id INT REFERENCES singer(id), hall TEXT);"
    "INSERT INTO concert VALUES(1,1,'North'),(2,2,'South');";
/* An endless view. Reading it stops after a second, so building the index takes at least that long. */
static const char SLOW_SQL[] = "CREATE TABLE t(a TEXT); INSERT INTO t VALUES('x');"
                               "CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                               "SELECT count(*) AS c FROM n;";

struct seat {
    struct cache *cache;
    struct cache_stats stats;
};

static void sit(struct seat *seat, const struct cache_config *config)
{
    struct err err = {0};
    cr_assert_eq(cache_open(config, &seat->cache, &err), ERR_OK, "%s", err.text);
}

static void look(struct seat *seat)
{
    cache_get_stats(seat->cache, &seat->stats);
}

static void rise(struct seat *seat)
{
    cache_close(seat->cache);
}

static char *printed(struct schema_index *index)
{
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    index->bytes = 0; /* excluded from the comparison: memory for loaded values */
    index->build_ns = 0;
    schema_print(index, out, true, true);
    fclose(out);
    return text;
}

/* Gets the index through the cache. It must equal a newly built index in any state of the cache. */
static void get(struct seat *seat, struct fixture *f)
{
    struct schema_index *index, *built;
    struct err err = {0};
    cr_assert_eq(cache_build(seat->cache, f->db, "concerts", f->path, NULL, &index, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(schema_build(f->db, "concerts", f->path, NULL, &built, &err), ERR_OK, "%s", err.text);
    char *a = printed(index), *b = printed(built);
    cr_assert_str_eq(a, b);
    free(a);
    free(b);
    schema_unref(index);
    schema_unref(built);
    look(seat);
}

/* --- normal operation
 * ---------------------------------------------------------------------------------------------- */

struct stage {
    struct redis_server server;
    struct fixture f;
    struct cache_config config;
};

/* Prepares a stage without opening a database, for tests that fork (race). */
static void stage_set(struct stage *stage, const char *sql)
{
    redis_needed();
    redis_start(&stage->server, NULL, NULL);
    fixture_init(&stage->f, sql);
    stage->config = (struct cache_config){.address = stage->server.address, .retry_ms = 50};
}

static void stage_begin(struct stage *stage, const char *sql)
{
    stage_set(stage, sql);
    fixture_open(&stage->f, NULL);
}

static void stage_end(struct stage *stage)
{
    redis_end(&stage->server);
    fixture_end(&stage->f);
}

Test(redis, built_index_is_found_by_next_worker)
{
    struct stage s;
    struct seat one, two;
    stage_begin(&s, SQL);
    sit(&one, &s.config);
    sit(&two, &s.config);
    get(&one, &s.f);
    cr_assert(one.stats.misses == 1 && one.stats.builds == 1 && one.stats.stored == 1 && one.stats.hits == 0);
    get(&two, &s.f);
    cr_assert(two.stats.hits == 1 && two.stats.builds == 0 && two.stats.failures == 0);
    const char *schema = redis_key(&s.server, "assay:concerts:*:schema");
    long long ttl = redis_int(&s.server, "PTTL", schema);
    cr_assert(ttl > 6LL * 86400000 && ttl <= 7LL * 86400000, "%lld", ttl);
    char pointed[33];
    g_strlcpy(pointed, redis_text(&s.server, "GET", "assay:concerts:index"), sizeof pointed);
    cr_assert_not_null(strstr(schema, pointed), "the pointer names the index");
    cr_assert_str_eq(redis_key(&s.server, "*:lock"), "");
    cr_assert_str_eq(redis_key(&s.server, "*:stage:*"), "");
    rise(&one);
    rise(&two);
    stage_end(&s);
}

Test(redis, changed_database_state_changes_key)
{
    struct stage s;
    struct seat seat;
    stage_begin(&s, SQL);
    sit(&seat, &s.config);
    get(&seat, &s.f);
    fixture_exec(s.f.path, "INSERT INTO singer VALUES(9,'Di',1)");
    get(&seat, &s.f);
    cr_assert(seat.stats.builds == 2 && seat.stats.stored == 2 && seat.stats.rejected == 0);
    rise(&seat);
    stage_end(&s);
}

Test(redis, prefix_database_number_and_expiry_are_used)
{
    struct stage s;
    struct seat seat;
    stage_begin(&s, SQL);
    s.config.prefix = "other";
    s.config.database = 3;
    s.config.ttl_ms = 5000;
    sit(&seat, &s.config);
    get(&seat, &s.f);
    cr_assert_eq(seat.stats.stored, 1);
    cr_assert_eq(redis_int(&s.server, "DBSIZE", NULL), 0, "in database 3, not 0");
    freeReplyObject(redis_do(&s.server, "SWAPDB", "0", "3", NULL));
    cr_assert_leq(redis_int(&s.server, "PTTL", redis_key(&s.server, "other:concerts:*:schema")), 5000);
    rise(&seat);
    stage_end(&s);
}

/* --- one builder -------------------------------------------------------------------------------------------------- */

/* Starts several processes; each one gets the index and leaves its counters for the parent. The parent must not have
 * opened a database before. Otherwise the child would inherit a lock of the thread that watches deadlines, but not the
 * thread. A child ends with a failed test, even if it is stopped, because the test runner waits for all children. */
static pid_t race(const struct stage *s, struct cache_stats *out)
{
    pid_t child = fork();
    cr_assert_geq(child, 0);
    if (child) return child;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    struct schema_index *index = NULL;
    struct db *db;
    struct cache *cache;
    if (db_open(s->f.path, NULL, &db, NULL) || cache_open(&s->config, &cache, NULL)) _exit(2);
    enum err_code code = cache_build(cache, db, "concerts", s->f.path, NULL, &index, NULL);
    schema_unref(index);
    cache_get_stats(cache, out);
    cache_close(cache);
    db_close(db);
    _exit(code ? 3 : 0);
}

static void reap(pid_t child)
{
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0, "%x", (unsigned)status);
}

static struct cache_stats *shared_stats(size_t n)
{
    void *p = mmap(NULL, n * sizeof(struct cache_stats), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(p, MAP_FAILED);
    return p;
}

Test(redis, only_one_of_many_processes_builds, .timeout = 60)
{
    enum { N = 6 };
    struct stage s;
    pid_t children[N];
    uint64_t builds = 0, hits = 0, waits = 0;
    stage_set(&s, SLOW_SQL);
    s.config.lease_ms = 300; /* shorter than the build: only a heartbeat keeps the lock */
    s.config.timeout_ms = 5000;
    struct cache_stats *stats = shared_stats(N);
    for (int i = 0; i < N; i++) children[i] = race(&s, &stats[i]);
    for (int i = 0; i < N; i++) reap(children[i]);
    for (int i = 0; i < N; i++) builds += stats[i].builds, hits += stats[i].hits, waits += stats[i].waits;
    cr_assert(builds == 1 && hits == N - 1, "%d built, %d found", (int)builds, (int)hits);
    cr_assert_geq(waits, 1);
    munmap(stats, N * sizeof *stats);
    stage_end(&s);
}

static bool has_lock(void *context)
{
    return *redis_key(context, "*:lock") != '\0';
}
static bool has_no_lock(void *context)
{
    return !has_lock(context);
}

/* A builder is stopped beyond its lease, and another one builds and publishes. The first builder's result is dropped,
 * and the newer pointer remains. */
Test(redis, late_builder_keeps_newer_index, .timeout = 60)
{
    struct stage s;
    stage_set(&s, SLOW_SQL);
    s.config.lease_ms = 400;
    struct cache_stats *stats = shared_stats(1);
    pid_t late = race(&s, stats);
    cr_assert(wait_until(has_lock, &s.server, 10000));
    kill(late, SIGSTOP);
    cr_assert(wait_until(has_no_lock, &s.server, 10000), "its lease ends");
    fixture_open(&s.f, NULL);
    struct seat seat;
    struct schema_index *index;
    sit(&seat, &s.config);
    cr_assert_eq(cache_build(seat.cache, s.f.db, "concerts", s.f.path, NULL, &index, NULL), ERR_OK);
    schema_unref(index);
    look(&seat);
    cr_assert_eq(seat.stats.stored, 1);
    char pointer[256], schema[512];
    g_strlcpy(pointer, redis_text(&s.server, "GET", "assay:concerts:index"), sizeof pointer);
    g_strlcpy(schema, redis_key(&s.server, "*:schema"), sizeof schema);
    freeReplyObject(redis_do(&s.server, "SET", schema, "marked", NULL));
    kill(late, SIGCONT);
    reap(late);
    cr_assert(stats->builds == 1 && stats->stored == 0 && stats->fenced == 1, "stored %d fenced %d", (int)stats->stored,
              (int)stats->fenced);
    cr_assert_str_eq(redis_text(&s.server, "GET", schema), "marked", "what was there stays");
    cr_assert_str_eq(redis_text(&s.server, "GET", "assay:concerts:index"), pointer);
    cr_assert_str_eq(redis_key(&s.server, "*:stage:*"), "", "what was staged is gone");
    rise(&seat);
    munmap(stats, sizeof *stats);
    stage_end(&s);
}

/* A builder with an older lock must not set the pointer back to its older index. */
Test(redis, pointer_never_moves_back)
{
    struct stage s;
    struct seat seat;
    stage_begin(&s, SQL);
    sit(&seat, &s.config);
    freeReplyObject(redis_do(&s.server, "SET", "assay:concerts:index", "later 9000000000000000", NULL));
    get(&seat, &s.f);
    cr_assert_eq(seat.stats.stored, 1, "the index itself is under its own key");
    cr_assert_str_eq(redis_text(&s.server, "GET", "assay:concerts:index"), "later 9000000000000000");
    freeReplyObject(redis_do(&s.server, "FLUSHALL", NULL));
    freeReplyObject(redis_do(&s.server, "LPUSH", "assay:concerts:index", "of another kind", NULL));
    get(&seat, &s.f);
    cr_assert_eq(seat.stats.stored, 2, "a pointer that is none is no hindrance");
    rise(&seat);
    stage_end(&s);
}

/* Takes the lock of the index on behalf of another process. */
static void lock_as_other(struct stage *s, struct seat *seat, const char *lease_ms)
{
    char lock[512];
    get(seat, &s->f);
    g_strlcpy(lock, redis_key(&s->server, "*:schema"), sizeof lock);
    freeReplyObject(redis_do(&s->server, "DEL", lock, NULL));
    strcpy(lock + strlen(lock) - strlen("schema"), "lock");
    freeReplyObject(redis_do(&s->server, "SET", lock, "another's token", "PX", lease_ms, NULL));
}

Test(redis, dead_builder_is_awaited_at_most_one_lease)
{
    struct stage s;
    struct seat seat;
    stage_begin(&s, SQL);
    sit(&seat, &s.config);
    lock_as_other(&s, &seat, "300");
    get(&seat, &s.f);
    cr_assert(seat.stats.waits == 1 && seat.stats.impatient == 0 && seat.stats.stored == 2);
    rise(&seat);
    stage_end(&s);
}

Test(redis, wait_for_builder_is_bounded)
{
    struct stage s;
    struct seat seat;
    stage_begin(&s, SQL);
    s.config.wait_ms = 150;
    sit(&seat, &s.config);
    lock_as_other(&s, &seat, "600000");
    int64_t started = clock_now_ns();
    get(&seat, &s.f);
    cr_assert_lt(clock_now_ns() - started, 10000000000LL);
    cr_assert(seat.stats.impatient == 1 && seat.stats.builds == 2 && seat.stats.stored == 1);
    cr_assert_str_eq(redis_text(&s.server, "GET", redis_key(&s.server, "*:lock")), "another's token",
                     "it is not ours to take");
    rise(&seat);
    stage_end(&s);
}

/* --- contents of Redis
 * ----------------------------------------------------------------------------------------------- */

/* Replaces the index in Redis by other bytes. They must be rejected, and the index must be built again. */
static void spoil(struct stage *s, struct seat *seat, const char *const *words)
{
    char schema[512];
    g_strlcpy(schema, redis_key(&s->server, "*:schema"), sizeof schema);
    uint64_t rejected = seat->stats.rejected, builds = seat->stats.builds, hits = seat->stats.hits;
    if (strcmp(words[0], "SET") != 0) freeReplyObject(redis_do(&s->server, "DEL", schema, NULL));
    freeReplyObject(redis_do(&s->server, words[0], schema, words[1], words[2], NULL));
    get(seat, &s->f);
    cr_assert(seat->stats.rejected == rejected + 1 && seat->stats.builds == builds + 1, "%s %s", words[0], words[1]);
    get(seat, &s->f);
    cr_assert_eq(seat->stats.hits, hits + 1, "%s %s", words[0], words[1]);
    cr_assert_not(seat->stats.unavailable);
}

Test(redis, invalid_index_is_rejected_and_replaced)
{
    static const char *const spoils[][3] = {{"SET", "", NULL},
                                            {"SET", "garbage", NULL},
                                            {"SET", "assay.ix and then not what should follow, at all", NULL},
                                            {"LPUSH", "of another type", NULL},
                                            {"SETRANGE", "500000", "far out"}};
    struct stage s;
    struct seat seat;
    stage_begin(&s, SQL);
    sit(&seat, &s.config);
    get(&seat, &s.f);
    for (size_t i = 0; i < G_N_ELEMENTS(spoils); i++) spoil(&s, &seat, spoils[i]);
    rise(&seat);
    stage_end(&s);
}

/* COPY stores a valid index of another database under this database's key. */
Test(redis, index_of_other_database_is_rejected)
{
    struct stage s;
    struct seat seat;
    char mine[512], other[512];
    stage_begin(&s, SQL);
    sit(&seat, &s.config);
    get(&seat, &s.f);
    g_strlcpy(other, redis_key(&s.server, "*:schema"), sizeof other);
    freeReplyObject(redis_do(&s.server, "RENAME", other, "kept", NULL));
    fixture_exec(s.f.path, "INSERT INTO singer VALUES(9,'Di',1)");
    get(&seat, &s.f);
    g_strlcpy(mine, redis_key(&s.server, "*:schema"), sizeof mine);
    freeReplyObject(redis_do(&s.server, "RENAME", "kept", mine, NULL));
    get(&seat, &s.f);
    cr_assert_eq(seat.stats.rejected, 1);
    rise(&seat);
    stage_end(&s);
}

/* --- large columns ------------------------------------------------------------------------------------------------ */

static const char LARGE_SQL[] = "CREATE TABLE t(a TEXT, name TEXT);"
                                "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9000)"
                                "INSERT INTO t SELECT 'x' || (i % 9), 'Name ' || i FROM n;";

/* Finds the index, disturbs the server, then looks up a value of the large column. The result must be right. */
static void ask_large(struct stage *s, struct seat *seat, void (*meanwhile)(struct stage *s))
{
    struct schema_index *index;
    cr_assert_eq(cache_build(seat->cache, s->f.db, "concerts", s->f.path, NULL, &index, NULL), ERR_OK);
    if (meanwhile) meanwhile(s);
    cr_assert_eq(schema_column_has(index, index->columns[1], "Name 4711", 9, true), 1);
    cr_assert_eq(schema_column_has(index, index->columns[1], "Name 9001", 9, true), 0);
    schema_unref(index);
    look(seat);
}

static void drop_part(struct stage *s)
{
    freeReplyObject(redis_do(&s->server, "DEL", redis_key(&s->server, "*:values:1"), NULL));
}
static void spoil_part(struct stage *s)
{
    freeReplyObject(redis_do(&s->server, "SET", redis_key(&s->server, "*:values:1"), "rubbish", NULL));
}
static void kill_server(struct stage *s)
{
    redis_kill(&s->server);
}

Test(redis, large_column_is_fetched_on_first_use)
{
    struct stage s;
    struct seat seat;
    stage_begin(&s, LARGE_SQL);
    sit(&seat, &s.config);
    get(&seat, &s.f);
    cr_assert_eq(seat.stats.parts, 0);
    ask_large(&s, &seat, NULL);
    cr_assert(seat.stats.parts == 1 && seat.stats.rebuilds == 0);
    ask_large(&s, &seat, drop_part);
    cr_assert(seat.stats.parts == 1 && seat.stats.rebuilds == 1, "evicted");
    ask_large(&s, &seat, spoil_part);
    cr_assert(seat.stats.parts == 1 && seat.stats.rebuilds == 2 && seat.stats.rejected == 1, "overwritten");
    ask_large(&s, &seat, NULL);
    cr_assert(seat.stats.parts == 2 && seat.stats.rebuilds == 2, "and put back");
    ask_large(&s, &seat, kill_server);
    cr_assert(seat.stats.rebuilds == 3 && seat.stats.failures >= 1, "gone");
    rise(&seat);
    stage_end(&s);
}

/* --- failing servers
 * ------------------------------------------------------------------------------------------------- */

Test(redis, restarted_server_is_used_again, .timeout = 60)
{
    struct stage s;
    struct seat seat;
    stage_begin(&s, SQL);
    s.config.retry_ms = 600000;
    sit(&seat, &s.config);
    get(&seat, &s.f);
    redis_kill(&s.server);
    get(&seat, &s.f);
    cr_assert(seat.stats.failures == 1 && seat.stats.unavailable && seat.stats.builds == 2);
    get(&seat, &s.f);
    cr_assert(seat.stats.failures == 1 && seat.stats.skipped >= 1, "left alone");
    redis_again(&s.server);
    cr_assert_eq(cache_ping(seat.cache, NULL), ERR_OK);
    get(&seat, &s.f);
    cr_assert(!seat.stats.unavailable && seat.stats.stored == 2);
    rise(&seat);
    stage_end(&s);
}

static bool is_back(void *context)
{
    struct seat *seat = context;
    look(seat);
    return !seat->stats.unavailable || cache_ping(seat->cache, NULL) == ERR_OK;
}

static void expect_metric(struct seat *seat, const char *line)
{
    struct metrics *metrics;
    struct err err = {0};
    cr_assert_eq(metrics_new(fleet_metrics_defs, FLEET_METRICS_COUNT, &metrics, &err), ERR_OK, "%s", err.text);
    look(seat);
    fleet_metrics_redis(metrics, &seat->stats);
    char *text = metrics_write(metrics, NULL);
    cr_assert(strstr(text, line), "no %s in\n%s", line, text);
    free(text);
    metrics_free(metrics);
}

/* The metrics and the log show an outage. The log has one line at its start and one at its end, whatever the number of
 * failed calls. */
Test(redis, outage_shows_in_metrics_and_log, .timeout = 60)
{
    struct stage s;
    struct seat seat;
    char said[4096];
    FILE *file = tmpfile();
    log_open(fileno(file), LOG_FORM_JSON, LOG_LEVEL_INFO);
    stage_begin(&s, SQL);
    s.config.retry_ms = 1; /* each call updates the metric */
    sit(&seat, &s.config);
    get(&seat, &s.f);
    expect_metric(&seat, "\nassay_redis_away 0\n");
    expect_metric(&seat, "{layer=\"redis\",event=\"failures\"} 0\n");
    redis_kill(&s.server);
    get(&seat, &s.f);
    cr_assert_eq(cache_ping(seat.cache, NULL), ERR_UNREACHABLE);
    expect_metric(&seat, "\nassay_redis_away 1\n");
    expect_metric(&seat, "{layer=\"redis\",event=\"failures\"} 2\n");
    expect_metric(&seat, "{layer=\"redis\",event=\"builds\"} 2\n");
    redis_again(&s.server);
    cr_assert(wait_until(is_back, &seat, 10000));
    get(&seat, &s.f);
    expect_metric(&seat, "\nassay_redis_away 0\n");
    ssize_t n = pread(fileno(file), said, sizeof said - 1, 0);
    said[n > 0 ? n : 0] = '\0';
    const char *gone = strstr(said, "\"level\":\"warn\""), *back = strstr(said, "Redis is available again");
    cr_assert(gone && back && gone < back && !strstr(gone + 1, "\"level\":\"warn\""), "%s", said);
    log_open(-1, LOG_FORM_TEXT, LOG_LEVEL_ERROR);
    fclose(file);
    rise(&seat);
    stage_end(&s);
}

Test(redis, restart_between_calls_causes_no_error)
{
    struct stage s;
    struct seat seat;
    stage_begin(&s, SQL);
    sit(&seat, &s.config);
    get(&seat, &s.f);
    redis_kill(&s.server);
    redis_again(&s.server);
    get(&seat, &s.f);
    cr_assert(seat.stats.failures == 0 && seat.stats.stored == 2 && seat.stats.connects == 2,
              "failures %d stored %d connects %d: %s", (int)seat.stats.failures, (int)seat.stats.stored,
              (int)seat.stats.connects, seat.stats.last_error);
    rise(&seat);
    stage_end(&s);
}

Test(redis, hanging_server_costs_one_timeout, .timeout = 60)
{
    struct stage s;
    struct seat seat;
    stage_begin(&s, SQL);
    s.config.timeout_ms = 200;
    s.config.retry_ms = 600000;
    sit(&seat, &s.config);
    get(&seat, &s.f);
    redis_pause(&s.server);
    get(&seat, &s.f);
    get(&seat, &s.f);
    get(&seat, &s.f);
    cr_assert(seat.stats.failures == 1 && seat.stats.skipped >= 2 && seat.stats.builds == 4);
    cr_assert_lt(seat.stats.call_ns, 3000000000ULL, "%.0f ms in calls", (double)seat.stats.call_ns / 1e6);
    redis_resume(&s.server);
    cr_assert(wait_until(is_back, &seat, 10000));
    get(&seat, &s.f);
    cr_assert_eq(seat.stats.hits, 1, "what was stored is still there");
    rise(&seat);
    stage_end(&s);
}

Test(redis, full_server_stores_nothing_without_delay)
{
    struct stage s;
    struct seat seat;
    stage_begin(&s, SQL);
    sit(&seat, &s.config);
    freeReplyObject(redis_do(&s.server, "CONFIG", "SET", "maxmemory", "1", NULL));
    get(&seat, &s.f);
    get(&seat, &s.f);
    cr_assert(seat.stats.refused == 2 && seat.stats.builds == 2 && seat.stats.stored == 0 && !seat.stats.unavailable);
    freeReplyObject(redis_do(&s.server, "CONFIG", "SET", "maxmemory", "0", NULL));
    get(&seat, &s.f);
    cr_assert_eq(seat.stats.stored, 1);
    freeReplyObject(redis_do(&s.server, "CONFIG", "SET", "maxmemory-policy", "allkeys-lru", NULL));
    freeReplyObject(redis_do(&s.server, "CONFIG", "SET", "maxmemory", "1", NULL));
    get(&seat, &s.f);
    cr_assert(!seat.stats.unavailable, "evicting");
    rise(&seat);
    stage_end(&s);
}

/* Redis runs out of memory between taking the lock and storing the index. */
Test(redis, full_server_releases_builders_lock, .timeout = 60)
{
    struct stage s;
    stage_set(&s, SLOW_SQL);
    struct cache_stats *stats = shared_stats(1);
    pid_t child = race(&s, stats);
    cr_assert(wait_until(has_lock, &s.server, 10000));
    freeReplyObject(redis_do(&s.server, "CONFIG", "SET", "maxmemory", "1", NULL));
    reap(child);
    cr_assert(stats->refused == 1 && stats->stored == 0, "refused %d stored %d", (int)stats->refused,
              (int)stats->stored);
    cr_assert_not(has_lock(&s.server), "nobody else has to wait for it");
    munmap(stats, sizeof *stats);
    stage_end(&s);
}

Test(redis, passwords_are_supported)
{
    static const char *const args[] = {"--requirepass", "open sesame", NULL};
    struct stage s;
    struct seat seat;
    struct err err;
    stage_begin(&s, SQL);
    redis_kill(&s.server);
    s.server.args = args;
    s.server.password = "open sesame";
    redis_again(&s.server);
    sit(&seat, &s.config);
    get(&seat, &s.f);
    cr_assert(seat.stats.unavailable && seat.stats.builds == 1, "none given");
    rise(&seat);

    setenv("ASSAY_TEST_SECRET", "hunter2", 1);
    s.config.password_variable = "ASSAY_TEST_SECRET";
    sit(&seat, &s.config);
    get(&seat, &s.f);
    cr_assert(seat.stats.unavailable && seat.stats.builds == 1, "a wrong one");
    cr_assert_eq(cache_ping(seat.cache, &err), ERR_UNREACHABLE);
    cr_assert(strstr(err.text, "WRONGPASS") && !strstr(err.text, "hunter2"), "%s", err.text);
    rise(&seat);

    setenv("ASSAY_TEST_SECRET", "open sesame", 1);
    sit(&seat, &s.config);
    get(&seat, &s.f);
    cr_assert(!seat.stats.unavailable && seat.stats.stored == 1, "the right one");
    rise(&seat);

    char file[200];
    snprintf(file, sizeof file, "%s/secret", s.f.dir);
    fixture_write(file, "\xEF\xBB\xBFopen sesame\r\n", 16);
    s.config.password_variable = NULL;
    s.config.password_file = file;
    s.config.user = "default";
    sit(&seat, &s.config);
    get(&seat, &s.f);
    cr_assert(!seat.stats.unavailable && seat.stats.hits == 1, "of a user, in a file");
    rise(&seat);
    stage_end(&s);
}
