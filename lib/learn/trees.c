/* Evaluating and storing boosted trees. Sums are of floats in the order of the trees, as xgboost does it. */
#include "lib/learn/trees.h"

#include "lib/learn/internal.h"
#include "lib/learn/json_file.h"

#include <glib.h>
#include <math.h>

struct trees *trees_new(uint32_t n_trees, uint32_t n_nodes, unsigned m)
{
    struct trees *trees = g_new0(struct trees, 1);
    trees->n_trees = n_trees;
    trees->first = g_try_new0(uint32_t, (size_t)n_trees + 1);
    trees->nodes = g_try_new0(struct tree_node, (size_t)n_nodes + 1);
    trees->gain = g_try_new0(double, m);
    if (trees->first && trees->nodes && trees->gain) return trees;
    trees_free(trees);
    return NULL;
}

void trees_free(void *p)
{
    struct trees *trees = p;
    g_free(trees->first);
    g_free(trees->nodes);
    g_free(trees->gain);
    g_free(trees);
}

static float leaf_of(const struct tree_node *tree, const float *x)
{
    const struct tree_node *node = tree;
    while (node->feature >= 0) {
        float value = x[node->feature];
        bool left = isnan(value) ? node->missing_left : value < node->value;
        node = left ? node + 1 : tree + node->right;
    }
    return node->value;
}

static double trees_predict(const void *p, unsigned m, const float *x)
{
    (void)m;
    const struct trees *trees = p;
    float sum = trees->base;
    for (uint32_t i = 0; i < trees->n_trees; i++) sum += leaf_of(trees->nodes + trees->first[i], x);
    return learn_sigmoid((double)sum);
}

static double trees_importance(const void *p, unsigned m, unsigned feature)
{
    (void)m;
    return ((const struct trees *)p)->gain[feature];
}

static json_t *save_tree(const struct tree_node *nodes, uint32_t n)
{
    json_t *feature = json_array(), *value = json_array(), *right = json_array(), *missing = json_array();
    bool ok = true;
    for (uint32_t i = 0; i < n; i++) {
        ok &= !json_array_append_new(feature, json_integer(nodes[i].feature));
        ok &= !json_array_append_new(value, json_real((double)nodes[i].value));
        ok &= !json_array_append_new(right, json_integer(nodes[i].right));
        ok &= !json_array_append_new(missing, json_integer(nodes[i].missing_left));
    }
    json_t *tree =
        json_pack("{s:o,s:o,s:o,s:o}", "feature", feature, "value", value, "right", right, "missing_left", missing);
    if (ok) return tree;
    json_decref(tree);
    return NULL;
}

static json_t *trees_save(const void *p, unsigned m)
{
    const struct trees *trees = p;
    json_t *list = json_array();
    bool ok = true;
    for (uint32_t i = 0; i < trees->n_trees; i++)
        ok &= !json_array_append_new(list,
                                     save_tree(trees->nodes + trees->first[i], trees->first[i + 1] - trees->first[i]));
    json_t *out =
        json_pack("{s:f,s:o,s:o}", "base", (double)trees->base, "gain", model_reals(trees->gain, m), "trees", list);
    if (ok) return out;
    json_decref(out);
    return NULL;
}

static bool integer_at(const json_t *array, size_t i, long long low, long long high, long long *out)
{
    const json_t *item = json_array_get(array, i);
    if (!json_is_integer(item)) return false;
    *out = json_integer_value(item);
    return *out >= low && *out <= high;
}

/* Nodes only name later ones, so that following them ends; each inner node has room for its left child. */
static bool load_tree(const json_t *tree, unsigned m, struct tree_node *nodes, size_t n)
{
    const json_t *feature = json_object_get(tree, "feature"), *value = json_object_get(tree, "value");
    const json_t *right = json_object_get(tree, "right"), *missing = json_object_get(tree, "missing_left");
    if (json_array_size(value) != n || json_array_size(right) != n || json_array_size(missing) != n) return false;
    for (size_t i = 0; i < n; i++) {
        const json_t *number = json_array_get(value, i);
        long long f, r, left;
        if (!json_is_number(number) || !integer_at(feature, i, -1, (long long)m - 1, &f)) return false;
        if (!integer_at(right, i, 0, (long long)n - 1, &r) || !integer_at(missing, i, 0, 1, &left)) return false;
        double real = json_number_value(number);
        if (!(fabs(real) <= (double)G_MAXFLOAT)) return false;
        if (f >= 0 && (i + 1 >= n || r <= (long long)i)) return false;
        nodes[i] = (struct tree_node){(float)real, (int32_t)f, (uint32_t)r, left == 1};
    }
    return true;
}

/* Nodes of all trees, 0 when some tree is empty or there are too many. */
static size_t count_nodes(const json_t *list)
{
    size_t sum = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        size_t n = json_array_size(json_object_get(json_array_get(list, i), "feature"));
        if (n == 0 || n > TREE_NODES_MAX || sum > UINT32_MAX / 2) return 0;
        sum += n;
    }
    return sum;
}

static void *trees_load(const json_t *parameters, unsigned m)
{
    const json_t *list = json_object_get(parameters, "trees");
    size_t n = json_array_size(list), nodes = count_nodes(list);
    double base;
    if (n == 0 || n > TREES_MAX || nodes == 0 || !model_get_real(parameters, "base", -100, 100, &base)) return NULL;
    struct trees *trees = trees_new((uint32_t)n, (uint32_t)nodes, m);
    if (!trees) return NULL;
    trees->base = (float)base;
    bool ok = model_get_reals(parameters, "gain", 0, 1e30, m, trees->gain);
    for (size_t i = 0; i < n && ok; i++) {
        const json_t *tree = json_array_get(list, i);
        size_t size = json_array_size(json_object_get(tree, "feature"));
        ok = load_tree(tree, m, trees->nodes + trees->first[i], size);
        trees->first[i + 1] = trees->first[i] + (uint32_t)size;
    }
    if (ok) return trees;
    trees_free(trees);
    return NULL;
}

#ifdef ASSAY_TREES_TRAINING /* set where xgboost was found: see CMakeLists.txt */
#define WHY_NOT NULL
#else
#define WHY_NOT "this build has no xgboost (package libxgboost-dev); a trained model can still be used"
#endif

const struct classifier_kind classifier_trees = {
    .name = "trees",
    .unsupported = WHY_NOT,
    .compact = true,
    .fit = trees_fit,
    .predict = trees_predict,
    .importance = trees_importance,
    .save = trees_save,
    .load = trees_load,
    .free = trees_free,
};
