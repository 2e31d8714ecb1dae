#include "lib/db/watchdog.h"

#include "lib/base/clock.h"

#include <pthread.h>
#include <stddef.h>
#include <time.h>

static const int64_t AGAIN_NS = 10LL * 1000 * 1000; /* time between two calls of `fire` */

/* `life` protects n_watches and `thread`. It is held while the thread starts or ends, so that no watch is added to a
 * thread that is ending. */
static pthread_mutex_t life = PTHREAD_MUTEX_INITIALIZER;
static unsigned n_watches;
static pthread_t thread;

/* `lock` protects the variables below. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;
static struct watch *watches;
static int64_t next_look; /* time of the thread's next check; INT64_MAX if it waits for a signal */
static bool leaving;

/* Calls `fire` of all overdue watches. Returns the time of the next check. The caller holds `lock`. */
static int64_t look(int64_t now)
{
    int64_t next = INT64_MAX;
    for (struct watch *w = watches; w; w = w->next) {
        if (w->deadline_ns == INT64_MAX) continue;
        int64_t due = w->deadline_ns;
        if (due <= now) {
            w->fire(w->ctx);
            due = now + AGAIN_NS;
        }
        if (due < next) next = due;
    }
    return next;
}

static void wait_for(int64_t ns)
{
    struct timespec until = clock_after_ns(ns);
    pthread_cond_timedwait(&changed, &lock, &until);
}

static void *watchdog_main(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!leaving) {
        int64_t now = clock_now_ns();
        next_look = look(now);
        if (next_look == INT64_MAX)
            pthread_cond_wait(&changed, &lock);
        else
            wait_for(next_look - now);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static bool start(void)
{
    clock_cond_init(&changed);
    next_look = INT64_MAX;
    leaving = false;
    if (pthread_create(&thread, NULL, watchdog_main, NULL) == 0) return true;
    pthread_cond_destroy(&changed);
    return false;
}

static void stop(void)
{
    pthread_mutex_lock(&lock);
    leaving = true;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
    pthread_cond_destroy(&changed);
}

bool watchdog_add(struct watch *watch, void (*fire)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&life);
    bool runs = n_watches > 0 || start();
    if (runs) {
        n_watches++;
        *watch = (struct watch){.deadline_ns = INT64_MAX, .fire = fire, .ctx = ctx};
        pthread_mutex_lock(&lock);
        watch->next = watches;
        watch->link = &watches;
        if (watches) watches->link = &watch->next;
        watches = watch;
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_unlock(&life);
    return runs;
}

void watchdog_remove(struct watch *watch)
{
    pthread_mutex_lock(&life);
    pthread_mutex_lock(&lock);
    *watch->link = watch->next;
    if (watch->next) watch->next->link = watch->link;
    pthread_mutex_unlock(&lock);
    if (--n_watches == 0) stop();
    pthread_mutex_unlock(&life);
}

void watchdog_arm(struct watch *watch, int64_t deadline_ns)
{
    pthread_mutex_lock(&lock);
    watch->deadline_ns = deadline_ns;
    /* Wakes the thread only if it would otherwise wake too late. This is rare, because later statements usually have
     * later deadlines. */
    if (deadline_ns < next_look) pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
}

void watchdog_disarm(struct watch *watch)
{
    pthread_mutex_lock(&lock);
    watch->deadline_ns = INT64_MAX;
    pthread_mutex_unlock(&lock);
}
