/* Tests the cache of language model replies and the budget of a process, without Redis. */
#include "lib/base/clock.h"
#include "tests/support/leak.h"
#include "worker/cache_budget.h"
#include "worker/cache_replies.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static struct replies *replies;
static _Atomic int64_t now_ns = 1000000000;

static int64_t own_clock(void)
{
    return atomic_load(&now_ns);
}

static void begin(void)
{
    const struct replies_config config = {.entries = 3, .ttl_ms = 1000};
    cr_assert_eq(replies_open(&config, &replies, NULL), ERR_OK);
}

static void end(void)
{
    clock_set_source(NULL);
    replies_close(replies);
    leak_check();
}
TestSuite(replies, .init = begin, .fini = end);

static enum replies_found find(const char *key)
{
    char *text = NULL;
    enum replies_found found = replies_find(replies, key, clock_now_ns() + INT64_C(10000000000), &text);
    cr_assert_eq(text != NULL, found != REPLIES_TO_ASK);
    free(text);
    return found;
}

Test(replies, least_recently_used_reply_is_evicted)
{
    static const char *const keys[] = {"a", "b", "c"};
    for (unsigned i = 0; i < 3; i++) {
        cr_assert_eq(find(keys[i]), REPLIES_TO_ASK);
        replies_put(replies, keys[i], "text");
    }
    cr_assert_eq(find("a"), REPLIES_HERE);
    cr_assert_eq(find("d"), REPLIES_TO_ASK);
    replies_put(replies, "d", "text");
    cr_expect_eq(find("b"), REPLIES_TO_ASK, "the one used longest ago made room");
    replies_put(replies, "b", NULL);
    cr_expect_eq(find("a"), REPLIES_HERE);
    cr_expect_eq(find("b"), REPLIES_TO_ASK, "no answer is not remembered as one");
    replies_put(replies, "b", NULL);
}

Test(replies, replies_expire)
{
    clock_set_source(own_clock);
    cr_assert_eq(find("a"), REPLIES_TO_ASK);
    replies_put(replies, "a", "text");
    atomic_fetch_add(&now_ns, INT64_C(999000000));
    cr_expect_eq(find("a"), REPLIES_HERE);
    atomic_fetch_add(&now_ns, INT64_C(2000000));
    cr_expect_eq(find("a"), REPLIES_TO_ASK);
    replies_put(replies, "a", NULL);
}

static atomic_uint asked, fails_left;

static void *ask(void *arg)
{
    char *text = NULL;
    (void)arg;
    if (replies_find(replies, "same", clock_now_ns() + INT64_C(10000000000), &text) == REPLIES_TO_ASK) {
        atomic_fetch_add(&asked, 1);
        g_usleep(50000);
        bool fails = atomic_load(&fails_left) && atomic_fetch_sub(&fails_left, 1);
        replies_put(replies, "same", fails ? NULL : "heard");
    }
    free(text);
    return NULL;
}

/* The first two calls fail, so three calls are made, one after another. The other callers receive the reply to the
 * third. */
Test(replies, concurrent_identical_calls_are_coalesced)
{
    pthread_t threads[8];
    atomic_store(&fails_left, 2);
    for (unsigned i = 0; i < 8; i++) pthread_create(&threads[i], NULL, ask, NULL);
    for (unsigned i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    cr_expect_eq(atomic_load(&asked), 3);
}

Test(replies, waiter_past_timeout_makes_own_call)
{
    char *text = NULL;
    cr_assert_eq(find("slow"), REPLIES_TO_ASK);
    cr_expect_eq(replies_find(replies, "slow", clock_now_ns() + 20000000, &text), REPLIES_TO_ASK);
    cr_expect_null(text);
    replies_put(replies, "slow", NULL);
}

Test(replies, budget_refills_up_to_one_minute)
{
    struct budget *budget;
    const struct budget_amount one = {1, 0, 0};
    const struct budget_config config = {.per_minute = {6, 0, 0}};
    clock_set_source(own_clock);
    cr_assert_eq(budget_open(&config, &budget, NULL), ERR_OK);
    for (unsigned i = 0; i < 6; i++) cr_expect(budget_take(budget, &one), "%u", i);
    cr_expect_not(budget_take(budget, &one));
    atomic_fetch_add(&now_ns, INT64_C(10000000000));
    cr_expect(budget_take(budget, &one), "one every ten seconds");
    cr_expect_not(budget_take(budget, &one));
    atomic_fetch_add(&now_ns, INT64_C(600000000000));
    unsigned n = 0;
    while (budget_take(budget, &one)) n++;
    cr_expect_eq(n, 6, "and never more than a minute's");
    budget_close(budget);
}

Test(replies, unbounded_budget_counts_nothing)
{
    struct budget *budget;
    const struct budget_amount much = {1e9, 1e9, 1e9};
    cr_assert_eq(budget_open(&(struct budget_config){0}, &budget, NULL), ERR_OK);
    for (unsigned i = 0; i < 3; i++) cr_expect(budget_take(budget, &much));
    budget_settle(budget, &much, &(struct budget_amount){0});
    budget_close(budget);
}
