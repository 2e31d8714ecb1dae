#include "cli/output/latency.h"

#include <math.h>

static const double first_ms = 1e-3, step = 1.01;

void latency_add(struct latency *latency, double ms)
{
    double bucket = ms > first_ms ? ceil(log(ms / first_ms) / log(step)) : 0;
    latency->counts[bucket < LATENCY_BUCKETS ? (unsigned)bucket : LATENCY_BUCKETS - 1]++;
    latency->n++;
    if (ms > latency->max_ms) latency->max_ms = ms;
}

double latency_quantile(const struct latency *latency, double q)
{
    uint64_t rank = (uint64_t)ceil(q * (double)latency->n), seen = 0;
    for (unsigned i = 0; i < LATENCY_BUCKETS && latency->n > 0; i++) {
        seen += latency->counts[i];
        if (seen >= rank && seen > 0) return fmin(first_ms * pow(step, i), latency->max_ms);
    }
    return 0;
}
