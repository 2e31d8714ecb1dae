/* Schedules the requests of a replay: at a fixed rate, or at the intervals of the original, sped up. */
#ifndef ASSAY_CLI_REPLAY_RATE_LIMITER_H
#define ASSAY_CLI_REPLAY_RATE_LIMITER_H

#include <stdint.h>

struct rate_limiter {
    double rate;                /* requests per second; 0 sets no bound */
    double speed;               /* multiple of the original speed; 0 sends as fast as possible */
    int64_t next_ns;            /* used with `rate`: time of the next token */
    int64_t began_ns, began_ms; /* used with `speed`: time of the first request, in the replay and in the original */
    int64_t behind_ns;          /* used with `speed`: delay of the latest request */
};

/* Returns the nanoseconds from `now_ns` (CLOCK_MONOTONIC) until a request is due, or 0. `time_ms` is the request's
 * original time, in milliseconds since 1970; negative if unknown. With `speed`, a request is not delayed if its time is
 * unknown or before that of the first request. */
int64_t rate_limiter_wait_ns(struct rate_limiter *limiter, int64_t time_ms, int64_t now_ns);

/* Takes the token of a request that is sent now. Unused tokens are saved for half a second at most. */
void rate_limiter_take(struct rate_limiter *limiter, int64_t now_ns);

/* Sleeps for `wait_ns`, but at most 20 ms, because the caller must also handle other work and signals. */
void rate_limiter_sleep(int64_t wait_ns);

#endif
