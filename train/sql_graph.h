/* A statement as a graph for models that learn on graphs: the tree, and a smaller graph of it.
 *
 * The smaller graph leaves out what says little and is long: join constraints (ON, USING) with all below them, and
 * nodes that only hand on to their one child (an item, a list of one, the frame of a subquery). A clause of one child
 * stays, for here the node is the keyword. An edge goes from each node that stays to those that stay nearest below it,
 * and the leaves are chained in the order of the text. Everything is linear in the nodes, of which the parser allows
 * few enough.
 */
#ifndef ASSAY_TRAIN_SQL_GRAPH_H
#define ASSAY_TRAIN_SQL_GRAPH_H

#include "lib/sql/sql.h"

struct sql_graph_edge {
    uint32_t from, to;
};

struct sql_graph {
    uint32_t n;                    /* nodes of the tree, in preorder */
    const struct sql_node **nodes; /* the root first */
    int64_t *parent;               /* index of the parent; -1 for the root */
    bool *kept;                    /* is it in the smaller graph? */
    struct sql_graph_edge *edges;  /* of the smaller graph: downwards first, then the chain of its leaves */
    uint32_t n_edges, n_chained;   /* all; those of the chain, which are the last */
};

/* Everything lives in the arena. False: there is no tree, or the arena is full. Thread: any. */
bool sql_graph_make(struct arena *arena, const struct sql_stmt *stmt, struct sql_graph *out);

/* What sort of node it is, without names and values of the database: "binary <=", "call count distinct", "in not".
 * NULL: the arena is full. Thread: any. */
const char *sql_graph_type(struct arena *arena, const struct sql_node *node);

#endif
