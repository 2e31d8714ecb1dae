/* Rates the difficulty of a question by its gold query, in the four levels of Spider (Yu et al. 2018). The counting
 * follows the rules of Spider's published evaluation, applied to the syntax tree of lib/sql. */
#ifndef ASSAY_EVAL_DIFFICULTY_H
#define ASSAY_EVAL_DIFFICULTY_H

#include "lib/sql/sql.h"

enum difficulty {
    DIFFICULTY_EASY,
    DIFFICULTY_MEDIUM,
    DIFFICULTY_HARD,
    DIFFICULTY_EXTRA,
    DIFFICULTY_UNKNOWN, /* the gold query does not parse, or is not a SELECT */
    DIFFICULTY_COUNT
};

const char *difficulty_name(enum difficulty difficulty); /* "easy" ... "unknown" */

/* The counts that decide the level. */
struct difficulty_counts {
    unsigned component1; /* WHERE, GROUP BY, ORDER BY, LIMIT, joins, OR, LIKE */
    unsigned component2; /* set operations and nested queries */
    /* number of kinds that occur more than once: aggregates, select columns, conditions, group columns */
    unsigned others;
};

/* Counts a whole statement. Returns false if it is not a SELECT. Thread: any. */
bool difficulty_count(const struct sql_node *root, struct difficulty_counts *out);
enum difficulty difficulty_level(const struct difficulty_counts *counts);

/* Returns the level of a gold query's text. */
enum difficulty difficulty_of(const char *sql, size_t len);

#endif
