/* Figures for an operator: counters, gauges and histograms, written in Prometheus' text format 0.0.4.
 *
 * DESIGN. What can be measured is one const table of rows, so that HELP, TYPE, labels and the documentation come from
 * one place and a wrong name is found when the program starts. A registry makes the series: one for a row without
 * labels, else one for each combination of label values, which the caller looks up once and keeps. Counting is
 * lock-free. A row that nobody has looked up is not shown, so one table serves processes that do different things.
 *
 * Most figures are not counted here. Rooms count into plain structs of their own (worker_stats, coordinator_stats,
 * cache_stats) that they need anyway; whoever serves the registry copies them in when somebody asks (metrics_set,
 * metrics_set_histogram). So a room that is used without a registry pays nothing for it. Rejected: global counters in
 * each room (two coordinators of a test would add up in one place).
 *
 * Bounds: METRICS_MAX_SERIES series a row. What comes after shares one whose label values are all "other": labels are
 * meant for what a person could list (a family, a reason, a topic), never for ids, SQL or anything of a request.
 */
#ifndef ASSAY_LIB_BASE_METRICS_H
#define ASSAY_LIB_BASE_METRICS_H

#include "lib/base/error.h"

#include <stdint.h>

enum {
    METRICS_MAX_LABELS = 4,
    METRICS_MAX_SERIES = 64, /* of one row */
    METRICS_MAX_VALUE = 64,  /* bytes of a label's value; more is cut */
    METRICS_BUCKETS = 18,    /* with the one that has no upper bound */
};

enum metrics_kind { METRICS_COUNTER, METRICS_GAUGE, METRICS_HISTOGRAM };

/* One row. Names as Prometheus asks: base units, a counter ends in _total, a histogram (of durations) in _seconds. */
struct metrics_def {
    const char *name;
    enum metrics_kind kind;
    const char *labels; /* names, separated by commas; "": none */
    const char *help;   /* one sentence */
};

/* "counter", "gauge", "histogram". Thread: any. */
const char *metrics_kind_name(enum metrics_kind kind);

/* --- durations, counted by one thread at a time --- */

/* Upper bounds in seconds, 0.5 ms to 2 minutes: one ladder for all, so that any two histograms add up. */
extern const double metrics_bounds[METRICS_BUCKETS - 1];

/* Zeroed: empty. counts[i]: durations above bound i - 1, up to and with bound i. */
struct metrics_histogram {
    uint64_t counts[METRICS_BUCKETS];
    int64_t sum_ns;
};

/* Count a duration; below 0 counts as 0. Thread: the struct's. */
void metrics_histogram_count(struct metrics_histogram *histogram, int64_t ns);
/* Add `from` to `into`. */
void metrics_histogram_add(struct metrics_histogram *into, const struct metrics_histogram *from);
/* How many durations. */
uint64_t metrics_histogram_total(const struct metrics_histogram *histogram);

/* --- the registry --- */

struct metrics;
struct metric; /* one series; lives as long as the registry */

/* A registry of these rows, which must outlive it; a series is named by its row's index. ERR_CONFIG: which row breaks a
 * rule, or is there twice. Thread: one. */
enum err_code metrics_new(const struct metrics_def *defs, unsigned n, struct metrics **out, struct err *err);
void metrics_free(struct metrics *metrics);

/* The series of row `id` with these label values, as many as the row has labels (NULL when it has none), made if need
 * be. Bytes that are no UTF-8 become '?'. NULL only without memory, which the functions below take. Thread: any; takes
 * a lock, so keep what it returns. */
struct metric *metrics_get(struct metrics *metrics, unsigned id, const char *const *values);

/* A counter goes up. Thread: any, lock-free. */
void metrics_add(struct metric *metric, uint64_t n);
/* A gauge has this value now; also for a counter that somebody else counts. Thread: any, lock-free. */
void metrics_set(struct metric *metric, double value);
/* A histogram has another duration. Thread: any, lock-free. */
void metrics_observe(struct metric *metric, int64_t ns);
/* A histogram that somebody else counts stands so now. Thread: any, lock-free. */
void metrics_set_histogram(struct metric *metric, const struct metrics_histogram *histogram);

/* Everything as text, NUL-terminated, to be freed with free(); *len may be NULL. Rows in the order of the table; one
 * without any series is left out. NULL: no memory. Thread: any, also while others count. */
char *metrics_write(struct metrics *metrics, size_t *len);

#endif
