/* What one partition has handed out: which offsets are held, which are done, and so how far the group's offset may go.
 *
 * A window is a list of slots by offset, from the lowest one that is not done. Whoever reads a partition adds a slot
 * for each message that it hands out; an ack marks it; the low end moves over slots that are marked *and* whose
 * consequences have arrived: `after` is a number of the producer, see producer.c. Offsets are compared, never counted:
 * transaction markers and compaction leave holes.
 *
 * The window outlives a rebalance. A partition that comes back starts again at the committed offset, and what this
 * process still holds or has done must not start a second time.
 *
 * Knows neither librdkafka nor threads; its caller locks.
 */
#ifndef ASSAY_PROTO_BUS_KAFKA_WINDOW_H
#define ASSAY_PROTO_BUS_KAFKA_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    WINDOW_MAX = 4096, /* slots of a partition; a full window is not read on */
    WINDOW_NOTES = 64, /* deliveries remembered in the commit's metadata */
    WINDOW_TEXT = 2048 /* its largest size; the broker's own bound is 4,096 by default */
};

enum window_slot_state { SLOT_WAITING, SLOT_HELD, SLOT_DONE };

struct window_slot {
    struct window_slot *previous, *next;
    int64_t offset;
    int64_t due_ns;    /* waiting: not before */
    uint64_t after;    /* done: counts once everything produced before this number has arrived */
    uint32_t attempts; /* deliveries before the present or next one */
    enum window_slot_state state;
};

struct window {
    struct window_slot *first, *last;
    uint32_t n, n_held, n_waiting;
    int64_t low;       /* the offset to commit; -1: nothing was ever handed out */
    int64_t committed; /* of the last commit that was sent; -1: none */
    int64_t next_due;  /* of the waiting; INT64_MAX: none */
    int64_t again_end; /* below: may be fetched again since the last restart */

    /* from the metadata that the previous owner committed */
    struct window_note {
        int64_t offset;
        uint32_t attempts;
    } notes[WINDOW_NOTES];
    uint32_t n_notes;
    uint32_t crashes; /* owners that ended without a commit on leave, in a row */
};

void window_init(struct window *window);

/* Is this offset in the window? */
bool window_has(const struct window *window, int64_t offset);

/* Is this a message that this process has or has done, fetched again after a restart? Asked in the order of fetching.
 */
bool window_again(struct window *window, int64_t offset);

/* Add a slot with its offset set: waiting (due at once) or held. Attempts are what the notes say. */
void window_add(struct window *window, struct window_slot *slot, enum window_slot_state state);

/* The waiting slot of the lowest offset that is due, or NULL. It stays waiting. */
struct window_slot *window_due(const struct window *window, int64_t now_ns);

void window_hold(struct window *window, struct window_slot *slot);
void window_done(struct window *window, struct window_slot *slot, uint64_t after);
/* Waiting again: one attempt more. */
void window_wait(struct window *window, struct window_slot *slot, int64_t due_ns);

/* Move the low end over what is done and has arrived: `arrived` is the number below which everything has. The slots
 * passed go to `release`. True: the offset to commit has changed. */
bool window_advance(struct window *window, uint64_t arrived, void (*release)(struct window_slot *slot));

/* The partition is (again) this process's, from `committed` (-1: unknown) on, with the metadata found there. Slots
 * below it, and all of them when it is unknown, are somebody else's now and go to `release`. Metadata that is not ours
 * counts as none. */
void window_restart(struct window *window, int64_t committed, const char *metadata, size_t len,
                    void (*release)(struct window_slot *slot));

/* The metadata to commit with `low`: how often each offset from there on may have ended an owner, in this window or by
 * the notes found, and `crashes`. Returns its length; `out` has WINDOW_TEXT bytes and is NUL-terminated. */
size_t window_metadata(const struct window *window, uint32_t crashes, char *out);

#endif
