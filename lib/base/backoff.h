/* Computes the waits between retries: exponential backoff with jitter. */
#ifndef ASSAY_LIB_BASE_BACKOFF_H
#define ASSAY_LIB_BASE_BACKOFF_H

#include <glib.h>
#include <stdint.h>

/* The first wait is first_ns; each further wait is twice as long, up to most_ns. Each wait is multiplied by a random
 * number from [jitter_low, jitter_high). So callers that fail at the same time do not retry at the same time. If both
 * are 1, no random number is drawn. */
struct backoff {
    int64_t first_ns, most_ns;
    double jitter_low, jitter_high;
};

/* Returns the wait before retry number `retry`, counted from 0. `random` is a generator that only one thread uses at a
 * time. NULL selects GLib's global generator, which any thread may use. */
int64_t backoff_wait_ns(const struct backoff *backoff, uint32_t retry, GRand *random);

#endif
