/* Runs the engine with many threads under ThreadSanitizer: writers, a reader, and a thread that requests statistics and
 * cancels requests. The engine is also closed during work. Exit status 0 means that every request had its verdict. */
#include "tests/support/fake_model.h"
#include "tests/unit/engine/world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { WRITERS = 2, EACH = 60, WORKERS = 3, TENANT_SHIFT = 4 };

static struct engine *engine;
static atomic_uint writers_left = WRITERS;

static void die(const char *what, const struct err *err)
{
    fprintf(stderr, "%s: %s %s\n", what, err_name(err->code), err->text);
    exit(1);
}

static void *write_requests(void *arg)
{
    struct err err = {0};
    uint64_t first = (uint64_t)(uintptr_t)arg * EACH;
    for (uint64_t i = first; i < first + EACH; i++)
        if (engine_submit(engine, world_request(i), -1, &err)) die("submit", &err);
    if (atomic_fetch_sub(&writers_left, 1) == 1) engine_finish(engine);
    return NULL;
}

static void *watch(void *arg)
{
    struct engine_stats stats;
    for (uint64_t i = 0; atomic_load(&writers_left); i++) {
        engine_stats(engine, &stats);
        if (arg) engine_cancel(engine, i % ((uint64_t)WRITERS * EACH)); /* a cancelled request still gets a verdict */
        usleep(200);
    }
    return NULL;
}

static unsigned read_all(void)
{
    unsigned seen[WRITERS * EACH] = {0};
    struct msg_verdict *verdict;
    struct err err = {0};
    unsigned n = 0;
    while (engine_next(engine, -1, &verdict, &err) == ERR_OK) {
        if (verdict->tag >= WRITERS * EACH || seen[verdict->tag]++) {
            fprintf(stderr, "verdict %llu twice\n", (unsigned long long)verdict->tag);
            exit(1);
        }
        msg_verdict_free(verdict);
        n++;
    }
    if (err.code) die("next", &err);
    return n;
}

static void run(struct world *world, const struct scorer_config *remote, bool fair)
{
    struct err err = {0};
    struct engine_config config = {.workers = WORKERS, .window = 5};
    atomic_store(&writers_left, WRITERS);
    if (remote) config.remote = *remote;
    if (fair) config.fair = (struct engine_fair){true, TENANT_SHIFT, 3}, config.slow_threads = 2;
    pthread_t threads[WRITERS + 1];
    if (world_open(world, &config, &engine, &err)) die("open", &err);
    for (uintptr_t i = 0; i < WRITERS; i++) pthread_create(&threads[i], NULL, write_requests, (void *)i);
    pthread_create(&threads[WRITERS], NULL, watch, fair ? world : NULL);
    unsigned n = read_all();
    for (unsigned i = 0; i <= WRITERS; i++) pthread_join(threads[i], NULL);
    struct engine_stats stats;
    engine_stats(engine, &stats);
    if (n != WRITERS * EACH || stats.coordinator.verdicts != n) {
        fprintf(stderr, "%u verdicts of %d, %llu counted\n", n, WRITERS * EACH,
                (unsigned long long)stats.coordinator.verdicts);
        exit(1);
    }
    engine_close(engine);
}

/* Closes the engine while requests are open and verdicts are not yet read. */
static void run_cut_short(struct world *world, const struct scorer_config *remote)
{
    struct err err = {0};
    struct engine_config config = {.workers = WORKERS, .window = 20};
    if (remote) config.remote = *remote;
    if (world_open(world, &config, &engine, &err)) die("open", &err);
    for (uint64_t i = 0; i < 20; i++)
        if (engine_submit(engine, world_request(i), 1000, &err)) die("submit", &err);
    engine_close(engine);
}

/* Likewise, with a remote verifier that fails now and then. */
static void with_remote(struct world *world)
{
    static const struct fake_step info[] = {
        {.body = "{\"model_id\":\"nli\",\"model_type\":{\"classifier\":{\"id2label\":{\"0\":\"contradiction\",\"1\":"
                 "\"entailment\",\"2\":\"neutral\"}}},\"max_client_batch_size\":32}"}};
    static const struct fake_step answers[] = {
        {.body = "[[{\"label\":\"entailment\",\"score\":0.75},{\"label\":\"neutral\",\"score\":0.125},{\"label\":"
                 "\"contradiction\",\"score\":0.125}]]"},
        {.status = 503},
        {.body = "[[{\"label\":\"entailment\",\"score\":0.25},{\"label\":\"neutral\",\"score\":0.25},{\"label\":"
                 "\"contradiction\",\"score\":0.5}]]"}};
    struct fake_model *fake = fake_model_start();
    struct scorer_config remote = scorer_defaults();
    fake_model_script(fake, "/info", info, 1);
    fake_model_script(fake, "/predict", answers, sizeof answers / sizeof *answers);
    remote.endpoint = fake_model_url(fake);
    remote.max_attempts = 1;
    remote.cache_entries = 0;
    run(world, &remote, false);
    run_cut_short(world, &remote);
    fake_model_stop(fake);
}

int main(void)
{
    struct world world;
    if (!world_make(&world)) return 2;
    run(&world, NULL, false);
    run(&world, NULL, true);
    run_cut_short(&world, NULL);
    with_remote(&world);
    world_remove(&world);
    return 0;
}
