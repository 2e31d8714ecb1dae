/* Exponential backoff with jitter: how long to wait before one tries again. */
#ifndef ASSAY_LIB_BASE_BACKOFF_H
#define ASSAY_LIB_BASE_BACKOFF_H

#include <glib.h>
#include <stdint.h>

/* Waits are first_ns, twice that, four times that, ... and never more than most_ns, each multiplied by a number drawn
 * from [jitter_low, jitter_high): those who failed together do not come again together. Both 1: nothing is drawn. */
struct backoff {
    int64_t first_ns, most_ns;
    double jitter_low, jitter_high;
};

/* The wait before retry number `retry`, from 0. `random`: where the jitter is drawn from, the caller's and used by one
 * thread at a time; NULL: GLib's own generator, and any thread. */
int64_t backoff_wait_ns(const struct backoff *backoff, uint32_t retry, GRand *random);

#endif
