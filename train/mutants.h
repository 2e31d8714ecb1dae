/* Selects mutants of a gold query (lib/schema/edits.h). They serve as training candidates where a log has none. */
#ifndef ASSAY_TRAIN_MUTANTS_H
#define ASSAY_TRAIN_MUTANTS_H

#include "lib/schema/edits.h"

/* Number of questions with mutants of each kind, so that rare kinds may be drawn as often as common ones. */
struct mutant_kinds {
    uint32_t questions, with[SQL_MUTATOR_COUNT];
};

/* True if a mutant of this kind may mean the same as the original. If its result is equal, this is then no
 * coincidence. */
bool mutants_may_agree(enum sql_mutator op);

/* Orders n mutants of sql_mutate at random, reproducibly for a seed. Rare kinds tend to come before common ones, and
 * the first of a kind before its second. Fills order[n]. */
void mutants_order(const struct mutant_kinds *kinds, const struct sql_mutation *mutants, uint32_t n, uint64_t seed,
                   uint32_t *order);

#endif
