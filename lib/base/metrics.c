/* Implements the registry of metrics (metrics.h). Each row has a list of series. The list only grows, under a lock.
 * Values are atomics, so counting takes no lock. Label values are escaped once, when a series is created. A row with
 * too many series gets one shared series with the label values "other". */
#include "lib/base/metrics.h"

#include "lib/base/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char OTHER[] = "other";

const double metrics_bounds[METRICS_BUCKETS - 1] = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                    0.5,    1,     2.5,    5,     10,   30,    60,   120};

struct metric {
    struct metric *next;
    char *labels; /* `a="x",b="y"`, escaped; empty without labels */
    _Atomic double value;
    atomic_ullong counts[METRICS_BUCKETS];
    atomic_llong sum_ns;
};

struct family {
    const struct metrics_def *def;
    unsigned n; /* number of series, not counting the shared one */
    struct metric *first, *last;
    struct metric *rest;
};

struct metrics {
    pthread_mutex_t lock; /* protects the lists; values need no lock */
    unsigned n;
    struct family families[];
};

const char *metrics_kind_name(enum metrics_kind kind)
{
    static const char *const names[] = {"counter", "gauge", "histogram"};
    return names[kind];
}

/* --- durations --- */

static unsigned bucket_of(int64_t ns)
{
    unsigned i = 0;
    while (i < METRICS_BUCKETS - 1 && (double)ns > metrics_bounds[i] * 1e9) i++;
    return i;
}

void metrics_histogram_count(struct metrics_histogram *histogram, int64_t ns)
{
    if (ns < 0) ns = 0;
    histogram->counts[bucket_of(ns)]++;
    histogram->sum_ns += ns;
}

void metrics_histogram_add(struct metrics_histogram *into, const struct metrics_histogram *from)
{
    for (unsigned i = 0; i < METRICS_BUCKETS; i++) into->counts[i] += from->counts[i];
    into->sum_ns += from->sum_ns;
}

uint64_t metrics_histogram_total(const struct metrics_histogram *histogram)
{
    uint64_t total = 0;
    for (unsigned i = 0; i < METRICS_BUCKETS; i++) total += histogram->counts[i];
    return total;
}

/* --- validation of rows --- */

static bool is_letter(char c, bool colon)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (colon && c == ':');
}

static bool is_name(const char *name, size_t len, bool colon)
{
    for (size_t i = 0; i < len; i++)
        if (!is_letter(name[i], colon) && (i == 0 || name[i] < '0' || name[i] > '9')) return false;
    return len > 0;
}

static bool ends_in(const char *name, const char *end)
{
    size_t len = strlen(name), tail = strlen(end);
    return len > tail && strcmp(name + len - tail, end) == 0;
}

/* Returns the fault in the labels of a row, or NULL if they are valid. */
static const char *check_labels(const struct metrics_def *def)
{
    unsigned n = 0;
    for (const char *at = def->labels; *at;) {
        size_t len = strcspn(at, ",");
        if (!is_name(at, len, false) || strncmp(at, "__", 2) == 0) return "has an invalid label name";
        if (def->kind == METRICS_HISTOGRAM && len == 2 && strncmp(at, "le", 2) == 0) return "has the reserved label le";
        if (++n > METRICS_MAX_LABELS) return "has too many labels";
        at += len + (at[len] == ',');
    }
    return NULL;
}

static const char *check_name(const struct metrics_def *def)
{
    if (!is_name(def->name, strlen(def->name), true)) return "is an invalid name";
    if ((def->kind == METRICS_COUNTER) != ends_in(def->name, "_total"))
        return def->kind == METRICS_COUNTER ? "is a counter and must end in _total"
                                            : "ends in _total but is not a counter";
    if (def->kind == METRICS_HISTOGRAM && !ends_in(def->name, "_seconds")) return "must end in _seconds";
    return def->help[0] ? NULL : "has no help";
}

static enum err_code check(const struct metrics_def *defs, unsigned at, struct err *err)
{
    const char *wrong = check_name(&defs[at]);
    if (!wrong) wrong = check_labels(&defs[at]);
    for (unsigned i = 0; i < at && !wrong; i++)
        if (strcmp(defs[i].name, defs[at].name) == 0) wrong = "is defined twice";
    return wrong ? err_set(err, ERR_CONFIG, "metric '%.100s' %s", defs[at].name, wrong) : ERR_OK;
}

/* --- series --- */

static void write_value(FILE *out, const char *value)
{
    const char *at = value;
    for (size_t taken = 0; *at;) {
        unsigned len = utf8_length(at), step = len ? len : 1;
        if ((taken += step) > METRICS_MAX_VALUE) return;
        if (*at == '\n')
            fputs("\\n", out);
        else if (*at == '"' || *at == '\\')
            fprintf(out, "\\%c", *at);
        else if (len)
            fwrite(at, 1, len, out);
        else
            fputc('?', out);
        at += step;
    }
}

/* Returns a text such as `a="x",b="y"`; free it with free(). If `values` is NULL, all label values are "other". */
static char *label_text(const struct metrics_def *def, const char *const *values)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    unsigned i = 0;
    for (const char *at = def->labels; *at; i++) {
        size_t len = strcspn(at, ",");
        fprintf(out, "%s%.*s=\"", i ? "," : "", (int)len, at);
        write_value(out, values ? values[i] : OTHER);
        fputc('"', out);
        at += len + (at[len] == ',');
    }
    if (fclose(out) == 0) return text;
    free(text);
    return NULL;
}

static struct metric *series_new(char *labels)
{
    struct metric *metric = labels ? calloc(1, sizeof *metric) : NULL;
    if (!metric) {
        free(labels);
        return NULL;
    }
    metric->labels = labels;
    return metric;
}

static struct metric *append(struct family *family, struct metric *metric)
{
    if (!metric) return NULL;
    if (family->last)
        family->last->next = metric;
    else
        family->first = metric;
    return family->last = metric;
}

/* Returns the series with these labels, and creates it if necessary. Takes ownership of `labels`. Returns NULL if
 * memory is exhausted, which is also the case if `labels` is NULL. The caller holds the lock. */
static struct metric *find_or_make(struct family *family, char *labels)
{
    if (!labels) return NULL;
    for (struct metric *metric = family->first; metric; metric = metric->next)
        if (strcmp(metric->labels, labels) == 0) {
            free(labels);
            return metric;
        }
    if (family->n < METRICS_MAX_SERIES) {
        family->n++;
        return append(family, series_new(labels));
    }
    free(labels);
    if (!family->rest) family->rest = append(family, series_new(label_text(family->def, NULL)));
    return family->rest;
}

struct metric *metrics_get(struct metrics *metrics, unsigned id, const char *const *values)
{
    struct family *family = &metrics->families[id];
    char *labels = label_text(family->def, values);
    pthread_mutex_lock(&metrics->lock);
    struct metric *metric = find_or_make(family, labels);
    pthread_mutex_unlock(&metrics->lock);
    return metric;
}

enum err_code metrics_new(const struct metrics_def *defs, unsigned n, struct metrics **out, struct err *err)
{
    *out = NULL;
    struct metrics *metrics = calloc(1, sizeof *metrics + n * sizeof *metrics->families);
    if (!metrics) return err_set(err, ERR_NOMEM, "out of memory for the metrics");
    pthread_mutex_init(&metrics->lock, NULL);
    metrics->n = n;
    enum err_code code = ERR_OK;
    for (unsigned i = 0; i < n && !code; i++) {
        metrics->families[i].def = &defs[i];
        code = check(defs, i, err);
    }
    if (code) {
        metrics_free(metrics);
        return code;
    }
    *out = metrics;
    return ERR_OK;
}

void metrics_free(struct metrics *metrics)
{
    if (!metrics) return;
    for (unsigned i = 0; i < metrics->n; i++)
        for (struct metric *metric = metrics->families[i].first, *next; metric; metric = next) {
            next = metric->next;
            free(metric->labels);
            free(metric);
        }
    pthread_mutex_destroy(&metrics->lock);
    free(metrics);
}

/* --- values --- */

void metrics_add(struct metric *metric, uint64_t n)
{
    if (!metric) return;
    double before = atomic_load_explicit(&metric->value, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&metric->value, &before, before + (double)n, memory_order_relaxed,
                                                  memory_order_relaxed)) {
    }
}

void metrics_set(struct metric *metric, double value)
{
    if (metric) atomic_store_explicit(&metric->value, value, memory_order_relaxed);
}

void metrics_observe(struct metric *metric, int64_t ns)
{
    if (!metric) return;
    if (ns < 0) ns = 0;
    atomic_fetch_add_explicit(&metric->sum_ns, ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&metric->counts[bucket_of(ns)], 1, memory_order_relaxed);
}

void metrics_set_histogram(struct metric *metric, const struct metrics_histogram *histogram)
{
    if (!metric) return;
    atomic_store_explicit(&metric->sum_ns, histogram->sum_ns, memory_order_relaxed);
    for (unsigned i = 0; i < METRICS_BUCKETS; i++)
        atomic_store_explicit(&metric->counts[i], histogram->counts[i], memory_order_relaxed);
}

/* --- text --- */

static void write_number(FILE *out, double value)
{
    if (isnan(value))
        fputs("NaN", out);
    else if (isinf(value))
        fputs(value > 0 ? "+Inf" : "-Inf", out);
    else if (fabs(value) < 9e15 && value == floor(value))
        fprintf(out, "%.0f", value);
    else
        fprintf(out, "%.15g", value);
}

static void write_sample(FILE *out, const char *name, const char *end, const char *labels, double value)
{
    fprintf(out, "%s%s%s%s%s ", name, end, labels[0] ? "{" : "", labels, labels[0] ? "}" : "");
    write_number(out, value);
    fputc('\n', out);
}

/* Writes one histogram. Buckets are cumulative. The value of the last bucket is also written as _count, so both agree
 * even while other threads count. */
static void write_histogram(FILE *out, const char *name, const struct metric *metric)
{
    const char *labels = metric->labels;
    uint64_t total = 0;
    for (unsigned i = 0; i < METRICS_BUCKETS; i++) {
        total += atomic_load_explicit(&metric->counts[i], memory_order_relaxed);
        fprintf(out, "%s_bucket{%s%sle=\"", name, labels, labels[0] ? "," : "");
        write_number(out, i < METRICS_BUCKETS - 1 ? metrics_bounds[i] : INFINITY);
        fprintf(out, "\"} %" PRIu64 "\n", total);
    }
    double sum = (double)atomic_load_explicit(&metric->sum_ns, memory_order_relaxed) / 1e9;
    write_sample(out, name, "_sum", labels, sum);
    write_sample(out, name, "_count", labels, (double)total);
}

static void write_help(FILE *out, const char *help)
{
    for (; *help; help++)
        if (*help == '\n')
            fputs("\\n", out);
        else if (*help == '\\')
            fputs("\\\\", out);
        else
            fputc(*help, out);
}

static void write_family(FILE *out, const struct family *family)
{
    const struct metrics_def *def = family->def;
    if (!family->first) return;
    fprintf(out, "# HELP %s ", def->name);
    write_help(out, def->help);
    fprintf(out, "\n# TYPE %s %s\n", def->name, metrics_kind_name(def->kind));
    for (const struct metric *metric = family->first; metric; metric = metric->next)
        if (def->kind == METRICS_HISTOGRAM)
            write_histogram(out, def->name, metric);
        else
            write_sample(out, def->name, "", metric->labels,
                         atomic_load_explicit(&metric->value, memory_order_relaxed));
}

char *metrics_write(struct metrics *metrics, size_t *len)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out) return NULL;
    pthread_mutex_lock(&metrics->lock);
    for (unsigned i = 0; i < metrics->n; i++) write_family(out, &metrics->families[i]);
    pthread_mutex_unlock(&metrics->lock);
    if (fclose(out) != 0) {
        free(text);
        return NULL;
    }
    if (len) *len = size;
    return text;
}
