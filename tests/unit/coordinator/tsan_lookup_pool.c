/* Several threads request lookups and store verdicts while the loop takes the results. Some pools are closed while work
 * is left. It is a plain program, because Criterion does not start under ThreadSanitizer. Exit status 0 means that each
 * request got its own result exactly once. */
#include "coordinator/lookup_pool.h"
#include "tests/support/wait.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASKERS = 3, REQUESTS = 3000, ROUNDS = 3, LIMIT_MS = 20000 };

static struct bus *bus;
static struct lookup_pool *pool;
static atomic_uint asked, kept, failures;

static void expect(bool so, const char *what)
{
    if (so) return;
    fprintf(stderr, "%s\n", what);
    atomic_fetch_add(&failures, 1);
}

static enum err_code find(void *ctx, const char *db, const char *key, char **bytes, size_t *len)
{
    (void)ctx;
    if (strcmp(db, "away") == 0) return ERR_UNREACHABLE;
    *bytes = g_strdup(key);
    *len = strlen(key);
    return ERR_OK;
}

static enum err_code keep(void *ctx, const char *db, const char *state, const char *key, const void *bytes, size_t len)
{
    (void)ctx;
    expect(strcmp(db, "d") == 0 && strcmp(state, "s") == 0 && len == strlen(key) && memcmp(bytes, key, len) == 0,
           "another verdict is kept");
    atomic_fetch_add(&kept, 1);
    return ERR_OK;
}

/* True for every seventh lookup, whose database does not answer. */
static bool is_away(int64_t number)
{
    return number % 7 == 0;
}

static bool is_accepted(void *wanted)
{
    return lookup_pool_find(pool, wanted);
}

static void *ask(void *arg)
{
    int64_t first = *(const int64_t *)arg;
    for (int64_t i = first; i < REQUESTS; i += ASKERS) {
        char key[32];
        snprintf(key, sizeof key, "key %lld", (long long)i);
        struct core_wanted wanted = {{0, i}, is_away(i) ? "away" : "d", key, bus_now_ns(bus) + INT64_C(60000000000)};
        const struct core_kept verdict = {"d", "s", key, key, strlen(key)};
        expect(wait_until(is_accepted, &wanted, LIMIT_MS), "there is never room");
        atomic_fetch_add(&asked, 1);
        lookup_pool_keep(pool, &verdict); /* the pool drops the verdict if its queue is full */
    }
    return NULL;
}

/* The number of results: for each request, and in total. */
struct taken {
    unsigned seen[REQUESTS], n;
};

/* Takes the finished results. Returns false if there are none. */
static bool take(struct taken *taken)
{
    struct msg_key request;
    struct core_found found;
    char key[32];
    if (!lookup_pool_take(pool, &request, &found)) return false;
    snprintf(key, sizeof key, "key %lld", (long long)request.offset);
    taken->seen[request.offset]++;
    taken->n++;
    if (is_away(request.offset))
        expect(found.code == ERR_UNREACHABLE && !found.bytes, "something came of a cache that is away");
    else
        expect(found.len == strlen(key) && memcmp(found.bytes, key, found.len) == 0, "another request's verdict");
    return true;
}

static bool are_all_taken(void *ctx)
{
    struct taken *taken = ctx;
    while (take(taken)) {
    }
    return taken->n >= REQUESTS;
}

static void open_pool(void)
{
    const struct coordinator_cache cache = {NULL, find, keep};
    if (lookup_pool_new(&cache, bus, &pool, NULL)) abort();
}

static void start(pthread_t threads[ASKERS], int64_t firsts[ASKERS])
{
    for (int64_t i = 0; i < ASKERS; i++) {
        firsts[i] = i;
        if (pthread_create(&threads[i], NULL, ask, &firsts[i])) abort();
    }
}

static void take_all(void)
{
    struct taken taken = {0};
    pthread_t threads[ASKERS];
    int64_t firsts[ASKERS];
    open_pool();
    start(threads, firsts);
    expect(wait_until(are_all_taken, &taken, LIMIT_MS), "something is missing");
    for (unsigned i = 0; i < ASKERS; i++) pthread_join(threads[i], NULL);
    expect(!lookup_pool_is_looking(pool), "somebody still looks");
    for (unsigned i = 0; i < REQUESTS; i++) expect(taken.seen[i] == 1, "not once");
    lookup_pool_free(pool);
}

/* Closes a pool while jobs are queued and threads are busy. */
static void close_in_the_midst(void)
{
    const struct core_wanted wanted = {{0, 0}, "d", "key 0", bus_now_ns(bus) + INT64_C(60000000000)};
    open_pool();
    for (unsigned i = 0; i < 500; i++) lookup_pool_find(pool, &wanted);
    lookup_pool_free(pool);
}

int main(void)
{
    if (bus_open("local", NULL, &bus, NULL)) abort();
    take_all();
    for (unsigned i = 0; i < ROUNDS; i++) close_in_the_midst();
    bus_close(bus);
    printf("%u looked for, %u kept\n", atomic_load(&asked), atomic_load(&kept));
    return atomic_load(&failures) || !atomic_load(&kept);
}
