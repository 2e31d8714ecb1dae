#include "tests/support/wait.h"

#include <time.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
static const int64_t stretch = 5;
#else
static const int64_t stretch = 1;
#endif

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

bool wait_until(bool (*done)(void *context), void *context, int64_t limit_ms)
{
    const struct timespec pause = {.tv_nsec = 1000000};
    int64_t limit = now_ms() + limit_ms * stretch;
    while (!done(context)) {
        if (now_ms() >= limit) return done(context);
        nanosleep(&pause, NULL);
    }
    return true;
}
