/* Exponential backoff with jitter: the waits between retries. */
#ifndef ASSAY_LIB_BASE_BACKOFF_H
#define ASSAY_LIB_BASE_BACKOFF_H

#include <glib.h>
#include <stdint.h>

/* The waits are first_ns, twice that, four times that, ... up to most_ns. Each is multiplied by a random number from
 * [jitter_low, jitter_high), so that callers that failed together do not retry together. If both are 1, no random
 * number is drawn. */
struct backoff {
    int64_t first_ns, most_ns;
    double jitter_low, jitter_high;
};

/* Returns the wait before retry number `retry`, from 0. `random` is the caller's generator, used by one thread at a
 * time. NULL selects GLib's own generator and permits any thread. */
int64_t backoff_wait_ns(const struct backoff *backoff, uint32_t retry, GRand *random);

#endif
