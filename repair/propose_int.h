/* Inside repair/: proposals as they are collected. */
#ifndef ASSAY_REPAIR_PROPOSE_INT_H
#define ASSAY_REPAIR_PROPOSE_INT_H

#include "repair/propose.h"

enum { REPAIR_MAX_SAID = 32 };

struct proposals {
    struct arena *arena;
    struct arena scratch; /* of one look at a query; empty between them */
    const struct schema_index *schema;
    const struct repair_query *query;
    const char *sql; /* the query's, NUL-terminated */
    const struct sql_stmt *stmt;
    const struct sql_bound *bound; /* NULL: not all names bind */
    struct repair_proposal *items;
    uint32_t n, room;
    const char *said[REPAIR_MAX_SAID]; /* texts of the query that the question says, in small letters */
    uint32_t n_said;
    uint32_t nodes_left; /* of the trees that may still be made to look at queries: see repair_may_look */
};

/* May one more query like this one be parsed and looked at? Hostile SQL is large, and each look takes time by its size. */
bool repair_may_look(struct proposals *p);

/* One more, unless it is the query itself, there already, or too many. NULL: nothing. */
void repair_add(struct proposals *p, const char *sql, const char *reason);

/* The text with bytes [start, end) replaced. NULL when the arena is full. */
const char *repair_replaced(struct arena *arena, const char *sql, uint32_t start, uint32_t end, const char *text);

/* The texts that join a table to the block's FROM by a key of one column: " JOIN t ON a.x = t.y". Count. */
enum { REPAIR_MAX_JOINS = 4 };
uint32_t repair_joins_to(const struct proposals *p, const struct sql_block *block, const struct schema_table *table,
                         const char *out[REPAIR_MAX_JOINS]);
/* Where they are put: the end of its FROM. */
uint32_t repair_end_of_from(const struct sql_block *block);

/* What the question says and the query does not: its values, and columns that its words mean rather. */
void repair_propose_asked(struct proposals *p);
/* Find them; and does another query still hold them all? */
void repair_find_said(struct proposals *p);
bool repair_keeps_said(const struct proposals *p, const char *sql);

/* For a query whose names do not all bind: other names, tables that hold them, a count for a made-up column of ORDER BY. */
void repair_propose_names(struct proposals *p, const struct sql_bound *bound);

#endif
