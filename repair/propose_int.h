/* Inside repair/: proposals as they are collected. */
#ifndef ASSAY_REPAIR_PROPOSE_INT_H
#define ASSAY_REPAIR_PROPOSE_INT_H

#include "repair/propose.h"

struct proposals {
    struct arena *arena;
    const struct schema_index *schema;
    const struct repair_query *query;
    const char *sql; /* the query's, NUL-terminated */
    const struct sql_stmt *stmt;
    struct repair_proposal *items;
    uint32_t n, room;
};

/* One more, unless it is the query itself, there already, or too many. NULL: nothing. */
void repair_add(struct proposals *p, const char *sql, const char *reason);

/* The text with bytes [start, end) replaced. NULL when the arena is full. */
const char *repair_replaced(struct arena *arena, const char *sql, uint32_t start, uint32_t end, const char *text);

/* For a query whose names do not all bind: other names, tables that hold them, a count for a made-up column of ORDER BY. */
void repair_propose_names(struct proposals *p, const struct sql_bound *bound);

#endif
