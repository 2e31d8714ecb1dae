/* Waits for a condition for a bounded time. A fixed sleep would be too short on a slow machine and too long on a fast
 * one. */
#ifndef ASSAY_TESTS_SUPPORT_WAIT_H
#define ASSAY_TESTS_SUPPORT_WAIT_H

#include <stdbool.h>
#include <stdint.h>

/* Calls `done` every millisecond until it returns true or the limit has passed. The limit is longer under sanitizers.
 * Returns the last result of `done`. */
bool wait_until(bool (*done)(void *context), void *context, int64_t limit_ms);

#endif
