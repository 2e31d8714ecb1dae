/* Deliberate faults in the exactly-once protocol, for testing its checker. In a build with -DASSAY_MUTATIONS=ON,
 * $ASSAY_MUTATION names the one guard that is disabled. In every other build MUTATED is false and costs nothing.
 *
 *    no_bitmap          commits store `low` but no finished requests above it
 *    end_instead_of_r   after a take-over, results are read from the end of their log
 *    metadata_anew      transactions carry no group membership, as after the member's removal from the group; a pause
 *                       before each transaction gives time for that removal
 *    index_keys         results match by the candidate's number, not by content
 *    no_flush           verdicts are sent shortly after the commit, which does not wait for them
 *    producer_reused    the producer is not replaced after an abort
 *    old_attempt        results match by request alone, not by candidate
 *    bit_before_commit  a request counts as finished before its commit has returned; every fourth commit is dropped
 *
 * $ASSAY_FAULT may name a fault that the intact protocol must survive: dropped_transactions drops every fourth
 * transaction.
 */
#ifndef ASSAY_PROTO_BUS_MUTATION_H
#define ASSAY_PROTO_BUS_MUTATION_H

#ifdef ASSAY_MUTATIONS
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline bool mutation_is_forced(const char *name)
{
    const char *chosen = getenv("ASSAY_FAULT");
    return chosen && strcmp(chosen, name) == 0;
}

/* Pauses for 50 ms, so that a concurrent event can happen meanwhile. */
static inline bool mutation_pause(void)
{
    const struct timespec moment = {.tv_nsec = 50000000};
    return nanosleep(&moment, NULL) == 0;
}

static inline bool mutation_is_on(const char *name)
{
    const char *chosen = getenv("ASSAY_MUTATION");
    return chosen && strcmp(chosen, name) == 0;
}
#define MUTATED(name) mutation_is_on(#name)
#define FORCED(name)  mutation_is_forced(#name)
#else
#define MUTATED(name)    0
#define FORCED(name)     0
#define mutation_pause() 0
#endif

#endif
