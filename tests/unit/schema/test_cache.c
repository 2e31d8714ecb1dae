/* Tests the cache of schema indexes: renewal after a change of the file, cached failures, separate indexes for separate
 * options, eviction, and bounded waits for a build. */
#include "lib/base/clock.h"
#include "tests/support/wait.h"
#include "tests/unit/schema/school.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static int64_t fake_now = 1000000000;
static int64_t fake_clock(void)
{
    return fake_now;
}

static struct schema_index *get(struct schema_cache *cache, struct fixture *f)
{
    struct schema_index *index;
    struct err err;
    cr_assert_eq(schema_cache_get(cache, f->db, "x", f->path, &index, &err), ERR_OK, "%s", err.text);
    return index;
}

static struct schema_cache_stats stats_of(struct schema_cache *cache)
{
    struct schema_cache_stats stats;
    schema_cache_get_stats(cache, &stats);
    return stats;
}

Test(cache, index_is_reused_until_file_changes)
{
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a); INSERT INTO t VALUES(1);");
    fixture_open(&f, NULL);
    clock_set_source(fake_clock);
    struct schema_cache *cache = schema_cache_new(NULL, 0);
    struct schema_index *one = get(cache, &f), *two = get(cache, &f);
    cr_assert_eq(one, two);
    fixture_exec(f.path, "INSERT INTO t VALUES(2)");
    schema_unref(two);
    two = get(cache, &f);
    cr_assert_eq(one, two, "the next look is not due");
    schema_unref(two);
    fake_now += 150000000;
    two = get(cache, &f);
    cr_assert_neq(one, two);
    cr_assert_eq(one->tables[0].rows, 1, "who has the old one keeps it");
    cr_assert_eq(two->tables[0].rows, 2);
    struct schema_cache_stats stats = stats_of(cache);
    cr_assert(stats.hits == 2 && stats.misses == 2 && stats.failures == 0 && stats.evicted == 0);
    cr_assert(stats.indexes == 1 && stats.bytes == two->bytes);
    fake_now += 150000000;
    schema_unref(get(cache, &f));
    cr_assert_eq(stats_of(cache).hits, 3, "looked at, and found unchanged");
    schema_unref(one);
    schema_unref(two);
    schema_cache_free(cache);
    clock_set_source(NULL);
    fixture_end(&f);
}

Test(cache, failures_are_cached_for_one_second)
{
    struct fixture f;
    fixture_init(&f, "CREATE TABLE t(a); INSERT INTO t VALUES(1);");
    fixture_open(&f, NULL);
    clock_set_source(fake_clock);
    struct schema_options tiny = {.max_bytes = 1};
    struct schema_cache *cache = schema_cache_new(&tiny, 0);
    struct schema_index *index;
    struct err err = {0};
    cr_assert_eq(schema_cache_get(cache, f.db, "x", f.path, &index, &err), ERR_LIMIT_MEMORY);
    cr_assert_null(index);
    int64_t start = fake_now;
    err.text[0] = '\0';
    cr_assert_eq(schema_cache_get(cache, f.db, "x", f.path, &index, &err), ERR_LIMIT_MEMORY);
    cr_assert(err.text[0] && fake_now == start, "with its text");
    fake_now += 1100000000;
    cr_assert_eq(schema_cache_get(cache, f.db, "x", f.path, &index, NULL), ERR_LIMIT_MEMORY);
    struct schema_cache_stats stats = stats_of(cache);
    cr_assert(stats.failures == 3 && stats.hits == 0 && stats.misses == 0 && stats.indexes == 0);
    schema_cache_free(cache);
    clock_set_source(NULL);
    fixture_end(&f);
}

/* One file has two names. The values of a column are denied for only one of them. Requests arrive in either order. */
Test(cache, each_name_gets_index_of_its_options)
{
    static const char *const denied[] = {"t.a"};
    static const char *const names[] = {"closed", "open", "closed"};
    for (unsigned first = 0; first < 2; first++) {
        struct fixture f;
        fixture_init(&f, "CREATE TABLE t(a); INSERT INTO t VALUES('secret');");
        fixture_open(&f, NULL);
        struct schema_cache *cache = schema_cache_new(NULL, 0);
        schema_cache_options_for(cache, "closed",
                                 &(struct schema_options){.deny_columns = denied, .n_deny_columns = 1});
        schema_cache_options_for(cache, "open", &(struct schema_options){0});
        for (unsigned i = first; i < first + 2; i++) {
            struct schema_index *index;
            struct schema_hit hit;
            cr_assert_eq(schema_cache_get(cache, f.db, names[i], f.path, &index, NULL), ERR_OK);
            bool open = strcmp(names[i], "open") == 0;
            cr_expect_eq(schema_values_with(index, "secret", 6, &hit, 1), open, "%s as number %u", names[i], i - first);
            schema_unref(index);
        }
        schema_cache_free(cache);
        fixture_end(&f);
    }
}

Test(cache, full_cache_evicts_oldest)
{
    struct fixture a, b;
    fixture_init(&a, "CREATE TABLE t(a); INSERT INTO t VALUES(1);");
    fixture_init(&b, "CREATE TABLE t(a); INSERT INTO t VALUES(2);");
    fixture_open(&a, NULL);
    fixture_open(&b, NULL);
    struct schema_cache *cache = schema_cache_new(NULL, 1); /* has capacity for one index of any size */
    struct schema_index *one = get(cache, &a), *two = get(cache, &b), *again = get(cache, &a);
    cr_assert_neq(one, again, "it had to leave for the second");
    cr_assert_eq(two->tables[0].rows, 1, "but lives while it is held");
    struct schema_cache_stats stats = stats_of(cache);
    cr_assert(stats.misses == 3 && stats.evicted == 2 && stats.indexes == 1);
    schema_unref(one);
    schema_unref(two);
    schema_unref(again);
    schema_cache_free(cache);
    db_close(b.db);
    b.db = NULL;
    fixture_end(&b);
    fixture_end(&a);
}

/* --- slow builds
 * --------------------------------------------------------------------------------------------------- */

struct build {
    struct schema_cache *cache;
    struct fixture *fixture;
    atomic_bool begun, may_end;
};

static bool is_set(void *flag)
{
    return atomic_load((atomic_bool *)flag);
}

static enum err_code build_slowly(void *ctx, struct db *db, const char *db_name, const char *path,
                                  const struct schema_options *options, struct schema_index **out, struct err *err)
{
    struct build *build = ctx;
    atomic_store(&build->begun, true);
    cr_assert(wait_until(is_set, &build->may_end, 20000));
    return schema_build(db, db_name, path, options, out, err);
}

static void *get_first(void *arg)
{
    struct build *build = arg;
    schema_unref(get(build->cache, build->fixture));
    return NULL;
}

Test(cache, wait_for_build_is_bounded_by_deadline)
{
    struct fixture f;
    struct db *other;
    struct schema_index *index;
    struct err err = {0};
    pthread_t thread;
    fixture_init(&f, "CREATE TABLE t(a)");
    fixture_open(&f, NULL);
    cr_assert_eq(db_open(f.path, NULL, &other, NULL), ERR_OK);
    struct build build = {.cache = schema_cache_new(NULL, 0), .fixture = &f};
    schema_cache_build_with(build.cache, build_slowly, &build);
    pthread_create(&thread, NULL, get_first, &build);
    cr_assert(wait_until(is_set, &build.begun, 20000));
    db_set_deadline(other, clock_now_ns() + 20000000);
    cr_expect_eq(schema_cache_get(build.cache, other, "x", f.path, &index, &err), ERR_DEADLINE);
    cr_expect_null(index);
    atomic_store(&build.may_end, true);
    db_set_deadline(other, 0);
    cr_assert_eq(schema_cache_get(build.cache, other, "x", f.path, &index, &err), ERR_OK, "%s", err.text);
    schema_unref(index);
    pthread_join(thread, NULL);
    cr_expect_eq(stats_of(build.cache).failures, 1, "it alone");
    db_close(other);
    schema_cache_free(build.cache);
    fixture_end(&f);
}
