/* The position of a replayed request in one number: a line of a log, or a record of a topic. The number is the
 * request's tag, so the verdict returns it. 0 means that there is no position. */
#ifndef ASSAY_PROTO_BUS_POSITION_H
#define ASSAY_PROTO_BUS_POSITION_H

#include <stdbool.h>
#include <stdint.h>

enum { POSITION_OFFSET_BITS = 48, POSITION_MAX_PARTITIONS = 1 << 15 };

static inline uint64_t position_line(uint64_t line)
{
    return line;
}

static inline uint64_t position_record(int32_t partition, int64_t offset)
{
    return UINT64_C(1) << 63 | (uint64_t)partition << POSITION_OFFSET_BITS | (uint64_t)offset;
}

static inline bool position_is_record(uint64_t place)
{
    return place >> 63;
}

static inline int32_t position_partition(uint64_t place)
{
    return (int32_t)(place >> POSITION_OFFSET_BITS & (POSITION_MAX_PARTITIONS - 1));
}

static inline int64_t position_offset(uint64_t place)
{
    return (int64_t)(place & ((UINT64_C(1) << POSITION_OFFSET_BITS) - 1));
}

#endif
