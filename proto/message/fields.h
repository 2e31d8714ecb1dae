/* Messages described as tables with one row for each field. The encoder, the decoder and the bounds that they check are
 * derived from the tables. */
#ifndef ASSAY_PROTO_MESSAGE_FIELDS_H
#define ASSAY_PROTO_MESSAGE_FIELDS_H

#include "proto/message/msg.h"

#include <stddef.h>

enum field_type {
    FIELD_BOOL,     /* bool */
    FIELD_U32,      /* uint32_t */
    FIELD_I32,      /* int32_t */
    FIELD_I64,      /* int64_t */
    FIELD_U64,      /* uint64_t */
    FIELD_REAL,     /* double; NAN if absent */
    FIELD_SETTING,  /* double; 0 if absent */
    FIELD_ENUM,     /* any enum; its values are below `max` */
    FIELD_PAIR,     /* uint64_t[2], 16 bytes on the wire, most significant first */
    FIELD_CSTR,     /* const char *; no NUL inside */
    FIELD_UTF8,     /* as FIELD_CSTR, and valid UTF-8 */
    FIELD_TEXT,     /* struct msg_text; any bytes */
    FIELD_STRINGS,  /* array of const char *, and its count */
    FIELD_VALUES,   /* as FIELD_STRINGS, but items may be NULL */
    FIELD_NUMBERS,  /* array of struct msg_number, and its count; ascending ids, finite values */
    FIELD_STRUCT,   /* embedded struct */
    FIELD_OPTIONAL, /* pointer to a struct, or NULL */
    FIELD_LIST,     /* array of structs, and its count */
    FIELD_TYPE_COUNT
};

struct record;

struct field {
    uint8_t id; /* id on the wire; a retired id is never reused */
    enum field_type type;
    const char *name;
    size_t at, count_at; /* offset of the value in the struct; for a list, offset of its uint32_t count */
    uint32_t max;        /* maximum bytes of a text, items of a list, or values of an enum */
    const struct record *record;
};

struct record {
    const char *name;
    size_t size;
    const struct field *fields; /* ends with a NULL name */
};

enum msg_kind { MSG_KIND_REQUEST = 1, MSG_KIND_TASK, MSG_KIND_RESULT, MSG_KIND_VERDICT };

extern const struct record msg_request_record, msg_task_record, msg_result_record, msg_verdict_record;

/* Encodes a message as a frame of that kind. Replaces the buffer's content. */
enum err_code msg_encode(struct msg_buffer *out, enum msg_kind kind, const struct record *record, const void *message);
/* msg_append appends a frame to the buffer. On failure the existing frames stay. msg_decode decodes one frame into a
 * new struct in the arena. */
enum err_code msg_append(struct msg_buffer *out, enum msg_kind kind, const struct record *record, const void *message);
enum err_code msg_decode(struct arena *arena, enum msg_kind kind, const struct record *record, const void *bytes,
                         size_t len, void **out, struct err *err);
/* Decodes the first of several frames. *used becomes its length in bytes. */
enum err_code msg_decode_first(struct arena *arena, enum msg_kind kind, const struct record *record, const void *bytes,
                               size_t len, void **out, size_t *used, struct err *err);

/* Checks one msgpack value before it is decoded: its depth, the number of values, and every count and length against
 * the remaining bytes. *end is its length in bytes, or 0 if it is refused. Returns ERR_MALFORMED, ERR_LIMIT_DEPTH or
 * ERR_LIMIT_COUNT. */
enum err_code msg_scan(const void *bytes, size_t len, size_t *end, struct err *err);

#endif
