/* Tests the message format: round trips of every kind, frames that share a message, newer and damaged frames, bounds,
 * and the sample frames of every released version. */
#include "proto/message/fields.h"
#include "tests/support/leak.h"
#include "tests/unit/proto/samples.h"

#include <criterion/criterion.h>
#include <math.h>
#include <msgpack.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct kind {
    const char *name;
    enum msg_kind kind;
    const struct record *record;
    const void *sample;
} kinds[] = {
    {"request", MSG_KIND_REQUEST, &msg_request_record, &sample_request},
    {"task", MSG_KIND_TASK, &msg_task_record, &sample_task},
    {"result", MSG_KIND_RESULT, &msg_result_record, &sample_result},
    {"verdict", MSG_KIND_VERDICT, &msg_verdict_record, &sample_verdict},
};
enum { N_KINDS = sizeof kinds / sizeof *kinds };

static struct msg_buffer encoded(const struct kind *kind)
{
    struct msg_buffer buffer = {0};
    cr_assert_eq(msg_encode(&buffer, kind->kind, kind->record, kind->sample), ERR_OK);
    return buffer;
}

/* Decodes a message, encodes it again, and compares the bytes. So a lost field is noticed. */
Test(msg, every_kind_round_trips)
{
    for (unsigned i = 0; i < N_KINDS; i++) {
        struct msg_buffer first = encoded(&kinds[i]), second = {0};
        struct arena arena;
        struct err err = {0};
        void *message;
        arena_init(&arena, 0);
        cr_assert_eq(msg_decode(&arena, kinds[i].kind, kinds[i].record, first.bytes, first.len, &message, &err), ERR_OK,
                     "%s: %s", kinds[i].name, err.text);
        memset(first.bytes, 0xAA, first.room); /* the decoded message must not point into these bytes */
        cr_assert_eq(msg_encode(&second, kinds[i].kind, kinds[i].record, message), ERR_OK);
        struct msg_buffer again = encoded(&kinds[i]);
        cr_assert_eq(second.len, again.len, "%s", kinds[i].name);
        cr_assert_eq(memcmp(second.bytes, again.bytes, again.len), 0, "%s", kinds[i].name);
        msg_buffer_free(&first);
        msg_buffer_free(&second);
        msg_buffer_free(&again);
        arena_free(&arena);
    }
    leak_check();
}

Test(msg, fields_round_trip)
{
    struct msg_buffer buffer = {0};
    struct arena arena;
    struct msg_request *request;
    arena_init(&arena, 0);
    cr_assert_eq(msg_encode_request(&buffer, &sample_request), ERR_OK);
    cr_assert_eq(msg_decode_request(&arena, buffer.bytes, buffer.len, &request, NULL), ERR_OK);
    cr_assert_str_eq(request->question, sample_request.question);
    cr_assert_eq(request->tag, UINT64_MAX);
    cr_assert_eq(request->n_candidates, 2);
    cr_assert_eq(request->candidates[0].count, 3);
    cr_assert_float_eq(request->candidates[0].score, -0.25, 0);
    cr_assert(isnan(request->candidates[1].score), "an absent real is NAN");
    cr_assert_str_eq(request->candidates[0].generators[1], "chatgpt");
    cr_assert_eq(request->options.strategy, MSG_DETECT_THEN_RERANK);
    cr_assert_float_eq(request->options.alpha, 0.05, 0);

    struct msg_task *task;
    cr_assert_eq(msg_encode_task(&buffer, &sample_task), ERR_OK);
    cr_assert_eq(msg_decode_task(&arena, buffer.bytes, buffer.len, &task, NULL), ERR_OK);
    cr_assert_eq(task->sql.len, sample_task.sql.len, "SQL may hold any byte");
    cr_assert_eq(memcmp(task->sql.bytes, sample_task.sql.bytes, task->sql.len), 0);
    cr_assert_eq(task->hash[1], sample_task.hash[1]);
    cr_assert_eq(task->deadline_ns, -5);

    struct msg_result *result;
    cr_assert_eq(msg_encode_result(&buffer, &sample_result), ERR_OK);
    cr_assert_eq(msg_decode_result(&arena, buffer.bytes, buffer.len, &result, NULL), ERR_OK);
    cr_assert_eq(result->execution->error_offset, -1);
    cr_assert_null(result->execution->sample[0].values[1], "SQL's NULL stays NULL");
    cr_assert_str_eq(result->execution->sample[0].values[0], "Tribal King");
    cr_assert_eq(result->findings[0].clauses[0].end, 39);
    cr_assert_eq(result->explanation->n_numbers, 3);
    cr_assert_eq(result->explanation->numbers[2].id, 300);
    cr_assert_float_eq(result->explanation->numbers[1].value, -3, 0);
    cr_assert_eq(result->explanation->components, UINT64_C(1) << 63 | 5);
    msg_buffer_free(&buffer);
    arena_free(&arena);
    leak_check();
}

Test(msg, empty_message_is_small_without_fields)
{
    struct msg_verdict empty = {.p_correct = NAN, .threshold = NAN, .entailment_threshold = NAN}, *back;
    struct msg_buffer buffer = {0};
    cr_assert_eq(msg_encode_verdict(&buffer, &empty), ERR_OK);
    cr_assert_leq(buffer.len, 8);
    cr_assert_eq(msg_decode_verdict_own(buffer.bytes, buffer.len, &back, NULL), ERR_OK);
    cr_assert_null(back->id);
    cr_assert(isnan(back->p_correct));
    cr_assert_eq(back->n_candidates, 0);
    msg_verdict_free(back);
    msg_verdict_free(NULL);
    msg_buffer_free(&buffer);
    leak_check();
}

/* Generates the tests of frames that share a message, for a kind of record. */
#define JOINED(kind)                                                                                                   \
    static enum err_code append_##kind(struct msg_buffer *buffer, const void *message)                                 \
    {                                                                                                                  \
        return msg_append_##kind(buffer, message);                                                                     \
    }                                                                                                                  \
    static enum err_code next_##kind(struct arena *arena, const char *bytes, size_t len, const char **family,          \
                                     size_t *used)                                                                     \
    {                                                                                                                  \
        struct msg_##kind *message = NULL;                                                                             \
        enum err_code code = msg_next_##kind(arena, bytes, len, &message, used, NULL);                                 \
        *family = message ? message->family : NULL;                                                                    \
        return code;                                                                                                   \
    }                                                                                                                  \
    static enum err_code decode_##kind(struct arena *arena, const char *bytes, size_t len)                             \
    {                                                                                                                  \
        struct msg_##kind *message;                                                                                    \
        return msg_decode_##kind(arena, bytes, len, &message, NULL);                                                   \
    }
JOINED(result)
JOINED(task)
#undef JOINED

/* Several frames follow one another in a message. Each read stops at the end of its frame. */
Test(msg, tasks_of_request_share_message)
{
    struct msg_result other_result = sample_result;
    struct msg_task other_task = sample_task;
    other_result.family = other_task.family = "question";
    const struct {
        const void *sample, *other;
        const char *family; /* family of the sample */
        enum err_code (*append)(struct msg_buffer *buffer, const void *message);
        enum err_code (*next)(struct arena *arena, const char *bytes, size_t len, const char **family, size_t *used);
        enum err_code (*decode)(struct arena *arena, const char *bytes, size_t len);
    } rows[] = {
        {&sample_result, &other_result, sample_result.family, append_result, next_result, decode_result},
        {&sample_task, &other_task, sample_task.family, append_task, next_task, decode_task},
    };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct msg_buffer buffer = {0};
        struct arena arena;
        const char *family;
        size_t first, second;
        arena_init(&arena, 0);
        cr_assert_eq(rows[i].append(&buffer, rows[i].sample), ERR_OK);
        cr_assert_eq(rows[i].append(&buffer, rows[i].other), ERR_OK);
        cr_assert_eq(rows[i].next(&arena, buffer.bytes, buffer.len, &family, &first), ERR_OK);
        cr_assert_str_eq(family, rows[i].family);
        cr_assert_eq(rows[i].next(&arena, buffer.bytes + first, buffer.len - first, &family, &second), ERR_OK);
        cr_assert_str_eq(family, "question");
        cr_assert_eq(first + second, buffer.len, "nothing is left");
        cr_assert_eq(rows[i].decode(&arena, buffer.bytes, buffer.len), ERR_MALFORMED,
                     "who reads one at a time takes none of them");
        cr_assert_eq(rows[i].next(&arena, buffer.bytes + first, second - 1, &family, &second), ERR_MALFORMED);
        msg_buffer_free(&buffer);
        arena_free(&arena);
    }
    leak_check();
}

/* The rule is the same as for a single task. */
Test(msg, task_without_database_shares_no_message)
{
    struct msg_buffer buffer = {0};
    struct msg_task task = sample_task;
    struct arena arena;
    const char *family;
    size_t used;
    arena_init(&arena, 0);
    task.db = NULL;
    cr_assert_eq(append_task(&buffer, &task), ERR_OK);
    cr_assert_eq(next_task(&arena, buffer.bytes, buffer.len, &family, &used), ERR_MALFORMED);
    msg_buffer_free(&buffer);
    arena_free(&arena);
    leak_check();
}

/* --- hand-made frames --- */

struct frame {
    msgpack_sbuffer bytes;
    msgpack_packer pk;
};

static void frame_begin(struct frame *frame, unsigned version, unsigned kind, size_t fields)
{
    msgpack_sbuffer_init(&frame->bytes);
    msgpack_packer_init(&frame->pk, &frame->bytes, msgpack_sbuffer_write);
    msgpack_pack_array(&frame->pk, 3);
    msgpack_pack_uint16(&frame->pk, (uint16_t)version);
    msgpack_pack_uint8(&frame->pk, (uint8_t)kind);
    msgpack_pack_map(&frame->pk, fields);
}

static void frame_text(struct frame *frame, unsigned id, const char *text, size_t len)
{
    msgpack_pack_uint8(&frame->pk, (uint8_t)id);
    msgpack_pack_str(&frame->pk, len);
    msgpack_pack_str_body(&frame->pk, text, len);
}

static enum err_code frame_read(struct frame *frame, struct err *err)
{
    struct arena arena;
    struct msg_request *request;
    arena_init(&arena, 0);
    enum err_code code = msg_decode_request(&arena, frame->bytes.data, frame->bytes.size, &request, err);
    arena_free(&arena);
    msgpack_sbuffer_destroy(&frame->bytes);
    return code;
}

enum { V1 = MSG_MAJOR << 8 };

Test(msg, fields_of_newer_minor_version_are_skipped)
{
    struct frame frame;
    frame_begin(&frame, V1 | 0xff, MSG_KIND_REQUEST, 3);
    frame_text(&frame, 2, "db", 2);
    msgpack_pack_uint8(&frame.pk, 63); /* an unknown id of a later version, with a nested value */
    msgpack_pack_array(&frame.pk, 2);
    msgpack_pack_map(&frame.pk, 1);
    msgpack_pack_nil(&frame.pk);
    msgpack_pack_true(&frame.pk);
    msgpack_pack_double(&frame.pk, 1.5);
    frame_text(&frame, 1, "id", 2);
    cr_assert_eq(frame_read(&frame, NULL), ERR_OK);
}

Test(msg, other_major_version_is_refused)
{
    struct frame frame;
    struct err err = {0};
    frame_begin(&frame, (MSG_MAJOR + 1) << 8, MSG_KIND_REQUEST, 0);
    cr_assert_eq(frame_read(&frame, &err), ERR_VERSION);
    cr_assert(strstr(err.text, "2.0"), "%s", err.text);
}

Test(msg, other_kind_is_refused)
{
    struct frame frame;
    frame_begin(&frame, V1, MSG_KIND_TASK, 0);
    cr_assert_eq(frame_read(&frame, NULL), ERR_MALFORMED);
}

Test(msg, missing_database_is_refused)
{
    struct frame frame;
    struct err err = {0};
    frame_begin(&frame, V1, MSG_KIND_REQUEST, 1);
    frame_text(&frame, 1, "id", 2);
    cr_assert_eq(frame_read(&frame, &err), ERR_MALFORMED);
    cr_assert(strstr(err.text, "db"), "%s", err.text);
}

Test(msg, invalid_texts_are_refused)
{
    static const struct {
        const char *text;
        size_t len;
        enum err_code code;
    } cases[] = {
        {"\xff\xfe", 2, ERR_ENCODING}, {"a\0b", 3, ERR_ENCODING}, {"\xc3", 1, ERR_ENCODING}, {"ok", 2, ERR_OK}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct frame frame;
        frame_begin(&frame, V1, MSG_KIND_REQUEST, 2);
        frame_text(&frame, 2, "db", 2);
        frame_text(&frame, 3, cases[i].text, cases[i].len);
        cr_assert_eq(frame_read(&frame, NULL), cases[i].code, "case %u", i);
    }
}

Test(msg, oversized_values_are_refused)
{
    struct frame frame;
    struct err err = {0};
    char *large = calloc(1, MSG_MAX_QUESTION + 2);
    memset(large, 'x', MSG_MAX_QUESTION + 1);
    frame_begin(&frame, V1, MSG_KIND_REQUEST, 2);
    frame_text(&frame, 2, "db", 2);
    frame_text(&frame, 3, large, MSG_MAX_QUESTION + 1);
    cr_assert_eq(frame_read(&frame, &err), ERR_LIMIT_BYTES);
    cr_assert(strstr(err.text, "question"), "%s", err.text);
    free(large);

    frame_begin(&frame, V1, MSG_KIND_REQUEST, 2);
    frame_text(&frame, 2, "db", 2);
    msgpack_pack_uint8(&frame.pk, 5);
    msgpack_pack_array(&frame.pk, MSG_MAX_CANDIDATES + 1);
    for (unsigned i = 0; i <= MSG_MAX_CANDIDATES; i++) msgpack_pack_map(&frame.pk, 0);
    cr_assert_eq(frame_read(&frame, &err), ERR_LIMIT_COUNT);
    cr_assert(strstr(err.text, "candidates"), "%s", err.text);
}

Test(msg, repeated_or_mistyped_field_is_refused)
{
    struct frame frame;
    frame_begin(&frame, V1, MSG_KIND_REQUEST, 2);
    frame_text(&frame, 2, "db", 2);
    frame_text(&frame, 2, "other", 5);
    cr_assert_eq(frame_read(&frame, NULL), ERR_MALFORMED);
    frame_begin(&frame, V1, MSG_KIND_REQUEST, 1);
    msgpack_pack_uint8(&frame.pk, 2);
    msgpack_pack_uint8(&frame.pk, 2);
    cr_assert_eq(frame_read(&frame, NULL), ERR_MALFORMED);
}

/* Tests ids of every width, and more numbers than one write can hold. */
Test(msg, numbers_round_trip)
{
    static const uint32_t EDGES[] = {127, 128, 255, 256, 65535, 65536, UINT32_MAX};
    struct msg_number numbers[107];
    for (uint32_t i = 0; i < 107; i++)
        numbers[i] = (struct msg_number){i < 100 ? i + 1 : EDGES[i - 100], (float)i / 3 - 7};
    struct msg_explanation explanation = {.prose = "p", .numbers = numbers, .n_numbers = 107};
    struct msg_result sent = sample_result, *result;
    sent.explanation = &explanation;
    struct msg_buffer buffer = {0};
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert_eq(msg_encode_result(&buffer, &sent), ERR_OK);
    cr_assert_eq(msg_decode_result(&arena, buffer.bytes, buffer.len, &result, NULL), ERR_OK);
    cr_assert_eq(result->explanation->n_numbers, 107);
    for (uint32_t i = 0; i < 107; i++) {
        cr_expect_eq(result->explanation->numbers[i].id, numbers[i].id);
        cr_expect_eq(memcmp(&result->explanation->numbers[i].value, &numbers[i].value, sizeof(float)), 0);
    }
    msg_buffer_free(&buffer);
    arena_free(&arena);
    leak_check();
}

/* Numbers are a flat list of ids and values. Tests an invalid id, ids that do not rise, an id without a value, and a
 * value that is not a real number. */
Test(msg, invalid_numbers_are_refused)
{
    static const struct {
        uint32_t ids[2];
        unsigned items;
        double second;
        bool wide;
        enum err_code code;
    } cases[] = {{{1, 2}, 4, 0.5, false, ERR_OK},        {{1, 1}, 4, 0.5, false, ERR_MALFORMED},
                 {{2, 1}, 4, 0.5, false, ERR_MALFORMED}, {{1, 2}, 3, 0.5, false, ERR_MALFORMED},
                 {{1, 2}, 4, NAN, false, ERR_MALFORMED}, {{1, 2}, 4, INFINITY, false, ERR_MALFORMED},
                 {{1, 2}, 4, 0.5, true, ERR_MALFORMED}};
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct frame frame;
        struct arena arena;
        struct msg_result *result;
        frame_begin(&frame, V1, MSG_KIND_RESULT, 3);
        frame_text(&frame, 4, "explain", 7);
        frame_text(&frame, 5, "ok", 2);
        msgpack_pack_uint8(&frame.pk, 12);
        msgpack_pack_map(&frame.pk, 1);
        msgpack_pack_uint8(&frame.pk, 5);
        msgpack_pack_array(&frame.pk, cases[i].items);
        for (unsigned k = 0; k < cases[i].items; k++)
            if (k % 2 == 0)
                msgpack_pack_uint32(&frame.pk, cases[i].ids[k / 2]);
            else if (cases[i].wide)
                msgpack_pack_double(&frame.pk, 0.5);
            else
                msgpack_pack_float(&frame.pk, k == 1 ? 1 : (float)cases[i].second);
        arena_init(&arena, 0);
        cr_assert_eq(msg_decode_result(&arena, frame.bytes.data, frame.bytes.size, &result, NULL), cases[i].code,
                     "case %u", i);
        arena_free(&arena);
        msgpack_sbuffer_destroy(&frame.bytes);
    }
    leak_check();
}

/* A truncation at any place, or a change of any byte, must give an error or a message. It must never crash. */
Test(msg, damaged_frames_are_survived)
{
    for (unsigned i = 0; i < N_KINDS; i++) {
        struct msg_buffer buffer = encoded(&kinds[i]);
        struct arena arena;
        void *message;
        arena_init(&arena, 0);
        for (size_t len = 0; len < buffer.len; len++) {
            char *cut = malloc(len ? len : 1); /* an exact copy, so that a sanitizer sees a read past the end */
            memcpy(cut, buffer.bytes, len);
            cr_assert_neq(msg_decode(&arena, kinds[i].kind, kinds[i].record, cut, len, &message, NULL), ERR_OK);
            cr_assert_null(message);
            free(cut);
            arena_reset(&arena);
        }
        for (size_t at = 0; at < buffer.len; at++)
            for (unsigned flip = 1; flip < 256; flip <<= 1) {
                buffer.bytes[at] = (char)(buffer.bytes[at] ^ (int)flip);
                msg_decode(&arena, kinds[i].kind, kinds[i].record, buffer.bytes, buffer.len, &message, NULL);
                buffer.bytes[at] = (char)(buffer.bytes[at] ^ (int)flip);
                arena_reset(&arena);
            }
        msg_buffer_free(&buffer);
        arena_free(&arena);
    }
    leak_check();
}

Test(msg, full_arena_is_error)
{
    struct msg_buffer buffer = encoded(&kinds[3]);
    for (size_t cap = 1; cap < 40000; cap += 997) {
        struct arena arena;
        void *message;
        arena_init(&arena, cap);
        enum err_code code =
            msg_decode(&arena, kinds[3].kind, kinds[3].record, buffer.bytes, buffer.len, &message, NULL);
        cr_assert(code == ERR_OK || code == ERR_LIMIT_MEMORY);
        arena_free(&arena);
    }
    msg_buffer_free(&buffer);
    leak_check();
}

/* --- sample frames of every released version --- */

static size_t read_frame_file(const char *path, unsigned char *out, size_t room)
{
    FILE *file = fopen(path, "r");
    unsigned byte;
    size_t n = 0;
    cr_assert(file, "%s is missing; ASSAY_WRITE_FRAMES=1 writes those of this version", path);
    while (n < room && fscanf(file, "%2x", &byte) == 1) out[n++] = (unsigned char)byte;
    fclose(file);
    return n;
}

static void write_frame_file(const char *path, const struct msg_buffer *buffer)
{
    FILE *file = fopen(path, "w");
    cr_assert(file, "%s", path);
    for (size_t i = 0; i < buffer->len; i++)
        fprintf(file, "%02x%s", (unsigned char)buffer->bytes[i], i % 32 == 31 || i + 1 == buffer->len ? "\n" : "");
    fclose(file);
}

static const char *const versions[] = {"1.0", "1.1", "1.2", "1.3", "1.4",  "1.5",
                                       "1.6", "1.7", "1.8", "1.9", "1.10", "1.11"}; /* the last one is this build's */
enum { N_VERSIONS = sizeof versions / sizeof *versions };

/* Reads a frame and writes it again. A frame of an older version lacks newer fields. It must be unchanged except for
 * its version. */
static void read_sample(const struct kind *kind, const char *path)
{
    enum { STAMP = 4 }; /* bytes before the fields: array header, and the version in 3 bytes */
    static unsigned char bytes[1 << 16];
    size_t len = read_frame_file(path, bytes, sizeof bytes);
    struct msg_buffer again = {0};
    struct arena arena;
    struct err err = {0};
    void *message;
    arena_init(&arena, 0);
    cr_assert_eq(msg_decode(&arena, kind->kind, kind->record, bytes, len, &message, &err), ERR_OK, "%s: %s", path,
                 err.text);
    cr_assert_eq(msg_encode(&again, kind->kind, kind->record, message), ERR_OK);
    cr_assert_eq(again.len, len, "%s no longer means what it did", path);
    cr_assert_eq(memcmp(again.bytes + STAMP, bytes + STAMP, len - STAMP), 0, "%s no longer means what it did", path);
    msg_buffer_free(&again);
    arena_free(&arena);
}

Test(msg, sample_frames_of_all_versions_are_read)
{
    char newest[16];
    snprintf(newest, sizeof newest, "%d.%d", MSG_MAJOR, MSG_MINOR);
    cr_assert_str_eq(versions[N_VERSIONS - 1], newest, "frames of each version are kept");
    for (unsigned i = 0; i < N_KINDS; i++)
        for (unsigned v = 0; v < N_VERSIONS; v++) {
            char path[400];
            snprintf(path, sizeof path, "%s/frames/%s/%s.hex", TEST_DATA, versions[v], kinds[i].name);
            struct msg_buffer now = encoded(&kinds[i]);
            bool own = v == N_VERSIONS - 1;
            if (own && getenv("ASSAY_WRITE_FRAMES")) write_frame_file(path, &now);
            read_sample(&kinds[i], path);
            if (own) {
                static unsigned char bytes[1 << 16];
                cr_assert_eq(read_frame_file(path, bytes, sizeof bytes), now.len, "%s is not the sample", path);
                cr_assert_eq(memcmp(bytes, now.bytes, now.len), 0, "%s is not the sample", path);
            }
            msg_buffer_free(&now);
        }
    leak_check();
}

/* No two fields of a record may have the same id. Every id must fit into the bitmap that detects repeated fields. */
Test(msg, ids_are_unique)
{
    for (unsigned i = 0; i < N_KINDS; i++) {
        uint64_t seen = 0;
        for (const struct field *f = kinds[i].record->fields; f->name; f++) {
            cr_assert_lt(f->id, 64);
            cr_assert_not(seen >> f->id & 1, "%s.%s", kinds[i].record->name, f->name);
            seen |= UINT64_C(1) << f->id;
        }
    }
}

/* proto/FORMAT.md documents these numbers, so the lists of proto/message/msg.h may only grow at their end. */
Test(msg, wire_numbers_are_stable)
{
    static const char *const strategies[] = {NULL, "first_valid", "rerank", "detect_then_rerank", "cyclesql"};
    static const char *const policies[] = {NULL, "best_effort", "abstain", "ask"};
    for (int i = 1; i < 5; i++) cr_expect_eq(msg_strategy_by_name(strategies[i]), i, "%s", strategies[i]);
    for (int i = 1; i < 4; i++) cr_expect_eq(msg_policy_by_name(policies[i]), i, "%s", policies[i]);
}

Test(msg, names_map_back_to_values)
{
    for (unsigned i = 1; i < MSG_STRATEGY_COUNT; i++)
        cr_expect_eq(msg_strategy_by_name(msg_strategy_name((enum msg_strategy)i)), (int)i);
    cr_assert_eq(msg_strategy_by_name("rerank"), MSG_RERANK);
    cr_assert_eq(msg_strategy_by_name("cyclesql"), MSG_CYCLESQL);
    cr_assert_eq(msg_policy_by_name(msg_policy_name(MSG_ASK)), MSG_ASK);
    cr_assert_eq(msg_expose_by_name("all"), -1);
    cr_assert_null(msg_strategy_name(MSG_STRATEGY_UNSET));
    cr_assert_null(msg_status_name(MSG_STATUS_COUNT));
    cr_assert_str_eq(msg_status_name(MSG_STATUS_FAILED), "failed");
}
