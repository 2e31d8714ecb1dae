/* DESIGN: finds requests that kill their owners. A commit counts owners that died in a row. From the third death on,
 * the requests that they had open are suspects. WINDOWS[0] suspects are opened at a time, and the end of the open
 * window is committed first. If this owner dies too, the fatal request is among the few unfinished ones below that end.
 * The next owner opens these alone, WINDOWS[1] at a time.
 *
 * A request whose owner dies twice while it is the only open one is dead-lettered, in a transaction like a verdict.
 * That takes five deaths for the first such request, and three for each that follows it closely. Finished suspects are
 * cleared one by one. When all suspects are finished, none of them is fatal, and the partition is read at full speed
 * again. Owners killed from outside therefore cost little. A sound request is dead-lettered only if it was open alone
 * for two deaths in a row, and among a few at the death before. While one partition's suspects are tried alone, no
 * other partition's are.
 */
#include "proto/bus/kafka/exactly_once/once.h"

#include "lib/base/clock.h"
#include "proto/bus/kafka/crashes.h"

enum { LEVELS = 3 };
/* Most requests past those of its last commit that an owner is suspected to have died of. It may have opened more; a
 * request that kills again becomes a suspect sooner or later. */
enum { MAX_SUSPECTED = 256 };
/* suspects open at a time, by the number of owners that died of them */
static const uint32_t WINDOWS[LEVELS] = {16, 1, 1};

/* --- suspects of earlier deaths --- */

void poison_count_crash(struct once_partition *part)
{
    struct ledger *ledger = &part->ledger;
    part->alert_end =
        ledger->reopen_end + MAX_SUSPECTED < part->before_end ? ledger->reopen_end + MAX_SUSPECTED : part->before_end;
    ledger->crashes++;
}

void poison_recall(struct once_partition *part)
{
    struct ledger *ledger = &part->ledger;
    bool written = ledger->probe >= 0;
    if (written && ledger->low > ledger->probe) {
        ledger->crashes = 1;
        ledger->probes = 0;
        ledger->probe = -1;
    }
    part->level = ledger->probes;
    part->probe_end = ledger->probe >= 0 ? ledger->probe + 1 : part->alert_end;
    part->noted = false;
}

void poison_clear(struct once_partition *part)
{
    part->ledger.crashes = part->ledger.probes = 0;
    part->ledger.probe = -1;
    part->dirty = true;
}

void poison_clear_sound(struct once *once, int64_t now)
{
    for (uint32_t i = 0; i < once->n_parts; i++) {
        struct once_partition *part = once->parts[i];
        if (!part->assigned || part->sound) continue;
        bool past = crashes_must_probe(part->ledger.crashes) && part->ledger.low >= part->probe_end;
        if (!past && !crashes_is_sound(part->since_ns, now)) continue;
        part->sound = true;
        poison_clear(part);
    }
}

/* --- opening --- */

static bool is_probing(const struct once_partition *part)
{
    return !part->sound && crashes_must_probe(part->ledger.crashes);
}

/* Counts the open requests without the settled ones. The producer's transaction that records the next window also
 * finishes the settled ones. */
static uint32_t unsettled(const struct once_partition *part)
{
    uint32_t open = part->ledger.n_open;
    return open > part->n_settled ? open - part->n_settled : 0;
}

static uint32_t window_of(const struct once_partition *part)
{
    return WINDOWS[part->level < LEVELS ? part->level : LEVELS - 1];
}

/* Counts the requests of `other` that would also be suspects if this process opened one of `part` and died. */
static uint32_t open_beside(const struct once_partition *part, const struct once_partition *other)
{
    return other->producer == part->producer ? unsettled(other) : other->ledger.n_open;
}

/* Returns true if no other partition has an open suspect. If this process dies, the partition of the fatal request is
 * then known. */
static bool is_alone(const struct once *once, const struct once_partition *part)
{
    for (uint32_t i = 0; i < once->n_parts; i++) {
        const struct once_partition *other = once->parts[i];
        bool is_tried_alone = other != part && other->assigned && is_probing(other) && other->level;
        if (is_tried_alone && open_beside(part, other)) return false;
    }
    return true;
}

static bool may_probe(const struct once *once, const struct once_partition *part)
{
    return unsettled(part) < window_of(part) && (!part->level || is_alone(once, part));
}

bool poison_may_open(const struct once *once, const struct once_partition *part)
{
    return !is_probing(part) || may_probe(once, part);
}

/* Records the offset up to which requests may be open: these are the suspects if this owner dies. */
static enum poison_answer note_window(struct once *once, struct once_partition *part, int64_t end)
{
    struct ledger *ledger = &part->ledger;
    once_transact_wait(once); /* a running transaction must not commit values that may be reverted below */
    int64_t before = ledger->probe;
    uint32_t probes = ledger->probes;
    ledger->probe = end - 1;
    ledger->probes = part->level + 1;
    part->dirty = true;
    if (once_transact_one(part->producer) == ERR_OK) {
        part->noted = true;
        return POISON_OPEN;
    }
    ledger->probe = before;
    ledger->probes = probes;
    return POISON_LATER;
}

/* Resets the suspicion: the fatal request is known, but the others may contain another. */
static void start_over(struct once_partition *part)
{
    part->level = 0;
    part->noted = false;
    part->probe_end = part->alert_end;
    part->ledger.probe = -1;
    part->ledger.probes = 0;
}

enum poison_answer poison_ask(struct once *once, struct once_partition *part, int64_t offset)
{
    if (!is_probing(part)) return POISON_OPEN;
    if (ledger_is_finished(&part->ledger, offset)) return POISON_OPEN; /* shown as history only */
    if (part->level >= LEVELS && offset < part->probe_end) {
        start_over(part);
        return POISON_FOUND;
    }
    if (!may_probe(once, part)) return POISON_LATER;
    if (part->noted && offset <= part->ledger.probe) return POISON_OPEN;
    if (2 * unsettled(part) > window_of(part) || clock_now_ns() < part->producer->retry_ns)
        return POISON_LATER; /* batch the records; otherwise each request waits for a commit */
    return note_window(once, part, offset + window_of(part) - unsettled(part));
}
