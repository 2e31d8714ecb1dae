/* DESIGN: calls into the library can hang for ever, with or without a timeout of their own (sending offsets ignores its
 * timeout). A thread cannot leave such a call. The process therefore restarts itself (lib/base/anew.h), or ends and its
 * supervisor restarts it. The protocol makes this harmless. Time is counted in ticks of the watchdog's own thread, so a
 * process that was stopped and resumed keeps its remaining time. */
#include "proto/bus/kafka/exactly_once/once.h"

#include "lib/base/anew.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 50 };

struct watchdog {
    pthread_t thread;
    atomic_bool stop;
    atomic_llong left; /* remaining ticks; below 0 while idle */
    _Atomic(const char *) what;
};

static void bite(const struct watchdog *watchdog)
{
    char line[200];
    int len = snprintf(line, sizeof line, "assay: kafka: %s timed out; exiting\n", atomic_load(&watchdog->what));
    if (len > 0 && write(STDERR_FILENO, line, (size_t)len) < 0) _exit(WATCHDOG_STATUS);
    anew_begin();
    _exit(WATCHDOG_STATUS);
}

static void *watch(void *arg)
{
    struct watchdog *watchdog = arg;
    const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
    while (!atomic_load(&watchdog->stop)) {
        nanosleep(&tick, NULL);
        long long left = atomic_load(&watchdog->left);
        if (left == 0) bite(watchdog);
        if (left > 0) atomic_compare_exchange_strong(&watchdog->left, &left, left - 1);
    }
    return NULL;
}

struct watchdog *watchdog_new(void)
{
    struct watchdog *watchdog = calloc(1, sizeof *watchdog);
    if (!watchdog) return NULL;
    atomic_init(&watchdog->left, -1);
    if (pthread_create(&watchdog->thread, NULL, watch, watchdog) == 0) return watchdog;
    free(watchdog);
    return NULL;
}

void watchdog_free(struct watchdog *watchdog)
{
    if (!watchdog) return;
    atomic_store(&watchdog->stop, true);
    pthread_join(watchdog->thread, NULL);
    free(watchdog);
}

void watchdog_begin(struct watchdog *watchdog, const char *what, int64_t ms)
{
    atomic_store(&watchdog->what, what);
    atomic_store(&watchdog->left, ms / TICK_MS + 1);
}

void watchdog_end(struct watchdog *watchdog)
{
    atomic_store(&watchdog->left, -1);
}
