/* Tests the ledger of a request partition: its finished requests, the requests that may be opened, and its text
 * form. */
#include "proto/bus/kafka/exactly_once/ledger.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { HOME = 77 };

static struct ledger ledger;
static char text[LEDGER_TEXT];

static void begin(int64_t low, int64_t position)
{
    ledger_init(&ledger, HOME, low, position);
    ledger.writer = 5;
}

/* Writes the ledger as text and reads it back, as at a take-over. Requests that were open are then no longer open. */
static struct ledger reborn(void)
{
    struct ledger out;
    struct err err = {0};
    size_t len = ledger_encode(&ledger, text);
    cr_assert_eq(ledger_decode(&out, HOME, ledger.low, text, len, &err), ERR_OK, "%s", err.text);
    return out;
}

static enum err_code refusal(uint64_t log_id, int64_t low, const char *from, size_t len, const char *word)
{
    struct ledger out;
    struct err err = {0};
    enum err_code code = ledger_decode(&out, log_id, low, from, len, &err);
    cr_assert(code == ERR_OK || strstr(err.text, word), "'%s' does not say '%s'", err.text, word);
    return code;
}

Test(ledger, low_is_the_lowest_open_offset)
{
    begin(100, 0);
    for (int64_t i = 100; i < 110; i++) cr_assert_eq(ledger_read(&ledger, i), LEDGER_NEW);
    cr_assert_eq(ledger.low, 100);
    ledger_finish(&ledger, 103);
    ledger_finish(&ledger, 101);
    cr_assert_eq(ledger.low, 100, "100 is open");
    ledger_finish(&ledger, 100);
    cr_assert_eq(ledger.low, 102, "over 101, to the next open one");
    cr_assert(ledger_is_finished(&ledger, 101) && ledger_is_finished(&ledger, 103) &&
              !ledger_is_finished(&ledger, 104));
    for (int64_t i = 102; i < 110; i++) ledger_finish(&ledger, i);
    cr_assert_eq(ledger.low, 110);
    cr_assert_eq(ledger.n_open, 0);
    ledger_finish(&ledger, 105);
    cr_assert_eq(ledger.n_open, 0, "finished twice is finished once");
    leak_check();
}

/* Offsets may have gaps, from markers of transactions and from records that retention removed. */
Test(ledger, gaps_are_skipped)
{
    begin(0, 0);
    cr_assert_eq(ledger_read(&ledger, 3), LEDGER_NEW);
    cr_assert_eq(ledger.low, 3, "0 to 2 do not exist");
    cr_assert_eq(ledger_read(&ledger, 7), LEDGER_NEW);
    ledger_finish(&ledger, 3);
    cr_assert_eq(ledger.low, 7);
    ledger_finish(&ledger, 7);
    cr_assert_eq(ledger.low, 8);
    ledger_read_to(&ledger, 10);
    cr_assert_eq(ledger.low, 10, "markers at the end");
    cr_assert_eq(ledger_read(&ledger, 10 + 5 * (int64_t)LEDGER_SPAN), LEDGER_NEW,
                 "nothing is open: the hole may be wide");
    cr_assert_eq(ledger.low, 10 + 5 * (int64_t)LEDGER_SPAN);
    for (int64_t i = 0; i < LEDGER_WORDS; i++) cr_assert_eq(ledger.finished[i], 0, "bits of before are gone");
    leak_check();
}

/* Invariant I1. */
Test(ledger, no_request_is_opened_past_span)
{
    begin(1000, 0);
    ledger_read(&ledger, 1000);
    for (int64_t i = 1001; i < 1000 + LEDGER_SPAN; i++) {
        cr_assert_eq(ledger_read(&ledger, i), LEDGER_NEW);
        ledger_finish(&ledger, i);
    }
    cr_assert_eq(ledger_read(&ledger, 1000 + LEDGER_SPAN), LEDGER_BEYOND);
    cr_assert_eq(ledger_read(&ledger, 1000 + LEDGER_SPAN), LEDGER_BEYOND, "asking changes nothing");
    ledger_read_to(&ledger, 5000 + LEDGER_SPAN);
    cr_assert_eq(reborn().low, 1000);
    cr_assert_leq(strlen(text), 2900);
    ledger_finish(&ledger, 1000);
    cr_assert_eq(ledger_read(&ledger, 5000 + LEDGER_SPAN), LEDGER_NEW);
    leak_check();
}

/* Every other request is finished, which is the worst pattern for a bitmap. The text must still be shorter than a
 * broker's limit of 4,096 bytes. */
Test(ledger, text_is_bounded)
{
    begin(12345678901, 42);
    for (int64_t i = 0; i < LEDGER_SPAN; i++) {
        cr_assert_eq(ledger_read(&ledger, 12345678901 + i), LEDGER_NEW);
        if (i % 2) ledger_finish(&ledger, 12345678901 + i);
    }
    size_t len = ledger_encode(&ledger, text);
    cr_assert_lt(len, 2900);
    cr_assert_gt(len, 2732);
    struct ledger next = reborn();
    for (int64_t i = 0; i < LEDGER_SPAN; i++)
        cr_assert_eq(ledger_read(&next, 12345678901 + i), i % 2 ? LEDGER_FINISHED : LEDGER_NEW);
    begin(0, 0);
    cr_assert_lt(ledger_encode(&ledger, text), 140, "and is short where nothing is open");
    leak_check();
}

Test(ledger, next_owner_opens_only_open_requests)
{
    begin(500, 9000);
    for (int64_t i = 500; i < 520; i++) ledger_read(&ledger, i);
    ledger_finish(&ledger, 505);
    ledger_finish(&ledger, 519);
    ledger.outputs[0] = 33;
    ledger.outputs[1] = 44;
    ledger.crashes = 3;
    ledger.probe = 501;
    ledger.probes = 2;
    struct ledger next = reborn();
    cr_assert_eq(next.low, 500);
    cr_assert_eq(next.next, 500, "nothing is read yet");
    cr_assert_eq(next.n_open, 0);
    cr_assert_eq(next.reopen_end, 520);
    cr_assert(next.outputs[0] == 33 && next.outputs[1] == 44 && next.crashes == 3 && next.probe == 501);
    cr_assert(next.probes == 2 && next.writer == 5 && next.position == 9000);
    cr_assert_eq(ledger_read(&next, 499), LEDGER_FINISHED, "history");
    for (int64_t i = 500; i < 520; i++)
        cr_assert_eq(ledger_read(&next, i), i == 505 || i == 519 ? LEDGER_FINISHED : LEDGER_NEW, "%d", (int)i);
    cr_assert_eq(next.n_open, 18);
    leak_check();
}

/* The log has a verdict that the commit does not contain. Its request may lie beyond the opened ones. */
Test(ledger, verdicts_read_back_finish_unread_requests)
{
    begin(10, 0);
    ledger_read(&ledger, 10);
    struct ledger next = reborn();
    ledger_finish(&next, 10);
    ledger_finish(&next, 14);
    ledger_finish(&next, 3);
    ledger_finish(&next, 10 + LEDGER_SPAN);
    ledger = next;
    next = reborn();
    cr_assert_eq(next.low, 10);
    cr_assert_eq(ledger_read(&next, 10), LEDGER_FINISHED);
    cr_assert_eq(ledger_read(&next, 11), LEDGER_NEW);
    cr_assert_eq(ledger_read(&next, 14), LEDGER_FINISHED);
    cr_assert_eq(next.low, 11);
    leak_check();
}

/* Invariant I8: r is never above the position of the results at the time when the lowest open request was opened. */
Test(ledger, results_restart_at_lowest_open_request)
{
    begin(0, 100);
    cr_assert_eq(ledger_results_from(&ledger), 100);
    ledger_read(&ledger, 0);
    ledger.position = 200;
    cr_assert_eq(ledger_results_from(&ledger), 100, "0 was opened at 100");
    for (int64_t i = 1; i < 200; i++) {
        ledger.position++;
        ledger_read(&ledger, i);
    }
    ledger_finish(&ledger, 0);
    cr_assert_leq(ledger_results_from(&ledger), 201);
    for (int64_t i = 1; i < 130; i++) ledger_finish(&ledger, i);
    cr_assert(ledger_results_from(&ledger) > 300 && ledger_results_from(&ledger) <= 330, "%d",
              (int)ledger_results_from(&ledger));
    struct ledger next = reborn();
    int64_t r = next.position;
    cr_assert_eq(r, ledger_results_from(&ledger));
    next.position = 5000;
    cr_assert_eq(ledger_results_from(&next), r, "also before what was open is open again");
    for (int64_t i = 130; i < 200; i++) ledger_read(&next, i);
    cr_assert_eq(ledger_results_from(&next), r, "and after: its answers may lie anywhere from r on");
    for (int64_t i = 130; i < 200; i++) ledger_finish(&next, i);
    cr_assert_eq(ledger_results_from(&next), 5000);
    leak_check();
}

Test(ledger, requests_lost_to_retention_are_counted)
{
    begin(100, 0);
    for (int64_t i = 100; i < 120; i++) ledger_read(&ledger, i);
    for (int64_t i = 105; i < 110; i++) ledger_finish(&ledger, i);
    struct ledger next = reborn();
    cr_assert_eq(ledger_skip_to(&next, 90), 0);
    cr_assert_eq(ledger_skip_to(&next, 112), 7, "of 12, five were finished");
    cr_assert_eq(next.low, 112);
    cr_assert_eq(ledger_read(&next, 112), LEDGER_NEW);
    next = reborn();
    cr_assert_eq(ledger_skip_to(&next, 100 + 2 * (int64_t)LEDGER_SPAN), 2 * LEDGER_SPAN - 5);
    leak_check();
}

Test(ledger, foreign_metadata_is_refused)
{
    begin(1000, 0);
    for (int64_t i = 1000; i < 1100; i++) ledger_read(&ledger, i);
    for (int64_t i = 1001; i < 1090; i++) ledger_finish(&ledger, i);
    size_t len = ledger_encode(&ledger, text);
    cr_assert_eq(refusal(HOME, 1000, text, len, ""), ERR_OK);
    cr_assert_eq(refusal(HOME + 1, 1000, text, len, "another cluster"), ERR_CONFIG);
    cr_assert_eq(refusal(HOME, 1001, text, len, "another offset"), ERR_MALFORMED, "as a mirror would copy it");
    cr_assert_eq(refusal(HOME, 1000, "", 0, "not written by a coordinator"), ERR_VERSION);
    cr_assert_eq(refusal(HOME, 1000, NULL, 0, "not written by a coordinator"), ERR_VERSION);
    cr_assert_eq(refusal(HOME, 1000, "assay1 0 3:1", 12, "not written by a coordinator"), ERR_VERSION);
    for (size_t cut = 12; cut < len; cut++) cr_assert_neq(refusal(HOME, 1000, text, cut, ""), ERR_OK, "%zu", cut);
    for (size_t i = 12; i < len; i++) {
        char was = text[i];
        if (was == '=') continue;
        text[i] = was == 'A' ? 'B' : 'A';
        cr_assert_neq(refusal(HOME, 1000, text, len, ""), ERR_OK, "character %zu", i);
        text[i] = was;
    }
    cr_assert_neq(ledger_log_id("a", "t", 1), ledger_log_id("b", "t", 1));
    cr_assert_neq(ledger_log_id("a", "t", 1), ledger_log_id("a", "u", 1));
    cr_assert_neq(ledger_log_id("a", "t", 1), ledger_log_id("a", "t", 2));
    leak_check();
}

/* Reads, finishes and takes over in random order. Compares the ledger with a plain list of finished requests. */
Test(ledger, ledger_agrees_with_plain_list)
{
    enum { N = 60000 };
    static bool finished[N], open[N];
    uint64_t random = 11;
    int64_t at = 0;
    begin(0, 0);
    for (unsigned step = 0; step < 200000 && at < N; step++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        unsigned draw = (unsigned)(random >> 33);
        if (draw % 5000 == 0) {
            struct ledger next = reborn();
            for (int64_t i = next.low; i < N; i++) open[i] = false;
            ledger = next;
            at = ledger.low;
        } else if (draw % 2 && at < N) {
            if (draw % 7 == 0) at += finished[at] || open[at] ? 0 : 1; /* makes a gap, always at the same offsets */
            enum ledger_place place = at < N ? ledger_read(&ledger, at) : LEDGER_BEYOND;
            if (place == LEDGER_BEYOND) continue;
            cr_assert_eq(place == LEDGER_FINISHED, finished[at], "%d", (int)at);
            if (place == LEDGER_NEW) open[at] = true;
            at++;
        } else if (at > 0) {
            int64_t back = (int64_t)(draw % 300), which = at - 1 - back;
            if (draw % 11 == 0) which = ledger.low;
            if (which < 0 || which >= N || !open[which]) continue;
            ledger_finish(&ledger, which);
            open[which] = false;
            finished[which] = true;
        }
        for (int64_t i = ledger.low; i < ledger.low + 3 && i < at; i++)
            cr_assert_eq(ledger_is_finished(&ledger, i), finished[i] && i < at);
    }
    cr_assert_gt(at, N / 3, "it got somewhere");
    leak_check();
}
