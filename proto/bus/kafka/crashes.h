/* Counts the owners of a partition that crashed in a row, and derives how carefully to hand out messages.
 *
 * A new owner writes the found count plus one, for itself, before it hands out anything. It writes 0 when it leaves in
 * order, or has lived long enough not to be killed by a message. The next owner thus finds the number of owners that
 * did neither. The count is stored in the metadata of a commit (window.h), or in the ledger of exactly-once processing
 * (exactly_once/ledger.h). It belongs to a partition. The worker derives the crashes caused by one message from
 * bus_message.attempts.
 */
#ifndef ASSAY_PROTO_BUS_KAFKA_CRASHES_H
#define ASSAY_PROTO_BUS_KAFKA_CRASHES_H

#include <stdbool.h>
#include <stdint.h>

enum { CRASHES_SOUND_MS = 60000, CRASHES_SUSPICIOUS = 2 };

/* Tells whether an owner since `since_ns` has lived long enough not to be killed by a message. */
static inline bool crashes_is_sound(int64_t since_ns, int64_t now_ns)
{
    return now_ns - since_ns >= CRASHES_SOUND_MS * INT64_C(1000000);
}

/* Tells whether to hand out messages a few at a time, so that the fatal one is identified. `count` includes this owner,
 * as in the stored count. */
static inline bool crashes_must_probe(uint32_t count)
{
    return count > CRASHES_SUSPICIOUS;
}

#endif
