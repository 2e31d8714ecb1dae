/* How hard a question is, by the shape of its gold query: the four levels of Spider (Yu et al. 2018), by the rules that
 * its evaluation publishes, on our tree. */
#ifndef ASSAY_EVAL_DIFFICULTY_H
#define ASSAY_EVAL_DIFFICULTY_H

#include "lib/sql/sql.h"

enum difficulty {
    DIFFICULTY_EASY,
    DIFFICULTY_MEDIUM,
    DIFFICULTY_HARD,
    DIFFICULTY_EXTRA,
    DIFFICULTY_UNKNOWN, /* the gold query does not parse, or is no SELECT */
    DIFFICULTY_COUNT
};

const char *difficulty_name(enum difficulty difficulty); /* "easy" ... "unknown" */

/* What the levels are made of. */
struct difficulty_counts {
    unsigned component1; /* WHERE, GROUP BY, ORDER BY, LIMIT, joins, OR, LIKE */
    unsigned component2; /* set operations and nested queries */
    unsigned others;     /* of: several aggregates, select columns, conditions, group columns */
};

/* Of a whole statement; false: it is no SELECT. Thread: any. */
bool difficulty_count(const struct sql_node *root, struct difficulty_counts *out);
enum difficulty difficulty_level(const struct difficulty_counts *counts);

/* Of a gold query's text. */
enum difficulty difficulty_of(const char *sql, size_t len);

#endif
