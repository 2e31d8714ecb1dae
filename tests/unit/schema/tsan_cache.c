/* Several threads share a schema cache while a writer changes the database and the watchdog ends statements. It is a
 * plain program, because Criterion does not start under ThreadSanitizer. Exit status 0 means success. */
#include "lib/base/clock.h"
#include "lib/schema/schema.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 6, RUN_MS = 1500 };

static char path[64];
static struct schema_cache *cache;
static atomic_int failures, gets;
static atomic_bool stop;

static void fail(const char *what, const struct err *err)
{
    fprintf(stderr, "%s: %s\n", what, err->text);
    atomic_fetch_add(&failures, 1);
}

static void write_sql(const char *sql)
{
    sqlite3 *conn;
    char *message = NULL;
    sqlite3_open(path, &conn);
    sqlite3_busy_timeout(conn, 2000);
    if (sqlite3_exec(conn, sql, NULL, NULL, &message) != SQLITE_OK) fprintf(stderr, "writer: %s\n", message);
    sqlite3_free(message);
    sqlite3_close(conn);
}

/* Looks up a value that every version of the database contains. */
static void use(const struct schema_index *index)
{
    struct schema_hit hits[4];
    if (schema_values_with(index, "constant", 8, hits, 4) != 1) atomic_fetch_add(&failures, 1);
}

static void stop_a_statement(struct db *db)
{
    static const char endless[] =
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c";
    struct arena arena;
    struct db_result result;
    struct err err = {0};
    arena_init(&arena, 0);
    enum err_code code = db_query(db, &arena, endless, strlen(endless), NULL, 0, 0, &result, &err);
    if (code != ERR_LIMIT_TIME && code != ERR_DB_LOCKED) fail("endless", &err);
    arena_free(&arena);
}

static void *reader(void *unused)
{
    (void)unused;
    struct err err = {0};
    while (!atomic_load(&stop)) {
        struct db *db;
        struct db_limits limits = {.time_ms = 20};
        enum err_code code = db_open(path, &limits, &db, &err);
        if (code == ERR_DB_LOCKED) continue;
        if (code) {
            fail("open", &err);
            return NULL;
        }
        for (int i = 0; i < 20 && !atomic_load(&stop); i++) {
            struct schema_index *index;
            code = schema_cache_get(cache, db, "x", path, &index, &err);
            if (code == ERR_DB_LOCKED) continue;
            if (code) {
                fail("get", &err);
                break;
            }
            use(index);
            schema_unref(index);
            atomic_fetch_add(&gets, 1);
            usleep(1000);
        }
        stop_a_statement(db);
        db_close(db);
    }
    return NULL;
}

int main(void)
{
    char dir[] = "/tmp/assay-tsan-XXXXXX";
    if (!mkdtemp(dir)) return 2;
    snprintf(path, sizeof path, "%s/t.sqlite", dir);
    write_sql("CREATE TABLE t(a TEXT, n INTEGER); INSERT INTO t VALUES('constant', 0);");
    cache = schema_cache_new(NULL, 0);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, reader, NULL);
    int64_t until = clock_now_ns() + RUN_MS * 1000000LL;
    while (clock_now_ns() < until) {
        usleep(130000);
        write_sql("INSERT INTO t SELECT 'row ' || count(*), count(*) FROM t");
    }
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    schema_cache_free(cache);
    unlink(path);
    rmdir(dir);
    printf("%d gets, %d failures\n", atomic_load(&gets), atomic_load(&failures));
    return atomic_load(&failures) || atomic_load(&gets) < THREADS ? 1 : 0;
}
