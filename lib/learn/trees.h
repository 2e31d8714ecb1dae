/* Boosted trees as flat arrays. */
#ifndef ASSAY_LIB_LEARN_TREES_H
#define ASSAY_LIB_LEARN_TREES_H

#include "lib/learn/classifier_kind.h"

#include <glib.h>

enum { TREES_MAX = 10000, TREE_NODES_MAX = 1 << 17 };

/* A node of a tree. Nodes are in preorder: the left child follows its parent directly, so only the right child has an
 * index. */
struct tree_node {         /* also the layout in the binary form */
    float value;           /* threshold (left branch if x < value), or the value of a leaf */
    int32_t feature;       /* -1 for a leaf */
    uint32_t right;        /* number of the right child from the tree's first node; above the node's own number */
    uint32_t missing_left; /* 1 if an unknown value takes the left branch */
};
_Static_assert(sizeof(struct tree_node) == 16, "the binary form of a model has these, byte for byte");

struct trees {
    float base; /* log-odds before the first tree */
    uint32_t n_trees;
    uint32_t *first; /* n_trees + 1 items: index of each tree's first node */
    struct tree_node *nodes;
    double *gain;         /* m items: total gain of the splits on each feature */
    GBytes *mapped_nodes; /* owns the read-only bytes of `nodes`; NULL if `nodes` are allocated */
};

struct trees *trees_new(uint32_t n_trees, uint32_t n_nodes, unsigned m); /* returns NULL if memory runs out */
void trees_free(void *trees);

/* Reads the JSON that xgboost saves. The text is untrusted, like a model file. Returns NULL if the format is
 * unknown. */
struct trees *trees_from_xgboost(const char *text, size_t len, unsigned m);

/* Trains trees (trees_train.c). In a build without xgboost, trees_train_absent.c defines this function. */
enum err_code trees_fit(const struct learn_rows *rows, const struct learn_options *options, void **state,
                        struct err *err);

#endif
