/* Tests the waiters for verdicts. Whatever arrives first, each caller is completed exactly once, and with its own
 * verdict. */
#include "server/pending.h"

#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <string.h>

TestSuite(pending, .fini = leak_check);

/* A caller, and its result. */
struct caller {
    unsigned told;
    enum pending_end end;
    bool letter;
    char body[64];
    struct waiter *waiter;
};

static void on_done(void *ctx, enum pending_end end, const struct outcome *outcome)
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

static void wait_for(struct pending *pending, struct caller *caller, const char *id, int64_t until_ns)
{
    *caller = (struct caller){0};
    cr_assert_eq(pending_begin(pending, 0, id, until_ns, on_done, caller, &caller->waiter), ERR_OK);
}

static void come(struct pending *pending, const char *id, int32_t partition, int64_t offset, const char *body)
{
    struct outcome outcome = {.position = {partition, offset}, .body = g_bytes_new(body, strlen(body))};
    g_strlcpy(outcome.id, id, sizeof outcome.id);
    pending_outcome(pending, &outcome);
    g_bytes_unref(outcome.body);
}

static void expect(const struct caller *caller, const char *body)
{
    cr_expect_eq(caller->told, 1, "told %u times", caller->told);
    cr_expect_eq(caller->end, PENDING_ANSWERED);
    cr_expect_str_eq(caller->body, body);
}

Test(pending, caller_gets_verdict_of_its_request)
{
    struct pending *pending = pending_new(10, 1 << 20);
    struct caller a, b;
    wait_for(pending, &a, "same", 100);
    wait_for(pending, &b, "same", 100);
    pending_position(a.waiter, 0, 7);
    pending_position(b.waiter, 1, 7);
    come(pending, "same", 1, 8, "nobody's");
    cr_expect(a.told == 0 && b.told == 0, "an id may be anybody's");
    come(pending, "same", 1, 7, "b's");
    cr_expect_eq(a.told, 0);
    come(pending, "same", 0, 7, "a's");
    come(pending, "same", 0, 7, "a's again");
    expect(&a, "a's");
    expect(&b, "b's");
    pending_free(pending);
}

/* The broker reports the position of a request after its verdict has arrived. A buffer keeps such verdicts; otherwise
 * their callers would wait forever. */
Test(pending, verdict_before_known_position_is_delivered)
{
    struct pending *pending = pending_new(10, 1 << 20);
    struct caller caller;
    struct pending_stats stats;
    wait_for(pending, &caller, "x", 100);
    come(pending, "x", 2, 40, "early");
    cr_expect_eq(caller.told, 0, "it could be another's");
    pending_position(caller.waiter, 2, 40);
    expect(&caller, "early");
    pending_get_stats(pending, &stats);
    cr_expect(stats.early == 1 && stats.answered == 1 && stats.pending == 0);
    pending_free(pending);
}

/* The producer sent the request twice. The broker stored it once, and does not report its position. */
Test(pending, unknown_position_is_resolved_by_id)
{
    struct pending *pending = pending_new(10, 1 << 20);
    struct caller late, early, other;
    wait_for(pending, &late, "late", 100);
    wait_for(pending, &other, "other", 100);
    pending_position(late.waiter, 0, -1);
    pending_position(other.waiter, 0, -1);
    come(pending, "late", 0, 3, "L");
    expect(&late, "L");
    wait_for(pending, &early, "early", 100);
    come(pending, "early", 0, 4, "E");
    pending_position(early.waiter, 0, -1);
    expect(&early, "E");
    cr_expect_eq(other.told, 0);
    pending_free(pending);
    cr_expect(other.told == 1 && other.end == PENDING_CLOSED);
}

Test(pending, timeout_completes_caller_once)
{
    struct pending *pending = pending_new(10, 1 << 20);
    struct caller placed, unplaced, patient;
    wait_for(pending, &placed, "p", 100);
    wait_for(pending, &unplaced, "u", 100);
    wait_for(pending, &patient, "q", 101);
    pending_position(placed.waiter, 0, 1);
    pending_position(patient.waiter, 0, 3);
    pending_expire(pending, 100);
    cr_expect(placed.told == 1 && placed.end == PENDING_LATE);
    cr_expect(unplaced.told == 1 && unplaced.end == PENDING_LATE);
    cr_expect_eq(patient.told, 0);
    come(pending, "p", 0, 1, "too late for him");
    pending_position(unplaced.waiter, 0, 2);
    come(pending, "u", 0, 2, "for him too");
    cr_expect(placed.told == 1 && unplaced.told == 1);
    GBytes *body = pending_find(pending, 0, "u");
    cr_assert_not_null(body, "but it can be asked for");
    g_bytes_unref(body);
    cr_expect_null(pending_find(pending, 0, "q"));
    pending_free(pending);
}

Test(pending, failed_send_ends_wait)
{
    struct pending *pending = pending_new(2, 1 << 20);
    struct caller a, b, c;
    struct waiter *none;
    wait_for(pending, &a, "a", 100);
    wait_for(pending, &b, "b", 200);
    cr_expect_eq(pending_begin(pending, 0, "c", 100, on_done, &c, &none), ERR_FULL);
    pending_expire(pending, 100);
    cr_expect_not(pending_cancel(a.waiter), "told already");
    cr_expect(pending_cancel(b.waiter));
    cr_expect(a.told == 1 && b.told == 0);
    wait_for(pending, &c, "c", 300);
    pending_close(pending);
    cr_expect(c.told == 1 && c.end == PENDING_CLOSED);
    cr_expect_eq(pending_begin(pending, 0, "d", 100, on_done, &c, &none), ERR_FULL, "closed");
    pending_free(pending);
}

Test(pending, dead_letter_ends_wait_without_verdict)
{
    struct pending *pending = pending_new(2, 1 << 20);
    struct caller caller;
    wait_for(pending, &caller, "x", 100);
    pending_position(caller.waiter, 0, 1);
    struct outcome letter = {.position = {0, 1}, .id = "x", .letter = true, .body = g_bytes_new_static("why", 3)};
    pending_outcome(pending, &letter);
    g_bytes_unref(letter.body);
    expect(&caller, "why");
    cr_expect(caller.letter);
    cr_expect_null(pending_find(pending, 0, "x"));
    pending_free(pending);
}

Test(pending, stored_verdicts_are_bounded_to_newest)
{
    enum { MOST = 4096 };
    struct pending *pending = pending_new(1, MOST);
    struct pending_stats stats;
    char id[16];
    for (int i = 0; i < 1000; i++) {
        g_snprintf(id, sizeof id, "q-%d", i % 500);
        come(pending, id, 0, i, "0123456789");
        pending_get_stats(pending, &stats);
        cr_assert_leq(stats.kept_bytes, MOST);
    }
    cr_expect_geq(stats.kept, 2);
    cr_expect_null(pending_find(pending, 0, "q-0"));
    GBytes *last = pending_find(pending, 0, "q-499");
    cr_expect_not_null(last);
    if (last) g_bytes_unref(last);
    come(pending, "q-1", 0, 0, "again");
    come(pending, "q-1", 0, 0, "and again");
    last = pending_find(pending, 0, "q-1");
    cr_assert_not_null(last);
    cr_expect_eq(g_bytes_get_size(last), strlen("and again"));
    g_bytes_unref(last);
    pending_free(pending);
}

/* A caller that disconnects is completed once and frees its slot, whether or not the position of its request is
 * known. */
Test(pending, disconnected_caller_frees_slot)
{
    struct pending *pending = pending_new(1, 1 << 20);
    struct pending_stats stats;
    for (int placed = 0; placed < 2; placed++) {
        struct caller caller;
        wait_for(pending, &caller, "a", 100);
        if (placed) pending_position(caller.waiter, 0, 7);
        pending_leave(pending, &stats); /* no caller waits for this id */
        cr_expect_eq(caller.told, 0);
        pending_leave(pending, &caller);
        pending_leave(pending, &caller);
        cr_expect_eq(caller.told, 1);
        cr_expect_eq(caller.end, PENDING_LATE);
        if (!placed) pending_position(caller.waiter, 0, 7);
    }
    pending_get_stats(pending, &stats);
    cr_expect_eq(stats.late, 2);
    cr_expect_eq(stats.pending, 0);
    pending_free(pending);
}

static void on_lost(void *ctx, const struct msg_key *position)
{
    int64_t *sum = ctx;
    *sum += position->offset;
}

/* Requests with an id that others know, timed-out requests, and requests with a verdict can still be served. So they
 * are not cancelled. */
Test(pending, caller_with_unknown_id_is_cancelled)
{
    enum { LOST, KNOWN, LATE, ANSWERED, N };
    struct pending *pending = pending_new(10, 1 << 20);
    struct caller callers[N];
    int64_t sum = 0;
    pending_on_lost(pending, on_lost, &sum);
    for (unsigned i = 0; i < N; i++) {
        wait_for(pending, &callers[i], "x", i == LATE ? 10 : 100);
        if (i != KNOWN) pending_only_caller(callers[i].waiter);
        pending_position(callers[i].waiter, 0, 1 << i);
    }
    pending_expire(pending, 20);
    come(pending, "x", 0, 1 << ANSWERED, "verdict");
    for (unsigned i = 0; i < N; i++) pending_leave(pending, &callers[i]);
    cr_expect_eq(sum, 1 << LOST, "%d", (int)sum);
    for (unsigned i = 0; i < N; i++) cr_expect_eq(callers[i].told, 1);
    pending_free(pending);
}
