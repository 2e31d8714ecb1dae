/* How many owners of a partition died in a row, and what follows from it.
 *
 * Whoever takes a partition over writes the count that was found and one more, for itself, before it hands out
 * anything; and 0 when it leaves in order, or has lived long enough not to have been killed by a message. So the
 * next owner finds those counted that did neither. Where the count is kept differs: in the metadata of a commit
 * (window.h), or in the ledger of exactly-once processing (exactly_once/ledger.h). It is a partition's; how often
 * one message came to processes that then ended, the worker reckons from bus_message.attempts. */
#ifndef ASSAY_PROTO_BUS_KAFKA_CRASHES_H
#define ASSAY_PROTO_BUS_KAFKA_CRASHES_H

#include <stdbool.h>
#include <stdint.h>

enum { CRASHES_SOUND_MS = 60000, CRASHES_SUSPICIOUS = 2 };

/* Has an owner since `since_ns` lived for so long that no message kills it? */
static inline bool crashes_is_sound(int64_t since_ns, int64_t now_ns)
{
    return now_ns - since_ns >= CRASHES_SOUND_MS * INT64_C(1000000);
}

/* Are messages to be handed out a few at a time, so that it becomes known which one kills? `count` has this owner in
 * it, as it is written down. */
static inline bool crashes_must_probe(uint32_t count)
{
    return count > CRASHES_SUSPICIOUS;
}

#endif
