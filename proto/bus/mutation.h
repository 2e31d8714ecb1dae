/* Breaking the exactly-once protocol on purpose, so that its checker can be checked: in a build with
 * -DASSAY_MUTATIONS=ON, $ASSAY_MUTATION names the one guard that is left out. In every other build MUTATED is false and
 * costs nothing.
 *
 *   no_bitmap          commits say low and nothing of what is finished above it
 *   end_instead_of_r   results are read from their end after a take-over
 *   metadata_anew      transactions carry the membership of nobody, as after the member was removed from the group;
 *                      and a moment passes before each, in which it may be
 *   index_keys         results match by the candidate's number, not by content
 *   no_flush           verdicts are sent a moment after the commit, and not waited for
 *   producer_reused    the producer goes on after an abort
 *   old_attempt        results match by request alone, whatever they are about
 *   bit_before_commit  a request counts as finished before its commit has returned; every fourth one is dropped
 *
 * And one fault that the intact protocol must survive, as $ASSAY_FAULT: dropped_transactions, every fourth one.
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

/* A moment for something to happen in. */
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
