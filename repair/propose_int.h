/* Internal to repair/: the collection of proposals. */
#ifndef ASSAY_REPAIR_PROPOSE_INT_H
#define ASSAY_REPAIR_PROPOSE_INT_H

#include "repair/propose.h"

enum { REPAIR_MAX_SAID = 32 };

struct proposals {
    struct arena *arena;
    struct arena scratch; /* temporary memory for inspecting one query; reset afterwards */
    const struct schema_index *schema;
    const struct repair_query *query;
    const char *sql; /* text of the query, NUL-terminated */
    const struct sql_stmt *stmt;
    const struct sql_bound *bound; /* NULL if a name does not bind */
    struct repair_proposal *items;
    uint32_t n, room;
    const char *said[REPAIR_MAX_SAID]; /* texts of the query that the question contains too, in lower case */
    uint32_t n_said;
    uint32_t nodes_left; /* remaining budget of tree nodes for parsing queries (see repair_may_look) */
};

/* True if the budget allows parsing and inspecting one more query. The budget is needed because hostile SQL may be
 * large, and the time of an inspection grows with its size. */
bool repair_may_look(struct proposals *p);

/* Adds a proposal. Ignores it if it equals the query or another proposal, or if there are too many. Ignores a NULL
 * `sql`. */
void repair_add(struct proposals *p, const char *sql, const char *reason);

/* Returns the text with bytes [start, end) replaced. Returns NULL if the arena is full. */
const char *repair_replaced(struct arena *arena, const char *sql, uint32_t start, uint32_t end, const char *text);

/* Lists the joins that connect a table to the block's FROM by a key of one column, as texts: " JOIN t ON a.x = t.y".
 * Returns their number. */
enum { REPAIR_MAX_JOINS = 4 };
uint32_t repair_joins_to(const struct proposals *p, const struct sql_block *block, const struct schema_table *table,
                         const char *out[REPAIR_MAX_JOINS]);
/* Returns the offset at which joins are inserted: the end of the FROM clause. */
uint32_t repair_end_of_from(const struct sql_block *block);

/* Proposes conditions with values of the question that the query lacks. Also proposes columns that fit the question's
 * words better, and columns that the result lacks. */
void repair_propose_asked(struct proposals *p);
/* repair_find_said finds the texts of the query that the question contains too. repair_keeps_said returns true if
 * another query still has all of them. */
void repair_find_said(struct proposals *p);
bool repair_keeps_said(const struct proposals *p, const char *sql);

/* Proposes repairs of names that do not bind: other names, joins with tables that have the name, and COUNT(*) for an
 * invented column in ORDER BY or HAVING. */
void repair_propose_names(struct proposals *p, const struct sql_bound *bound);

#endif
