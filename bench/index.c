/* Measures the time to build a schema index.
 *
 *   bench_index [ROWS [DISTINCT [MAX_VALUES [MAX_MIB]]]]     a table that it makes: 10,000,000 rows, 1,000,000 distinct
 *                                                            strings
 *   bench_index --over DIR                                   every DIR/<db>/<db>.sqlite
 *
 * The peer is a plain read of the same rows through the same handle. The ratio shows the time that counting and
 * indexing add. */
#include "lib/base/clock.h"
#include "lib/schema/schema.h"

#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static void die(const char *what, const char *why)
{
    fprintf(stderr, "bench_index: %s: %s\n", what, why);
    exit(2);
}

static double peak_mib(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss / 1024;
}

/* Returns the CPU time in ms. A ratio of CPU times does not depend on other load on the machine. */
static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void make_table(const char *path, unsigned long rows, unsigned long distinct)
{
    sqlite3 *conn;
    char *message = NULL;
    /* A multiplier that is coprime to the number of distinct strings scatters them over the rows. */
    char *sql = g_strdup_printf("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;"
                                "CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT, amount REAL);"
                                "INSERT INTO t WITH RECURSIVE c(x) AS (SELECT 0 UNION ALL SELECT x+1 FROM c LIMIT %lu)"
                                " SELECT x, 'Customer ' || (x * 1000003 %% %lu), (x %% 1000) / 4.0 FROM c;",
                                rows, distinct);
    if (sqlite3_open(path, &conn) || sqlite3_exec(conn, sql, NULL, NULL, &message))
        die(path, message ? message : "open");
    sqlite3_close(conn);
    g_free(sql);
}

static bool look_at_row(void *ctx, const struct db_value *row, uint32_t n)
{
    uint64_t *bytes = ctx;
    for (uint32_t i = 0; i < n; i++) *bytes += row[i].len;
    return true;
}

static double plain_read_ms(struct db *db)
{
    struct err err;
    uint64_t bytes = 0;
    double start = cpu_ms();
    if (db_scan(db, "SELECT id, word, amount FROM t", look_at_row, &bytes, &err)) die("scan", err.text);
    return cpu_ms() - start;
}

static void report(const struct schema_index *index, unsigned long rows, double read_ms, double build_ms,
                   double before_mib)
{
    printf(
        "rows %lu: build %.0f ms of CPU (%.0f ms on the clock), %.2f million rows/s; plain read %.0f ms, ratio %.1f\n",
        rows, build_ms, clock_ms(index->build_ns), (double)rows / build_ms / 1e3, read_ms, build_ms / read_ms);
    printf("index %.1f MiB, peak RSS %.1f MiB (%.1f before)\n", (double)index->bytes / (1 << 20), peak_mib(),
           before_mib);
    for (uint32_t i = 0; i < index->n_columns; i++)
        printf("  %-8s distinct %llu%s\n", index->columns[i]->name,
               (unsigned long long)index->columns[i]->stats.distinct,
               index->columns[i]->stats.sampled ? " (sampled)" : "");
}

static int bench_table(unsigned long rows, unsigned long distinct, const struct schema_options *options)
{
    char dir[] = "/tmp/assay-bench-XXXXXX";
    if (!mkdtemp(dir)) die(dir, "cannot be made");
    char *path = g_build_filename(dir, "t.sqlite", NULL);
    make_table(path, rows, distinct);
    struct db *db;
    struct schema_index *index;
    struct err err;
    if (db_open(path, &(struct db_limits){.time_ms = 600000}, &db, &err)) die(path, err.text);
    double read_ms = plain_read_ms(db), before = peak_mib(), start = cpu_ms();
    if (schema_build(db, "t", path, options, &index, &err)) die(path, err.text);
    report(index, rows, read_ms, cpu_ms() - start, before);
    schema_unref(index);
    db_close(db);
    unlink(path);
    rmdir(dir);
    g_free(path);
    return 0;
}

/* Returns the milliseconds to index one database; -1 if it cannot be indexed. */
static double bench_one(const char *root, const char *name)
{
    char *path = g_strdup_printf("%s/%s/%s.sqlite", root, name, name);
    struct db *db = NULL;
    struct schema_index *index;
    struct err err;
    double ms = -1;
    if (db_open(path, NULL, &db, &err) == ERR_OK && schema_build(db, name, path, NULL, &index, &err) == ERR_OK) {
        ms = clock_ms(index->build_ns);
        schema_unref(index);
    } else {
        printf("%s: %s: %s\n", name, err_name(err.code), err.text);
    }
    db_close(db);
    g_free(path);
    return ms;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int bench_over(const char *root)
{
    GDir *dir = g_dir_open(root, 0, NULL);
    if (!dir) die(root, "cannot be read");
    GArray *times = g_array_new(FALSE, FALSE, sizeof(double));
    const char *name;
    double total = 0;
    while ((name = g_dir_read_name(dir)) != NULL) {
        double ms = bench_one(root, name);
        if (ms < 0) continue;
        g_array_append_val(times, ms);
        total += ms;
    }
    g_dir_close(dir);
    qsort(times->data, times->len, sizeof(double), by_size);
    if (times->len)
        printf("%u databases in %.0f ms: median %.1f ms, slowest %.1f ms; peak RSS %.1f MiB\n", times->len, total,
               g_array_index(times, double, times->len / 2), g_array_index(times, double, times->len - 1), peak_mib());
    g_array_free(times, TRUE);
    return 0;
}

static unsigned long number(int argc, char **argv, int i, unsigned long fallback)
{
    return argc > i ? strtoul(argv[i], NULL, 10) : fallback;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--over") == 0) return bench_over(argv[2]);
    struct schema_options options = {
        .max_values = number(argc, argv, 3, 0),
        .max_bytes = (uint64_t)number(argc, argv, 4, 0) << 20,
    };
    return bench_table(number(argc, argv, 1, 10000000), number(argc, argv, 2, 1000000), &options);
}
