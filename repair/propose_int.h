/* Internal to repair/: the proposals being collected. */
#ifndef ASSAY_REPAIR_PROPOSE_INT_H
#define ASSAY_REPAIR_PROPOSE_INT_H

#include "repair/propose.h"

enum { REPAIR_MAX_SAID = 32 };

struct proposals {
    struct arena *arena;
    struct arena scratch; /* temporary memory of one inspection; reset between them */
    const struct schema_index *schema;
    const struct repair_query *query;
    const char *sql; /* the query's, NUL-terminated */
    const struct sql_stmt *stmt;
    const struct sql_bound *bound; /* NULL if not all names bind */
    struct repair_proposal *items;
    uint32_t n, room;
    const char *said[REPAIR_MAX_SAID]; /* texts of the query that the question says, in small letters */
    uint32_t n_said;
    uint32_t nodes_left; /* remaining budget of tree nodes for parsing queries: see repair_may_look */
};

/* True if the budget allows parsing and inspecting one more query of this size. Hostile SQL is large, and the time of
 * an inspection grows with its size. */
bool repair_may_look(struct proposals *p);

/* Adds a proposal, unless it equals the query or another proposal, or there are too many. Ignores a NULL `sql`. */
void repair_add(struct proposals *p, const char *sql, const char *reason);

/* Returns the text with bytes [start, end) replaced. NULL if the arena is full. */
const char *repair_replaced(struct arena *arena, const char *sql, uint32_t start, uint32_t end, const char *text);

/* Lists the texts that join a table to the block's FROM by a key of one column: " JOIN t ON a.x = t.y". Returns the
 * count. */
enum { REPAIR_MAX_JOINS = 4 };
uint32_t repair_joins_to(const struct proposals *p, const struct sql_block *block, const struct schema_table *table,
                         const char *out[REPAIR_MAX_JOINS]);
/* Returns the offset at which joins are inserted: the end of the block's FROM. */
uint32_t repair_end_of_from(const struct sql_block *block);

/* Proposes values of the question that the query lacks, and columns that fit its words better. */
void repair_propose_asked(struct proposals *p);
/* Find the texts of the query that the question says; test whether another query still has all of them. */
void repair_find_said(struct proposals *p);
bool repair_keeps_said(const struct proposals *p, const char *sql);

/* Proposes repairs of names that do not bind: other names, tables that have them, a count for a made-up column of ORDER
 * BY. */
void repair_propose_names(struct proposals *p, const struct sql_bound *bound);

#endif
