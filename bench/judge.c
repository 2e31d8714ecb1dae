/* Measures the time to judge a candidate. Compares it with preparing and running its SQL once.
 *
 *   bench_judge LOG DB_ROOT [LIMIT]
 *
 * An engine with one worker judges each candidate of the log alone, with all signals, all families and the model. Then
 * the candidate runs once through lib/db, in the same process, so that both have the same caches. The first pass warms
 * indexes and pages and is not counted. Prints medians and 95th percentiles and the bound 4 x run + 0.5 ms. The signals
 * that execute no SQL are timed by bench_signals. */
#include "engine/engine.h"
#include "lib/base/clock.h"
#include "lib/base/input.h"

#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sample {
    double judge_ms, run_ms;
};

struct bench {
    const char *root;
    struct engine *engine;
    GHashTable *databases; /* name → struct db */
    GArray *samples;
    bool warm;
};

static struct db *database(struct bench *b, const char *name)
{
    struct db *db = g_hash_table_lookup(b->databases, name);
    if (db) return db;
    char *file = g_strdup_printf("%s.sqlite", name), *path = g_build_filename(b->root, name, file, NULL);
    if (db_open(path, NULL, &db, NULL) == ERR_OK) g_hash_table_insert(b->databases, g_strdup(name), db);
    g_free(file);
    g_free(path);
    return db;
}

/* Judges one candidate alone. Returns false if its SQL is invalid; no signals judge such a candidate. */
static bool judge(struct bench *b, const struct msg_request *request, uint32_t i, struct sample *out)
{
    struct msg_request one = *request;
    struct msg_verdict *verdict = NULL;
    struct err err = {0};
    one.candidates = &request->candidates[i];
    one.n_candidates = 1;
    if (engine_submit(b->engine, &one, -1, &err) != ERR_OK || engine_next(b->engine, -1, &verdict, &err) != ERR_OK) {
        fprintf(stderr, "judge: %s\n", err.text);
        exit(2);
    }
    const struct msg_judged *judged = verdict->n_candidates ? &verdict->candidates[0] : NULL;
    bool good = judged && judged->judged && !judged->invalid;
    out->judge_ms = clock_ms(verdict->worker_ns);
    msg_verdict_free(verdict);
    return good;
}

static bool run(struct bench *b, const struct msg_request *request, uint32_t i, struct sample *out)
{
    struct db *db = database(b, request->db);
    struct arena arena;
    struct db_result result;
    arena_init(&arena, 0);
    bool good = db && db_query(db, &arena, request->candidates[i].sql.bytes, request->candidates[i].sql.len, NULL, 0, 0,
                               &result, NULL) == ERR_OK;
    if (good) out->run_ms = clock_ms(result.ns);
    arena_free(&arena);
    return good;
}

static void pass(struct bench *b, const char *log, int64_t limit)
{
    struct lines lines;
    struct err err = {0};
    struct arena arena;
    if (lines_open(log, &lines, &err) != ERR_OK) {
        fprintf(stderr, "%s: %s\n", log, err.text);
        exit(2);
    }
    arena_init(&arena, 0);
    for (int64_t n = 0; (!limit || n < limit) && lines_next(&lines) > 0; n++) {
        struct msg_request *request = NULL;
        arena_reset(&arena);
        if (msg_request_from_json(&arena, lines.text, lines.len, &request, &err) != ERR_OK) continue;
        for (uint32_t i = 0; i < request->n_candidates; i++) {
            struct sample sample = {0};
            if (run(b, request, i, &sample) && judge(b, request, i, &sample) && b->warm)
                g_array_append_val(b->samples, sample);
        }
    }
    arena_free(&arena);
    lines_close(&lines);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double quantile(const struct bench *b, size_t offset, double q)
{
    guint n = b->samples->len;
    double *values = g_new(double, n + 1);
    for (guint i = 0; i < n; i++)
        values[i] = *(double *)(void *)(b->samples->data + i * sizeof(struct sample) + offset);
    qsort(values, n, sizeof *values, by_value);
    double value = n ? values[(guint)(q * (n - 1))] : (double)NAN;
    g_free(values);
    return value;
}

static void report(const struct bench *b)
{
    guint within = 0;
    for (guint i = 0; i < b->samples->len; i++) {
        const struct sample *s = &g_array_index(b->samples, struct sample, i);
        within += s->judge_ms <= 4 * s->run_ms + 0.5;
    }
    printf("%u candidates\n%-8s %10s %10s %22s\n", b->samples->len, "", "judge ms", "run ms", "judge / (4 run + 0.5)");
    static const double points[] = {0.5, 0.95};
    for (int i = 0; i < 2; i++) {
        double judged = quantile(b, offsetof(struct sample, judge_ms), points[i]);
        double ran = quantile(b, offsetof(struct sample, run_ms), points[i]);
        printf("%-8s %10.3f %10.3f %22.2f\n", i ? "p95" : "median", judged, ran, judged / (4 * ran + 0.5));
    }
    printf("within 4 x run + 0.5 ms: %.1f %% of the candidates\n",
           b->samples->len ? 100.0 * within / b->samples->len : 0);
}

static void close_db(gpointer db)
{
    db_close(db);
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        fprintf(stderr, "usage: bench_judge LOG DB_ROOT [LIMIT]\n");
        return 2;
    }
    const char *const roots[] = {argv[2]};
    struct engine_config config = {.workers = 1,
                                   .databases = {.roots = roots, .n_roots = 1},
                                   .defaults = {.strategy = MSG_RERANK, .deadline_ms = -1}};
    struct bench b = {.root = argv[2]};
    struct err err = {0};
    if (engine_open(&config, &b.engine, &err) != ERR_OK) {
        fprintf(stderr, "bench_judge: %s\n", err.text);
        return 2;
    }
    b.databases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, close_db);
    b.samples = g_array_new(FALSE, FALSE, sizeof(struct sample));
    int64_t limit = argc > 3 ? atoll(argv[3]) : 0;
    pass(&b, argv[1], limit);
    b.warm = true;
    pass(&b, argv[1], limit);
    report(&b);
    engine_close(b.engine);
    g_hash_table_destroy(b.databases);
    g_array_free(b.samples, TRUE);
    return 0;
}
