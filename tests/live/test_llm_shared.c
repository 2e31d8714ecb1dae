/* Tests the state of language models that a fleet shares in Redis: the budget of a minute, and cached replies. Each
 * test has its own Redis. Each `struct budget` and `struct replies` belongs to one simulated process. */
#include "lib/base/clock.h"
#include "tests/live/redis_server.h"
#include "tests/support/leak.h"
#include "worker/cache_budget.h"
#include "worker/cache_replies.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESSES = 4 };

static struct redis_server server;

static void begin(void)
{
    redis_needed();
    redis_start(&server, NULL, NULL);
}

static void end(void)
{
    redis_end(&server);
    leak_check();
}
TestSuite(llm_live, .init = begin, .fini = end);

static struct cache_config redis(void)
{
    return (struct cache_config){.address = server.address, .timeout_ms = 300, .retry_ms = 50};
}

static struct budget *open_budget(struct budget_amount per_minute)
{
    struct budget *budget;
    struct err err = {0};
    const struct budget_config config = {.redis = redis(), .processes = PROCESSES, .per_minute = per_minute};
    cr_assert_eq(budget_open(&config, &budget, &err), ERR_OK, "%s", err.text);
    return budget;
}

static unsigned take_as_often_as_it_goes(struct budget *const *budgets, unsigned n, struct budget_amount each)
{
    unsigned taken = 0;
    for (unsigned i = 0; i < 1000; i++) taken += budget_take(budgets[i % n], &each);
    return taken;
}

Test(llm_live, budget_is_shared_by_all_processes)
{
    struct budget *all[PROCESSES];
    for (unsigned i = 0; i < PROCESSES; i++) all[i] = open_budget((struct budget_amount){40, 0, 0});
    unsigned taken = take_as_often_as_it_goes(all, PROCESSES, (struct budget_amount){1, 100, 0.01});
    cr_expect(taken >= 40 && taken <= 44, "%u of 40, and what a moment fills", taken);
    budget_settle(all[0], &(struct budget_amount){1, 0, 0}, &(struct budget_amount){0, 0, 0});
    cr_expect(budget_take(all[1], &(struct budget_amount){1, 0, 0}), "what was not spent can be taken, by another one");
    for (unsigned i = 0; i < PROCESSES; i++) budget_close(all[i]);
}

Test(llm_live, tokens_and_money_are_limited_too)
{
    struct budget *tokens = open_budget((struct budget_amount){0, 1000, 0});
    cr_expect(budget_take(tokens, &(struct budget_amount){1, 600, 9}));
    cr_expect_not(budget_take(tokens, &(struct budget_amount){1, 600, 9}));
    budget_settle(tokens, &(struct budget_amount){1, 600, 9}, &(struct budget_amount){1, 100, 9});
    cr_expect(budget_take(tokens, &(struct budget_amount){1, 600, 9}), "it came to less than was thought");
    budget_close(tokens);
    freeReplyObject(redis_do(&server, "FLUSHALL", NULL));
    struct budget *money = open_budget((struct budget_amount){0, 0, 1});
    cr_expect_not(budget_take(money, &(struct budget_amount){1, 1, 1.5}));
    cr_expect(budget_take(money, &(struct budget_amount){1, 1, 0.9}));
    budget_close(money);
}

Test(llm_live, each_process_has_its_share_without_redis)
{
    struct budget *budget = open_budget((struct budget_amount){40, 0, 0});
    redis_kill(&server);
    unsigned taken = take_as_often_as_it_goes(&budget, 1, (struct budget_amount){1, 0, 0});
    cr_expect(taken >= 10 && taken <= 12, "%u: a quarter", taken);
    budget_close(budget);
    redis_again(&server);
}

static struct replies *open_replies(int64_t lease_ms)
{
    struct replies *replies;
    struct err err = {0};
    const struct replies_config config = {.redis = redis(), .lease_ms = lease_ms};
    cr_assert_eq(replies_open(&config, &replies, &err), ERR_OK, "%s", err.text);
    return replies;
}

static int64_t in_ms(int64_t ms)
{
    return clock_now_ns() + ms * 1000000;
}

Test(llm_live, reply_is_shared_by_all_processes_until_expiry)
{
    struct replies *one = open_replies(0), *other = open_replies(0);
    char *text = NULL;
    cr_assert_eq(replies_find(one, "k", in_ms(1000), &text), REPLIES_TO_ASK);
    replies_put(one, "k", "{\"a\":1}");
    cr_assert_eq(replies_find(other, "k", in_ms(1000), &text), REPLIES_SHARED);
    cr_expect_str_eq(text, "{\"a\":1}");
    free(text);
    cr_assert_eq(replies_find(other, "k", in_ms(1000), &text), REPLIES_HERE, "and in its own memory from then on");
    free(text);
    cr_expect_gt(redis_int(&server, "PTTL", "assay:llm:k"), 0);
    cr_expect_eq(redis_int(&server, "EXISTS", "assay:llm:k:asked"), 0, "the lease is given back");
    replies_close(one);
    replies_close(other);
}

static atomic_uint asked;

/* Acts as a process whose call takes a moment to return. */
static void *ask(void *arg)
{
    struct replies *replies = arg;
    char *text = NULL;
    if (replies_find(replies, "same", in_ms(20000), &text) == REPLIES_TO_ASK) {
        atomic_fetch_add(&asked, 1);
        g_usleep(150000);
        replies_put(replies, "same", "heard");
    } else {
        cr_expect_str_eq(text, "heard");
    }
    free(text);
    return NULL;
}

Test(llm_live, identical_calls_of_processes_are_coalesced)
{
    enum { THREADS = 3 };
    struct replies *all[PROCESSES];
    pthread_t threads[PROCESSES * THREADS];
    for (unsigned i = 0; i < PROCESSES; i++) all[i] = open_replies(0);
    for (unsigned i = 0; i < PROCESSES * THREADS; i++) pthread_create(&threads[i], NULL, ask, all[i % PROCESSES]);
    for (unsigned i = 0; i < PROCESSES * THREADS; i++) pthread_join(threads[i], NULL);
    cr_expect_eq(atomic_load(&asked), 1);
    for (unsigned i = 0; i < PROCESSES; i++) replies_close(all[i]);
}

Test(llm_live, dead_caller_delays_others_at_most_one_lease)
{
    struct replies *dead = open_replies(200), *other = open_replies(0);
    char *text = NULL;
    cr_assert_eq(replies_find(dead, "k", in_ms(1000), &text), REPLIES_TO_ASK);
    replies_close(dead);
    int64_t began = clock_now_ns();
    cr_expect_eq(replies_find(other, "k", in_ms(20000), &text), REPLIES_TO_ASK);
    cr_expect_lt(clock_now_ns() - began, INT64_C(10000000000));
    replies_put(other, "k", NULL);
    replies_close(other);
}

Test(llm_live, failing_redis_loses_only_cached_replies)
{
    struct replies *replies = open_replies(0);
    char *text = NULL;
    freeReplyObject(redis_do(&server, "LPUSH", "assay:llm:odd", "x", NULL));
    cr_expect_eq(replies_find(replies, "odd", in_ms(1000), &text), REPLIES_TO_ASK);
    replies_put(replies, "odd", "heard");
    redis_kill(&server);
    cr_expect_eq(replies_find(replies, "k", in_ms(1000), &text), REPLIES_TO_ASK);
    replies_put(replies, "k", "heard");
    cr_expect_eq(replies_find(replies, "k", in_ms(1000), &text), REPLIES_HERE);
    free(text);
    replies_close(replies);
    redis_again(&server);
}
