/* Runs all signals over a query log, and measures their times and results.
 *
 *   bench_signals LOG.jsonl --db-root DIR [--out FIRES.jsonl] [--gold] [--no-exec]
 *
 * Prints the time of each signal: median, 95th percentile, share of the sum. Also prints the median of parsing, binding
 * and all signals that execute no SQL. The required limit of this median is 60 µs. With --gold, the gold query of each
 * line is judged instead of its candidates. With --no-exec, signals that need the database are left out. With --out, a
 * line of JSON is written for each candidate, which bench/signal_table.py compares with execution labels:
 *
 *   {"line", "candidate", "valid", "signals": {name: [state, severity, findings]}}
 */
#include "bench/ground.h"
#include "lib/question/question.h"
#include "signals/vsig.h"

#include "lib/base/clock.h"

#include <glib.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PARTS = VSIG_ID_END + 2, PART_READ = VSIG_ID_END, PART_PURE };

struct bench {
    const char *log, *root, *out;
    bool gold, no_exec;
    FILE *fires;
    struct vsig_options *options;
    GHashTable *grounds;  /* database name → struct ground */
    GArray *times[PARTS]; /* int64_t: ns, one for each candidate */
    unsigned line, n_judged, n_invalid;
};

static void record(struct bench *bench, unsigned part, int64_t ns)
{
    g_array_append_val(bench->times[part], ns);
}

static bool executes(const struct vsig_def *def)
{
    return (def->needs & (VSIG_NEEDS_DB | VSIG_NEEDS_RESULT)) || def->family == VSIG_EXECUTION;
}

static int worst(const struct vsig_verdict *verdict)
{
    int severity = -1;
    for (const struct vsig_finding *f = verdict->findings; f; f = f->next)
        if ((int)f->severity > severity) severity = (int)f->severity;
    return severity;
}

static void write_fires(struct bench *bench, unsigned candidate, const struct vsig_subject *subject,
                        const struct vsig_verdict *verdicts)
{
    json_t *signals = json_object();
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    for (unsigned i = 0; i < n && subject->code == ERR_OK; i++) {
        const struct vsig_verdict *v = &verdicts[all[i]->id];
        if (bench->no_exec && executes(all[i])) continue;
        int severity = worst(v);
        json_object_set_new(signals, all[i]->name,
                            json_pack("[s, s, i]", vsig_state_name(v->state),
                                      severity < 0 ? "" : vsig_severity_name((enum vsig_severity)severity),
                                      (int)v->n_findings));
    }
    json_t *row = json_pack("{s:i, s:i, s:b, s:o}", "line", (int)bench->line, "candidate", (int)candidate, "valid",
                            subject->code == ERR_OK, "signals", signals);
    char *text = json_dumps(row, JSON_COMPACT);
    fprintf(bench->fires, "%s\n", text);
    free(text);
    json_decref(row);
}

static void judge(struct bench *bench, struct ground *ground, unsigned candidate, const char *sql, const char *question,
                  const char *evidence, const struct question *analysis)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct vsig_subject subject;
    struct vsig_verdict verdicts[VSIG_ID_END] = {0};
    int64_t started = clock_now_ns();
    vsig_subject_init(&subject, &arena, ground->schema, ground->db, sql, strlen(sql), question, evidence, analysis);
    int64_t read_ns = clock_now_ns() - started, pure_ns = read_ns;
    if (subject.code == ERR_OK) {
        unsigned n;
        const struct vsig_def *const *all = vsig_all(&n);
        record(bench, PART_READ, read_ns);
        for (unsigned i = 0; i < n; i++) {
            if (bench->no_exec && executes(all[i])) continue;
            vsig_run_one(&subject, all[i], bench->options, &verdicts[all[i]->id]);
            record(bench, all[i]->id, verdicts[all[i]->id].ns);
            if (!executes(all[i])) pure_ns += verdicts[all[i]->id].ns;
        }
        record(bench, PART_PURE, pure_ns);
        bench->n_judged++;
    } else {
        bench->n_invalid++;
    }
    if (bench->fires) write_fires(bench, candidate, &subject, verdicts);
    arena_free(&arena);
}

static void judge_line(struct bench *bench, json_t *row)
{
    const char *name = json_string_value(json_object_get(row, "db"));
    const char *question = json_string_value(json_object_get(row, "question"));
    const char *evidence = json_string_value(json_object_get(row, "evidence"));
    struct ground *ground = name ? ground_of(bench->grounds, bench->root, name) : NULL;
    if (!ground || !ground->schema) return;
    struct arena arena; /* holds the analysis of the question, which all candidates of the line share */
    arena_init(&arena, 0);
    const struct question *analysis = question ? question_read(&arena, ground->schema, question, evidence) : NULL;
    const char *gold = json_string_value(json_object_get(row, "gold"));
    json_t *candidates = json_object_get(row, "candidates");
    if (bench->gold && gold) judge(bench, ground, 0, gold, question, evidence, analysis);
    for (size_t i = 0; !bench->gold && i < json_array_size(candidates); i++) {
        json_t *entry = json_array_get(candidates, i);
        const char *sql = json_string_value(json_is_string(entry) ? entry : json_object_get(entry, "sql"));
        if (sql) judge(bench, ground, (unsigned)i, sql, question, evidence, analysis);
    }
    arena_free(&arena);
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double micros(GArray *times, double quantile)
{
    if (times->len == 0) return 0;
    return (double)g_array_index(times, int64_t, (guint)(quantile * (times->len - 1))) / 1e3;
}

static double total(GArray *times)
{
    double sum = 0;
    for (guint i = 0; i < times->len; i++) sum += (double)g_array_index(times, int64_t, i);
    return sum;
}

static void print_times(struct bench *bench)
{
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    double sum = 0;
    for (unsigned i = 0; i < PARTS; i++) {
        g_array_sort(bench->times[i], by_value);
        if (i != PART_PURE) sum += total(bench->times[i]);
    }
    printf("%u candidates judged, %u not valid\n", bench->n_judged, bench->n_invalid);
    printf("%-26s %10s %10s %7s\n", "µs a candidate", "median", "p95", "share");
    printf("%-26s %10.1f %10.1f %6.1f%%\n", "parse and bind", micros(bench->times[PART_READ], 0.5),
           micros(bench->times[PART_READ], 0.95), 100 * total(bench->times[PART_READ]) / sum);
    for (unsigned i = 0; i < n; i++) {
        GArray *times = bench->times[all[i]->id];
        printf("%-26s %10.1f %10.1f %6.1f%%%s\n", all[i]->name, micros(times, 0.5), micros(times, 0.95),
               100 * total(times) / sum, executes(all[i]) ? "  executes SQL" : "");
    }
    printf("%-26s %10.1f %10.1f\n", "all but those that execute", micros(bench->times[PART_PURE], 0.5),
           micros(bench->times[PART_PURE], 0.95));
}

static int run(struct bench *bench)
{
    FILE *log = fopen(bench->log, "r");
    if (!log) {
        fprintf(stderr, "%s: cannot be read\n", bench->log);
        return 2;
    }
    char *text = NULL;
    size_t size = 0;
    for (bench->line = 0; getline(&text, &size, log) > 0; bench->line++) {
        json_t *row = json_loads(text, 0, NULL);
        if (row) judge_line(bench, row);
        json_decref(row);
    }
    free(text);
    fclose(log);
    print_times(bench);
    return 0;
}

static bool read_arguments(struct bench *bench, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--gold") == 0)
            bench->gold = true;
        else if (strcmp(argv[i], "--no-exec") == 0)
            bench->no_exec = true;
        else if (strcmp(argv[i], "--db-root") == 0 && i + 1 < argc)
            bench->root = argv[++i];
        else if (strcmp(argv[i], "--out") == 0 && i + 1 < argc)
            bench->out = argv[++i];
        else if (argv[i][0] != '-' && !bench->log)
            bench->log = argv[i];
        else
            return false;
    }
    return bench->log && bench->root;
}

int main(int argc, char **argv)
{
    struct bench bench = {0};
    if (!read_arguments(&bench, argc, argv)) {
        fprintf(stderr, "usage: bench_signals LOG.jsonl --db-root DIR [--out FIRES.jsonl] [--gold] [--no-exec]\n");
        return 2;
    }
    if (bench.out && !(bench.fires = fopen(bench.out, "w"))) {
        fprintf(stderr, "%s: cannot be written\n", bench.out);
        return 2;
    }
    bench.options = vsig_options_new();
    bench.grounds = grounds_new();
    for (unsigned i = 0; i < PARTS; i++) bench.times[i] = g_array_new(FALSE, FALSE, sizeof(int64_t));
    int status = run(&bench);
    for (unsigned i = 0; i < PARTS; i++) g_array_free(bench.times[i], TRUE);
    g_hash_table_unref(bench.grounds);
    vsig_options_free(bench.options);
    if (bench.fires) fclose(bench.fires);
    return status;
}
