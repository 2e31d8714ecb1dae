/* Decodes messages. The first byte chooses the decoder: 0 to 3 the four kinds, 4 a log line as JSON. A decoded message
 * must encode, and decode again to the same bytes. */
#include "proto/message/fields.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    enum msg_kind kind;
    const struct record *record;
} kinds[] = {{MSG_KIND_REQUEST, &msg_request_record},
             {MSG_KIND_TASK, &msg_task_record},
             {MSG_KIND_RESULT, &msg_result_record},
             {MSG_KIND_VERDICT, &msg_verdict_record}};

static void check(int holds)
{
    if (!holds) abort();
}

static void round_trip(struct arena *arena, enum msg_kind kind, const struct record *record, const void *message)
{
    struct msg_buffer first = {0}, second = {0};
    void *again;
    if (msg_encode(&first, kind, record, message) == ERR_OK) {
        enum err_code code = msg_decode(arena, kind, record, first.bytes, first.len, &again, NULL);
        check(code == ERR_OK || code == ERR_LIMIT_MEMORY);
        if (!code) {
            check(msg_encode(&second, kind, record, again) == ERR_OK);
            check(first.len == second.len && memcmp(first.bytes, second.bytes, first.len) == 0);
        }
    }
    msg_buffer_free(&first);
    msg_buffer_free(&second);
}

static void as_verdict(struct arena *arena, const uint8_t *data, size_t size)
{
    struct msg_verdict *verdict;
    if (msg_decode_verdict(arena, data, size, &verdict, NULL)) return;
    char *text = msg_verdict_to_json(verdict);
    check(text != NULL);
    free(text);
}

static void as_json(struct arena *arena, const uint8_t *data, size_t size)
{
    struct msg_request *request;
    if (msg_request_from_json(arena, (const char *)data, size, &request, NULL)) return;
    round_trip(arena, MSG_KIND_REQUEST, &msg_request_record, request);
    char *text = msg_request_to_json(request);
    check(text != NULL);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena;
    void *message;
    if (size == 0) return 0;
    unsigned which = data[0] % 5;
    arena_init(&arena, 8 << 20);
    if (which == 4) {
        as_json(&arena, data + 1, size - 1);
    } else if (msg_decode(&arena, kinds[which].kind, kinds[which].record, data + 1, size - 1, &message, NULL) ==
               ERR_OK) {
        round_trip(&arena, kinds[which].kind, kinds[which].record, message);
        if (which == 3) as_verdict(&arena, data + 1, size - 1);
    }
    arena_free(&arena);
    return 0;
}
