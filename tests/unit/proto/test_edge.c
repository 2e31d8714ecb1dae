/* Tests the external messages. The header states whether they are JSON or msgpack. */
#include "proto/message/edge.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <string.h>

static const char LINE[] = "{\"id\": \"q-1\", \"db\": \"shop\", \"question\": \"How many?\", \"candidates\": "
                           "[\"SELECT count(*) FROM orders\"]}\n";

static struct bus_message message(const char *type, const void *value, size_t len, struct bus_header *header)
{
    *header = (struct bus_header){EDGE_HEADER, type, type ? (uint32_t)strlen(type) : 0};
    return (struct bus_message){.value = value, .len = len, .headers = header, .n_headers = type ? 1 : 0};
}

static enum err_code read_as(struct arena *arena, const char *type, const void *value, size_t len,
                             struct msg_request **out, struct err *err)
{
    struct bus_header header;
    struct bus_message in = message(type, value, len, &header);
    return edge_read_request(arena, &in, out, err);
}

Test(edge, header_selects_request_format)
{
    struct arena arena;
    struct msg_request *request;
    struct msg_buffer packed = {0};
    struct err err = {0};
    arena_init(&arena, 1 << 20);
    static const char *const json[] = {NULL, "application/json", "Application/JSON; charset=utf-8"};
    for (unsigned i = 0; i < 3; i++) {
        cr_assert_eq(read_as(&arena, json[i], LINE, strlen(LINE), &request, &err), ERR_OK, "%s", err.text);
        cr_assert_str_eq(request->id, "q-1");
    }
    cr_assert_eq(msg_encode_request(&packed, request), ERR_OK);
    static const char *const msgpack[] = {"application/msgpack", "application/x-msgpack", "application/vnd.msgpack"};
    for (unsigned i = 0; i < 3; i++) {
        cr_assert_eq(read_as(&arena, msgpack[i], packed.bytes, packed.len, &request, &err), ERR_OK, "%s", err.text);
        cr_assert_str_eq(request->db, "shop");
    }
    cr_assert_eq(read_as(&arena, "text/csv", LINE, strlen(LINE), &request, &err), ERR_MALFORMED);
    cr_assert(strstr(err.text, "text/csv"), "%s", err.text);
    cr_assert_null(request);
    cr_assert_neq(read_as(&arena, NULL, packed.bytes, packed.len, &request, &err), ERR_OK, "msgpack is no JSON");
    cr_assert_neq(read_as(&arena, EDGE_MSGPACK, LINE, strlen(LINE), &request, &err), ERR_OK, "JSON is no msgpack");
    msg_buffer_free(&packed);
    arena_free(&arena);
    leak_check();
}

Test(edge, verdict_carries_header_of_its_format)
{
    struct msg_verdict verdict = {.id = "q-1", .db = "shop", .status = MSG_STATUS_FAILED, .reason = "limit_bytes"};
    struct msg_buffer out = {0};
    struct bus_header header;
    struct msg_verdict *back;
    struct err err = {0};
    cr_assert_eq(edge_write_verdict(&verdict, EDGE_TYPE_MSGPACK, &out, &header), ERR_OK);
    cr_assert_str_eq(header.value, EDGE_MSGPACK);
    cr_assert_eq(msg_decode_verdict_own(out.bytes, out.len, &back, &err), ERR_OK, "%s", err.text);
    cr_assert_str_eq(back->id, "q-1");
    msg_verdict_free(back);
    cr_assert_eq(edge_write_verdict(&verdict, EDGE_TYPE_JSON, &out, &header), ERR_OK);
    cr_assert_str_eq(header.name, EDGE_HEADER);
    cr_assert_str_eq(header.value, EDGE_JSON);
    cr_assert_eq(out.bytes[0], '{');
    cr_assert_eq(out.len, strlen(out.bytes));
    cr_assert(strstr(out.bytes, "\"q-1\"") && strstr(out.bytes, "limit_bytes"), "%s", out.bytes);
    msg_buffer_free(&out);
    leak_check();
}
