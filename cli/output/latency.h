/* Percentiles of any number of durations in fixed memory: buckets 1 % apart. Not the histogram of lib/base/metrics.h,
 * whose 18 buckets are what Prometheus is shown and say a percentile to a factor of two; in every series of a registry
 * these 2,400 would be 19 KiB. */
#ifndef ASSAY_CLI_OUTPUT_LATENCY_H
#define ASSAY_CLI_OUTPUT_LATENCY_H

#include <stdint.h>

enum { LATENCY_BUCKETS = 2400 }; /* 1 µs · 1.01^2400: about 6 h */

struct latency {
    uint64_t counts[LATENCY_BUCKETS], n;
    double max_ms;
};

void latency_add(struct latency *latency, double ms);

/* The duration that a share `q` (0..1) of them did not exceed, within 1 %; 0 when there are none. */
double latency_quantile(const struct latency *latency, double q);

#endif
