/* Mutants of a gold query, against its database: candidates where a log has none. */
#ifndef ASSAY_TRAIN_MUTANTS_H
#define ASSAY_TRAIN_MUTANTS_H

#include "lib/schema/schema.h"
#include "lib/sql/mutate.h"

/* Up to n mutants of `sql` (which must outlive the arena's use), drawn by `seed`. `values`: may they hold values of the
 * data, as the index has them? Count; -1 with `err` set when the SQL
 * does not parse or bind, or memory is short. Thread: any. */
int mutants_make(struct arena *arena, const struct schema_index *index, bool values, const char *sql, size_t len,
                 uint64_t seed, uint32_t n, struct sql_mutation **out, struct err *err);

/* How many questions have mutants of each kind: so that rare kinds may be drawn as often as common ones. */
struct mutant_kinds {
    uint32_t questions, with[SQL_MUTATOR_COUNT];
};

/* May such a mutant mean the same as the original, so that its equal result is no accident of the data? */
bool mutants_may_agree(enum sql_mutator op);

/* An order in which to take n mutants (as sql_mutate gives them): at random, rare kinds before common ones, and the
 * first of a kind before its second. order[n]; seeded. */
void mutants_order(const struct mutant_kinds *kinds, const struct sql_mutation *mutants, uint32_t n, uint64_t seed,
                   uint32_t *order);

#endif
