/* Measures how much longer a statement takes in an executor's child than in this process. Statements alternate between
 * the two, on the same database.
 *
 *   bench_executor [N]
 *
 * Prints the median and the 99th percentile of both times and of their difference, in microseconds. */
#include "lib/base/clock.h"
#include "lib/db/executor.h"

#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char setup[] = "CREATE TABLE singer(id INTEGER PRIMARY KEY, name TEXT, country TEXT, age INTEGER);"
                            "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c LIMIT 1000)"
                            "INSERT INTO singer SELECT i, 'singer ' || i, 'country ' || i % 20, i * 7919 % 60 FROM c;";

static const struct {
    const char *name, *sql;
} statements[] = {
    {"a constant", "SELECT 1"},
    {"a row by its key", "SELECT name FROM singer WHERE id = 500"},
    {"a count", "SELECT count(*) FROM singer WHERE age > 30"},
    {"20 groups", "SELECT country, count(*), avg(age) FROM singer GROUP BY country ORDER BY 2 DESC"},
    {"1,000 rows", "SELECT id, name, country, age FROM singer"},
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double run(struct db *db, struct arena *arena, const char *sql)
{
    struct db_result result;
    struct err err = {0};
    arena_reset(arena);
    int64_t start = clock_now_ns();
    if (db_query(db, arena, sql, strlen(sql), NULL, 0, 0, &result, &err)) {
        fprintf(stderr, "%s: %s\n", sql, err.text);
        exit(2);
    }
    return (double)(clock_now_ns() - start) / 1e3;
}

static void compare(struct db *here, struct db *apart, const char *name, const char *sql, int n)
{
    struct arena arena;
    double *times[3];
    arena_init(&arena, 0);
    for (int i = 0; i < 3; i++) times[i] = g_new(double, (gsize)n);
    for (int i = -100; i < n; i++) {
        double inside = run(here, &arena, sql), outside = run(apart, &arena, sql);
        if (i < 0) continue;
        times[0][i] = inside;
        times[1][i] = outside;
        times[2][i] = outside - inside;
    }
    printf("| %s |", name);
    for (int i = 0; i < 3; i++) {
        qsort(times[i], (size_t)n, sizeof(double), by_value);
        printf(" %.1f / %.1f |", times[i][n / 2], times[i][n * 99 / 100]);
        g_free(times[i]);
    }
    printf("\n");
    arena_free(&arena);
}

int main(int argc, char **argv)
{
    if (strcmp(argv[0], EXECUTOR_NAME) == 0) executor_serve(argc > 1 ? argv[1] : NULL);
    int n = argc > 1 ? atoi(argv[1]) : 20000;
    char path[] = "/tmp/assay-executor-XXXXXX";
    struct err err = {0};
    struct db *here, *apart;
    sqlite3 *conn;
    close(mkstemp(path));
    sqlite3_open(path, &conn);
    sqlite3_exec(conn, setup, NULL, NULL, NULL);
    sqlite3_close(conn);
    struct executor *executor = executor_new(EXECUTOR_SELF);
    if (db_open(path, NULL, &here, &err) || executor_open(executor, path, NULL, &apart, &err)) {
        fprintf(stderr, "%s\n", err.text);
        return 2;
    }
    printf("| us, median / 99 %% | inline | child | more |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < G_N_ELEMENTS(statements); i++)
        compare(here, apart, statements[i].name, statements[i].sql, n);
    db_close(here);
    db_close(apart);
    executor_free(executor);
    unlink(path);
    return 0;
}
