/* Counts and exports metrics: counters, gauges and histograms, in Prometheus' text format 0.0.4.
 *
 * DESIGN. One const table defines all metrics, one metric a row. HELP, TYPE, labels and documentation come from it.
 * Invalid names are rejected at start-up. A registry creates the series: one for a row without labels, otherwise one
 * for each combination of label values. Callers look up a series once and store the pointer. Counting is lock-free. A
 * row without a series is not exported, so different processes can share one table.
 *
 * Most metrics are counted outside the registry. Rooms count into structs that they need anyway (worker_stats,
 * coordinator_stats, cache_stats). On each HTTP request for the metrics, these counts are copied into the registry
 * (metrics_set, metrics_set_histogram). So a room without a registry has no overhead. Rejected: global counters in each
 * room, because two coordinators in one test process would share them.
 *
 * Bounds: a row has at most METRICS_MAX_SERIES series. Further combinations of label values share one series, whose
 * label values are all "other". A label must have few values, known in advance (a family, a reason, a topic). Ids, SQL
 * and data of a request are never labels.
 */
#ifndef ASSAY_LIB_BASE_METRICS_H
#define ASSAY_LIB_BASE_METRICS_H

#include "lib/base/error.h"

#include <stdint.h>

enum {
    METRICS_MAX_LABELS = 4,
    METRICS_MAX_SERIES = 64, /* series of one row */
    METRICS_MAX_VALUE = 64,  /* bytes of a label's value; longer values are cut */
    METRICS_BUCKETS = 18,    /* number of buckets, including the one without an upper bound */
};

enum metrics_kind { METRICS_COUNTER, METRICS_GAUGE, METRICS_HISTOGRAM };

/* A row of the table. Names follow Prometheus: a counter ends in _total, and a histogram in _seconds, because all
 * histograms are of durations. */
struct metrics_def {
    const char *name;
    enum metrics_kind kind;
    const char *labels; /* names, separated by commas; "" for none */
    const char *help;   /* one sentence */
};

/* Returns "counter", "gauge" or "histogram". Thread: any. */
const char *metrics_kind_name(enum metrics_kind kind);

/* --- histograms of durations outside a registry --- */

/* Upper bounds in seconds, 0.5 ms to 2 minutes. All histograms share them, so any two can be added. */
extern const double metrics_bounds[METRICS_BUCKETS - 1];

/* A histogram, empty if zeroed. counts[i] is the number of durations above bound i - 1 and up to bound i, inclusive.
 * Thread: one at a time. */
struct metrics_histogram {
    uint64_t counts[METRICS_BUCKETS];
    int64_t sum_ns;
};

/* Counts a duration. A negative duration counts as 0. */
void metrics_histogram_count(struct metrics_histogram *histogram, int64_t ns);
/* Adds the durations of `from` to `into`. */
void metrics_histogram_add(struct metrics_histogram *into, const struct metrics_histogram *from);
/* Returns the number of durations. */
uint64_t metrics_histogram_total(const struct metrics_histogram *histogram);

/* --- the registry --- */

struct metrics;
struct metric; /* one series; valid as long as the registry */

/* Creates a registry. `defs` must outlive it; the index of a row is its id. Returns ERR_CONFIG, naming the row, if a
 * row is invalid or repeated. Thread: one. */
enum err_code metrics_new(const struct metrics_def *defs, unsigned n, struct metrics **out, struct err *err);
void metrics_free(struct metrics *metrics);

/* Returns the series of row `id` with these label values, and creates it if necessary. `values` has one text for each
 * label; it may be NULL if the row has no labels. Invalid UTF-8 bytes become '?'. Returns NULL if memory is exhausted;
 * the functions below ignore a NULL series. Takes a lock, so callers should store the result. Thread: any. */
struct metric *metrics_get(struct metrics *metrics, unsigned id, const char *const *values);

/* Adds to a counter. Thread: any, lock-free. */
void metrics_add(struct metric *metric, uint64_t n);
/* Sets a gauge, or a counter that is counted outside the registry. Thread: any, lock-free. */
void metrics_set(struct metric *metric, double value);
/* Adds a duration to a histogram. Thread: any, lock-free. */
void metrics_observe(struct metric *metric, int64_t ns);
/* Replaces the contents of a histogram that is counted outside the registry. Thread: any, lock-free. */
void metrics_set_histogram(struct metric *metric, const struct metrics_histogram *histogram);

/* Returns all series as NUL-terminated text; free it with free(). Rows without series are omitted. `len` may be NULL.
 * Returns NULL if memory is exhausted. Thread: any, even while other threads count. */
char *metrics_write(struct metrics *metrics, size_t *len);

#endif
