/* Mutants of correct SQL, each with one plausible error of text-to-SQL systems.
 *
 * Every operator takes a correct, bound statement and changes one thing that models get wrong: a literal, a column, a
 * join, a clause. A mutant parses and binds against the same catalog, differs from the original in normal form, and is
 * named after its operator. The mutator does not run mutants. The caller must check whether the *result* of a mutant
 * differs, too. The same statement, environment and seed give the same mutants, in the same order. Thread: any; no
 * state. */
#ifndef ASSAY_LIB_SQL_MUTATE_H
#define ASSAY_LIB_SQL_MUTATE_H

#include "lib/sql/bind.h"

/* name, description of the error */
#define SQL_MUTATORS(X)                                                                                                \
    X(drop_condition, "a condition of WHERE or HAVING is forgotten")                                                   \
    X(add_condition, "a condition that nobody asked for")                                                              \
    X(change_comparison, "another comparison operator")                                                                \
    X(negate, "a test is negated, or its negation lost")                                                               \
    X(literal_value, "another value of the same column")                                                               \
    X(literal_case, "the value in other letter case")                                                                  \
    X(literal_plural, "the value in singular for plural, or the reverse")                                              \
    X(literal_number, "a number off by one")                                                                           \
    X(like_pattern, "LIKE without its wildcards")                                                                      \
    X(column_sibling, "another column of the same table")                                                              \
    X(column_other_table, "the column of that name in another table")                                                  \
    X(string_column, "a misspelt column in double quotes, which SQLite reads as a string")                             \
    X(change_aggregate, "another aggregate function")                                                                  \
    X(count_what, "COUNT of rows for COUNT of distinct values, or the reverse")                                        \
    X(toggle_distinct, "DISTINCT added or forgotten")                                                                  \
    X(drop_order, "ORDER BY is forgotten")                                                                             \
    X(reverse_order, "ascending for descending, or the reverse")                                                       \
    X(change_limit, "another LIMIT")                                                                                   \
    X(drop_limit, "LIMIT is forgotten")                                                                                \
    X(add_limit, "LIMIT 1 although all were asked for")                                                                \
    X(drop_join, "a joined table is left out, with what depends on it")                                                \
    X(add_join, "a superfluous join along a foreign key")                                                              \
    X(wrong_join_column, "a join on another column")                                                                   \
    X(flip_join_column, "the other one of two foreign keys to the same table")                                         \
    X(drop_join_condition, "a join without its condition")                                                             \
    X(outer_join, "LEFT JOIN for JOIN, or the reverse")                                                                \
    X(drop_group, "GROUP BY is forgotten")                                                                             \
    X(add_group, "GROUP BY nobody asked for")                                                                          \
    X(change_group, "GROUP BY another column")                                                                         \
    X(drop_having, "HAVING is forgotten")                                                                              \
    X(change_having, "another threshold in HAVING")                                                                    \
    X(swap_and_or, "AND for OR, or the reverse")                                                                       \
    X(change_set_operator, "another set operation")                                                                    \
    X(drop_set_arm, "one side of a set operation is left out")                                                         \
    X(add_item, "a column that nobody asked for")                                                                      \
    X(drop_item, "a column is left out of the result")                                                                 \
    X(swap_items, "two columns of the result in the wrong order")                                                      \
    X(subquery_to_literal, "a value made up in place of the subquery that finds it")                                   \
    X(null_extreme, "the extreme is asked of rows without a value, too")                                               \
    X(count_vs_sum, "rows are counted where a column holds the number, or the reverse")                                \
    X(group_key, "groups by the name for the key, or the reverse")                                                     \
    X(ratio_inverted, "a share or difference the wrong way round")                                                     \
    X(self_join_relation, "source for destination, home for away")                                                     \
    X(text_number, "numbers compared or sorted as text")                                                               \
    X(wrong_join_path, "another way from table to table")                                                              \
    X(negation_scope, "the condition negated row by row for the whole that has none")                                  \
    X(contradicted_value, "another of the few values of a column")                                                     \
    X(value_in_other_column, "the value looked for in another column")                                                 \
    X(superlative_on_wrong_column, "the extreme of another column")                                                    \
    X(percentage_integer_division, "a quotient cut to a whole number")                                                 \
    X(boundary, "the limit itself taken in, or left out")                                                              \
    X(never_vs_not_all, "some that are not for none that are")                                                         \
    X(set_both, "both at once, or one of both, for two sets compared")                                                 \
    X(fan_out_aggregate, "rows multiplied by a join before they are counted")                                          \
    X(top_per_group, "the extreme of all for that of each group")                                                      \
    X(wrong_entity, "rows of another table")                                                                           \
    X(wrong_projection, "another column of the same kind shown")                                                       \
    X(date_part, "another part of a date, or another date")                                                            \
    X(units, "a number in another unit")                                                                               \
    X(having_vs_where, "a condition on rows for one on groups, or the reverse")                                        \
    X(said_with_care, "the same by another form, most often: without NULL, cast, keys counted")                        \
    X(idle_condition, "a condition that nearly every row meets, in place of the one asked for")

enum sql_mutator {
#define X(name, what) SQL_MUTATE_##name,
    SQL_MUTATORS(X)
#undef X
        SQL_MUTATOR_COUNT
};

/* One foreign key column pair: `table.column` refers to `ref_table.ref_column` (catalog ids). */
struct sql_mutate_key {
    int table, column, ref_table, ref_column;
};

/* Traits of a column's values, as bits. */
enum sql_trait {
    SQL_TRAIT_NUMBER = 1U << 0, /* numbers, not a key */
    SQL_TRAIT_TEXT = 1U << 1,   /* words, not a key */
    SQL_TRAIT_KEY = 1U << 2,    /* identifies rows of this table or of another */
    SQL_TRAIT_DATE = 1U << 3,
    SQL_TRAIT_FEW = 1U << 4 /* few distinct values */
};

/* The schema and the data of a database, as mutation reads them. */
struct sql_mutate_env {
    const struct sql_catalog *catalog;
    const struct sql_mutate_key *keys;
    uint32_t n_keys;
    const void *self;
    /* Returns some value of that column as SQL literal text ('France', 42), in the arena; equal draws give equal
     * values. Returns NULL if there is none. May be NULL: literals then change only in ways that need no data. */
    const char *(*sample_value)(const void *self, struct arena *arena, int table, int column, uint64_t draw);
    /* Returns the traits (enum sql_trait) of a column. May be NULL: operators that need them then yield nothing. */
    unsigned (*traits)(const void *self, int table, int column);
};

struct sql_mutation {
    enum sql_mutator op;
    const char *sql;     /* NUL-terminated, in the arena */
    uint32_t start, end; /* bytes of `sql` with the error: the changed node, or the parent of a removed one */
};

const char *sql_mutator_name(enum sql_mutator op);
const char *sql_mutator_meaning(enum sql_mutator op);

/* Makes up to `n` distinct mutants (0 for all), chosen by `seed`. Operators alternate, so that none dominates. `bound`
 * must have no diagnostics. Returns the count, or -1 if the arena is full. */
int sql_mutate(struct arena *arena, const struct sql_bound *bound, const struct sql_mutate_env *env, uint64_t seed,
               uint32_t n, struct sql_mutation **out);

#endif
