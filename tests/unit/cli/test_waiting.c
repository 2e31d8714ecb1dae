/* Who waits for which verdict: whatever comes first, each caller is told once, and nobody another's verdict. */
#include "cli/waiting.h"

#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(waiting, .fini = leak_check);

/* A caller, and what he was told. */
struct caller {
    unsigned told;
    enum waiting_end end;
    bool letter;
    char body[64];
    struct waiter *waiter;
};

static void on_done(void *ctx, enum waiting_end end, const struct outcome *outcome)
{
    struct caller *caller = ctx;
    gsize len = 0;
    caller->told++;
    caller->end = end;
    if (!outcome) return;
    caller->letter = outcome->letter;
    const char *bytes = g_bytes_get_data(outcome->body, &len);
    g_snprintf(caller->body, sizeof caller->body, "%.*s", (int)len, bytes);
}

static void wait_for(struct waiting *waiting, struct caller *caller, const char *id, int64_t until_ns)
{
    *caller = (struct caller){0};
    cr_assert_eq(waiting_begin(waiting, id, until_ns, on_done, caller, &caller->waiter), ERR_OK);
}

static void come(struct waiting *waiting, const char *id, int32_t partition, int64_t offset, const char *body)
{
    struct outcome outcome = {.place = {partition, offset}, .body = g_bytes_new(body, strlen(body))};
    g_strlcpy(outcome.id, id, sizeof outcome.id);
    waiting_outcome(waiting, &outcome);
    g_bytes_unref(outcome.body);
}

static void expect(const struct caller *caller, const char *body)
{
    cr_expect_eq(caller->told, 1, "told %u times", caller->told);
    cr_expect_eq(caller->end, WAITING_ANSWERED);
    cr_expect_str_eq(caller->body, body);
}

Test(waiting, the_verdict_of_ones_own_request)
{
    struct waiting *waiting = waiting_new(10, 1 << 20);
    struct caller a, b;
    wait_for(waiting, &a, "same", 100);
    wait_for(waiting, &b, "same", 100);
    waiting_place(a.waiter, 0, 7);
    waiting_place(b.waiter, 1, 7);
    come(waiting, "same", 1, 8, "nobody's");
    cr_expect(a.told == 0 && b.told == 0, "an id may be anybody's");
    come(waiting, "same", 1, 7, "b's");
    cr_expect_eq(a.told, 0);
    come(waiting, "same", 0, 7, "a's");
    come(waiting, "same", 0, 7, "a's again");
    expect(&a, "a's");
    expect(&b, "b's");
    waiting_free(waiting);
}

/* Without the buffer these would wait for ever: the brokers' word for the place is behind the verdict. */
Test(waiting, a_verdict_may_come_before_the_place_is_known)
{
    struct waiting *waiting = waiting_new(10, 1 << 20);
    struct caller caller;
    struct waiting_stats stats;
    wait_for(waiting, &caller, "x", 100);
    come(waiting, "x", 2, 40, "early");
    cr_expect_eq(caller.told, 0, "it could be another's");
    waiting_place(caller.waiter, 2, 40);
    expect(&caller, "early");
    waiting_get_stats(waiting, &stats);
    cr_expect(stats.early == 1 && stats.answered == 1 && stats.waiting == 0);
    waiting_free(waiting);
}

/* The producer sent it twice, the broker took it once and does not say where. */
Test(waiting, a_place_that_nobody_knows_is_told_by_the_id)
{
    struct waiting *waiting = waiting_new(10, 1 << 20);
    struct caller late, early, other;
    wait_for(waiting, &late, "late", 100);
    wait_for(waiting, &other, "other", 100);
    waiting_place(late.waiter, 0, -1);
    waiting_place(other.waiter, 0, -1);
    come(waiting, "late", 0, 3, "L");
    expect(&late, "L");
    wait_for(waiting, &early, "early", 100);
    come(waiting, "early", 0, 4, "E");
    waiting_place(early.waiter, 0, -1);
    expect(&early, "E");
    cr_expect_eq(other.told, 0);
    waiting_free(waiting);
    cr_expect(other.told == 1 && other.end == WAITING_CLOSED);
}

Test(waiting, time_is_up_once)
{
    struct waiting *waiting = waiting_new(10, 1 << 20);
    struct caller placed, unplaced, patient;
    wait_for(waiting, &placed, "p", 100);
    wait_for(waiting, &unplaced, "u", 100);
    wait_for(waiting, &patient, "q", 101);
    waiting_place(placed.waiter, 0, 1);
    waiting_place(patient.waiter, 0, 3);
    waiting_expire(waiting, 100);
    cr_expect(placed.told == 1 && placed.end == WAITING_LATE);
    cr_expect(unplaced.told == 1 && unplaced.end == WAITING_LATE);
    cr_expect_eq(patient.told, 0);
    come(waiting, "p", 0, 1, "too late for him");
    waiting_place(unplaced.waiter, 0, 2);
    come(waiting, "u", 0, 2, "for him too");
    cr_expect(placed.told == 1 && unplaced.told == 1);
    GBytes *body = waiting_find(waiting, "u");
    cr_assert_not_null(body, "but it can be asked for");
    g_bytes_unref(body);
    cr_expect_null(waiting_find(waiting, "q"));
    waiting_free(waiting);
}

Test(waiting, what_was_not_sent_is_not_waited_for)
{
    struct waiting *waiting = waiting_new(2, 1 << 20);
    struct caller a, b, c;
    struct waiter *none;
    wait_for(waiting, &a, "a", 100);
    wait_for(waiting, &b, "b", 200);
    cr_expect_eq(waiting_begin(waiting, "c", 100, on_done, &c, &none), ERR_FULL);
    waiting_expire(waiting, 100);
    cr_expect_not(waiting_cancel(a.waiter), "told already");
    cr_expect(waiting_cancel(b.waiter));
    cr_expect(a.told == 1 && b.told == 0);
    wait_for(waiting, &c, "c", 300);
    waiting_close(waiting);
    cr_expect(c.told == 1 && c.end == WAITING_CLOSED);
    cr_expect_eq(waiting_begin(waiting, "d", 100, on_done, &c, &none), ERR_FULL, "closed");
    waiting_free(waiting);
}

Test(waiting, a_dead_letter_ends_the_wait_and_is_no_verdict)
{
    struct waiting *waiting = waiting_new(2, 1 << 20);
    struct caller caller;
    wait_for(waiting, &caller, "x", 100);
    waiting_place(caller.waiter, 0, 1);
    struct outcome letter = {.place = {0, 1}, .id = "x", .letter = true, .body = g_bytes_new_static("why", 3)};
    waiting_outcome(waiting, &letter);
    g_bytes_unref(letter.body);
    expect(&caller, "why");
    cr_expect(caller.letter);
    cr_expect_null(waiting_find(waiting, "x"));
    waiting_free(waiting);
}

Test(waiting, what_is_kept_is_bounded_and_the_newest)
{
    enum { MOST = 4096 };
    struct waiting *waiting = waiting_new(1, MOST);
    struct waiting_stats stats;
    char id[16];
    for (int i = 0; i < 1000; i++) {
        g_snprintf(id, sizeof id, "q-%d", i % 500);
        come(waiting, id, 0, i, "0123456789");
        waiting_get_stats(waiting, &stats);
        cr_assert_leq(stats.kept_bytes, MOST);
    }
    cr_expect_geq(stats.kept, 2);
    cr_expect_null(waiting_find(waiting, "q-0"));
    GBytes *last = waiting_find(waiting, "q-499");
    cr_expect_not_null(last);
    if (last) g_bytes_unref(last);
    come(waiting, "q-1", 0, 0, "again");
    come(waiting, "q-1", 0, 0, "and again");
    last = waiting_find(waiting, "q-1");
    cr_assert_not_null(last);
    cr_expect_eq(g_bytes_get_size(last), strlen("and again"));
    g_bytes_unref(last);
    waiting_free(waiting);
}

/* Whoever leaves is told so once, and his place is another's, whether his request's place is known or not. */
Test(waiting, who_leaves_makes_room)
{
    struct waiting *waiting = waiting_new(1, 1 << 20);
    struct waiting_stats stats;
    for (int placed = 0; placed < 2; placed++) {
        struct caller caller;
        wait_for(waiting, &caller, "a", 100);
        if (placed) waiting_place(caller.waiter, 0, 7);
        waiting_leave(waiting, &stats); /* nobody */
        cr_expect_eq(caller.told, 0);
        waiting_leave(waiting, &caller);
        waiting_leave(waiting, &caller);
        cr_expect_eq(caller.told, 1);
        cr_expect_eq(caller.end, WAITING_LATE);
        if (!placed) waiting_place(caller.waiter, 0, 7);
    }
    waiting_get_stats(waiting, &stats);
    cr_expect_eq(stats.late, 2);
    cr_expect_eq(stats.waiting, 0);
    waiting_free(waiting);
}
