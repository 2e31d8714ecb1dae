/* The components of a query: some sixty yes/no facts about the constructs that it uses.
 *
 * The words of a question suggest components: "how many" suggests an aggregate, and "or" suggests a union or an OR. A
 * model can learn the components from a few thousand questions. They still distinguish a query from similar wrong
 * queries. A fact covers the whole statement with its subqueries. A fact whose name begins with `answer_` covers only
 * the statement's first SELECT. */
#ifndef ASSAY_LIB_SQL_COMPONENTS_H
#define ASSAY_LIB_SQL_COMPONENTS_H

#include "lib/sql/bind.h"

/* Id, name, group. Ids occur in stored messages and model files: append new ones only, and never reuse one. */
#define SQL_COMPONENTS(X)                                                                                              \
    X(0, answer_count, AGGREGATE)                                                                                      \
    X(1, answer_sum, AGGREGATE)                                                                                        \
    X(2, answer_avg, AGGREGATE)                                                                                        \
    X(3, answer_max, AGGREGATE)                                                                                        \
    X(4, answer_min, AGGREGATE)                                                                                        \
    X(5, answer_only_aggregates, AGGREGATE)                                                                            \
    X(6, answer_column_and_aggregate, AGGREGATE)                                                                       \
    X(7, count_distinct, AGGREGATE)                                                                                    \
    X(8, answer_distinct, ITEMS)                                                                                       \
    X(9, answer_one_item, ITEMS)                                                                                       \
    X(10, answer_two_items, ITEMS)                                                                                     \
    X(11, answer_many_items, ITEMS)                                                                                    \
    X(12, answer_star, ITEMS)                                                                                          \
    X(13, answer_key, ITEMS)                                                                                           \
    X(14, answer_computed, ITEMS)                                                                                      \
    X(15, one_table, FROM)                                                                                             \
    X(16, two_tables, FROM)                                                                                            \
    X(17, three_tables, FROM)                                                                                          \
    X(18, many_tables, FROM)                                                                                           \
    X(19, self_join, FROM)                                                                                             \
    X(20, outer_join, FROM)                                                                                            \
    X(21, derived_table, FROM)                                                                                         \
    X(22, no_condition, CONDITION)                                                                                     \
    X(23, one_condition, CONDITION)                                                                                    \
    X(24, two_conditions, CONDITION)                                                                                   \
    X(25, many_conditions, CONDITION)                                                                                  \
    X(26, equals_text, CONDITION)                                                                                      \
    X(27, equals_number, CONDITION)                                                                                    \
    X(28, greater, CONDITION)                                                                                          \
    X(29, greater_equal, CONDITION)                                                                                    \
    X(30, less, CONDITION)                                                                                             \
    X(31, less_equal, CONDITION)                                                                                       \
    X(32, not_equal, CONDITION)                                                                                        \
    X(33, between, CONDITION)                                                                                          \
    X(34, like, CONDITION)                                                                                             \
    X(35, in_list, CONDITION)                                                                                          \
    X(36, either, CONDITION)                                                                                           \
    X(37, negation, CONDITION)                                                                                         \
    X(38, is_null, CONDITION)                                                                                          \
    X(39, in_subquery, NESTING)                                                                                        \
    X(40, not_in_subquery, NESTING)                                                                                    \
    X(41, exists_subquery, NESTING)                                                                                    \
    X(42, compares_subquery, NESTING)                                                                                  \
    X(43, compares_average, NESTING)                                                                                   \
    X(44, compares_extreme, NESTING)                                                                                   \
    X(45, grouped, GROUPING)                                                                                           \
    X(46, grouped_by_many, GROUPING)                                                                                   \
    X(47, having, GROUPING)                                                                                            \
    X(48, having_count, GROUPING)                                                                                      \
    X(49, having_other, GROUPING)                                                                                      \
    X(50, ordered, ORDERING)                                                                                           \
    X(51, descending, ORDERING)                                                                                        \
    X(52, ascending, ORDERING)                                                                                         \
    X(53, ordered_by_count, ORDERING)                                                                                  \
    X(54, ordered_by_aggregate, ORDERING)                                                                              \
    X(55, limit_one, ORDERING)                                                                                         \
    X(56, limit_many, ORDERING)                                                                                        \
    X(57, union_of, SETS)                                                                                              \
    X(58, intersection, SETS)                                                                                          \
    X(59, difference, SETS)                                                                                            \
    X(60, case_or_filter, ITEMS)                                                                                       \
    X(61, window, ITEMS)

enum sql_component {
#define X(id, name, group) SQL_HAS_##name = (id),
    SQL_COMPONENTS(X)
#undef X
        SQL_COMPONENT_COUNT
};
_Static_assert(SQL_COMPONENT_COUNT <= 64, "a set of components is one word");

enum sql_component_group {
    SQL_PART_AGGREGATE,
    SQL_PART_ITEMS,
    SQL_PART_FROM,
    SQL_PART_CONDITION,
    SQL_PART_NESTING,
    SQL_PART_GROUPING,
    SQL_PART_ORDERING,
    SQL_PART_SETS,
    SQL_PART_COUNT
};

/* Returns a bit mask: bit i is set if the statement has the component with id i. `bound` may have diagnostics;
 * unresolved names are ignored. The size of the tree bounds the time. Thread: any; pure. */
uint64_t sql_components(const struct sql_bound *bound);

const char *sql_component_name(enum sql_component component);
enum sql_component_group sql_component_group_of(enum sql_component component);

#endif
