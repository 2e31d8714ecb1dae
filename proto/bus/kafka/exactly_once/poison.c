/* DESIGN: finds requests that kill their owners. A commit counts the consecutive owners that died. From the third death
 * on, the requests that they had open are suspects. An owner then opens only WINDOWS[0] suspects at a time. It first
 * commits the end of the window, the offset below which they are. If this owner dies too, the fatal request is among
 * the few unfinished ones below that end. The next owner opens these one at a time (WINDOWS[1]).
 *
 * A request is dead-lettered if its owner dies twice while it is the only open one. The dead letter is sent in a
 * transaction like a verdict. That takes five deaths for the first such request, and three for each that follows it
 * closely.
 *
 * Finished suspects are cleared one by one. When all suspects are finished, none of them is fatal, and the partition is
 * read at full speed again. Owners that were killed from outside therefore cost little. A harmless request is
 * dead-lettered only if it was open alone at two consecutive deaths, and among a few at the death before. While the
 * suspects of one partition are opened one at a time, no other partition's suspects are.
 */
#include "proto/bus/kafka/exactly_once/once.h"

#include "lib/base/clock.h"
#include "proto/bus/kafka/crashes.h"

enum { LEVELS = 3 };
/* Maximum number of requests after those of its last commit that are suspected to have killed an owner. The owner may
 * have opened more. A fatal request among those kills again, and then becomes a suspect. */
enum { MAX_SUSPECTED = 256 };
/* number of suspects that may be open, by the number of owners that died of them */
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

/* Counts the open requests that are not settled. The producer's transaction that records the next window also finishes
 * the settled ones. */
static uint32_t unsettled(const struct once_partition *part)
{
    uint32_t open = part->ledger.n_open;
    return open > part->n_settled ? open - part->n_settled : 0;
}

static uint32_t window_of(const struct once_partition *part)
{
    return WINDOWS[part->level < LEVELS ? part->level : LEVELS - 1];
}

/* Counts the requests of `other` that would also be suspects if this process opened a request of `part` and then
 * died. */
static uint32_t open_beside(const struct once_partition *part, const struct once_partition *other)
{
    return other->producer == part->producer ? unsettled(other) : other->ledger.n_open;
}

/* Returns true if no other partition has an open suspect that is tried alone. If this process dies, the partition of
 * the fatal request is then known. */
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

/* Records the end of the offsets that may be open, in a commit. If this owner dies, the unfinished requests below it
 * are the suspects. */
static enum poison_answer note_window(struct once *once, struct once_partition *part, int64_t end)
{
    struct ledger *ledger = &part->ledger;
    once_transact_wait(once); /* a running transaction must not commit the values that may be restored below */
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

/* Starts the search again from the first level. One fatal request has been found, but the other suspects may include
 * another. */
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
    if (ledger_is_finished(&part->ledger, offset)) return POISON_OPEN; /* it is delivered only as history */
    if (part->level >= LEVELS && offset < part->probe_end) {
        start_over(part);
        return POISON_FOUND;
    }
    if (!may_probe(once, part)) return POISON_LATER;
    if (part->noted && offset <= part->ledger.probe) return POISON_OPEN;
    /* waits so that several requests share a commit; otherwise each request would wait for one */
    if (2 * unsettled(part) > window_of(part) || clock_now_ns() < part->producer->retry_ns) return POISON_LATER;
    return note_window(once, part, offset + window_of(part) - unsettled(part));
}
