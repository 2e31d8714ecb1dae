/* Messages described as tables: one row a field, from which encoder, decoder and their bounds are made. */
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
    FIELD_REAL,     /* double; absent: NAN */
    FIELD_SETTING,  /* double; absent: 0 */
    FIELD_ENUM,     /* any enum; below `max` */
    FIELD_PAIR,     /* uint64_t[2], 16 bytes on the wire, most significant first */
    FIELD_CSTR,     /* const char *; no NUL inside */
    FIELD_UTF8,     /* the same, and valid UTF-8 */
    FIELD_TEXT,     /* struct msg_text; any bytes */
    FIELD_STRINGS,  /* const char *const * and count */
    FIELD_VALUES,   /* the same, items may be NULL */
    FIELD_NUMBERS,  /* struct msg_number * and count; ids rise, values are finite */
    FIELD_STRUCT,   /* a struct in place */
    FIELD_OPTIONAL, /* pointer to a struct, or NULL */
    FIELD_LIST,     /* pointer to structs and count */
    FIELD_TYPE_COUNT
};

struct record;

struct field {
    uint8_t id; /* on the wire; never used again once retired */
    enum field_type type;
    const char *name;
    size_t at, count_at; /* of the value; of the uint32_t count of lists */
    uint32_t max;        /* bytes of a text, items of a list, values of an enum */
    const struct record *record;
};

struct record {
    const char *name;
    size_t size;
    const struct field *fields; /* ends with a NULL name */
};

enum msg_kind { MSG_KIND_REQUEST = 1, MSG_KIND_TASK, MSG_KIND_RESULT, MSG_KIND_VERDICT };

extern const struct record msg_request_record, msg_task_record, msg_result_record, msg_verdict_record;

/* Encode as a frame of that kind; decode one into a new struct in the arena. */
enum err_code msg_encode(struct msg_buffer *out, enum msg_kind kind, const struct record *record, const void *message);
/* The same behind the frames that are there; where it fails, these alone are. */
enum err_code msg_append(struct msg_buffer *out, enum msg_kind kind, const struct record *record, const void *message);
enum err_code msg_decode(struct arena *arena, enum msg_kind kind, const struct record *record, const void *bytes,
                         size_t len, void **out, struct err *err);
/* The same of the first of several; *used: its bytes. */
enum err_code msg_decode_first(struct arena *arena, enum msg_kind kind, const struct record *record, const void *bytes,
                               size_t len, void **out, size_t *used, struct err *err);

/* Walk the bytes of one msgpack value before it is read: depth, number of values, and every count and length against what is
 * really there. *end gets its length, 0 where it is refused. ERR_MALFORMED, ERR_LIMIT_DEPTH, ERR_LIMIT_COUNT. */
enum err_code msg_scan(const void *bytes, size_t len, size_t *end, struct err *err);

#endif
