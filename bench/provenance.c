/* Measures provenance over a query log: its coverage, the correctness of the source rows, and its time.
 *
 *   bench_provenance LOG.jsonl --db-root DIR
 */
#include "tests/unit/explain/trace_log.h"

#include <string.h>

static int by_ns(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void print_times(const char *what, GArray *times)
{
    g_array_sort(times, by_ns);
    const int64_t *ns = (const int64_t *)(void *)times->data;
    guint n = times->len;
    if (!n) return;
    printf("  %s: median %.4f ms, p95 %.4f ms, p99 %.4f ms, most %.4f ms\n", what, (double)ns[n / 2] / 1e6,
           (double)ns[n * 95 / 100] / 1e6, (double)ns[n * 99 / 100] / 1e6, (double)ns[n - 1] / 1e6);
}

int main(int argc, char **argv)
{
    if (argc != 4 || strcmp(argv[2], "--db-root") != 0) {
        fprintf(stderr, "usage: bench_provenance LOG.jsonl --db-root DIR\n");
        return 2;
    }
    struct trace_tally t = {.own = g_array_new(FALSE, FALSE, sizeof(int64_t)),
                            .sql = g_array_new(FALSE, FALSE, sizeof(int64_t)),
                            .why = g_array_new(FALSE, FALSE, sizeof(int64_t))};
    bool read = trace_log(argv[1], argv[3], &t);
    if (read) {
        trace_print(&t, argv[1], stdout);
        print_times("a trace without its statements", t.own);
        print_times("its statements", t.sql);
        print_times("a why-not with its probes", t.why);
    } else {
        fprintf(stderr, "%s: cannot be read\n", argv[1]);
    }
    g_array_free(t.own, TRUE);
    g_array_free(t.sql, TRUE);
    g_array_free(t.why, TRUE);
    return !read;
}
