/* When the next request of a replay is due: so many a second, or at the distances of the original, sped up. */
#ifndef ASSAY_CLI_REPLAY_RATE_LIMITER_H
#define ASSAY_CLI_REPLAY_RATE_LIMITER_H

#include <stdint.h>

struct rate_limiter {
    double rate;                /* a second; 0: no bound */
    double speed;               /* times the original; 0: as fast as may be */
    int64_t next_ns;            /* rate: when the next token is there */
    int64_t began_ns, began_ms; /* speed: the first request, here and then */
    int64_t behind_ns;          /* speed: by how much the latest request came late */
};

/* Nanoseconds from `now_ns` (CLOCK_MONOTONIC) until a request made at `time_ms` (since 1970; below 0: not known) is
 * due; 0: now. A request without a time, or from before the first one, is not held back by `speed`. */
int64_t rate_limiter_wait_ns(struct rate_limiter *limiter, int64_t time_ms, int64_t now_ns);

/* The request is sent now: take its token. Unused tokens are saved for half a second at most. */
void rate_limiter_take(struct rate_limiter *limiter, int64_t now_ns);

/* Sleep that long, but at most 20 ms: the caller has other work to do and signals to check. */
void rate_limiter_sleep(int64_t wait_ns);

#endif
