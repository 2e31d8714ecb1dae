/* What a msgpack value really holds, before the library unpacks it.
 *
 * msgpack-c reserves memory by the count in an array's header: five bytes make it ask for 8 GB. So every count and
 * length is checked here against the bytes that are there, along with depth and the number of objects (the library
 * takes 24 bytes for each). Extension types are refused: no message has any.
 */
#include "proto/message/fields.h"

enum { MAX_OBJECTS = 4000000 };

enum shape { SHAPE_BAD, SHAPE_PLAIN, SHAPE_BYTES, SHAPE_ARRAY, SHAPE_MAP };

/* Leading bytes 0xc0 to 0xdf: what follows, and how many bytes hold its value or its length. */
static const struct {
    uint8_t shape, width;
} heads[32] = {
    [0xc0 - 0xc0] = {SHAPE_PLAIN, 0},                                                                     /* nil */
    [0xc2 - 0xc0] = {SHAPE_PLAIN, 0},                                                                     /* false */
    [0xc3 - 0xc0] = {SHAPE_PLAIN, 0},                                                                     /* true */
    [0xc4 - 0xc0] = {SHAPE_BYTES, 1},                                                                     /* bin */
    [0xc5 - 0xc0] = {SHAPE_BYTES, 2}, [0xc6 - 0xc0] = {SHAPE_BYTES, 4}, [0xca - 0xc0] = {SHAPE_PLAIN, 4}, /* float */
    [0xcb - 0xc0] = {SHAPE_PLAIN, 8}, [0xcc - 0xc0] = {SHAPE_PLAIN, 1},                                   /* unsigned */
    [0xcd - 0xc0] = {SHAPE_PLAIN, 2}, [0xce - 0xc0] = {SHAPE_PLAIN, 4}, [0xcf - 0xc0] = {SHAPE_PLAIN, 8},
    [0xd0 - 0xc0] = {SHAPE_PLAIN, 1}, /* signed */
    [0xd1 - 0xc0] = {SHAPE_PLAIN, 2}, [0xd2 - 0xc0] = {SHAPE_PLAIN, 4}, [0xd3 - 0xc0] = {SHAPE_PLAIN, 8},
    [0xd9 - 0xc0] = {SHAPE_BYTES, 1}, /* str */
    [0xda - 0xc0] = {SHAPE_BYTES, 2}, [0xdb - 0xc0] = {SHAPE_BYTES, 4}, [0xdc - 0xc0] = {SHAPE_ARRAY, 2},
    [0xdd - 0xc0] = {SHAPE_ARRAY, 4}, [0xde - 0xc0] = {SHAPE_MAP, 2},   [0xdf - 0xc0] = {SHAPE_MAP, 4},
};

struct scan {
    const uint8_t *start, *next, *end;
    uint32_t objects;
    struct err *err;
};

static size_t left(const struct scan *scan)
{
    return (size_t)(scan->end - scan->next);
}

static enum err_code cut_short(const struct scan *scan)
{
    return err_set(scan->err, ERR_MALFORMED, "the message ends inside the value at byte %zu",
                   (size_t)(scan->next - scan->start));
}

/* The leading byte and, for bytes and containers, their length. */
static enum err_code scan_head(struct scan *scan, enum shape *shape, uint64_t *length)
{
    if (!left(scan)) return cut_short(scan);
    uint8_t byte = *scan->next++;
    *length = 0;
    if (byte < 0x80 || byte >= 0xe0) return *shape = SHAPE_PLAIN, ERR_OK;
    if (byte < 0x90) return *shape = SHAPE_MAP, *length = byte & 0x0fU, ERR_OK;
    if (byte < 0xa0) return *shape = SHAPE_ARRAY, *length = byte & 0x0fU, ERR_OK;
    if (byte < 0xc0) return *shape = SHAPE_BYTES, *length = byte & 0x1fU, ERR_OK;
    *shape = (enum shape)heads[byte - 0xc0].shape;
    unsigned width = heads[byte - 0xc0].width;
    if (*shape == SHAPE_BAD)
        return err_set(scan->err, ERR_MALFORMED, "byte %zu (0x%02x) starts no value that a message may hold",
                       (size_t)(scan->next - scan->start) - 1, byte);
    if (left(scan) < width) return cut_short(scan);
    if (*shape != SHAPE_PLAIN)
        for (unsigned i = 0; i < width; i++) *length = *length << 8 | scan->next[i];
    scan->next += width;
    return ERR_OK;
}

static enum err_code scan_value(struct scan *scan, unsigned depth)
{
    enum shape shape = SHAPE_PLAIN;
    uint64_t length = 0;
    enum err_code code = scan_head(scan, &shape, &length);
    if (code) return code;
    if (++scan->objects > MAX_OBJECTS)
        return err_set(scan->err, ERR_LIMIT_COUNT, "the message holds more than %d values", MAX_OBJECTS);
    if (shape == SHAPE_PLAIN) return ERR_OK;
    if (shape == SHAPE_MAP) length *= 2;
    if (length > left(scan)) return cut_short(scan); /* every item takes a byte at least */
    if (shape == SHAPE_BYTES) return scan->next += length, ERR_OK;
    if (depth == MSG_MAX_DEPTH)
        return err_set(scan->err, ERR_LIMIT_DEPTH, "the message is nested deeper than %d", MSG_MAX_DEPTH);
    for (uint64_t i = 0; i < length && !code; i++) code = scan_value(scan, depth + 1);
    return code;
}

enum err_code msg_scan(const void *bytes, size_t len, size_t *end, struct err *err)
{
    struct scan scan = {bytes, bytes, (const uint8_t *)bytes + len, 0, err};
    enum err_code code = scan_value(&scan, 0);
    *end = (size_t)(scan.next - scan.start);
    return code;
}
