/* Runs many threads on one engine through assay.h, under ThreadSanitizer. Some threads wait for their verdicts, others
 * use callbacks. The engine is closed while both are active. Exit status 0 means that each request was answered exactly
 * once. */
#include "engine/assay.h"
#include "tests/unit/engine/world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4, EACH = 30 };

static const char request[] = "{\"db\": \"shop\", \"question\": \"What is the most expensive item?\", \"candidates\": "
                              "[\"SELECT label FROM item ORDER BY price DESC LIMIT 1\", \"SELECT nam FROM item\"]}";
static struct assay_engine *engine;
static atomic_uint answered, verdicts;

static void on_verdict(void *context, struct assay_verdict *verdict, const struct assay_error *error)
{
    atomic_uint *own = context;
    atomic_fetch_add(own, 1);
    if (verdict) atomic_fetch_add(&verdicts, 1);
    if (!verdict == (error->result == ASSAY_OK)) abort();
    assay_verdict_free(verdict);
}

static void wait_for_verdict(void)
{
    struct assay_error error;
    struct assay_verdict *verdict;
    if (assay_judge(engine, request, strlen(request), &verdict, &error) || !assay_verdict_json(verdict)) abort();
    atomic_fetch_add(&answered, 1);
    atomic_fetch_add(&verdicts, 1);
    assay_verdict_free(verdict);
}

static void *ask(void *arg)
{
    struct assay_error error;
    for (int i = 0; i < EACH; i++)
        if (arg)
            wait_for_verdict();
        else if (assay_submit(engine, request, strlen(request), -1, on_verdict, &answered, &error))
            abort();
    return NULL;
}

/* With `cut_short` no thread waits, and the engine is closed while most requests are in flight. */
static void run(struct world *world, bool cut_short)
{
    pthread_t threads[THREADS];
    struct assay_options options;
    struct assay_error error;
    assay_options_init(&options);
    options.database_root = world->dir;
    options.models = SOURCE_ROOT "/models";
    options.threads = 3;
    options.window = cut_short ? THREADS * EACH : 5;
    atomic_store(&answered, 0);
    atomic_store(&verdicts, 0);
    if (assay_open(&options, &engine, &error)) {
        fprintf(stderr, "open: %s\n", error.text);
        exit(1);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, ask, i % 2 && !cut_short ? &threads[i] : NULL);
    for (unsigned i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    if (!cut_short && assay_wait(engine, -1)) exit(1);
    assay_close(engine);
    unsigned n = atomic_load(&answered), good = atomic_load(&verdicts);
    if (n != THREADS * EACH || (!cut_short && good != n)) {
        fprintf(stderr, "%u answers, %u verdicts of %d\n", n, good, THREADS * EACH);
        exit(1);
    }
}

int main(void)
{
    struct world world;
    if (!world_make(&world)) return 2;
    run(&world, false);
    run(&world, true);
    world_remove(&world);
    return 0;
}
