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
enum { SUSPECTS = 256 };
static const uint32_t WINDOWS[LEVELS] = {16, 1, 1}; /* suspects open at a time, by how many owners died of that */

/* --- what the owners before died of --- */

void suspects_count_death(struct once_home *home)
{
    struct ledger *ledger = &home->ledger;
    home->alert_end =
        ledger->reopen_end + SUSPECTS < home->before_end ? ledger->reopen_end + SUSPECTS : home->before_end;
    ledger->crashes++;
}

void suspects_recall(struct once_home *home)
{
    struct ledger *ledger = &home->ledger;
    bool written = ledger->probe >= 0;
    if (written && ledger->low > ledger->probe) {
        ledger->crashes = 1;
        ledger->probes = 0;
        ledger->probe = -1;
    }
    home->level = ledger->probes;
    home->suspects_end = ledger->probe >= 0 ? ledger->probe + 1 : home->alert_end;
    home->noted = false;
}

void suspects_clear(struct once_home *home)
{
    home->ledger.crashes = home->ledger.probes = 0;
    home->ledger.probe = -1;
    home->dirty = true;
}

void suspects_clear_sound(struct once *once, int64_t now)
{
    for (uint32_t i = 0; i < once->n_homes; i++) {
        struct once_home *home = once->homes[i];
        if (!home->assigned || home->sound) continue;
        bool past = crashes_must_probe(home->ledger.crashes) && home->ledger.low >= home->suspects_end;
        if (!past && !crashes_is_sound(home->since_ns, now)) continue;
        home->sound = true;
        suspects_clear(home);
    }
}

/* --- what is opened --- */

static bool is_probing(const struct once_home *home)
{
    return !home->sound && crashes_must_probe(home->ledger.crashes);
}

/* What is settled is finished by the transaction that writes down what is opened next. */
static uint32_t unsettled(const struct once_home *home)
{
    uint32_t open = home->ledger.n_open;
    return open > home->n_settled ? open - home->n_settled : 0;
}

static uint32_t window_of(const struct once_home *home)
{
    return WINDOWS[home->level < LEVELS ? home->level : LEVELS - 1];
}

/* Is no other partition's suspect open? If this process dies, it is known of which. */
static bool is_alone(const struct once *once, const struct once_home *home)
{
    for (uint32_t i = 0; i < once->n_homes; i++) {
        const struct once_home *other = once->homes[i];
        if (other != home && other->assigned && is_probing(other) && other->level && unsettled(other)) return false;
    }
    return true;
}

static bool may_probe(const struct once *once, const struct once_home *home)
{
    return unsettled(home) < window_of(home) && (!home->level || is_alone(once, home));
}

bool suspects_let_open(const struct once *once, const struct once_home *home)
{
    return !is_probing(home) || may_probe(once, home);
}

/* Up to which offset so many may be open, all of them together: that is what this owner may have died of. */
static enum suspects_answer note_window(struct once *once, struct once_home *home, int64_t end)
{
    struct ledger *ledger = &home->ledger;
    int64_t before = ledger->probe;
    uint32_t probes = ledger->probes;
    ledger->probe = end - 1;
    ledger->probes = home->level + 1;
    home->dirty = true;
    if (once_transact(once) == ERR_OK) {
        home->noted = true;
        return SUSPECTS_OPEN;
    }
    ledger->probe = before;
    ledger->probes = probes;
    return SUSPECTS_LATER;
}

/* It is known which one it was; the others may hide another. */
static void start_over(struct once_home *home)
{
    home->level = 0;
    home->noted = false;
    home->suspects_end = home->alert_end;
    home->ledger.probe = -1;
    home->ledger.probes = 0;
}

enum suspects_answer suspects_ask(struct once *once, struct once_home *home, int64_t offset)
{
    if (!is_probing(home)) return SUSPECTS_OPEN;
    if (ledger_is_finished(&home->ledger, offset)) return SUSPECTS_OPEN; /* only shown */
    if (home->level >= LEVELS && offset < home->suspects_end) {
        start_over(home);
        return SUSPECTS_POISON;
    }
    if (!may_probe(once, home)) return SUSPECTS_LATER;
    if (home->noted && offset <= home->ledger.probe) return SUSPECTS_OPEN;
    if (2 * unsettled(home) > window_of(home) || clock_now_ns() < once->retry_ns)
        return SUSPECTS_LATER; /* or each waits for a commit */
    return note_window(once, home, offset + window_of(home) - unsettled(home));
}
