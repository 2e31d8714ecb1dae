/* Monotonic time. Tests can replace its source. */
#ifndef ASSAY_LIB_BASE_CLOCK_H
#define ASSAY_LIB_BASE_CLOCK_H

#include <pthread.h>
#include <stdint.h>
#include <time.h>

/* Returns nanoseconds since an arbitrary point, from CLOCK_MONOTONIC or the source of a test. Thread: any. */
int64_t clock_now_ns(void);

/* Replaces the source for the whole process; NULL restores CLOCK_MONOTONIC. Only for tests; call it before threads
 * start. */
void clock_set_source(int64_t (*now_ns)(void));

/* Initialises a condition variable whose timed waits use CLOCK_MONOTONIC. */
void clock_cond_init(pthread_cond_t *cond);

/* Return the current time plus `ms` or `ns`, as the end of a timed wait on such a condition variable. They always use
 * CLOCK_MONOTONIC, because the wait does too. The result is valid only if the argument is not negative. */
struct timespec clock_after_ms(int64_t ms);
struct timespec clock_after_ns(int64_t ns);

static inline double clock_ms(int64_t ns)
{
    return (double)ns / 1e6;
}

#endif
