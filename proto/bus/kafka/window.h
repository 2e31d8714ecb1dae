/* The messages of one partition that were handed out. The window records which are held and which are done, and derives
 * the offset to commit.
 *
 * A window is a list of slots by offset, starting with the lowest offset that is not done. The reader of a partition
 * adds a slot for each message that it hands out, and an ack marks the slot as done. The low end moves over slots that
 * are done *and* whose follow-up messages have arrived: `after` is a number of the producer, see producer.c. Offsets
 * are compared, never counted, because transaction markers and compaction leave holes.
 *
 * The window outlives a rebalance. A reassigned partition starts again at the committed offset, and messages that this
 * process holds or has done must not start a second time.
 *
 * This module uses neither librdkafka nor threads; its caller locks.
 */
#ifndef ASSAY_PROTO_BUS_KAFKA_WINDOW_H
#define ASSAY_PROTO_BUS_KAFKA_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WINDOW_MAX = 4096, /* slots of a partition; reading stops while the window is full */
    WINDOW_NOTES = 64, /* maximum number of delivery counts in the commit's metadata */
    WINDOW_TEXT = 2048 /* maximum length of the metadata; the broker's own limit is 4,096 by default */
};

enum window_slot_state { SLOT_WAITING, SLOT_HELD, SLOT_DONE };

struct window_slot {
    struct window_slot *previous, *next;
    int64_t offset;
    int64_t due_ns;    /* while waiting: earliest time of delivery */
    uint64_t after;    /* once done: the slot counts when all messages produced before this number have arrived */
    uint32_t attempts; /* number of deliveries before the present or next one */
    enum window_slot_state state;
};

struct window {
    struct window_slot *first, *last;
    uint32_t n, n_held, n_waiting;
    int64_t low;       /* offset to commit; -1 before the first message */
    int64_t committed; /* offset of the last commit that was sent; -1 before the first */
    int64_t next_due;  /* earliest due time of a waiting slot, or INT64_MAX */
    int64_t again_end; /* offsets below this may be fetched again since the last restart of the window */

    /* delivery counts from the metadata that the previous owner committed */
    struct window_note {
        int64_t offset;
        uint32_t attempts;
    } notes[WINDOW_NOTES];
    uint32_t n_notes;
    uint32_t crashes; /* number of consecutive owners that ended without an orderly departure */
};

void window_init(struct window *window);

/* Returns true if this offset is in the window. */
bool window_has(const struct window *window, int64_t offset);

/* Returns true if this process already holds or has done this message, which was fetched again after a restart. Must be
 * called in the order of fetching. */
bool window_again(struct window *window, int64_t offset);

/* Adds a slot, whose offset is set, as waiting (due at once) or held. Sets its attempts from the notes. */
void window_add(struct window *window, struct window_slot *slot, enum window_slot_state state);

/* Returns the waiting and due slot with the lowest offset, or NULL. The slot stays in the state waiting. */
struct window_slot *window_due(const struct window *window, int64_t now_ns);

void window_hold(struct window *window, struct window_slot *slot);
void window_done(struct window *window, struct window_slot *slot, uint64_t after);
/* Makes the slot wait again, and increments its attempts. */
void window_wait(struct window *window, struct window_slot *slot, int64_t due_ns);

/* Moves the low end over slots that are done and whose follow-up messages have arrived. All messages with a number
 * below `arrived` have arrived. Passes the slots to `release`. Returns true if the offset to commit has changed. */
bool window_advance(struct window *window, uint64_t arrived, void (*release)(struct window_slot *slot));

/* Restarts the window after an assignment at the offset `committed` (-1: unknown), with the metadata found there. Slots
 * below it, or all slots if it is unknown, now belong to another owner and are passed to `release`. Ignores metadata of
 * other programs. */
void window_restart(struct window *window, int64_t committed, const char *metadata, size_t len,
                    void (*release)(struct window_slot *slot));

/* Writes the metadata to commit together with `low`. The metadata contain `crashes` and the delivery counts of the
 * window and the notes, for offsets from `low` on. A delivery count says how often the message may have ended an owner.
 * Returns the length; `out` has WINDOW_TEXT bytes and is NUL-terminated. */
size_t window_metadata(const struct window *window, uint32_t crashes, char *out);

#endif
