/* Compares the fleet's schema cache with building the index, on a Redis server that the bench starts.
 *
 *   bench_cache [--rows N] [--databases N] [--workers N]
 *
 * 1. Warm start, on a database of N rows (1,000,000): a worker that finds the index in Redis against one that builds
 * it.
 *    Claim: 20 times as fast.
 * 2. Cold fleet, with nothing in Redis: N worker processes (20) that each need all of N databases (200), in different
 *    orders. Claim: each index is built once.
 * 3. The rejected design, with the same values in hashes in Redis: its memory, and the time of a lookup in both
 * designs. */
#include "lib/base/clock.h"
#include "lib/schema/blob.h"
#include "worker/cache.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/assay-bench-cache-XXXXXX", address[32];
static int port;
static pid_t server;

static void die(const char *what)
{
    fprintf(stderr, "bench_cache: %s\n", what);
    if (server > 0) kill(server, SIGKILL);
    exit(2);
}

static void start_server(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) || getsockname(fd, (struct sockaddr *)&at, &len))
        die("no free port");
    close(fd);
    port = ntohs(at.sin_port);
    snprintf(address, sizeof address, "127.0.0.1:%d", port);
    server = fork();
    if (server == 0) {
        char text[8];
        snprintf(text, sizeof text, "%d", port);
        int sink = open("/dev/null", O_RDWR);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        dup2(sink, STDOUT_FILENO);
        execlp("redis-server", "redis-server", "--port", text, "--bind", "127.0.0.1", "--save", "", "--appendonly",
               "no", "--dir", dir, (char *)NULL);
        _exit(127);
    }
}

static redisContext *connect_plain(void)
{
    for (int i = 0; i < 1000; i++) {
        redisContext *redis = redisConnectWithTimeout("127.0.0.1", port, (struct timeval){1, 0});
        if (redis && !redis->err) return redis;
        if (redis) redisFree(redis);
        usleep(10000);
    }
    die("redis-server does not answer");
    return NULL;
}

/* --- databases ---------------------------------------------------------------------------------------------------- */

static const char MAKE_TABLES[] =
    "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
    "CREATE TABLE city(id INTEGER PRIMARY KEY, name TEXT, country TEXT);"
    "CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT, email TEXT, born TEXT, city_id INT REFERENCES city(id),"
    "                    height REAL, status TEXT, note TEXT);"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %ld)"
    " INSERT INTO city SELECT i, 'City ' || char(65 + i %% 26) || i, 'Country ' || (i %% 90) FROM n;"
    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %ld)"
    " INSERT INTO person SELECT i, 'Name ' || (i * 7919 %% 400000) || ' Surname', 'person' || i || '@example.org',"
    " date('1940-01-01', '+' || i %% 25000 || ' days'), 1 + i %% %ld, 1.5 + i %% 500 / 1000.0,"
    " CASE i %% 3 WHEN 0 THEN 'active' WHEN 1 THEN 'left' ELSE 'on leave' END, 'note ' || (i %% 1000) FROM n; COMMIT;";

static void make_database(const char *path, long rows)
{
    sqlite3 *db;
    long cities = rows / 50 + 1;
    char *sql = sqlite3_mprintf(MAKE_TABLES, cities, rows, cities);
    if (sqlite3_open(path, &db) || sqlite3_exec(db, sql, NULL, NULL, NULL)) die("the database cannot be made");
    sqlite3_free(sql);
    sqlite3_close(db);
}

static void database_path(char out[256], long i)
{
    snprintf(out, 256, "%s/%ld.sqlite", dir, i);
}

/* --- 3: values in Redis ------------------------------------------------------------------------------------------- */

static long used_memory(redisContext *redis)
{
    redisReply *reply = redisCommand(redis, "INFO memory");
    const char *at = reply ? strstr(reply->str, "used_memory:") : NULL;
    long bytes = at ? atol(at + strlen("used_memory:")) : 0;
    if (reply) freeReplyObject(reply);
    return bytes;
}

struct fill {
    redisContext *redis;
    long values, waiting;
};

static void drain(struct fill *fill)
{
    void *reply;
    for (; fill->waiting; fill->waiting--)
        if (redisGetReply(fill->redis, &reply) == REDIS_OK) freeReplyObject(reply);
}

static bool add_value(void *ctx, const struct db_value *row, uint32_t n)
{
    enum { BUCKETS = 4096, PIPELINE = 2000 };
    struct fill *fill = ctx;
    (void)n;
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < row->len; i++) hash = (hash ^ (unsigned char)row->text[i]) * 16777619U;
    redisAppendCommand(fill->redis, "HSET values:%u %b 2", hash % BUCKETS, row->text, row->len);
    fill->values++;
    if (++fill->waiting == PIPELINE) drain(fill);
    return true;
}

static void other_design(const char *path, const struct schema_index *index)
{
    enum { LOOKUPS = 2000 };
    struct fill fill = {.redis = connect_plain()};
    struct db *db;
    struct err err = {0};
    if (db_open(path, &(struct db_limits){.time_ms = 600000}, &db, &err)) die(err.text);
    long before = used_memory(fill.redis);
    int64_t started = clock_now_ns();
    static const char *const lists[] = {"SELECT DISTINCT name FROM person LIMIT 200000",
                                        "SELECT email FROM person LIMIT 200000", "SELECT DISTINCT born FROM person",
                                        "SELECT DISTINCT note FROM person", "SELECT name FROM city"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (db_scan(db, lists[i], add_value, &fill, &err)) die(err.text);
    drain(&fill);
    double fill_ms = clock_ms(clock_now_ns() - started);
    long after = used_memory(fill.redis);
    started = clock_now_ns();
    for (int i = 0; i < LOOKUPS; i++) {
        redisReply *reply = redisCommand(fill.redis, "HGET values:%d person%d@example.org", i, i);
        if (reply) freeReplyObject(reply);
    }
    double there = clock_ms(clock_now_ns() - started) * 1000 / LOOKUPS;
    started = clock_now_ns();
    for (int i = 0; i < LOOKUPS; i++) {
        char text[40];
        struct schema_hit hit;
        int len = snprintf(text, sizeof text, "person%d@example.org", i);
        schema_values_with(index, text, (size_t)len, &hit, 1);
    }
    double here = clock_ms(clock_now_ns() - started) * 1000 / LOOKUPS;
    printf(
        "values in hashes of Redis instead: %ld of them, %.0f ms to put there, %.1f MB of its memory; one lookup %.1f "
        "us there, %.2f us here\n",
        fill.values, fill_ms, (double)(after - before) / 1e6, there, here);
    db_close(db);
    redisFree(fill.redis);
}

/* --- 1: warm start ------------------------------------------------------------------------------------------------ */

/* Does what a worker process does at its start: opens the database and gets the index, through its own connection to
 * the cache. */
static double start_worker(const char *path, struct cache_stats *stats, struct cache **kept, struct schema_index **out)
{
    struct cache_config config = {.address = address, .timeout_ms = 30000};
    struct cache *cache;
    struct db *db;
    struct err err = {0};
    int64_t started = clock_now_ns();
    if (cache_open(&config, &cache, &err) || db_open(path, NULL, &db, &err)) die(err.text);
    if (cache_build(cache, db, "big", path, NULL, out, &err)) die(err.text);
    double ms = clock_ms(clock_now_ns() - started);
    cache_get_stats(cache, stats);
    *kept = cache;
    db_close(db);
    return ms;
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Looks up a value, as the first question does. This loads the values of its column. */
static void first_question(const struct schema_index *index, struct cache *cache)
{
    static const char *const texts[] = {"person4711@example.org", "nobody@example.org", "Name 5 Surname"};
    struct cache_stats before, after;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct schema_hit hit;
        cache_get_stats(cache, &before);
        int64_t started = clock_now_ns();
        uint32_t n = schema_values_with(index, texts[i], strlen(texts[i]), &hit, 1);
        double ms = clock_ms(clock_now_ns() - started);
        cache_get_stats(cache, &after);
        printf("  first look for '%s': %s, %.2f ms, %llu columns fetched, %.1f MB\n", texts[i], n ? "there" : "absent",
               ms, (unsigned long long)(after.parts - before.parts), (double)(after.bytes_in - before.bytes_in) / 1e6);
    }
}

enum { RUNS = 7, BUILDS = 3 };

static double build_alone(const char *path)
{
    double ms[BUILDS];
    for (int i = 0; i < BUILDS; i++) {
        struct schema_index *index;
        struct db *db;
        struct err err = {0};
        int64_t started = clock_now_ns();
        if (db_open(path, NULL, &db, &err) || schema_build(db, "big", path, NULL, &index, &err)) die(err.text);
        ms[i] = clock_ms(clock_now_ns() - started);
        schema_unref(index);
        db_close(db);
    }
    qsort(ms, BUILDS, sizeof *ms, compare_doubles);
    return ms[BUILDS / 2];
}

static void warm_start(const char *path, long rows)
{
    struct schema_index *index;
    struct cache *cache;
    struct schema_blob blob;
    struct cache_stats stats;
    double alone = build_alone(path), cold = start_worker(path, &stats, &cache, &index), ms[RUNS];
    if (stats.stored != 1) die("the index was not stored");
    for (int i = 0; i < RUNS; i++) {
        schema_unref(index);
        cache_close(cache);
        ms[i] = start_worker(path, &stats, &cache, &index);
        if (stats.hits != 1 || stats.builds) die("the index was not found");
    }
    qsort(ms, RUNS, sizeof *ms, compare_doubles);
    if (schema_blob_write(index, &blob, NULL)) die("the index cannot be written");
    printf("warm start, %ld rows: build %.0f ms (median of %d), build and store %.0f ms, from Redis %.1f ms (median of "
           "%d; %.1f of it reading); blob %.1f MB, index %.1f MB\n",
           rows, alone, BUILDS, cold, ms[RUNS / 2], RUNS, clock_ms((int64_t)stats.read_ns), (double)blob.len / 1e6,
           (double)index->bytes / 1e6);
    printf("  ratio %.1f (claim: 20)\n", alone / ms[RUNS / 2]);
    schema_blob_free(&blob);
    first_question(index, cache);
    other_design(path, index);
    schema_unref(index);
    cache_close(cache);
}

/* --- 2: a cold fleet ---------------------------------------------------------------------------------------------- */

static void run_worker(long worker, long databases, struct cache_stats *out)
{
    struct cache_config config = {.address = address, .timeout_ms = 30000, .prefix = "fleet"};
    struct cache *cache;
    uint32_t *order = calloc((size_t)databases, sizeof *order);
    srand48(worker + 1);
    if (!order || cache_open(&config, &cache, NULL)) _exit(2);
    for (long i = 0; i < databases; i++) order[i] = (uint32_t)i;
    for (long i = databases - 1; i > 0; i--) {
        long k = lrand48() % (i + 1);
        uint32_t swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    for (long i = 0; i < databases; i++) {
        char path[256], name[24];
        struct schema_index *index;
        struct db *db;
        database_path(path, order[i]);
        snprintf(name, sizeof name, "db%u", order[i]);
        if (db_open(path, NULL, &db, NULL) || cache_build(cache, db, name, path, NULL, &index, NULL)) _exit(3);
        schema_unref(index);
        db_close(db);
    }
    cache_get_stats(cache, out);
    cache_close(cache);
    _exit(0);
}

static bool cold_fleet(long databases, long workers)
{
    struct cache_stats *stats = mmap(NULL, (size_t)workers * sizeof *stats, PROT_READ | PROT_WRITE,
                                     MAP_SHARED | MAP_ANONYMOUS, -1, 0),
                       sum = {0};
    bool good = stats != MAP_FAILED;
    int64_t started = clock_now_ns();
    for (long i = 0; i < workers && good; i++)
        if (fork() == 0) run_worker(i, databases, &stats[i]);
    for (long i = 0; i < workers && good; i++) {
        int status;
        if (wait(&status) < 0 || status) good = false;
    }
    for (long i = 0; i < workers && good; i++) {
        sum.builds += stats[i].builds;
        sum.hits += stats[i].hits;
        sum.waits += stats[i].waits;
        sum.failures += stats[i].failures;
    }
    printf("cold fleet, %ld databases, %ld processes: %.1f s; %llu built (claim: %ld), %llu found, %llu of them waited "
           "for, %llu failed calls\n",
           databases, workers, clock_ms(clock_now_ns() - started) / 1000, (unsigned long long)sum.builds, databases,
           (unsigned long long)sum.hits, (unsigned long long)sum.waits, (unsigned long long)sum.failures);
    return good && sum.builds == (uint64_t)databases;
}

/* ------------------------------------------------------------------------------------------------------------------ */

static long option(int argc, char **argv, const char *name, long usual)
{
    for (int i = 1; i + 1 < argc; i++)
        if (strcmp(argv[i], name) == 0) return atol(argv[i + 1]);
    return usual;
}

int main(int argc, char **argv)
{
    long rows = option(argc, argv, "--rows", 1000000), databases = option(argc, argv, "--databases", 200),
         workers = option(argc, argv, "--workers", 20);
    char path[256];
    if (!mkdtemp(dir)) die("no folder");
    start_server();
    redisFree(connect_plain());
    for (long i = 0; i < databases; i++) {
        database_path(path, i);
        make_database(path, 2000 + 10 * i);
    }
    bool good = cold_fleet(databases, workers);
    for (long i = 0; i < databases; i++) {
        database_path(path, i);
        unlink(path);
    }
    database_path(path, -1);
    make_database(path, rows);
    warm_start(path, rows);
    unlink(path);
    kill(server, SIGKILL);
    waitpid(server, NULL, 0);
    rmdir(dir);
    return good ? 0 : 1;
}
