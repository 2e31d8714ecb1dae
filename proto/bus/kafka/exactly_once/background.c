/* Runs one call at a time on its own thread, for library calls that block on brokers. The starter of a call does not
 * use the data of the call until it has returned. The only lock therefore guards starting and ending a call. */
#include "proto/bus/kafka/exactly_once/once.h"

#include <pthread.h>
#include <stdlib.h>

struct background {
    pthread_t thread;
    pthread_mutex_t lock; /* guards the fields below */
    pthread_cond_t changed;
    void (*call)(void *ctx); /* NULL while idle */
    void *ctx;
    struct wakeup *wakeup;
    bool stop;
};

static void *run(void *arg)
{
    struct background *background = arg;
    pthread_mutex_lock(&background->lock);
    for (;;) {
        while (!background->call && !background->stop) pthread_cond_wait(&background->changed, &background->lock);
        if (!background->call) break;
        void (*call)(void *) = background->call;
        pthread_mutex_unlock(&background->lock);
        call(background->ctx);
        pthread_mutex_lock(&background->lock);
        background->call = NULL;
        pthread_cond_broadcast(&background->changed);
        wakeup_signal(background->wakeup);
    }
    pthread_mutex_unlock(&background->lock);
    return NULL;
}

struct background *background_new(struct wakeup *wakeup)
{
    struct background *background = calloc(1, sizeof *background);
    if (!background) return NULL;
    background->wakeup = wakeup;
    pthread_mutex_init(&background->lock, NULL);
    pthread_cond_init(&background->changed, NULL);
    if (pthread_create(&background->thread, NULL, run, background) == 0) return background;
    pthread_cond_destroy(&background->changed);
    pthread_mutex_destroy(&background->lock);
    free(background);
    return NULL;
}

void background_free(struct background *background)
{
    if (!background) return;
    pthread_mutex_lock(&background->lock);
    background->stop = true;
    pthread_cond_broadcast(&background->changed);
    pthread_mutex_unlock(&background->lock);
    pthread_join(background->thread, NULL);
    pthread_cond_destroy(&background->changed);
    pthread_mutex_destroy(&background->lock);
    free(background);
}

void background_begin(struct background *background, void (*call)(void *ctx), void *ctx)
{
    pthread_mutex_lock(&background->lock);
    background->call = call;
    background->ctx = ctx;
    pthread_cond_broadcast(&background->changed);
    pthread_mutex_unlock(&background->lock);
}

bool background_is_done(struct background *background)
{
    pthread_mutex_lock(&background->lock);
    bool done = !background->call;
    pthread_mutex_unlock(&background->lock);
    return done;
}

void background_wait(struct background *background)
{
    pthread_mutex_lock(&background->lock);
    while (background->call) pthread_cond_wait(&background->changed, &background->lock);
    pthread_mutex_unlock(&background->lock);
}
