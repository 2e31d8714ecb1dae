/* Several threads look up, request, receive and forget the same few replies, while replies expire. They share one
 * budget. It is a plain program, because Criterion does not start under ThreadSanitizer. Exit status 0 means that no
 * two threads made the same call at once, and that the budget was not exceeded. */
#include "lib/base/clock.h"
#include "worker/cache_budget.h"
#include "worker/cache_replies.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, ROUNDS = 4000, KEYS = 5, BUDGET = 300 };

static struct replies *replies;
static struct budget *budget;
static atomic_int asking[KEYS], failures, spent;

static void ask(unsigned key, unsigned round)
{
    char name[2] = {(char)('a' + key), 0}, *text = NULL;
    const struct budget_amount one = {1, 0, 0};
    if (replies_find(replies, name, clock_now_ns() + INT64_C(60000000000), &text) == REPLIES_TO_ASK) {
        if (atomic_fetch_add(&asking[key], 1)) atomic_fetch_add(&failures, 1);
        if (budget_take(budget, &one)) atomic_fetch_add(&spent, 1);
        atomic_fetch_sub(&asking[key], 1);
        replies_put(replies, name, round % 7 ? name : NULL);
    } else if (strcmp(text, name) != 0) {
        atomic_fetch_add(&failures, 1);
    }
    free(text);
}

static void *run(void *arg)
{
    unsigned state = *(unsigned *)arg;
    for (unsigned i = 0; i < ROUNDS; i++) {
        state = state * 1103515245 + 12345;
        ask((state >> 16) % KEYS, i);
    }
    return NULL;
}

int main(void)
{
    const struct replies_config config = {.entries = KEYS - 2, .ttl_ms = 1};
    const struct budget_config limits = {.per_minute = {BUDGET, 0, 0}};
    pthread_t threads[THREADS];
    unsigned seeds[THREADS];
    if (replies_open(&config, &replies, NULL) || budget_open(&limits, &budget, NULL)) return 1;
    int64_t began = clock_now_ns();
    for (unsigned i = 0; i < THREADS; i++) seeds[i] = i + 1;
    for (unsigned i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, &seeds[i]);
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    double minutes = (double)(clock_now_ns() - began) / 6e10;
    replies_close(replies);
    budget_close(budget);
    int most = BUDGET + (int)(BUDGET * minutes) + 1;
    if (!atomic_load(&failures) && atomic_load(&spent) <= most && atomic_load(&spent) > 0) return 0;
    fprintf(stderr, "%d failures; %d taken, %d may be\n", atomic_load(&failures), atomic_load(&spent), most);
    return 1;
}
