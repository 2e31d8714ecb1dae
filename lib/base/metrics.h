/* Metrics for an operator: counters, gauges and histograms, in Prometheus' text format 0.0.4.
 *
 * DESIGN. One const table of rows defines all metrics. HELP, TYPE, labels and documentation come from it, and an
 * invalid name is found at start-up. A registry creates the series: one for a row without labels, otherwise one for
 * each combination of label values. Callers look a series up once and store it. Counting is lock-free. A row without a
 * series is not shown, so one table serves different processes.
 *
 * Most metrics are counted elsewhere. Rooms count into plain structs that they need anyway (worker_stats,
 * coordinator_stats, cache_stats). The server of the registry copies them in on each request (metrics_set,
 * metrics_set_histogram). So a room without a registry has no overhead. Rejected: global counters in each room, because
 * two coordinators of a test would add up in one place.
 *
 * Bounds: METRICS_MAX_SERIES series a row. Further ones share a series whose label values are all "other". Labels are
 * for values that a person could list (a family, a reason, a topic), never for ids, SQL or data of a request.
 */
#ifndef ASSAY_LIB_BASE_METRICS_H
#define ASSAY_LIB_BASE_METRICS_H

#include "lib/base/error.h"

#include <stdint.h>

enum {
    METRICS_MAX_LABELS = 4,
    METRICS_MAX_SERIES = 64, /* series of one row */
    METRICS_MAX_VALUE = 64,  /* bytes of a label's value; longer values are cut */
    METRICS_BUCKETS = 18,    /* including the one without an upper bound */
};

enum metrics_kind { METRICS_COUNTER, METRICS_GAUGE, METRICS_HISTOGRAM };

/* A row. Names follow Prometheus: base units; a counter ends in _total, a histogram (of durations) in _seconds. */
struct metrics_def {
    const char *name;
    enum metrics_kind kind;
    const char *labels; /* names, separated by commas; "" for none */
    const char *help;   /* one sentence */
};

/* "counter", "gauge", "histogram". Thread: any. */
const char *metrics_kind_name(enum metrics_kind kind);

/* --- durations, counted by one thread at a time --- */

/* Upper bounds in seconds, 0.5 ms to 2 minutes. All histograms share them, so any two can be added. */
extern const double metrics_bounds[METRICS_BUCKETS - 1];

/* Empty if zeroed. counts[i]: durations above bound i - 1, up to and including bound i. */
struct metrics_histogram {
    uint64_t counts[METRICS_BUCKETS];
    int64_t sum_ns;
};

/* Counts a duration; negative ones count as 0. Thread: that of the struct. */
void metrics_histogram_count(struct metrics_histogram *histogram, int64_t ns);
/* Adds `from` to `into`. */
void metrics_histogram_add(struct metrics_histogram *into, const struct metrics_histogram *from);
/* Returns the number of durations. */
uint64_t metrics_histogram_total(const struct metrics_histogram *histogram);

/* --- the registry --- */

struct metrics;
struct metric; /* one series; valid as long as the registry */

/* Creates a registry of these rows, which must outlive it. A row's index is its id. ERR_CONFIG names a row that is
 * invalid or repeated. Thread: one. */
enum err_code metrics_new(const struct metrics_def *defs, unsigned n, struct metrics **out, struct err *err);
void metrics_free(struct metrics *metrics);

/* Returns the series of row `id` with these label values, one for each label (NULL if the row has none). Creates it if
 * necessary. Invalid UTF-8 bytes become '?'. Returns NULL only if memory is exhausted, which the functions below
 * accept. Thread: any; takes a lock, so store the result. */
struct metric *metrics_get(struct metrics *metrics, unsigned id, const char *const *values);

/* Adds to a counter. Thread: any, lock-free. */
void metrics_add(struct metric *metric, uint64_t n);
/* Sets a gauge, or a counter that is counted externally. Thread: any, lock-free. */
void metrics_set(struct metric *metric, double value);
/* Adds a duration to a histogram. Thread: any, lock-free. */
void metrics_observe(struct metric *metric, int64_t ns);
/* Replaces the histogram with an externally accumulated snapshot. Thread: any, lock-free. */
void metrics_set_histogram(struct metric *metric, const struct metrics_histogram *histogram);

/* Writes all series as text, NUL-terminated; free with free(). *len may be NULL. Rows are in table order; rows without
 * series are left out. Returns NULL if memory is exhausted. Thread: any, also while others count. */
char *metrics_write(struct metrics *metrics, size_t *len);

#endif
