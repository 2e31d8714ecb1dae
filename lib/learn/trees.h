/* Boosted trees as flat arrays. */
#ifndef ASSAY_LIB_LEARN_TREES_H
#define ASSAY_LIB_LEARN_TREES_H

#include "lib/learn/classifier_kind.h"

#include <glib.h>

enum { TREES_MAX = 10000, TREE_NODES_MAX = 1 << 17 };

/* A node of a tree. Nodes are in preorder: the left child follows its parent, so only the right child has an index. */
struct tree_node {         /* also the layout in the binary form */
    float value;           /* threshold (left if x < value), or the value of a leaf */
    int32_t feature;       /* -1: a leaf */
    uint32_t right;        /* counted from the tree's first node; past its own index */
    uint32_t missing_left; /* branch of an unknown value: left if 1 */
};
_Static_assert(sizeof(struct tree_node) == 16, "the binary form of a model has these, byte for byte");

struct trees {
    float base; /* log-odds before the first tree */
    uint32_t n_trees;
    uint32_t *first; /* n_trees + 1: where each tree starts in nodes */
    struct tree_node *nodes;
    double *gain;         /* m: total gain of the splits on each feature */
    GBytes *mapped_nodes; /* owner of the bytes of `nodes`, read only; NULL if `nodes` are allocated */
};

struct trees *trees_new(uint32_t n_trees, uint32_t n_nodes, unsigned m); /* NULL: out of memory */
void trees_free(void *trees);

/* Reads the JSON that xgboost saves, as untrusted as a model file. Returns NULL if the form is unknown. */
struct trees *trees_from_xgboost(const char *text, size_t len, unsigned m);

/* Defined in trees_train.c, or in trees_train_absent.c in a build without xgboost. */
enum err_code trees_fit(const struct learn_rows *rows, const struct learn_options *options, void **state,
                        struct err *err);

#endif
