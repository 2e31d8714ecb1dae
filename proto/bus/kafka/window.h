/* The messages that one partition has handed out: which are held, which are done, and thus the offset to commit.
 *
 * A window is a list of slots by offset, from the lowest one that is not done. The reader of a partition adds a slot
 * for each message that it hands out, and an ack marks the slot. The low end moves over slots that are marked *and*
 * whose consequences have arrived: `after` is a number of the producer, see producer.c. Offsets are compared, never
 * counted, because transaction markers and compaction leave holes.
 *
 * The window outlives a rebalance. A reassigned partition starts again at the committed offset, and messages that this
 * process holds or has done must not start a second time.
 *
 * Uses neither librdkafka nor threads; its caller locks.
 */
#ifndef ASSAY_PROTO_BUS_KAFKA_WINDOW_H
#define ASSAY_PROTO_BUS_KAFKA_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WINDOW_MAX = 4096, /* slots of a partition; reading stops at a full window */
    WINDOW_NOTES = 64, /* delivery counts in the commit's metadata */
    WINDOW_TEXT = 2048 /* largest metadata; the broker's own bound is 4,096 by default */
};

enum window_slot_state { SLOT_WAITING, SLOT_HELD, SLOT_DONE };

struct window_slot {
    struct window_slot *previous, *next;
    int64_t offset;
    int64_t due_ns;    /* waiting: earliest time of delivery */
    uint64_t after;    /* done: counts once everything produced before this number has arrived */
    uint32_t attempts; /* deliveries before the present or next one */
    enum window_slot_state state;
};

struct window {
    struct window_slot *first, *last;
    uint32_t n, n_held, n_waiting;
    int64_t low;       /* offset to commit; -1 before the first message */
    int64_t committed; /* offset of the last commit that was sent; -1 before the first */
    int64_t next_due;  /* earliest due time of a waiting slot, or INT64_MAX */
    int64_t again_end; /* offsets below may be fetched again since the last restart */

    /* from the metadata that the previous owner committed */
    struct window_note {
        int64_t offset;
        uint32_t attempts;
    } notes[WINDOW_NOTES];
    uint32_t n_notes;
    uint32_t crashes; /* owners in a row that ended without the commit on leaving */
};

void window_init(struct window *window);

/* Tells whether this offset is in the window. */
bool window_has(const struct window *window, int64_t offset);

/* Tells whether this process holds or has done this message, which was fetched again after a restart. Must be called in
 * the order of fetching.
 */
bool window_again(struct window *window, int64_t offset);

/* Adds a slot with its offset set: waiting (due at once) or held. The notes give its attempts. */
void window_add(struct window *window, struct window_slot *slot, enum window_slot_state state);

/* Returns the waiting slot of the lowest offset that is due, or NULL. The slot stays waiting. */
struct window_slot *window_due(const struct window *window, int64_t now_ns);

void window_hold(struct window *window, struct window_slot *slot);
void window_done(struct window *window, struct window_slot *slot, uint64_t after);
/* Makes the slot wait again and counts an attempt. */
void window_wait(struct window *window, struct window_slot *slot, int64_t due_ns);

/* Moves the low end over slots that are done and have arrived; `arrived` is the number below which everything has
 * arrived. Passes these slots to `release`. Returns true if the offset to commit has changed. */
bool window_advance(struct window *window, uint64_t arrived, void (*release)(struct window_slot *slot));

/* Restarts the window after an assignment, from `committed` (-1: unknown) on, with the metadata found there. Slots
 * below it, or all slots if it is unknown, belong to another owner now and go to `release`. Foreign metadata is
 * ignored. */
void window_restart(struct window *window, int64_t committed, const char *metadata, size_t len,
                    void (*release)(struct window_slot *slot));

/* Writes the metadata to commit with `low`. For each offset from there on, in this window or in the notes, it says how
 * often the message may have ended an owner. It also has `crashes`. Returns its length; `out` has WINDOW_TEXT bytes and
 * is NUL-terminated. */
size_t window_metadata(const struct window *window, uint32_t crashes, char *out);

#endif
