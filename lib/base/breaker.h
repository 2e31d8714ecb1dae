/* A circuit breaker: it stops calls to a failing dependency, so that the dependency can recover and callers fail at
 * once.
 *
 *     closed ── `failures` in a row ──▶ open ── pause over ──▶ half open: one attempt ── it succeeds ──▶ closed
 *                                        ▲                                  └── it fails: next pause ──┐
 *                                        └─────────────────────────────────────────────────────────────┘
 *
 * Failures of attempts that began before it opened are ignored: they do not lengthen the pause.
 *
 * It has no clock and no lock: `now_ns` is an argument, and its owner calls it under the owner's lock.
 */
#ifndef ASSAY_LIB_BASE_BREAKER_H
#define ASSAY_LIB_BASE_BREAKER_H

#include "lib/base/backoff.h"

#include <stdbool.h>

struct breaker_config {
    uint32_t failures;    /* failures in a row that open it; 0 if it never opens */
    struct backoff pause; /* how long it is open; grows until it has closed */
};

enum breaker_state { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_HALF_OPEN };

/* Closed if zeroed. */
struct breaker {
    enum breaker_state state;
    uint32_t failures; /* in a row */
    uint32_t opened;   /* times since it closed */
    int64_t until_ns;  /* end of the pause, unless closed */
};

enum breaker_outcome {
    BREAKER_ALIVE,  /* the dependency answered, with any answer */
    BREAKER_FAILED, /* no answer, or no usable one */
    BREAKER_UNKNOWN /* the attempt was cancelled or is inconclusive */
};

/* True if an attempt would be refused now. */
bool breaker_refuses(const struct breaker *breaker, int64_t now_ns);
/* Admits an attempt. After true the caller must call breaker_report. */
bool breaker_admit(struct breaker *breaker, int64_t now_ns);
/* Reports the outcome of an attempt. Returns true if this opened the breaker. */
bool breaker_report(struct breaker *breaker, const struct breaker_config *config, int64_t now_ns,
                    enum breaker_outcome outcome);

#endif
