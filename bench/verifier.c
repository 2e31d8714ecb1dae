/* Measures the time of the built-in verifier for a candidate: the features, computed from an existing result and
 * explanation, and the model.
 *
 *   bench_verifier MODEL.json LOG.jsonl DB_ROOT
 *
 * Only candidates that run count. Their results and explanations are made beforehand, because other benches measure
 * them. Times are CPU times of this thread. */
#include "bench/ground.h"
#include "lib/base/input.h"
#include "lib/explain/explain.h"
#include "lib/explain/provenance.h"
#include "lib/question/question.h"
#include "scoring/verifier.h"

#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct bench {
    const char *root;
    struct verifier_model *model;
    GHashTable *grounds;
    GArray *features, *judging, *both; /* double: microseconds */
};

static double now_us(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return 1e6 * (double)t.tv_sec + 1e-3 * (double)t.tv_nsec;
}

static const struct explanation *explain(struct arena *arena, const struct vsig_subject *s)
{
    struct explanation *out = NULL;
    struct explain_options options = explain_defaults;
    const struct explain_source source = {s->sql, s->sql_len, s->stmt, s->bound, s->schema, NULL, &s->result};
    options.may_probe = false;
    return explain_query(arena, &source, &options, &out, NULL) == ERR_OK ? out : NULL;
}

static void measure(struct bench *bench, const struct ground *ground, const struct msg_request *request,
                    const struct question *question, uint32_t i)
{
    struct arena arena;
    struct vsig_subject subject;
    float features[FEATURE_COUNT];
    const struct msg_text *sql = &request->candidates[i].sql;
    arena_init(&arena, 0);
    if (vsig_subject_init(&subject, &arena, ground->schema, ground->db, sql->bytes, sql->len, request->question,
                          request->evidence, question) == ERR_OK &&
        vsig_result(&subject)) {
        const struct explanation *explanation = explain(&arena, &subject);
        double start = now_us();
        if (features_extract(&subject, explanation, &arena, features) != ERR_OK) exit(1);
        double made = now_us();
        struct msg_execution execution = {.code = "ok", .rows = subject.result.n_rows};
        struct msg_judged judged = {.judged = true, .count = 1, .execution = &execution};
        struct verifier_subject one = {request, &judged, 1, 1, 0, features};
        volatile double p = verifier_entails(bench->model, &one);
        (void)p;
        double done = now_us(), a = made - start, b = done - made, c = done - start;
        g_array_append_val(bench->features, a);
        g_array_append_val(bench->judging, b);
        g_array_append_val(bench->both, c);
    }
    arena_free(&arena);
}

static void measure_line(struct bench *bench, const struct lines *lines)
{
    struct arena arena;
    struct msg_request *request;
    arena_init(&arena, 0);
    if (msg_request_from_json(&arena, lines->text, lines->len, &request, NULL) == ERR_OK) {
        const struct ground *ground = ground_of(bench->grounds, bench->root, request->db);
        const struct question *question =
            ground->schema ? question_read(&arena, ground->schema, request->question, request->evidence) : NULL;
        for (uint32_t i = 0; question && i < request->n_candidates; i++) measure(bench, ground, request, question, i);
    }
    arena_free(&arena);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *what, GArray *times)
{
    g_array_sort(times, by_value);
    printf("%-10s median %6.1f us, p95 %6.1f us\n", what, g_array_index(times, double, times->len / 2),
           g_array_index(times, double, times->len * 95 / 100));
}

int main(int argc, char **argv)
{
    struct err err = {0};
    struct bench bench = {.root = argc > 3 ? argv[3] : NULL,
                          .grounds = grounds_new(),
                          .features = g_array_new(FALSE, FALSE, sizeof(double)),
                          .judging = g_array_new(FALSE, FALSE, sizeof(double)),
                          .both = g_array_new(FALSE, FALSE, sizeof(double))};
    struct lines lines;
    if (argc < 4 || verifier_load(argv[1], &bench.model, &err) || lines_open(argv[2], &lines, &err)) {
        fprintf(stderr, "bench_verifier MODEL.json LOG.jsonl DB_ROOT\n%s\n", err.text);
        return 1;
    }
    while (lines_next(&lines) > 0) measure_line(&bench, &lines);
    lines_close(&lines);
    if (!bench.both->len) return 1;
    printf("%u candidates that run\n", bench.both->len);
    print("features", bench.features);
    print("model", bench.judging);
    print("together", bench.both);
    verifier_free(bench.model);
    g_hash_table_unref(bench.grounds);
    return 0;
}
