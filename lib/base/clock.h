/* Time that only moves forward, and that a test can move by hand. */
#ifndef ASSAY_LIB_BASE_CLOCK_H
#define ASSAY_LIB_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds since an arbitrary point (CLOCK_MONOTONIC, or the test's source). Thread: any. */
int64_t clock_now_ns(void);

/* Replace the source for the whole process; NULL restores the real one. Tests only, before threads start. */
void clock_set_source(int64_t (*now_ns)(void));

static inline double clock_ms(int64_t ns)
{
    return (double)ns / 1e6;
}

#endif
