/* Tests the tenants of a fair engine. A tenant whose statements never end must not delay the others, and no request may
 * occupy the engine for long. */
#include "tests/support/leak.h"
#include "tests/unit/engine/world.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SHIFT = 40, HOSTILE = 1, HONEST = 2, N_SLOW = 40, TIME_MS = 1000 };

static struct world world;
static struct engine *engine;

static void begin(void)
{
    cr_assert(world_make(&world));
}
static void end(void)
{
    engine_close(engine);
    engine = NULL;
    world_remove(&world);
    leak_check();
}
TestSuite(fair, .init = begin, .fini = end, .timeout = 120);

static void open_with(struct engine_config config)
{
    struct err err = {0};
    config.workers = config.workers ? config.workers : 2;
    config.window = 64;
    config.slow_threads = 2;
    config.limits.time_ms = TIME_MS;
    cr_assert_eq(world_open(&world, &config, &engine, &err), ERR_OK, "%s", err.text);
}

static void open_fair(struct engine_config config)
{
    config.fair = (struct engine_fair){true, SHIFT, 8};
    open_with(config);
}

static enum err_code submit(uint64_t tenant, uint64_t number, const char *db, const struct msg_candidate *candidates,
                            uint32_t n)
{
    const struct msg_request request = {.tag = tenant << SHIFT | number,
                                        .id = "q",
                                        .db = db,
                                        .question = "How many?",
                                        .candidates = (struct msg_candidate *)candidates,
                                        .n_candidates = n,
                                        .options = {.strategy = MSG_RERANK}};
    return engine_submit(engine, &request, 0, NULL);
}

static enum err_code submit_quick(uint64_t tenant, uint64_t number)
{
    static const char sql[] = "SELECT count(*) FROM item";
    const struct msg_candidate one = {.sql = {sql, sizeof sql - 1}, .score = NAN};
    return submit(tenant, number, "shop", &one, 1);
}

/* Submits a request of different candidates that all reach their time limit. */
static enum err_code submit_slow(uint64_t tenant, uint64_t number)
{
    static char texts[N_SLOW][160];
    struct msg_candidate candidates[N_SLOW];
    for (unsigned i = 0; i < N_SLOW; i++) {
        int len = snprintf(texts[i], sizeof texts[i],
                           "WITH RECURSIVE n(i) AS (SELECT %u UNION ALL SELECT i + 1 FROM n WHERE i > 0) SELECT "
                           "count(*) FROM n, (SELECT count(*) FROM animal)",
                           i + 1);
        candidates[i] = (struct msg_candidate){.sql = {texts[i], (uint32_t)len}, .score = NAN};
    }
    return submit(tenant, number, "zoo", candidates, N_SLOW);
}

static struct msg_verdict *next(void)
{
    struct msg_verdict *verdict = NULL;
    struct err err = {0};
    cr_assert_eq(engine_next(engine, 60000, &verdict, &err), ERR_OK, "%s", err.text);
    return verdict;
}

static uint64_t next_tenant(void)
{
    struct msg_verdict *verdict = next();
    uint64_t tenant = verdict->tag >> SHIFT;
    msg_verdict_free(verdict);
    return tenant;
}

static uint64_t tasks_done(void)
{
    struct engine_stats stats;
    engine_stats(engine, &stats);
    return stats.workers.tasks;
}

/* Tests several rounds, so that honest requests need every resource that the other tenant may occupy. */
Test(fair, honest_tenant_passes_two_hostile_requests)
{
    open_fair((struct engine_config){.defaults.deadline_ms = 8000});
    cr_assert_eq(submit_slow(HOSTILE, 1), ERR_OK);
    cr_assert_eq(submit_slow(HOSTILE, 2), ERR_OK);
    for (unsigned i = 0; i < 5; i++) {
        cr_assert_eq(submit_quick(HONEST, 10 + i), ERR_OK);
        cr_expect_eq(next_tenant(), HONEST, "number %u", i);
    }
}

/* If there are no tenants, the databases take turns. */
Test(fair, honest_database_passes_two_hostile_requests)
{
    open_with((struct engine_config){.defaults.deadline_ms = 8000, .fair = {.on = true}});
    cr_assert_eq(submit_slow(0, 1), ERR_OK);
    cr_assert_eq(submit_slow(0, 2), ERR_OK);
    for (unsigned i = 0; i < 5; i++) {
        cr_assert_eq(submit_quick(0, 10 + i), ERR_OK);
        struct msg_verdict *verdict = next();
        cr_expect_eq(verdict->tag, 10 + i, "number %u", i);
        msg_verdict_free(verdict);
    }
}

Test(fair, one_worker_is_shared_too)
{
    open_fair((struct engine_config){.defaults.deadline_ms = 8000, .workers = 1});
    cr_assert_eq(submit_slow(HOSTILE, 1), ERR_OK);
    cr_assert_eq(submit_slow(HOSTILE, 2), ERR_OK);
    cr_assert_eq(submit_quick(HONEST, 10), ERR_OK);
    cr_expect_eq(next_tenant(), HONEST);
}

Test(fair, tenant_over_its_share_is_refused)
{
    open_fair((struct engine_config){.defaults.deadline_ms = 500});
    for (unsigned i = 0; i < 8; i++) cr_assert_eq(submit_slow(HOSTILE, i + 1), ERR_OK, "number %u", i);
    cr_expect_not(engine_has_room(engine, HOSTILE));
    cr_expect_eq(submit_quick(HOSTILE, 9), ERR_FULL);
    cr_expect(engine_has_room(engine, HONEST));
    cr_expect_eq(submit_quick(HONEST, 10), ERR_OK);
    for (unsigned i = 0; i < 9; i++) msg_verdict_free(next());
    cr_expect(engine_has_room(engine, HOSTILE));
}

/* A large request counts as several requests. */
Test(fair, large_request_takes_more_of_its_tenants_share)
{
    static char question[512 << 10];
    const struct msg_candidate one = {.sql = {"SELECT 1", 8}, .score = NAN};
    struct msg_request request = {.tag = (uint64_t)HOSTILE << SHIFT | 1, .id = "q", .db = "shop", .question = question};
    request.candidates = (struct msg_candidate *)&one;
    request.n_candidates = 1;
    memset(question, 'q', sizeof question - 1);
    open_fair((struct engine_config){0});
    cr_assert_eq(engine_submit(engine, &request, 0, NULL), ERR_OK);
    cr_expect_not(engine_has_room(engine, HOSTILE));
    msg_verdict_free(next());
    cr_expect(engine_has_room(engine, HOSTILE));
}

Test(fair, request_ends_once_its_work_is_spent)
{
    open_fair((struct engine_config){.max_work_ms = 1500});
    cr_assert_eq(submit_slow(HOSTILE, 1), ERR_OK);
    struct msg_verdict *verdict = next();
    cr_expect_str_eq(verdict->reason, "deadline");
    cr_expect_lt(verdict->iterations, N_SLOW / 2);
    msg_verdict_free(verdict);
    cr_assert_eq(submit_quick(HONEST, 2), ERR_OK);
    msg_verdict_free(next());
    cr_expect_lt(tasks_done(), (uint64_t)N_SLOW * VSIG_FAMILY_COUNT / 2, "its other tasks are dropped");
}

/* The request is cancelled, whether or not the coordinator has opened it. */
Test(fair, cancelled_requests_end_at_once)
{
    open_fair((struct engine_config){0});
    for (unsigned i = 0; i < 8; i++) {
        cr_assert_eq(submit_slow(HOSTILE, i + 1), ERR_OK);
        engine_cancel(engine, (uint64_t)HOSTILE << SHIFT | (i + 1));
    }
    for (unsigned i = 0; i < 8; i++) {
        struct msg_verdict *verdict = next();
        cr_expect_str_eq(verdict->reason, "cancelled");
        msg_verdict_free(verdict);
    }
    cr_expect_lt(tasks_done(), (uint64_t)N_SLOW * VSIG_FAMILY_COUNT);
}
