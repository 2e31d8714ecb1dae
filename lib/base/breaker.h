/* A circuit breaker stops calls to a failing dependency. The dependency can then recover, and callers fail at once
 * instead of waiting.
 *
 *     closed ── `failures` in a row ──▶ open ── pause over ──▶ half open: one attempt ── it succeeds ──▶ closed
 *                                        ▲                                  └── it fails: next pause ──┐
 *                                        └─────────────────────────────────────────────────────────────┘
 *
 * While the breaker is open, failures of attempts that began earlier are ignored: they do not extend the pause.
 *
 * A breaker has no clock and no lock. Callers pass the time as `now_ns` and hold the lock of the breaker's owner.
 */
#ifndef ASSAY_LIB_BASE_BREAKER_H
#define ASSAY_LIB_BASE_BREAKER_H

#include "lib/base/backoff.h"

#include <stdbool.h>

struct breaker_config {
    uint32_t failures;    /* consecutive failures that open the breaker; 0 if it never opens */
    struct backoff pause; /* time that the breaker stays open; grows with each opening until it closes */
};

enum breaker_state { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_HALF_OPEN };

/* A zeroed breaker is closed. */
struct breaker {
    enum breaker_state state;
    uint32_t failures; /* consecutive failures */
    uint32_t opened;   /* number of openings since the breaker was last closed */
    int64_t until_ns;  /* end of the pause; unused if closed */
};

enum breaker_outcome {
    BREAKER_ALIVE,  /* the dependency answered, even if with an error */
    BREAKER_FAILED, /* there was no answer, or no usable one */
    BREAKER_UNKNOWN /* the attempt was cancelled or is inconclusive */
};

/* True if breaker_admit would refuse an attempt now. */
bool breaker_refuses(const struct breaker *breaker, int64_t now_ns);
/* Admits an attempt, or returns false. After true the caller must call breaker_report once. */
bool breaker_admit(struct breaker *breaker, int64_t now_ns);
/* Records the outcome of an attempt. Returns true if it opened the breaker. */
bool breaker_report(struct breaker *breaker, const struct breaker_config *config, int64_t now_ns,
                    enum breaker_outcome outcome);

#endif
