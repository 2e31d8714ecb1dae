/* The encoder and the decoder, which the tables of fields.c control.
 *
 * A frame is the array [version, kind, body]. The body is a map from field ids to values, and so is every struct in it.
 * Decoding has two passes. First msg_scan checks the structure of the bytes. Then the decoder copies the field of each
 * table row into the arena and checks the type and bound of each value. Unknown fields are skipped.
 */
#include "proto/message/fields.h"
#include "proto/message/wire.h"

#include "lib/base/utf8.h"

#include <glib.h>
#include <math.h>
#include <msgpack.h>
#include <stdlib.h>
#include <string.h>

/* --- memory of a message --- */

static const void *at(const void *base, size_t offset)
{
    return (const char *)base + offset;
}
static void *at_mut(void *base, size_t offset)
{
    return (char *)base + offset;
}

static const void *load_pointer(const void *base, size_t offset)
{
    const void *pointer;
    memcpy(&pointer, at(base, offset), sizeof pointer);
    return pointer;
}

static void store_pointer(void *base, size_t offset, const void *pointer)
{
    memcpy(at_mut(base, offset), &pointer, sizeof pointer);
}

static uint32_t load_u32(const void *base, size_t offset)
{
    return *(const uint32_t *)at(base, offset);
}
static int64_t load_i64(const void *base, size_t offset)
{
    return *(const int64_t *)at(base, offset);
}
static double load_real(const void *base, size_t offset)
{
    return *(const double *)at(base, offset);
}

/* --- writing --- */

static bool make_room(struct msg_buffer *out, size_t len)
{
    if (len > MSG_MAX_BYTES - out->len) return false;
    size_t room = out->room ? out->room * 2 : 1024;
    while (room < out->len + len) room *= 2;
    char *grown = realloc(out->bytes, room);
    if (!grown) return false;
    out->bytes = grown;
    out->room = room;
    return true;
}

static inline int append(struct msg_buffer *out, const void *bytes, size_t len)
{
    if (len > MIN(out->room, MSG_MAX_BYTES) - out->len && !make_room(out, len)) return -1;
    memcpy(out->bytes + out->len, bytes, len);
    out->len += len;
    return 0;
}

/* Makes the library's writers available as put_uint8, put_map and so on, writing directly to our buffer. The library's
 * callback would cost a call and a copy of unknown length for each of a message's eighty values. */
#define msgpack_pack_inline_func(name)            static inline int put##name
#define msgpack_pack_inline_func_cint(name)       static inline int put##name
#define msgpack_pack_inline_func_fixint(name)     static inline int put_fix##name
#define msgpack_pack_user                         struct msg_buffer *
#define msgpack_pack_append_buffer(out, buf, len) return append(out, buf, len)
#include <msgpack/pack_template.h>

void msg_buffer_free(struct msg_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (struct msg_buffer){0};
}

static int pack_record(struct msg_buffer *out, const struct record *record, const void *base);

static int pack_str(struct msg_buffer *out, const char *bytes, size_t len)
{
    return put_str(out, len) || put_str_body(out, bytes, len);
}

static bool has_bool(const struct field *f, const void *base)
{
    return *(const bool *)at(base, f->at);
}
static bool has_u32(const struct field *f, const void *base)
{
    return load_u32(base, f->at) != 0;
}
static bool has_i64(const struct field *f, const void *base)
{
    return load_i64(base, f->at) != 0;
}
static bool has_real(const struct field *f, const void *base)
{
    return !isnan(load_real(base, f->at));
}
static bool has_setting(const struct field *f, const void *base)
{
    return load_real(base, f->at) != 0;
}
static bool has_pointer(const struct field *f, const void *base)
{
    return load_pointer(base, f->at) != NULL;
}
static bool has_list(const struct field *f, const void *base)
{
    return load_u32(base, f->count_at) != 0;
}
static bool has_always(const struct field *f, const void *base)
{
    return f && base;
}
static bool has_pair(const struct field *f, const void *base)
{
    const uint64_t *pair = at(base, f->at);
    return pair[0] || pair[1];
}
static bool has_text(const struct field *f, const void *base)
{
    return ((const struct msg_text *)at(base, f->at))->bytes != NULL;
}

static int pack_bool(struct msg_buffer *out, const struct field *f, const void *base)
{
    return *(const bool *)at(base, f->at) ? put_true(out) : put_false(out);
}
static int pack_u32(struct msg_buffer *out, const struct field *f, const void *base)
{
    return put_uint32(out, load_u32(base, f->at));
}
static int pack_i32(struct msg_buffer *out, const struct field *f, const void *base)
{
    return put_int32(out, *(const int32_t *)at(base, f->at));
}
static int pack_i64(struct msg_buffer *out, const struct field *f, const void *base)
{
    return put_int64(out, load_i64(base, f->at));
}
static int pack_u64(struct msg_buffer *out, const struct field *f, const void *base)
{
    return put_uint64(out, *(const uint64_t *)at(base, f->at));
}
static int pack_real(struct msg_buffer *out, const struct field *f, const void *base)
{
    return put_double(out, load_real(base, f->at));
}

static int pack_pair(struct msg_buffer *out, const struct field *f, const void *base)
{
    uint64_t wire[2];
    const uint64_t *pair = at(base, f->at);
    wire[0] = GUINT64_TO_BE(pair[0]);
    wire[1] = GUINT64_TO_BE(pair[1]);
    return put_bin(out, sizeof wire) || put_bin_body(out, wire, sizeof wire);
}

static int pack_cstr(struct msg_buffer *out, const struct field *f, const void *base)
{
    const char *text = load_pointer(base, f->at);
    return pack_str(out, text, strlen(text));
}

static int pack_text(struct msg_buffer *out, const struct field *f, const void *base)
{
    const struct msg_text *text = at(base, f->at);
    return pack_str(out, text->bytes, text->len);
}

static int pack_strings(struct msg_buffer *out, const struct field *f, const void *base)
{
    const char *const *items = load_pointer(base, f->at);
    uint32_t n = load_u32(base, f->count_at);
    int failed = put_array(out, n);
    for (uint32_t i = 0; i < n && !failed; i++)
        failed = items[i] ? pack_str(out, items[i], strlen(items[i])) : put_nil(out);
    return failed;
}

/* Writes a flat list of alternating ids and values. A map for each pair would take twice the bytes. */
static int pack_numbers(struct msg_buffer *out, const struct field *f, const void *base)
{
    const struct msg_number *items = load_pointer(base, f->at);
    uint32_t n = load_u32(base, f->count_at);
    int failed = put_array(out, (size_t)n * 2);
    for (uint32_t i = 0; i < n && !failed; i++) failed = put_uint32(out, items[i].id) || put_float(out, items[i].value);
    return failed;
}

static int pack_struct(struct msg_buffer *out, const struct field *f, const void *base)
{
    return pack_record(out, f->record, at(base, f->at));
}

static int pack_optional(struct msg_buffer *out, const struct field *f, const void *base)
{
    return pack_record(out, f->record, load_pointer(base, f->at));
}

static int pack_list(struct msg_buffer *out, const struct field *f, const void *base)
{
    const char *items = load_pointer(base, f->at);
    uint32_t n = load_u32(base, f->count_at);
    int failed = put_array(out, n);
    for (uint32_t i = 0; i < n && !failed; i++) failed = pack_record(out, f->record, items + i * f->record->size);
    return failed;
}

/* --- reading --- */

struct decoder {
    struct arena *arena;
    struct err *err;
    const uint8_t *next; /* next byte to read; the bytes were scanned before */
};

static enum err_code wrong(struct decoder *d, const struct field *f, const char *what)
{
    return err_set(d->err, ERR_MALFORMED, "field %s: %s", f->name, what);
}

static enum err_code too_many(struct decoder *d, const struct field *f, enum err_code code)
{
    return err_set(d->err, code, "field %s has more than %u %s", f->name, f->max,
                   code == ERR_LIMIT_BYTES ? "bytes" : "items");
}

static enum err_code no_room(struct decoder *d)
{
    return err_set(d->err, ERR_LIMIT_MEMORY, "the message exceeds its memory limit");
}

static enum err_code read_record(struct decoder *d, const struct record *record, const struct wire_value *from,
                                 void *base);

static enum err_code read_bool(struct decoder *d, const struct field *f, const struct wire_value *from, void *base)
{
    if (from->kind != WIRE_TRUE && from->kind != WIRE_FALSE) return wrong(d, f, "not a boolean");
    *(bool *)at_mut(base, f->at) = from->kind == WIRE_TRUE;
    return ERR_OK;
}

static bool unsigned_within(const struct wire_value *from, uint64_t max)
{
    return from->kind == WIRE_UNSIGNED && from->bits <= max;
}

static enum err_code read_u32(struct decoder *d, const struct field *f, const struct wire_value *from, void *base)
{
    if (!unsigned_within(from, UINT32_MAX)) return wrong(d, f, "not an unsigned 32-bit integer");
    *(uint32_t *)at_mut(base, f->at) = (uint32_t)from->bits;
    return ERR_OK;
}

static enum err_code read_enum(struct decoder *d, const struct field *f, const struct wire_value *from, void *base)
{
    if (!unsigned_within(from, f->max - 1)) return wrong(d, f, "unknown value");
    *(uint32_t *)at_mut(base, f->at) = (uint32_t)from->bits;
    return ERR_OK;
}

static enum err_code read_u64(struct decoder *d, const struct field *f, const struct wire_value *from, void *base)
{
    if (!unsigned_within(from, UINT64_MAX)) return wrong(d, f, "not an unsigned integer");
    *(uint64_t *)at_mut(base, f->at) = from->bits;
    return ERR_OK;
}

static bool signed_value(const struct wire_value *from, int64_t *out)
{
    if (from->kind == WIRE_SIGNED) return *out = (int64_t)from->bits, true;
    if (!unsigned_within(from, INT64_MAX)) return false;
    return *out = (int64_t)from->bits, true;
}

static enum err_code read_i64(struct decoder *d, const struct field *f, const struct wire_value *from, void *base)
{
    return signed_value(from, at_mut(base, f->at)) ? ERR_OK : wrong(d, f, "not an integer");
}

static enum err_code read_i32(struct decoder *d, const struct field *f, const struct wire_value *from, void *base)
{
    int64_t value;
    if (!signed_value(from, &value) || value < INT32_MIN || value > INT32_MAX)
        return wrong(d, f, "not a 32-bit integer");
    *(int32_t *)at_mut(base, f->at) = (int32_t)value;
    return ERR_OK;
}

static enum err_code read_real(struct decoder *d, const struct field *f, const struct wire_value *from, void *base)
{
    bool real = from->kind == WIRE_FLOAT32 || from->kind == WIRE_FLOAT64;
    double value = real ? wire_real(from) : NAN;
    if (!isfinite(value)) return wrong(d, f, "not a finite number");
    *(double *)at_mut(base, f->at) = value;
    return ERR_OK;
}

static enum err_code read_pair(struct decoder *d, const struct field *f, const struct wire_value *from, void *base)
{
    uint64_t wire[2];
    if (from->kind != WIRE_BIN || from->bits != sizeof wire) return wrong(d, f, "not 16 bytes long");
    memcpy(wire, from->bytes, sizeof wire);
    uint64_t *pair = at_mut(base, f->at);
    pair[0] = GUINT64_FROM_BE(wire[0]);
    pair[1] = GUINT64_FROM_BE(wire[1]);
    return ERR_OK;
}

static enum err_code read_bytes(struct decoder *d, const struct field *f, const struct wire_value *from,
                                struct msg_text *out)
{
    if (from->kind != WIRE_STR && from->kind != WIRE_BIN) return wrong(d, f, "not a string");
    if (f->max && from->bits > f->max) return too_many(d, f, ERR_LIMIT_BYTES);
    out->bytes = arena_strndup(d->arena, from->bytes, from->bits);
    out->len = (uint32_t)from->bits;
    return out->bytes ? ERR_OK : no_room(d);
}

static enum err_code read_text(struct decoder *d, const struct field *f, const struct wire_value *from, void *base)
{
    return read_bytes(d, f, from, at_mut(base, f->at));
}

static enum err_code read_cstr(struct decoder *d, const struct field *f, const struct wire_value *from, void *base)
{
    struct msg_text text = {NULL, 0};
    enum err_code code = read_bytes(d, f, from, &text);
    if (code) return code;
    if (text.len && memchr(text.bytes, '\0', text.len))
        return err_set(d->err, ERR_ENCODING, "field %s contains a NUL byte", f->name);
    if (f->type == FIELD_UTF8 && utf8_valid_bytes(text.bytes, text.len) != text.len)
        return err_set(d->err, ERR_ENCODING, "field %s is not valid UTF-8", f->name);
    store_pointer(base, f->at, text.bytes);
    return ERR_OK;
}

static enum err_code check_list(struct decoder *d, const struct field *f, const struct wire_value *from)
{
    if (from->kind != WIRE_ARRAY) return wrong(d, f, "not a list");
    return from->bits > f->max ? too_many(d, f, ERR_LIMIT_COUNT) : ERR_OK;
}

static enum err_code read_strings(struct decoder *d, const struct field *f, const struct wire_value *from, void *base)
{
    enum err_code code = check_list(d, f, from);
    if (code) return code;
    struct field item = {.name = f->name, .type = FIELD_CSTR, .max = MSG_MAX_SQL};
    uint32_t n = (uint32_t)from->bits;
    const char **items = arena_new_array(d->arena, n, const char *);
    if (!items) return no_room(d);
    for (uint32_t i = 0; i < n && !code; i++) {
        struct wire_value value;
        d->next = wire_read(d->next, &value);
        if (value.kind != WIRE_NIL || f->type != FIELD_VALUES) code = read_cstr(d, &item, &value, &items[i]);
    }
    store_pointer(base, f->at, items);
    *(uint32_t *)at_mut(base, f->count_at) = n;
    return code;
}

static inline bool read_number(struct decoder *d, struct msg_number *out)
{
    struct wire_value id, value;
    d->next = wire_read(wire_read(d->next, &id), &value);
    if (!unsigned_within(&id, UINT32_MAX) || value.kind != WIRE_FLOAT32) return false;
    *out = (struct msg_number){(uint32_t)id.bits, (float)wire_real(&value)};
    return isfinite(out->value);
}

static enum err_code read_numbers(struct decoder *d, const struct field *f, const struct wire_value *from, void *base)
{
    if (from->kind != WIRE_ARRAY || from->bits % 2) return wrong(d, f, "not a list of pairs");
    if (from->bits / 2 > f->max) return too_many(d, f, ERR_LIMIT_COUNT);
    uint32_t n = (uint32_t)(from->bits / 2);
    struct msg_number *items = arena_new_array(d->arena, n, struct msg_number);
    if (!items) return no_room(d);
    for (uint32_t i = 0; i < n; i++) {
        if (!read_number(d, &items[i])) return wrong(d, f, "not a pair of id and number");
        if (i && items[i].id <= items[i - 1].id) return wrong(d, f, "ids are not in ascending order");
    }
    store_pointer(base, f->at, items);
    *(uint32_t *)at_mut(base, f->count_at) = n;
    return ERR_OK;
}

static enum err_code read_struct(struct decoder *d, const struct field *f, const struct wire_value *from, void *base)
{
    return read_record(d, f->record, from, at_mut(base, f->at));
}

static enum err_code read_optional(struct decoder *d, const struct field *f, const struct wire_value *from, void *base)
{
    void *target = arena_zalloc(d->arena, f->record->size);
    if (!target) return no_room(d);
    store_pointer(base, f->at, target);
    return read_record(d, f->record, from, target);
}

static enum err_code read_list(struct decoder *d, const struct field *f, const struct wire_value *from, void *base)
{
    enum err_code code = check_list(d, f, from);
    if (code) return code;
    uint32_t n = (uint32_t)from->bits;
    char *items = arena_array(d->arena, n, f->record->size);
    if (!items) return no_room(d);
    for (uint32_t i = 0; i < n && !code; i++) {
        struct wire_value item;
        d->next = wire_read(d->next, &item);
        code = read_record(d, f->record, &item, items + i * f->record->size);
    }
    store_pointer(base, f->at, items);
    *(uint32_t *)at_mut(base, f->count_at) = n;
    return code;
}

/* --- one row for each type --- */

static const struct {
    bool (*has)(const struct field *f, const void *base); /* true if the field is present */
    int (*pack)(struct msg_buffer *out, const struct field *f, const void *base);
    enum err_code (*read)(struct decoder *d, const struct field *f, const struct wire_value *from, void *base);
} types[FIELD_TYPE_COUNT] = {
    [FIELD_BOOL] = {has_bool, pack_bool, read_bool},
    [FIELD_U32] = {has_u32, pack_u32, read_u32},
    [FIELD_I32] = {has_u32, pack_i32, read_i32},
    [FIELD_I64] = {has_i64, pack_i64, read_i64},
    [FIELD_U64] = {has_i64, pack_u64, read_u64},
    [FIELD_REAL] = {has_real, pack_real, read_real},
    [FIELD_SETTING] = {has_setting, pack_real, read_real},
    [FIELD_ENUM] = {has_u32, pack_u32, read_enum},
    [FIELD_PAIR] = {has_pair, pack_pair, read_pair},
    [FIELD_CSTR] = {has_pointer, pack_cstr, read_cstr},
    [FIELD_UTF8] = {has_pointer, pack_cstr, read_cstr},
    [FIELD_TEXT] = {has_text, pack_text, read_text},
    [FIELD_STRINGS] = {has_list, pack_strings, read_strings},
    [FIELD_VALUES] = {has_list, pack_strings, read_strings},
    [FIELD_NUMBERS] = {has_list, pack_numbers, read_numbers},
    [FIELD_STRUCT] = {has_always, pack_struct, read_struct},
    [FIELD_OPTIONAL] = {has_pointer, pack_optional, read_optional},
    [FIELD_LIST] = {has_list, pack_list, read_list},
};

static int pack_record(struct msg_buffer *out, const struct record *record, const void *base)
{
    uint64_t present = 0; /* bit i: the field of row i is present */
    const struct field *fields = record->fields;
    for (uint32_t i = 0; fields[i].name; i++)
        if (types[fields[i].type].has(&fields[i], base)) present |= UINT64_C(1) << i;
    int failed = put_map(out, (size_t)__builtin_popcountll(present));
    for (; present && !failed; present &= present - 1) {
        const struct field *f = &fields[__builtin_ctzll(present)];
        failed = put_uint8(out, f->id) || types[f->type].pack(out, f, base);
    }
    return failed;
}

/* Returns the row of a key, or NULL if the key is unknown. Searches from `likely` first, because fields are written in
 * the order of the rows. */
static const struct field *find_field(const struct record *record, const struct field *likely,
                                      const struct wire_value *key)
{
    if (key->kind != WIRE_UNSIGNED) return NULL;
    for (const struct field *f = likely; f->name; f++)
        if (f->id == key->bits) return f;
    for (const struct field *f = record->fields; f != likely; f++)
        if (f->id == key->bits) return f;
    return NULL;
}

/* Sets fields to their absent values: zero, or NAN for reals that may be unknown. */
static void set_absent(const struct record *record, void *base)
{
    for (const struct field *f = record->fields; f->name; f++)
        if (f->type == FIELD_REAL)
            *(double *)at_mut(base, f->at) = NAN;
        else if (f->type == FIELD_STRUCT)
            set_absent(f->record, at_mut(base, f->at));
}

static enum err_code read_record(struct decoder *d, const struct record *record, const struct wire_value *from,
                                 void *base)
{
    if (from->kind != WIRE_MAP) return err_set(d->err, ERR_MALFORMED, "%s is not a map", record->name);
    set_absent(record, base);
    uint64_t seen = 0;
    const struct field *likely = record->fields;
    for (uint64_t i = 0; i < from->bits; i++) {
        struct wire_value key, value;
        d->next = wire_skip(wire_read(d->next, &key), &key);
        d->next = wire_read(d->next, &value);
        const struct field *f = find_field(record, likely, &key);
        if (!f) {
            d->next = wire_skip(d->next, &value);
            continue;
        }
        uint64_t bit = UINT64_C(1) << f->id % 64;
        if (seen & bit) return wrong(d, f, "duplicate field");
        seen |= bit;
        likely = f + 1;
        enum err_code code = types[f->type].read(d, f, &value, base);
        if (code) return code;
    }
    return ERR_OK;
}

/* --- frames --- */

enum err_code msg_append(struct msg_buffer *out, enum msg_kind kind, const struct record *record, const void *message)
{
    size_t before = out->len;
    bool failed = put_array(out, 3) || put_uint16(out, MSG_MAJOR << 8 | MSG_MINOR) || put_uint8(out, (uint8_t)kind) ||
                  pack_record(out, record, message);
    if (!failed) return ERR_OK;
    enum err_code code = out->len > MSG_MAX_BYTES / 2 ? ERR_LIMIT_BYTES : ERR_NOMEM;
    out->len = before;
    return code;
}

enum err_code msg_encode(struct msg_buffer *out, enum msg_kind kind, const struct record *record, const void *message)
{
    out->len = 0;
    return msg_append(out, kind, record, message);
}

static enum err_code read_frame(struct decoder *d, enum msg_kind kind, const struct record *record, void **out)
{
    struct wire_value frame, version, number, body;
    d->next = wire_read(d->next, &frame);
    if (frame.kind != WIRE_ARRAY || frame.bits < 3)
        return err_set(d->err, ERR_MALFORMED, "the message is not an array of version, kind and body");
    d->next = wire_read(d->next, &version);
    if (!unsigned_within(&version, UINT16_MAX))
        return err_set(d->err, ERR_MALFORMED, "the message has no valid version");
    if (version.bits >> 8 != MSG_MAJOR)
        return err_set(d->err, ERR_VERSION, "unsupported message version %u.%u, expected %d.x",
                       (unsigned)(version.bits >> 8), (unsigned)(version.bits & 0xff), MSG_MAJOR);
    d->next = wire_read(d->next, &number);
    if (!unsigned_within(&number, UINT8_MAX) || number.bits != (uint64_t)kind)
        return err_set(d->err, ERR_MALFORMED, "unexpected message kind, expected %s", record->name);
    d->next = wire_read(d->next, &body);
    *out = arena_zalloc(d->arena, record->size);
    return *out ? read_record(d, record, &body, *out) : no_room(d);
}

/* Decodes the bytes of a frame that msg_scan has checked. */
static enum err_code read_scanned(struct arena *arena, enum msg_kind kind, const struct record *record,
                                  const void *bytes, void **out, struct err *err)
{
    struct decoder d = {arena, err, bytes};
    enum err_code code = read_frame(&d, kind, record, out);
    if (code) *out = NULL;
    return code;
}

static enum err_code scan(const void *bytes, size_t len, size_t *end, struct err *err)
{
    if (len > MSG_MAX_BYTES) return err_set(err, ERR_LIMIT_BYTES, "the message has more than %d bytes", MSG_MAX_BYTES);
    return msg_scan(bytes, len, end, err);
}

enum err_code msg_decode_first(struct arena *arena, enum msg_kind kind, const struct record *record, const void *bytes,
                               size_t len, void **out, size_t *used, struct err *err)
{
    *out = NULL;
    enum err_code code = scan(bytes, len, used, err);
    return code ? code : read_scanned(arena, kind, record, bytes, out, err);
}

enum err_code msg_decode(struct arena *arena, enum msg_kind kind, const struct record *record, const void *bytes,
                         size_t len, void **out, struct err *err)
{
    size_t end;
    *out = NULL;
    enum err_code code = scan(bytes, len, &end, err);
    if (code) return code;
    if (end != len) return err_set(err, ERR_MALFORMED, "%zu unexpected bytes after the message", len - end);
    return read_scanned(arena, kind, record, bytes, out, err);
}
