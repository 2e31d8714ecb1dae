/* Counts the consecutive owners of a partition that crashed. The count decides how carefully messages are handed out.
 *
 * A new owner increments the stored count, which then includes itself, before it hands out anything. It writes 0 when
 * it leaves in an orderly way, or when it has lived so long that no message can have killed it. The next owner thus
 * finds the number of owners that did neither. The count is stored in the metadata of a commit (window.h), or in the
 * ledger of exactly-once processing (exactly_once/ledger.h). It belongs to a partition. The worker derives the crashes
 * caused by one message from bus_message.attempts.
 */
#ifndef ASSAY_PROTO_BUS_KAFKA_CRASHES_H
#define ASSAY_PROTO_BUS_KAFKA_CRASHES_H

#include <stdbool.h>
#include <stdint.h>

enum { CRASHES_SOUND_MS = 60000, CRASHES_SUSPICIOUS = 2 };

/* Returns true if an owner that started at `since_ns` has lived so long that no message can have killed it. */
static inline bool crashes_is_sound(int64_t since_ns, int64_t now_ns)
{
    return now_ns - since_ns >= CRASHES_SOUND_MS * INT64_C(1000000);
}

/* Returns true if messages must be handed out a few at a time, to identify the message that kills owners. `count` is
 * the stored count, which includes this owner. */
static inline bool crashes_must_probe(uint32_t count)
{
    return count > CRASHES_SUSPICIOUS;
}

#endif
