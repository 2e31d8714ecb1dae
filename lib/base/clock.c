#include "lib/base/clock.h"

static int64_t real_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t (*source)(void) = real_now_ns;

int64_t clock_now_ns(void)
{
    return source();
}

void clock_set_source(int64_t (*now_ns)(void))
{
    source = now_ns ? now_ns : real_now_ns;
}

void clock_cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(cond, &monotonic);
    pthread_condattr_destroy(&monotonic);
}

static struct timespec after(int64_t seconds, int64_t ns)
{
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    ns += at.tv_nsec;
    at.tv_sec += seconds + ns / 1000000000;
    at.tv_nsec = ns % 1000000000;
    return at;
}

struct timespec clock_after_ms(int64_t ms)
{
    return after(ms / 1000, ms % 1000 * 1000000);
}

struct timespec clock_after_ns(int64_t ns)
{
    return after(ns / 1000000000, ns % 1000000000);
}
