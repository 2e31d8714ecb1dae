/* Computes percentiles of any number of durations in fixed memory, with buckets 1 % apart. The histogram of
 * lib/base/metrics.h is too coarse: with its 18 buckets for Prometheus, a percentile is exact only to a factor of two.
 * These 2,400 buckets would take 19 KiB in every series of a registry. */
#ifndef ASSAY_CLI_OUTPUT_LATENCY_H
#define ASSAY_CLI_OUTPUT_LATENCY_H

#include <stdint.h>

enum { LATENCY_BUCKETS = 2400 }; /* the last bucket ends at 1 µs · 1.01^2400, about 6 h */

struct latency {
    uint64_t counts[LATENCY_BUCKETS], n;
    double max_ms;
};

void latency_add(struct latency *latency, double ms);

/* Returns the duration that a share `q` (0..1) of the durations did not exceed, within 1 %; 0 if there are none. */
double latency_quantile(const struct latency *latency, double q);

#endif
