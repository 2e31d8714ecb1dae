/* Tests the statement limit of a fleet on a real Redis. Each test has its own Redis. Each `struct permits` belongs to
 * one simulated process. Also checks that Redis never holds a value of a denied column. */
#include "lib/base/clock.h"
#include "tests/live/redis_server.h"
#include "tests/support/leak.h"
#include "tests/support/wait.h"
#include "tests/unit/db/fixture.h"
#include "worker/permits.h"
#include "worker/worker.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum { PROCESSES = 4, THREADS = 3, CAP = 5, ROUNDS = 40 };

static struct redis_server server;

static void begin(void)
{
    redis_needed();
    redis_start(&server, NULL, NULL);
}

static void end(void)
{
    redis_end(&server);
    leak_check();
}
TestSuite(permits_live, .init = begin, .fini = end);

static struct permits *open_permits(int64_t lease_ms)
{
    struct permits *permits;
    struct err err = {0};
    struct permits_config config = {
        .redis = {.address = server.address, .timeout_ms = 300, .retry_ms = 50}, .processes = 5, .lease_ms = lease_ms};
    cr_assert_eq(permits_open(&config, &permits, &err), ERR_OK, "%s", err.text);
    return permits;
}

static enum err_code take(struct permits *permits, uint32_t cap, int64_t wait_ms, struct permit **out)
{
    return permits_take(permits, "shop", cap, clock_now_ns() + wait_ms * 1000000, out, NULL);
}

static atomic_int now_held, most_held, refused;

static void *hold_again_and_again(void *arg)
{
    struct permits *permits = arg;
    for (int i = 0; i < ROUNDS; i++) {
        struct permit *permit;
        if (take(permits, CAP, 60000, &permit)) {
            atomic_fetch_add(&refused, 1);
            continue;
        }
        int n = atomic_fetch_add(&now_held, 1) + 1;
        for (int most = atomic_load(&most_held); n > most && !atomic_compare_exchange_weak(&most_held, &most, n);)
            continue;
        g_usleep((gulong)g_random_int_range(100, 2000));
        atomic_fetch_sub(&now_held, 1);
        permits_give(permits, permit);
    }
    return NULL;
}

Test(permits_live, limit_holds_across_processes_without_starvation)
{
    struct permits *all[PROCESSES];
    pthread_t threads[PROCESSES * THREADS];
    for (int i = 0; i < PROCESSES; i++) all[i] = open_permits(0);
    for (int i = 0; i < PROCESSES * THREADS; i++)
        pthread_create(&threads[i], NULL, hold_again_and_again, all[i % PROCESSES]);
    for (int i = 0; i < PROCESSES * THREADS; i++) pthread_join(threads[i], NULL);
    cr_expect_leq(atomic_load(&most_held), CAP);
    cr_expect_geq(atomic_load(&most_held), 3, "it is a cap and not a lock");
    cr_expect_eq(atomic_load(&refused), 0);
    for (int i = 0; i < PROCESSES; i++) {
        struct permits_stats stats;
        permits_get_stats(all[i], &stats);
        cr_expect_eq(stats.taken, THREADS * ROUNDS);
        cr_expect_eq(stats.local, 0);
        permits_close(all[i]);
    }
    cr_expect_eq(redis_int(&server, "ZCARD", "assay:permits:shop"), 0, "all were given back");
}

Test(permits_live, dead_holder_frees_slot_and_live_keeps_it)
{
    struct permits *living = open_permits(300), *other = open_permits(300);
    struct permit *held, *more;
    /* The slot of a killed process: a token that no process renews. */
    redisReply *reply = redis_do(&server, "EVAL",
                                 "local t = redis.call('TIME') return redis.call('ZADD', KEYS[1], t[1] * 1000 + "
                                 "math.floor(t[2] / 1000) + 1500, 'dead')",
                                 "1", "assay:permits:shop", NULL);
    freeReplyObject(reply);
    cr_assert_eq(take(living, 2, 0, &held), ERR_OK);
    cr_expect_eq(take(other, 2, 0, &more), ERR_FULL);
    cr_expect_eq(take(other, 2, 10000, &more), ERR_OK, "the dead one's lease ends");
    permits_give(other, more);
    cr_expect_eq(take(other, 1, 1500, &more), ERR_FULL, "the living one renews, five leases long");
    permits_give(living, held);
    cr_expect_eq(take(other, 1, 0, &more), ERR_OK);
    permits_give(other, more);
    struct permits_stats stats;
    permits_get_stats(living, &stats);
    cr_expect_eq(stats.lost, 0);
    permits_close(living);
    permits_close(other);
}

struct lost {
    struct permits *permits;
};

static bool has_lost(void *context)
{
    struct permits_stats stats;
    permits_get_stats(((struct lost *)context)->permits, &stats);
    return stats.lost > 0;
}

/* The slot has passed to another holder. The old holder may neither exceed the limit nor release the new holder's
 * slot. */
Test(permits_live, late_holder_is_fenced)
{
    struct permits *late = open_permits(150);
    struct permit *held, *more;
    cr_assert_eq(take(late, 1, 0, &held), ERR_OK);
    /* Makes another process the holder, as if the lease had expired. It is one atomic script, because the old holder
     * could renew between two steps. */
    static const char taken[] = "redis.call('DEL', KEYS[1]) local t = redis.call('TIME') "
                                "return redis.call('ZADD', KEYS[1], t[1] * 1000 + 60000, 'other')";
    freeReplyObject(redis_do(&server, "EVAL", taken, "1", "assay:permits:shop", NULL));
    struct lost lost = {late};
    cr_expect(wait_until(has_lost, &lost, 5000));
    cr_expect_eq(redis_int(&server, "ZCARD", "assay:permits:shop"), 1);
    permits_give(late, held);
    cr_expect_eq(redis_int(&server, "ZCARD", "assay:permits:shop"), 1, "the other's place is its own");
    cr_expect_eq(take(late, 1, 0, &more), ERR_FULL);
    permits_close(late);
}

Test(permits_live, outage_gives_share_and_recovery_restores_limit)
{
    struct permits *permits = open_permits(0);
    struct permit *held[3], *more;
    cr_assert_eq(take(permits, 10, 0, &held[0]), ERR_OK);
    redis_kill(&server);
    cr_expect_eq(take(permits, 10, 0, &held[1]), ERR_OK, "a share of two, of which one is held");
    cr_expect_eq(take(permits, 10, 0, &more), ERR_FULL);
    redis_again(&server);
    cr_expect_eq(take(permits, 10, 10000, &held[2]), ERR_OK);
    for (int i = 0; i < 3; i++) permits_give(permits, held[i]);
    struct permits_stats stats;
    permits_get_stats(permits, &stats);
    cr_expect_eq(stats.local, 1);
    cr_expect_eq(stats.taken, 2);
    cr_expect_eq(redis_int(&server, "ZCARD", "assay:permits:shop"), 0);
    permits_close(permits);
}

Test(permits_live, key_of_wrong_type_grants_nothing)
{
    struct permits *permits = open_permits(0);
    struct permit *held, *more;
    freeReplyObject(redis_do(&server, "SET", "assay:permits:shop", "rubbish", NULL));
    cr_expect_eq(take(permits, 5, 0, &held), ERR_OK, "its share of one");
    cr_expect_eq(take(permits, 5, 0, &more), ERR_FULL);
    permits_give(permits, held);
    permits_close(permits);
}

/* --- contents of Redis ------------------------------------------------------------------------------------------- */

#define SECRET "quokkaville"

static const char SQL[] = "CREATE TABLE person(id INTEGER PRIMARY KEY, email TEXT, city TEXT);"
                          "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)"
                          " INSERT INTO person SELECT i, '" SECRET "' || i || '@example.com', 'Perth' || i FROM n;";

/* Returns true if a key or a string value contains the text. */
static bool redis_holds(const char *text)
{
    redisReply *found =
        redis_do(&server, "EVAL",
                 "for _, k in ipairs(redis.call('KEYS', '*')) do local v = redis.pcall('GET', k)"
                 " if string.find(k, ARGV[1], 1, true) or (type(v) == 'string' and string.find(v, ARGV[1],"
                 " 1, true)) then return 1 end end return 0",
                 "0", text, NULL);
    bool holds = found->type == REDIS_REPLY_INTEGER && found->integer == 1;
    freeReplyObject(found);
    return holds;
}

static void index_it(const struct fixture *f, const struct worker_database *entry)
{
    struct cache_config config = {.address = server.address};
    struct worker_databases databases = {.files = entry, .n_files = 1};
    struct schema_cache *schemas = schema_cache_new(NULL, 0);
    struct schema_index *index;
    struct cache *cache;
    struct err err = {0};
    cr_assert_eq(cache_open(&config, &cache, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(worker_databases_apply(&databases, schemas, NULL, NULL, &err), ERR_OK);
    schema_cache_build_with(schemas, cache_build, cache);
    cr_assert_eq(schema_cache_get(schemas, f->db, entry->name, entry->path, &index, &err), ERR_OK, "%s", err.text);
    schema_unref(index);
    schema_cache_free(schemas);
    cache_close(cache);
}

Test(permits_live, redis_holds_no_denied_value)
{
    static const char *const denied[] = {"email"};
    struct fixture f;
    fixture_init(&f, SQL);
    fixture_open(&f, NULL);
    struct worker_database entry = {.name = "people", .path = f.path, .deny_columns = denied, .n_deny_columns = 1};
    index_it(&f, &entry);
    cr_expect_not(redis_holds(SECRET));
    cr_expect(redis_holds("Perth1"), "the other columns are there");
    freeReplyObject(redis_do(&server, "FLUSHALL", NULL));
    entry = (struct worker_database){.name = "people", .path = f.path, .expose = MSG_EXPOSE_NONE};
    index_it(&f, &entry);
    cr_expect_eq(redis_int(&server, "EXISTS", "assay:people:index"), 0);
    cr_expect_not(redis_holds("Perth1") || redis_holds(SECRET));
    entry = (struct worker_database){.name = "people", .path = f.path};
    index_it(&f, &entry);
    cr_expect(redis_holds(SECRET), "without a policy they are: else this test would show nothing");
    fixture_end(&f);
}
