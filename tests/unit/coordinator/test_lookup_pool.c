/* Tests lookups of cached verdicts outside of the poll thread. Each result names its request, an expired lookup is
 * skipped, and a full queue refuses further lookups. */
#include "coordinator/lookup_pool.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

TestSuite(lookup_pool, .fini = leak_check);

/* While this mutex is locked, the test's cache blocks. */
static pthread_mutex_t shut = PTHREAD_MUTEX_INITIALIZER;
static _Atomic unsigned finds, keeps;
static struct bus *bus;
static struct lookup_pool *pool;

static enum err_code find(void *ctx, const char *db, const char *key, char **bytes, size_t *len)
{
    (void)ctx;
    pthread_mutex_lock(&shut);
    pthread_mutex_unlock(&shut);
    finds++;
    if (strcmp(db, "away") == 0) return ERR_UNREACHABLE;
    *bytes = strcmp(db, "none") == 0 ? NULL : g_strdup(key);
    *len = *bytes ? strlen(key) : 0;
    return ERR_OK;
}

static enum err_code keep(void *ctx, const char *db, const char *state, const char *key, const void *bytes, size_t len)
{
    (void)ctx, (void)db, (void)state, (void)key;
    cr_expect(len == 3 && memcmp(bytes, "v\0w", 3) == 0);
    keeps++;
    return ERR_OK;
}

static void begin(void)
{
    const struct coordinator_cache cache = {NULL, find, keep};
    cr_assert_eq(bus_open("local", NULL, &bus, NULL), ERR_OK);
    cr_assert_eq(lookup_pool_new(&cache, bus, &pool, NULL), ERR_OK);
}

static void end(void)
{
    lookup_pool_free(pool);
    bus_close(bus);
}

static bool look_for(int64_t number, const char *db, const char *key, int64_t ms)
{
    const struct core_wanted wanted = {{0, number}, db, key, bus_now_ns(bus) + ms * 1000000};
    return lookup_pool_find(pool, &wanted);
}

/* Takes the results of requests 1 to n. Checks that each arrives exactly once. */
static void take_all(unsigned n, struct core_found found[], char texts[][8])
{
    for (unsigned left = n; left;) {
        struct msg_key request;
        struct core_found one;
        if (!lookup_pool_take(pool, &request, &one)) {
            cr_assert(lookup_pool_is_looking(pool), "%u are lost", left);
            g_usleep(1000);
            continue;
        }
        cr_assert_leq(one.len, 7);
        if (one.bytes) memcpy(texts[request.offset], one.bytes, one.len);
        found[request.offset] = one;
        left--;
    }
    cr_expect_not(lookup_pool_is_looking(pool));
}

Test(lookup_pool, each_request_gets_its_own_result)
{
    struct core_found found[4] = {{ERR_OK}};
    char texts[4][8] = {""};
    begin();
    cr_expect_not(lookup_pool_is_looking(pool));
    cr_assert(look_for(0, "d", "first", 60000) && look_for(1, "none", "second", 60000) &&
              look_for(2, "away", "third", 60000) && look_for(3, "d", "fourth", 60000));
    cr_expect(lookup_pool_is_looking(pool));
    take_all(4, found, texts);
    cr_expect_str_eq(texts[0], "first");
    cr_expect_str_eq(texts[3], "fourth");
    cr_expect(found[1].code == ERR_OK && !found[1].bytes);
    cr_expect_eq(found[2].code, ERR_UNREACHABLE);
    end();
}

Test(lookup_pool, expired_lookup_is_skipped)
{
    struct core_found found[1];
    char texts[1][8];
    begin();
    cr_assert(look_for(0, "d", "late", -1));
    take_all(1, found, texts);
    cr_expect_eq(found[0].code, ERR_DEADLINE);
    cr_expect_eq(finds, 0);
    end();
}

Test(lookup_pool, full_queue_refuses_and_can_be_closed)
{
    const struct core_kept verdict = {"d", "s", "k", "v\0w", 3};
    unsigned taken = 0, kept = 0;
    begin();
    pthread_mutex_lock(&shut);
    while (taken < 5000 && look_for(taken, "d", "k", 60000)) taken++;
    while (kept < 5000 && lookup_pool_keep(pool, &verdict)) kept++;
    cr_expect(taken >= 1024 && taken < 1100, "%u", taken);
    cr_expect(kept == 128, "%u", kept);
    pthread_mutex_unlock(&shut);
    end();
}

Test(lookup_pool, verdict_is_cached_unchanged)
{
    const struct core_kept verdict = {"d", "s", "k", "v\0w", 3};
    begin();
    cr_assert(lookup_pool_keep(pool, &verdict));
    cr_expect_not(lookup_pool_is_looking(pool), "nobody waits for it");
    for (unsigned i = 0; i < 5000 && !keeps; i++) g_usleep(1000);
    cr_expect_eq(keeps, 1);
    end();
}
