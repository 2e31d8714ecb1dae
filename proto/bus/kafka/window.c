/* DESIGN: a list in the order of the partition. New slots are added at the end, except for the few that return after a
 * rebalance. Slots are removed at the front.
 *
 * Metadata: "assay1 <crashes> <offset - low>:<deliveries> ...". It is text, so that users of `kafka-consumer-groups`
 * and of logs can read it. It has at most WINDOW_NOTES pairs, from the low end on. That is enough, because a poison
 * message kills its reader soon after it becomes the lowest.
 *
 * Rejected: a ring indexed by offset - low (compaction and long transactions leave holes without bound). Rejected: a
 * bitmap of finished offsets above low (an at-least-once reader may repeat a window, and the four kilobytes are needed
 * for the counts).
 */
#include "proto/bus/kafka/window.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "assay1 "

static void link_after(struct window *window, struct window_slot *before, struct window_slot *slot)
{
    struct window_slot *next = before ? before->next : window->first;
    slot->previous = before;
    slot->next = next;
    *(before ? &before->next : &window->first) = slot;
    *(next ? &next->previous : &window->last) = slot;
    window->n++;
}

static void take_out(struct window *window, struct window_slot *slot)
{
    *(slot->previous ? &slot->previous->next : &window->first) = slot->next;
    *(slot->next ? &slot->next->previous : &window->last) = slot->previous;
    window->n--;
    window->n_held -= slot->state == SLOT_HELD;
    window->n_waiting -= slot->state == SLOT_WAITING;
}

static void set_state(struct window *window, struct window_slot *slot, enum window_slot_state state)
{
    window->n_held -= slot->state == SLOT_HELD;
    window->n_waiting -= slot->state == SLOT_WAITING;
    slot->state = state;
    window->n_held += state == SLOT_HELD;
    window->n_waiting += state == SLOT_WAITING;
}

static void find_next_due(struct window *window)
{
    window->next_due = INT64_MAX;
    for (const struct window_slot *slot = window->first; slot && window->n_waiting; slot = slot->next)
        if (slot->state == SLOT_WAITING && slot->due_ns < window->next_due) window->next_due = slot->due_ns;
}

/* Returns the last slot at or below `offset`. Searches from the end, because new slots are there. */
static struct window_slot *at_or_below(const struct window *window, int64_t offset)
{
    struct window_slot *slot = window->last;
    while (slot && slot->offset > offset) slot = slot->previous;
    return slot;
}

static uint32_t attempts_of(const struct window *window, int64_t offset)
{
    for (uint32_t i = 0; i < window->n_notes; i++)
        if (window->notes[i].offset == offset) return window->notes[i].attempts;
    bool maybe = window->crashes && offset - window->low < WINDOW_MAX;
    return maybe ? 1 : 0;
}

void window_init(struct window *window)
{
    *window = (struct window){.low = -1, .committed = -1, .next_due = INT64_MAX, .again_end = -1};
}

bool window_has(const struct window *window, int64_t offset)
{
    const struct window_slot *slot = at_or_below(window, offset);
    return slot && slot->offset == offset;
}

/* An offset below the low end was done by this process only if it is in the range that is fetched again. In a recreated
 * topic, such offsets are new messages. */
bool window_again(struct window *window, int64_t offset)
{
    if (window_has(window, offset)) return true;
    if (offset < window->again_end) return offset < window->low;
    window->again_end = -1;
    return false;
}

void window_add(struct window *window, struct window_slot *slot, enum window_slot_state state)
{
    if (window->low < 0) window->low = slot->offset;
    slot->attempts = attempts_of(window, slot->offset);
    slot->due_ns = 0;
    slot->after = 0;
    slot->state = SLOT_DONE;
    link_after(window, at_or_below(window, slot->offset), slot);
    set_state(window, slot, state);
    if (state == SLOT_WAITING) window->next_due = 0;
    if (window->first->offset < window->low) window->low = window->first->offset;
}

struct window_slot *window_due(const struct window *window, int64_t now_ns)
{
    if (!window->n_waiting || window->next_due > now_ns) return NULL;
    struct window_slot *slot = window->first;
    while (slot && (slot->state != SLOT_WAITING || slot->due_ns > now_ns)) slot = slot->next;
    return slot;
}

void window_hold(struct window *window, struct window_slot *slot)
{
    set_state(window, slot, SLOT_HELD);
    find_next_due(window);
}

void window_done(struct window *window, struct window_slot *slot, uint64_t after)
{
    slot->after = after;
    set_state(window, slot, SLOT_DONE);
}

void window_wait(struct window *window, struct window_slot *slot, int64_t due_ns)
{
    slot->attempts++;
    slot->due_ns = due_ns;
    set_state(window, slot, SLOT_WAITING);
    if (due_ns < window->next_due) window->next_due = due_ns;
}

bool window_advance(struct window *window, uint64_t arrived, void (*release)(struct window_slot *slot))
{
    int64_t before = window->low;
    while (window->first && window->first->state == SLOT_DONE && window->first->after <= arrived) {
        struct window_slot *slot = window->first;
        take_out(window, slot);
        window->low = window->first ? window->first->offset : slot->offset + 1;
        release(slot);
    }
    return window->low != before;
}

/* --- change of owner --- */

static bool read_number(const char **at, int64_t *out)
{
    char *end;
    if (**at < '0' || **at > '9') return false; /* strtoll would also accept blanks and signs */
    *out = strtoll(*at, &end, 10);
    *at = end;
    return *out < INT64_MAX / 2;
}

/* Reads the metadata of a commit. Ignores metadata of another program, and everything after the first malformed
 * pair. */
static void read_metadata(struct window *window, int64_t low, const char *metadata, size_t len)
{
    char text[WINDOW_TEXT];
    const char *at = text + strlen(MAGIC);
    int64_t crashes, distance, attempts;
    window->n_notes = window->crashes = 0;
    if (!metadata || len < strlen(MAGIC) || len >= sizeof text || memcmp(metadata, MAGIC, strlen(MAGIC)) != 0) return;
    memcpy(text, metadata, len);
    text[len] = '\0';
    if (!read_number(&at, &crashes)) return;
    window->crashes = crashes < 1000 ? (uint32_t)crashes : 1000;
    while (window->n_notes < WINDOW_NOTES && *at == ' ') {
        at++;
        if (!read_number(&at, &distance) || *at++ != ':' || !read_number(&at, &attempts)) return;
        window->notes[window->n_notes++] =
            (struct window_note){low + distance, attempts < 1000 ? (uint32_t)attempts : 1000};
    }
}

void window_restart(struct window *window, int64_t committed, const char *metadata, size_t len,
                    void (*release)(struct window_slot *slot))
{
    while (window->first && (committed < 0 || window->first->offset < committed)) {
        struct window_slot *slot = window->first;
        take_out(window, slot);
        release(slot);
    }
    find_next_due(window);
    window->again_end = window->last ? window->last->offset + 1 : -1;
    window->committed = committed;
    window->low = committed;
    read_metadata(window, committed, metadata, committed < 0 ? 0 : len);
}

/* INVARIANT known poison: the count of a finished message stays, because the message is redelivered if this process
 * crashes before its commit. Notes on messages that were not fetched stay too. Otherwise two alternating poison
 * messages would hide each other. The owner that survives the first one dies of the second, and the next owner knows
 * neither. */
static uint32_t deliveries(const struct window_slot *slot)
{
    return slot->attempts + (slot->state == SLOT_HELD);
}

/* Returns true for a note beyond the fetched messages. Notes within them have become slots, or compaction has removed
 * their messages. */
static bool is_ahead(const struct window *window, const struct window_note *note)
{
    return window->last ? note->offset > window->last->offset : note->offset >= window->low;
}

struct metadata {
    char *text;
    size_t len;
    int64_t low;
    unsigned noted;
};

/* Adds a note to the metadata. Returns false if the metadata is full. */
static bool put_note(struct metadata *out, int64_t offset, uint32_t times)
{
    char note[48];
    if (!times) return true;
    int n = snprintf(note, sizeof note, " %" PRId64 ":%" PRIu32, offset - out->low, times);
    if (out->noted == WINDOW_NOTES || out->len + (size_t)n >= WINDOW_TEXT) return false;
    memcpy(out->text + out->len, note, (size_t)n + 1);
    out->len += (size_t)n;
    out->noted++;
    return true;
}

size_t window_metadata(const struct window *window, uint32_t crashes, char *out)
{
    struct metadata metadata = {out, (size_t)snprintf(out, WINDOW_TEXT, MAGIC "%" PRIu32, crashes), window->low, 0};
    bool room = true;
    for (const struct window_slot *slot = window->first; slot && room; slot = slot->next)
        room = put_note(&metadata, slot->offset, deliveries(slot));
    for (uint32_t i = 0; i < window->n_notes && room; i++)
        if (is_ahead(window, &window->notes[i]))
            room = put_note(&metadata, window->notes[i].offset, window->notes[i].attempts);
    return metadata.len;
}
