/* Checks the structure of a msgpack value before it is decoded.
 *
 * Five bytes can announce 2^32 items. Every count and length is therefore compared with the remaining bytes. Depth and
 * the number of values are checked too. The reader (wire.h) then needs no checks. Extension types are refused, because
 * no message has any.
 */
#include "proto/message/fields.h"
#include "proto/message/wire.h"

enum { MAX_VALUES = 4000000 };

static enum err_code cut_short(size_t at, struct err *err)
{
    return err_set(err, ERR_MALFORMED, "the message is truncated inside the value at byte %zu", at);
}

static enum err_code no_value(size_t at, uint8_t byte, struct err *err)
{
    return err_set(err, ERR_MALFORMED, "byte %zu (0x%02x) does not start a supported value", at, byte);
}

enum err_code msg_scan(const void *bytes, size_t len, size_t *end, struct err *err)
{
    const uint8_t *start = bytes, *next = start, *limit = start + len;
    /* `left` and `outer`: number of values that still follow at this level and at the outer levels */
    uint64_t left = 1, outer[MSG_MAX_DEPTH], length;
    uint32_t depth = 0, values = 0;
    *end = 0;
    for (;;) {
        while (!left && depth) left = outer[--depth];
        if (!left) break;
        left--;
        if (next == limit) return cut_short(len, err);
        struct wire_head head = wire_first(*next++, &length);
        if (head.kind == WIRE_BAD) return no_value((size_t)(next - start) - 1, next[-1], err);
        if ((size_t)(limit - next) < head.width) return cut_short((size_t)(next - start), err);
        if (++values > MAX_VALUES)
            return err_set(err, ERR_LIMIT_COUNT, "the message has more than %d values", MAX_VALUES);
        if (head.kind >= WIRE_STR && head.width) length = wire_bits(next, head.width);
        next += head.width;
        if (head.kind < WIRE_STR) continue;
        if (head.kind == WIRE_MAP) length *= 2;
        /* an item has at least one byte, so more items than bytes cannot follow */
        if (length > (size_t)(limit - next)) return cut_short((size_t)(next - start), err);
        if (head.kind < WIRE_ARRAY) {
            next += length;
            continue;
        }
        if (depth == MSG_MAX_DEPTH)
            return err_set(err, ERR_LIMIT_DEPTH, "the message is nested deeper than %d levels", MSG_MAX_DEPTH);
        outer[depth++] = left;
        left = length;
    }
    *end = (size_t)(next - start);
    return ERR_OK;
}
