/* Boosted trees as flat arrays. */
#ifndef ASSAY_LIB_LEARN_TREES_H
#define ASSAY_LIB_LEARN_TREES_H

#include "lib/learn/classifier_kind.h"

#include <glib.h>

enum { TREES_MAX = 10000, TREE_NODES_MAX = 1 << 17 };

/* A tree's nodes stand in preorder, so that the left child follows its parent: only the right one is named. */
struct tree_node {         /* as it lies in the binary form, too */
    float value;           /* threshold (left when x < value), or what a leaf adds */
    int32_t feature;       /* -1: a leaf */
    uint32_t right;        /* counted from the tree's first node; past its own index */
    uint32_t missing_left; /* where an unknown value goes: 0 or 1 */
};
_Static_assert(sizeof(struct tree_node) == 16, "the binary form of a model has these, byte for byte");

struct trees {
    float base; /* log-odds before the first tree */
    uint32_t n_trees;
    uint32_t *first; /* n_trees + 1: where each tree starts in nodes */
    struct tree_node *nodes;
    double *gain;         /* m: how much splits on each feature brought */
    GBytes *mapped_nodes; /* whose bytes `nodes` are, read only; NULL: they are its own */
};

struct trees *trees_new(uint32_t n_trees, uint32_t n_nodes, unsigned m); /* NULL: out of memory */
void trees_free(void *trees);

/* From the JSON that xgboost saves. NULL: not of a known form. Trusts the file no more than a model file. */
struct trees *trees_from_xgboost(const char *text, size_t len, unsigned m);

/* In trees_train.c; in trees_train_absent.c where there is no xgboost. */
enum err_code trees_fit(const struct learn_rows *rows, const struct learn_options *options, void **state,
                        struct err *err);

#endif
