/* Monotonic time, with a source that tests can replace. */
#ifndef ASSAY_LIB_BASE_CLOCK_H
#define ASSAY_LIB_BASE_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* Nanoseconds since an arbitrary point (CLOCK_MONOTONIC, or the test's source). Thread: any. */
int64_t clock_now_ns(void);

/* Replaces the source for the whole process; NULL restores the real one. For tests, before threads start. */
void clock_set_source(int64_t (*now_ns)(void));

/* Initialises a condition whose timed waits use CLOCK_MONOTONIC. */
void clock_cond_init(pthread_cond_t *cond);

/* Return the time so far ahead, for a timed wait on such a condition. They use the real clock, whatever the source is.
 * Negative values count as 0. */
struct timespec clock_after_ms(int64_t ms);
struct timespec clock_after_ns(int64_t ns);

static inline double clock_ms(int64_t ns)
{
    return (double)ns / 1e6;
}

#endif
