/* Tests dead letters: their contents, the parts of the message that they preserve, and redelivery. */
#include "proto/bus/letter.h"

#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 };

static struct bus_header own[BUS_MAX_HEADERS] = {{"traceparent", "00-ab", 5}, {"content-type", "application/json", 16}};

static struct bus_message message_of(uint32_t n_headers)
{
    return (struct bus_message){.topic = "assay.tasks.join",
                                .partition = 3,
                                .offset = 123456789012,
                                .key = "7-8",
                                .key_len = 3,
                                .value = "\0junk",
                                .len = 5,
                                .headers = own,
                                .n_headers = n_headers,
                                .time_ns = INT64_C(1700000000123000000),
                                .attempts = 4};
}

/* Returns the dead letter as a reader receives it. */
static struct bus_message arrived(const struct bus_out *out)
{
    return (struct bus_message){.topic = out->topic,
                                .key = out->key,
                                .key_len = out->key_len,
                                .value = out->value,
                                .len = out->len,
                                .headers = out->headers,
                                .n_headers = out->n_headers};
}

static const struct letter_cause CAUSE = {.group = "assay-worker",
                                          .stage = "read",
                                          .code = ERR_MALFORMED,
                                          .text = "not msgpack",
                                          .now_ns = INT64_C(1700000099000000000)};

Test(letter, dead_letter_holds_message_and_history, .fini = leak_check)
{
    struct bus_message message = message_of(2);
    struct letter letter;
    struct letter_origin origin;
    struct bus_out out;
    letter_make(&letter, &message, &CAUSE, BUS_TASKS_DLQ, MOST, &out);
    cr_expect_str_eq(out.topic, BUS_TASKS_DLQ);
    cr_expect(out.len == 5 && memcmp(out.value, "\0junk", 5) == 0 && out.key_len == 3);
    struct bus_message read = arrived(&out);
    cr_assert_eq(letter_read(&read, &origin, NULL), ERR_OK);
    cr_expect_str_eq(origin.topic, "assay.tasks.join");
    cr_expect_eq(origin.partition, 3);
    cr_expect_eq(origin.offset, 123456789012);
    cr_expect_eq(origin.timestamp_ms, 1700000000123);
    cr_expect_eq(origin.first_seen_ms, 1700000099000);
    cr_expect_eq(origin.attempts, 4);
    cr_expect_eq(origin.redriven, 0);
    cr_expect_str_eq(origin.code, "malformed");
    cr_expect_str_eq(origin.text, "not msgpack");
    cr_expect_str_eq(origin.stage, "read");
    cr_expect_str_eq(origin.group, "assay-worker");
    cr_expect(origin.host && *origin.host && origin.version && *origin.version);
    cr_expect_str_eq(bus_header_get(&read, "traceparent"), "00-ab");
    cr_expect_str_eq(bus_header_get(&read, "content-type"), "application/json");
}

Test(letter, redelivered_message_is_unchanged, .fini = leak_check)
{
    struct bus_message message = message_of(2);
    struct letter first, back, second;
    struct letter_origin origin;
    struct bus_out out, again, dead;
    letter_make(&first, &message, &CAUSE, BUS_TASKS_DLQ, MOST, &out);
    struct bus_message letter = arrived(&out);
    cr_assert_eq(letter_again(&back, &letter, &again, NULL), ERR_OK);
    cr_expect_str_eq(again.topic, "assay.tasks.join");
    cr_expect_eq(again.partition, 3);
    cr_expect(again.key_len == 3 && again.len == 5);
    cr_expect_eq(again.n_headers, 4, "its two, x-dlq-redriven and x-dlq-first-seen");
    struct bus_message redriven = arrived(&again);
    cr_expect_str_eq(bus_header_get(&redriven, "x-dlq-redriven"), "1");
    cr_expect_null(bus_header_get(&redriven, "x-dlq-code"));
    /* The redelivered message fails again, much later. */
    struct letter_cause later = CAUSE;
    later.now_ns *= 2;
    redriven.topic = "assay.tasks.join";
    letter_make(&second, &redriven, &later, BUS_TASKS_DLQ, MOST, &dead);
    struct bus_message last = arrived(&dead);
    cr_assert_eq(letter_read(&last, &origin, NULL), ERR_OK);
    cr_expect_eq(origin.redriven, 1);
    cr_expect_eq(origin.first_seen_ms, 1700000099000, "when it was first given up");
    cr_assert_eq(letter_again(&back, &last, &again, NULL), ERR_OK);
    redriven = arrived(&again);
    cr_expect_str_eq(bus_header_get(&redriven, "x-dlq-redriven"), "2");
}

Test(letter, long_texts_are_cut_between_characters, .fini = leak_check)
{
    struct bus_message message = message_of(2);
    struct letter letter;
    struct bus_out out;
    char text[2000];
    for (size_t i = 0; i + 2 < sizeof text; i += 2) memcpy(text + i, "\xc3\xa9", 3);
    struct letter_cause cause = CAUSE;
    cause.text = text + 1; /* moves the limit into the middle of a character */
    memmove(text + 1, "x", 1);
    letter_make(&letter, &message, &cause, BUS_TASKS_DLQ, MOST, &out);
    cr_expect_leq(strlen(letter.message), LETTER_MESSAGE);
    cr_expect_geq(strlen(letter.message), LETTER_MESSAGE - 1);
    cr_expect_eq((unsigned char)letter.message[strlen(letter.message) - 1], 0xa9, "a whole character is last");
}

/* Makes a dead letter of `message`. Returns the reason why it is incomplete, or NULL if it is complete. Checks that it
 * respects the size limit and names the origin of the message. */
static const char *cut_of(const struct bus_message *message, struct letter *letter, struct bus_out *out)
{
    struct letter_origin origin;
    letter_make(letter, message, &CAUSE, BUS_TASKS_DLQ, MOST, out);
    cr_expect_leq(bus_out_bytes(out), MOST);
    cr_expect_leq(out->n_headers, BUS_MAX_HEADERS);
    struct bus_message read = arrived(out);
    cr_assert_eq(letter_read(&read, &origin, NULL), ERR_OK);
    cr_expect_str_eq(origin.topic, "assay.tasks.join");
    cr_expect(origin.version && *origin.version, "the last of ours");
    struct letter back;
    struct bus_out again;
    cr_expect_eq(letter_again(&back, &read, &again, NULL), origin.cut ? ERR_LIMIT_BYTES : ERR_OK,
                 "half a message is never sent");
    return origin.cut;
}

Test(letter, dead_letter_fits_for_any_message, .fini = leak_check)
{
    struct letter letter;
    struct bus_out out;
    char *huge = malloc(2 * MOST);
    memset(huge, 'x', 2 * MOST);
    struct bus_message message = message_of(2);
    message.value = huge;
    message.len = MOST - 8192;
    cr_expect_null(cut_of(&message, &letter, &out));
    message.len = MOST - 100;
    cr_expect_str_eq(cut_of(&message, &letter, &out), "value");
    cr_expect_geq(bus_out_bytes(&out), MOST - 64, "as much as fits");
    message.key = huge;
    message.key_len = 2 * MOST;
    cr_expect_str_eq(cut_of(&message, &letter, &out), "key,value");
    message.len = 5;
    cr_expect_str_eq(cut_of(&message, &letter, &out), "key");
    free(huge);
}

Test(letter, dead_letter_fits_for_any_headers, .fini = leak_check)
{
    struct letter letter;
    struct bus_out out;
    char huge[LETTER_OWN_BYTES + 1];
    memset(huge, '7', sizeof huge - 1);
    huge[sizeof huge - 1] = '\0';
    const struct bus_header long_one = {"h", huge, sizeof huge - 1};
    own[0] = long_one;
    struct bus_message message = message_of(2);
    cr_expect_str_eq(cut_of(&message, &letter, &out), "headers");
    struct bus_message read = arrived(&out);
    cr_expect_null(bus_header_get(&read, "h"));
    cr_expect_str_eq(bus_header_get(&read, "content-type"), "application/json", "the others stay");
    own[0] = (struct bus_header){"x-dlq-first-seen", huge, sizeof huge - 1};
    own[1] = (struct bus_header){"x-dlq-redriven", huge, sizeof huge - 1};
    letter_make(&letter, &message, &CAUSE, BUS_TASKS_DLQ, MOST, &out);
    cr_expect_leq(bus_out_bytes(&out), 2048, "nor can an earlier letter's be made long");
    for (uint32_t i = 0; i < BUS_MAX_HEADERS; i++) own[i] = (struct bus_header){"h", "v", 1};
    message.n_headers = LETTER_OWN;
    cr_expect_null(cut_of(&message, &letter, &out));
    message.n_headers = LETTER_OWN + 1;
    cr_expect_str_eq(cut_of(&message, &letter, &out), "headers");
}

Test(letter, invalid_dead_letter_is_reported, .fini = leak_check)
{
    struct bus_message message = message_of(2);
    struct letter_origin origin;
    struct letter letter;
    struct bus_out out;
    struct err err = {0};
    cr_expect_eq(letter_read(&message, &origin, &err), ERR_MALFORMED);
    cr_expect_eq(letter_again(&letter, &message, &out, &err), ERR_MALFORMED);
    static const char *const bad[] = {"-1", "x", "99999999999", "1 ", ""};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct bus_header headers[] = {{"x-dlq-topic", "t", 1}, {"x-dlq-partition", bad[i], (uint32_t)strlen(bad[i])}};
        struct bus_message letter_like = {.topic = "d", .headers = headers, .n_headers = 2};
        cr_expect_eq(letter_read(&letter_like, &origin, &err), ERR_MALFORMED, "'%s'", bad[i]);
    }
}
