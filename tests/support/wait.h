/* Waiting with a bound, in place of a sleep that is too short on a slow machine and too long on every other. */
#ifndef ASSAY_TESTS_SUPPORT_WAIT_H
#define ASSAY_TESTS_SUPPORT_WAIT_H

#include <stdbool.h>
#include <stdint.h>

/* Ask `done` every millisecond until it says yes or the limit has passed, which is longer under sanitizers. Its last
 * answer. */
bool wait_until(bool (*done)(void *context), void *context, int64_t limit_ms);

#endif
