/* A statement as a graph, for models that learn on graphs: the parse tree, and a smaller graph made from it.
 *
 * The smaller graph omits join constraints (ON, USING) with their subtrees, which are long and hold little information.
 * It also omits nodes that only wrap one child: an item, a list of one, the frame of a subquery. A clause with one
 * child stays, because its node is the keyword. An edge leads from each remaining node to its nearest remaining
 * descendants. Another chain of edges connects the leaves in the order of the text. Time and memory are linear in the
 * number of nodes, which the parser limits. */
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
    bool *kept;                    /* true if the smaller graph has it */
    struct sql_graph_edge *edges;  /* edges of the smaller graph: the downward ones, then the chain */
    uint32_t n_edges, n_chained;   /* number of all edges; number of those in the chain */
};

/* Makes the graph in the arena. Returns false if there is no tree or the arena is full. Thread: any. */
bool sql_graph_make(struct arena *arena, const struct sql_stmt *stmt, struct sql_graph *out);

/* Returns the type of a node, without names and values of the database: "binary <=", "call count distinct", "in not".
 * NULL if the arena is full. Thread: any. */
const char *sql_graph_type(struct arena *arena, const struct sql_node *node);

#endif
