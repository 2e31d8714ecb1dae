/* Selects mutants of a gold query (lib/schema/edits.h) for training, as candidates if a log has none. */
#ifndef ASSAY_TRAIN_MUTANTS_H
#define ASSAY_TRAIN_MUTANTS_H

#include "lib/schema/edits.h"

/* Number of questions with mutants of each kind, so that rare kinds may be drawn as often as common ones. */
struct mutant_kinds {
    uint32_t questions, with[SQL_MUTATOR_COUNT];
};

/* True if such a mutant may mean the same as the original, so that an equal result is not due to chance. */
bool mutants_may_agree(enum sql_mutator op);

/* Orders n mutants of sql_mutate at random, with a seed. Rare kinds tend to come before common ones, and the first of a
 * kind before its second. Fills order[n]. */
void mutants_order(const struct mutant_kinds *kinds, const struct sql_mutation *mutants, uint32_t n, uint64_t seed,
                   uint32_t *order);

#endif
