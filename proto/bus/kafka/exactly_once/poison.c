/* DESIGN: requests that kill whoever opens them. A commit counts owners that died in a row. From the third on, what
 * they had open is suspected. It is opened WINDOWS[0] at a time, and the end of what may be open is written down first;
 * so if this owner dies too, what it was is among those few that are not finished below that end, and the next owner
 * opens these alone, WINDOWS[1] at a time.
 *
 * One whose owner dies when it was the only one, twice, goes to the dead letters, in a transaction like a verdict: five
 * deaths for the first, three for each that follows it closely. What is finished is cleared, one by one; when all that
 * were suspected are finished, nothing of them kills, and the partition is read at full speed again. So owners that are
 * killed from outside cost little, and a sound request becomes a letter only if it was open alone for two deaths in a
 * row and among a few at the one before: while one of a partition is tried alone, no other partition's is.
 */
#include "proto/bus/kafka/exactly_once/once.h"

#include "lib/base/clock.h"
#include "proto/bus/kafka/crashes.h"

enum { LEVELS = 3 };
/* How many requests past those of its last commit an owner is suspected to have died of. More were perhaps opened; one
 * that kills again is among the suspects sooner or later. */
enum { MAX_SUSPECTED = 256 };
static const uint32_t WINDOWS[LEVELS] = {16, 1, 1}; /* suspects open at a time, by how many owners died of that */

/* --- what the owners before died of --- */

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

/* --- what is opened --- */

static bool is_probing(const struct once_partition *part)
{
    return !part->sound && crashes_must_probe(part->ledger.crashes);
}

/* What is settled is finished by the transaction of its producer that writes down what is opened next. */
static uint32_t unsettled(const struct once_partition *part)
{
    uint32_t open = part->ledger.n_open;
    return open > part->n_settled ? open - part->n_settled : 0;
}

static uint32_t window_of(const struct once_partition *part)
{
    return WINDOWS[part->level < LEVELS ? part->level : LEVELS - 1];
}

/* How many of `other` this process would be said to have died of besides, if it opened one of `part` and died. */
static uint32_t open_beside(const struct once_partition *part, const struct once_partition *other)
{
    return other->producer == part->producer ? unsettled(other) : other->ledger.n_open;
}

/* Is no other partition's suspect open? If this process dies, it is known of which. */
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

/* Up to which offset so many may be open, all of them together: that is what this owner may have died of. */
static enum poison_answer note_window(struct once *once, struct once_partition *part, int64_t end)
{
    struct ledger *ledger = &part->ledger;
    once_transact_wait(once); /* it is not to say what this one may fail to say */
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

/* It is known which one it was; the others may hide another. */
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
    if (ledger_is_finished(&part->ledger, offset)) return POISON_OPEN; /* only shown */
    if (part->level >= LEVELS && offset < part->probe_end) {
        start_over(part);
        return POISON_FOUND;
    }
    if (!may_probe(once, part)) return POISON_LATER;
    if (part->noted && offset <= part->ledger.probe) return POISON_OPEN;
    if (2 * unsettled(part) > window_of(part) || clock_now_ns() < part->producer->retry_ns)
        return POISON_LATER; /* or each waits for a commit */
    return note_window(once, part, offset + window_of(part) - unsettled(part));
}
