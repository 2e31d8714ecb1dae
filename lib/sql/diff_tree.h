/* Internal to tree differencing: the trees as preorder arrays, and the matching between them. diff_match.c finds
 * partners, diff.c makes the script, diff_apply.c applies it. */
#ifndef ASSAY_LIB_SQL_DIFF_TREE_H
#define ASSAY_LIB_SQL_DIFF_TREE_H

#include "lib/sql/diff.h"

enum { DIFF_NONE = -1 };

struct diff_node {
    const struct sql_node *node;
    int parent;      /* index, or DIFF_NONE at the root */
    int partner;     /* index in the other tree, or DIFF_NONE */
    uint32_t size;   /* nodes of the subtree */
    uint32_t index;  /* index among the parent's kids, counting empty slots */
    uint32_t height; /* 1 for a leaf */
    uint64_t label;  /* hash of the node alone */
    uint64_t hash;   /* hash of the subtree */
};

/* The nodes in preorder. The subtree of node i is [i, i + size). */
struct diff_tree {
    struct diff_node *nodes;
    uint32_t n;
};

struct diff_mapping {
    struct arena *arena;
    struct diff_tree a, b;
    uint32_t work; /* comparisons so far, at most SQL_DIFF_BUDGET */
    bool capped;
};

/* Sets the partners of the nodes of both trees. Returns false if the arena is full. */
bool diff_match(struct diff_mapping *pair);

/* Returns the number of leading kids that are slots; the other kids are a list. CASE has two slots, then its WHENs. */
uint32_t diff_slots(const struct sql_node *node);

/* True if kind, operator, flags and texts are equal; children are ignored. */
bool diff_same_label(const struct sql_node *x, const struct sql_node *y);

#endif
