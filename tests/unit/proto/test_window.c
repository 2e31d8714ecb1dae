/* Tests the window of a partition, without a broker. */
#include "proto/bus/kafka/crashes.h"
#include "proto/bus/kafka/window.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned released;

static void release(struct window_slot *slot)
{
    released++;
    free(slot);
}

static struct window_slot *add(struct window *window, int64_t offset)
{
    struct window_slot *slot = calloc(1, sizeof *slot);
    slot->offset = offset;
    window_add(window, slot, SLOT_HELD);
    return slot;
}

static struct window fresh(void)
{
    struct window window;
    released = 0;
    window_init(&window);
    return window;
}

static void finish(struct window *window)
{
    window_restart(window, -1, NULL, 0, release);
    cr_assert_eq(window->n, 0);
    leak_check();
}

Test(window, lowest_open_offset_bounds_commit)
{
    struct window window = fresh();
    struct window_slot *five = add(&window, 5), *seven = add(&window, 7), *nine = add(&window, 9);
    cr_assert_eq(window.low, 5);
    window_done(&window, seven, 0);
    window_done(&window, nine, 0);
    cr_assert_not(window_advance(&window, 100, release));
    cr_assert_eq(window.low, 5);
    window_done(&window, five, 0);
    cr_assert(window_advance(&window, 100, release));
    cr_assert_eq(window.low, 10, "past the last one, over the holes");
    cr_assert_eq(released, 3);
    finish(&window);
}

Test(window, ack_counts_after_its_outputs_are_delivered)
{
    struct window window = fresh();
    window_done(&window, add(&window, 1), 10);
    window_done(&window, add(&window, 2), 20);
    cr_assert_not(window_advance(&window, 9, release));
    cr_assert(window_advance(&window, 10, release));
    cr_assert_eq(window.low, 2);
    cr_assert_not(window_advance(&window, 19, release));
    cr_assert(window_advance(&window, 20, release));
    cr_assert_eq(window.low, 3);
    finish(&window);
}

Test(window, delayed_messages_come_when_due_in_order)
{
    struct window window = fresh();
    struct window_slot *one = add(&window, 1), *two = add(&window, 2);
    window_wait(&window, two, 0);
    window_wait(&window, one, 500);
    cr_assert_eq(one->attempts, 1);
    cr_assert_eq(window_due(&window, 100), two);
    window_hold(&window, two);
    cr_assert_null(window_due(&window, 100));
    cr_assert_eq(window.next_due, 500);
    window_wait(&window, two, 400);
    cr_assert_eq(window_due(&window, 500), one, "the lower offset, though due later");
    finish(&window);
}

Test(window, rebalance_starts_no_message_twice)
{
    struct window window = fresh();
    struct window_slot *held = add(&window, 4);
    window_done(&window, add(&window, 5), 0);
    add(&window, 2);
    window_restart(&window, 4, NULL, 0, release);
    cr_assert_eq(released, 1, "2 is somebody else's now");
    cr_assert(window_has(&window, 4) && window_has(&window, 5));
    cr_assert_not(window_has(&window, 2));
    cr_assert_not(window_has(&window, 6));
    window_done(&window, held, 0);
    cr_assert(window_advance(&window, 1, release));
    cr_assert_eq(window.low, 6);
    cr_assert(window_again(&window, 4) && window_again(&window, 5), "done meanwhile, and yet in the queue");
    cr_assert_not(window_again(&window, 6));
    cr_assert_not(window_again(&window, 0), "the topic was made anew");
    window_restart(&window, -1, NULL, 0, release);
    cr_assert_eq(window.low, -1);
    finish(&window);
}

Test(window, metadata_passes_attempts_to_next_owner)
{
    struct window window = fresh(), next = fresh();
    char text[WINDOW_TEXT];
    add(&window, 100);
    window_wait(&window, add(&window, 103), 0);
    window_done(&window, add(&window, 104), 99);
    size_t len = window_metadata(&window, 3, text);
    cr_assert_str_eq(text, "assay1 3 0:1 3:1");
    cr_assert_eq(len, strlen(text));

    window_restart(&next, 100, text, len, release);
    cr_assert_eq(next.crashes, 3);
    cr_assert_eq(add(&next, 100)->attempts, 1);
    cr_assert_eq(add(&next, 103)->attempts, 1);
    cr_assert_eq(add(&next, 105)->attempts, 1, "perhaps: somebody died near here");
    cr_assert_eq(add(&next, 100 + WINDOW_MAX)->attempts, 0, "beyond what can have been handed out");
    finish(&next);
    finish(&window);
}

/* Message 100 kills its consumer, and is then tried alone after a pause. Message 101 kills right after it, before 100
 * could be committed. */
Test(window, attempts_of_two_poison_messages_survive_owner)
{
    struct window window = fresh();
    char text[WINDOW_TEXT];
    size_t len = (size_t)snprintf(text, sizeof text, "assay1 2 0:2");
    window_restart(&window, 100, text, len, release);
    window_done(&window, add(&window, 100), 99);
    cr_assert_eq(add(&window, 101)->attempts, 1);
    len = window_metadata(&window, 3, text);
    cr_assert_str_eq(text, "assay1 3 0:2 1:2", "done, but not yet committed: it comes again, and as deadly");

    window_restart(&window, -1, NULL, 0, release);
    window_restart(&window, 100, text, len, release);
    add(&window, 100);
    len = window_metadata(&window, 4, text);
    cr_assert_str_eq(text, "assay1 4 0:3 1:2", "this owner has not come to the second");

    window_restart(&window, -1, NULL, 0, release);
    window_restart(&window, 100, text, len, release);
    window_done(&window, add(&window, 100), 0);
    window_advance(&window, 1, release);
    window_metadata(&window, 5, text);
    cr_assert_str_eq(text, "assay1 5 0:2", "the first is passed");
    cr_assert_eq(add(&window, 101)->attempts, 2);
    finish(&window);
}

Test(window, metadata_is_bounded)
{
    struct window window = fresh();
    char text[WINDOW_TEXT];
    for (int64_t i = 0; i < WINDOW_MAX; i++) add(&window, i * 1000000007);
    cr_assert_lt(window_metadata(&window, UINT32_MAX, text), WINDOW_TEXT);
    finish(&window);
}

/* The metadata may have been written by any member of the group, a tool, or a bug. */
Test(window, hostile_metadata_is_ignored)
{
    static const char *const texts[] = {
        "",           "assay1",      "assay1 ",     "assay1 x",      "assay2 1",      "assay1 -1",
        "assay1 1 1", "assay1 1 1:", "assay1 0 :1", "assay1 0 1:-5", "assay1 0  1:1", "assay1 99999999999999999999"};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct window window = fresh();
        window_restart(&window, 10, texts[i], strlen(texts[i]), release);
        cr_assert_eq(window.n_notes, 0, "'%s'", texts[i]);
        cr_assert_leq(window.crashes, 1, "'%s'", texts[i]);
        finish(&window);
    }
    struct window window = fresh();
    char large[WINDOW_TEXT + 10];
    memset(large, '1', sizeof large);
    memcpy(large, "assay1 1 ", 9);
    window_restart(&window, 10, large, sizeof large, release);
    cr_assert_eq(window.crashes, 0);
    char many[WINDOW_TEXT] = "assay1 1";
    for (unsigned i = 0; i < WINDOW_NOTES + 20; i++) strcat(many, " 1:1");
    window_restart(&window, 10, many, strlen(many), release);
    cr_assert_eq(window.n_notes, WINDOW_NOTES);
    finish(&window);
}

Test(crashes, third_owner_suspects_until_minute_passes)
{
    const int64_t second = 1000000000;
    cr_expect_not(crashes_must_probe(0));
    cr_expect_not(crashes_must_probe(2), "one died before this one");
    cr_expect(crashes_must_probe(3));
    cr_expect_not(crashes_is_sound(5 * second, 65 * second - 1));
    cr_expect(crashes_is_sound(5 * second, 65 * second));
}
