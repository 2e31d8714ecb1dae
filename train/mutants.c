#include "train/mutants.h"

#include "lib/learn/metrics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- sampling --- */

/* Kinds of mutation that may leave the result unchanged. Changes of joins, groups and repeated rows often do. Changes
 * of values, columns, limits and measures never do. */
static const bool may_agree[SQL_MUTATOR_COUNT] = {
    [SQL_MUTATE_swap_items] = true,     [SQL_MUTATE_add_group] = true,
    [SQL_MUTATE_drop_group] = true,     [SQL_MUTATE_toggle_distinct] = true,
    [SQL_MUTATE_count_what] = true,     [SQL_MUTATE_outer_join] = true,
    [SQL_MUTATE_set_both] = true,       [SQL_MUTATE_null_extreme] = true,
    [SQL_MUTATE_drop_join] = true,      [SQL_MUTATE_percentage_integer_division] = true,
    [SQL_MUTATE_drop_order] = true,     [SQL_MUTATE_column_other_table] = true,
    [SQL_MUTATE_change_group] = true,   [SQL_MUTATE_group_key] = true,
    [SQL_MUTATE_said_with_care] = true,
};

bool mutants_may_agree(enum sql_mutator op)
{
    return op < SQL_MUTATOR_COUNT && may_agree[op];
}

/* RAREST limits the weight of a rare kind, relative to a kind that every question has. Each further mutant of a kind
 * has 1 / AGAIN of the weight. */
enum { RAREST = 40, AGAIN = 4 };

struct drawn {
    double key;
    uint32_t index;
};

static int by_key(const void *a, const void *b)
{
    const struct drawn *x = a, *y = b;
    if (x->key != y->key) return x->key < y->key ? -1 : 1;
    return x->index < y->index ? -1 : 1;
}

/* Samples by weight, without replacement: orders the mutants by -log(u) / weight, smallest first. */
void mutants_order(const struct mutant_kinds *kinds, const struct sql_mutation *mutants, uint32_t n, uint64_t seed,
                   uint32_t *order)
{
    uint32_t seen[SQL_MUTATOR_COUNT] = {0};
    struct drawn *drawn = malloc((n + 1) * sizeof *drawn);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t with = kinds->with[mutants[i].op] + 1, again = seen[mutants[i].op]++;
        double weight = fmin(RAREST, ((double)kinds->questions + 1) / with) / pow(AGAIN, again);
        order[i] = i;
        if (drawn) drawn[i] = (struct drawn){-log(learn_random_unit(&seed) + 1e-12) / weight, i};
    }
    if (drawn) qsort(drawn, n, sizeof *drawn, by_key);
    for (uint32_t i = 0; drawn && i < n; i++) order[i] = drawn[i].index;
    free(drawn);
}
