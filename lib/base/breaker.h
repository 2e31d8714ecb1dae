/* A circuit breaker: what does not answer is left alone, so that it can come back and nobody waits for it in vain.
 *
 *   closed ── `failures` in a row ──▶ open ── pause over ──▶ half open: one goes ── it succeeds ──▶ closed
 *                                      ▲                                  └── it fails: next pause ──┐
 *                                      └──────────────────────────────────────────────────────────────┘
 *
 * Attempts that were under way when it opened say nothing new when they fail: the pause does not grow by them.
 *
 * No clock and no lock: `now_ns` is handed in, and all calls for one breaker are made under the lock of its owner.
 */
#ifndef ASSAY_LIB_BASE_BREAKER_H
#define ASSAY_LIB_BASE_BREAKER_H

#include "lib/base/backoff.h"

#include <stdbool.h>

struct breaker_config {
    uint32_t failures;    /* in a row that open it; 0: it never opens */
    struct backoff pause; /* how long it is open, each time anew until it has closed */
};

enum breaker_state { BREAKER_CLOSED, BREAKER_OPEN, BREAKER_HALF_OPEN };

/* Zeroed: closed. */
struct breaker {
    enum breaker_state state;
    uint32_t failures; /* in a row */
    uint32_t opened;   /* times since it was closed */
    int64_t until_ns;  /* the pause's end, unless closed */
};

enum breaker_outcome {
    BREAKER_ALIVE,  /* it answered, whatever the answer */
    BREAKER_FAILED, /* it did not, or not sensibly */
    BREAKER_UNKNOWN /* the attempt was called off, or says nothing */
};

/* Would an attempt be refused now? */
bool breaker_refuses(const struct breaker *breaker, int64_t now_ns);
/* May an attempt be made? True: breaker_report is owed. */
bool breaker_admit(struct breaker *breaker, int64_t now_ns);
/* How an attempt ended. True: the breaker has opened by this. */
bool breaker_report(struct breaker *breaker, const struct breaker_config *config, int64_t now_ns,
                    enum breaker_outcome outcome);

#endif
