#include "proto/message/edge.h"

#include <string.h>
#include <strings.h>

static const struct {
    const char *name;
    enum edge_type type;
} types[] = {
    {EDGE_JSON, EDGE_TYPE_JSON},
    {EDGE_MSGPACK, EDGE_TYPE_MSGPACK},
    {"application/vnd.msgpack", EDGE_TYPE_MSGPACK}, /* the registered name, which is rarely used */
    {"application/x-msgpack", EDGE_TYPE_MSGPACK},
};

enum err_code edge_type_of(const struct bus_message *message, enum edge_type *out, struct err *err)
{
    const char *header = bus_header_get(message, EDGE_HEADER);
    *out = EDGE_TYPE_JSON;
    if (!header) return ERR_OK;
    size_t len = strcspn(header, "; \t");
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i].name) != len || strncasecmp(types[i].name, header, len) != 0) continue;
        *out = types[i].type;
        return ERR_OK;
    }
    return err_set(err, ERR_MALFORMED, "content-type must be %s or %s, got '%.60s'", EDGE_JSON, EDGE_MSGPACK, header);
}

enum err_code edge_decode_request(struct arena *arena, enum edge_type type, const void *bytes, size_t len,
                                  struct msg_request **out, struct err *err)
{
    return type == EDGE_TYPE_MSGPACK ? msg_decode_request(arena, bytes, len, out, err)
                                     : msg_request_from_json(arena, bytes, len, out, err);
}

enum err_code edge_read_request(struct arena *arena, const struct bus_message *message, struct msg_request **out,
                                struct err *err)
{
    enum edge_type type;
    *out = NULL;
    enum err_code code = edge_type_of(message, &type, err);
    return code ? code : edge_decode_request(arena, type, message->value, message->len, out, err);
}

enum err_code edge_write_verdict(const struct msg_verdict *verdict, enum edge_type type, struct msg_buffer *out,
                                 struct bus_header *header)
{
    const char *name = type == EDGE_TYPE_JSON ? EDGE_JSON : EDGE_MSGPACK;
    *header = (struct bus_header){EDGE_HEADER, name, (uint32_t)strlen(name)};
    if (type == EDGE_TYPE_MSGPACK) return msg_encode_verdict(out, verdict);
    enum err_code code = msg_verdict_write_json(out, verdict, 0);
    return !code && out->len > MSG_MAX_BYTES ? ERR_LIMIT_BYTES : code;
}
