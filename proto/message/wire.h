/* Reads msgpack values directly from their bytes. Rejected: the library msgpack-c. It would first unpack a tree of all
 * objects, and the decoder would then copy the known fields from it. The sender would control the number of
 * allocations.
 *
 * Reading does not check bounds, because msg_scan has checked every count and length before. A container's items follow
 * its head.
 */
#ifndef ASSAY_PROTO_MESSAGE_WIRE_H
#define ASSAY_PROTO_MESSAGE_WIRE_H

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum wire_kind {
    WIRE_BAD, /* not the start of a supported value */
    WIRE_NIL,
    WIRE_FALSE,
    WIRE_TRUE,
    WIRE_UNSIGNED,
    WIRE_SIGNED,
    WIRE_FLOAT32,
    WIRE_FLOAT64,
    WIRE_STR, /* this and the following kinds have a length */
    WIRE_BIN,
    WIRE_ARRAY,
    WIRE_MAP
};

struct wire_head {
    uint8_t kind, width; /* number of bytes after the first one that hold the value, or its length */
};

/* Heads for the first bytes 0xc0 to 0xdf. Extensions are not supported. */
static const struct wire_head wire_heads[32] = {
    [0xc0 - 0xc0] = {WIRE_NIL, 0},      [0xc2 - 0xc0] = {WIRE_FALSE, 0},    [0xc3 - 0xc0] = {WIRE_TRUE, 0},
    [0xc4 - 0xc0] = {WIRE_BIN, 1},      [0xc5 - 0xc0] = {WIRE_BIN, 2},      [0xc6 - 0xc0] = {WIRE_BIN, 4},
    [0xca - 0xc0] = {WIRE_FLOAT32, 4},  [0xcb - 0xc0] = {WIRE_FLOAT64, 8},  [0xcc - 0xc0] = {WIRE_UNSIGNED, 1},
    [0xcd - 0xc0] = {WIRE_UNSIGNED, 2}, [0xce - 0xc0] = {WIRE_UNSIGNED, 4}, [0xcf - 0xc0] = {WIRE_UNSIGNED, 8},
    [0xd0 - 0xc0] = {WIRE_SIGNED, 1},   [0xd1 - 0xc0] = {WIRE_SIGNED, 2},   [0xd2 - 0xc0] = {WIRE_SIGNED, 4},
    [0xd3 - 0xc0] = {WIRE_SIGNED, 8},   [0xd9 - 0xc0] = {WIRE_STR, 1},      [0xda - 0xc0] = {WIRE_STR, 2},
    [0xdb - 0xc0] = {WIRE_STR, 4},      [0xdc - 0xc0] = {WIRE_ARRAY, 2},    [0xdd - 0xc0] = {WIRE_ARRAY, 4},
    [0xde - 0xc0] = {WIRE_MAP, 2},      [0xdf - 0xc0] = {WIRE_MAP, 4},
};

/* Reads an unsigned integer of 1, 2, 4 or 8 bytes, most significant byte first. */
static inline uint64_t wire_bits(const uint8_t *at, unsigned width)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    if (width == 1) return *at;
    if (width == 2) return memcpy(&two, at, sizeof two), be16toh(two);
    if (width == 4) return memcpy(&four, at, sizeof four), be32toh(four);
    return memcpy(&eight, at, sizeof eight), be64toh(eight);
}

/* Decodes the first byte of a value. If the width is 0, *value is the number or length in that byte. */
static inline struct wire_head wire_first(uint8_t byte, uint64_t *value)
{
    *value = 0;
    if (byte < 0x80) return *value = byte, (struct wire_head){WIRE_UNSIGNED, 0};
    if (byte >= 0xe0) return *value = (uint64_t)(int8_t)byte, (struct wire_head){WIRE_SIGNED, 0};
    if (byte >= 0xc0) return wire_heads[byte - 0xc0];
    if (byte >= 0xa0) return *value = byte & 0x1fU, (struct wire_head){WIRE_STR, 0};
    return *value = byte & 0x0fU, (struct wire_head){byte < 0x90 ? WIRE_MAP : WIRE_ARRAY, 0};
}

struct wire_value {
    enum wire_kind kind;
    uint64_t bits;     /* the number, or the length. A signed number is an int64_t; a real is stored as its bits */
    const char *bytes; /* bytes of a text; not NUL-terminated */
};

/* Reads the value at `at`; of a container, only its head. Returns the address after the bytes that were read. */
static inline const uint8_t *wire_read(const uint8_t *at, struct wire_value *out)
{
    struct wire_head head = wire_first(*at++, &out->bits);
    out->kind = (enum wire_kind)head.kind;
    if (head.width) out->bits = wire_bits(at, head.width);
    at += head.width;
    if (out->kind == WIRE_SIGNED && head.width) {
        unsigned above = 64 - 8U * head.width;
        out->bits = (uint64_t)((int64_t)(out->bits << above) >> above);
    }
    if (out->kind == WIRE_SIGNED && (int64_t)out->bits >= 0) out->kind = WIRE_UNSIGNED;
    if (out->kind != WIRE_STR && out->kind != WIRE_BIN) return at;
    out->bytes = (const char *)at;
    return at + out->bits;
}

static inline uint64_t wire_items(const struct wire_value *value)
{
    return value->kind == WIRE_ARRAY ? value->bits : value->kind == WIRE_MAP ? value->bits * 2 : 0;
}

/* Skips the items of a value whose head was read. Returns the address after them. */
static inline const uint8_t *wire_skip(const uint8_t *at, const struct wire_value *value)
{
    struct wire_value inner;
    for (uint64_t left = wire_items(value); left; left += wire_items(&inner) - 1) at = wire_read(at, &inner);
    return at;
}

static inline double wire_real(const struct wire_value *value)
{
    uint32_t single = (uint32_t)value->bits;
    float narrow;
    double wide;
    memcpy(&narrow, &single, sizeof narrow);
    memcpy(&wide, &value->bits, sizeof wide);
    return value->kind == WIRE_FLOAT32 ? (double)narrow : wide;
}

#endif
