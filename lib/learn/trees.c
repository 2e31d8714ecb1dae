/* Evaluates and stores boosted trees. Floats are added in the order of the trees, so sums equal those of xgboost. */
#include "lib/learn/trees.h"

#include "lib/learn/blocks.h"
#include "lib/learn/internal.h"
#include "lib/learn/json_file.h"

#include <glib.h>
#include <math.h>
#include <string.h>

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
    if (trees->mapped_nodes)
        g_bytes_unref(trees->mapped_nodes);
    else
        g_free(trees->nodes);
    g_free(trees->gain);
    g_free(trees);
}

/* Number of trees that are descended in parallel. Each step waits for memory, and these waits overlap. */
enum { ABREAST = 8 };

static const struct tree_node *step(const struct tree_node *tree, const struct tree_node *node, const float *x)
{
    float value = x[node->feature];
    bool left = isnan(value) ? node->missing_left : value < node->value;
    return left ? node + 1 : tree + node->right;
}

/* Adds the values of the leaves that `x` reaches in `n` trees, in the order of the trees. */
static float add_leaves(const struct tree_node *nodes, const uint32_t *first, uint32_t n, const float *x, float sum)
{
    const struct tree_node *at[ABREAST];
    bool going = true;
    for (uint32_t i = 0; i < n; i++) at[i] = nodes + first[i];
    while (going) {
        going = false;
        for (uint32_t i = 0; i < n; i++) {
            if (at[i]->feature < 0) continue;
            at[i] = step(nodes + first[i], at[i], x);
            going = true;
        }
    }
    for (uint32_t i = 0; i < n; i++) sum += at[i]->value;
    return sum;
}

static double trees_predict(const void *p, unsigned m, const float *x)
{
    (void)m;
    const struct trees *trees = p;
    float sum = trees->base;
    for (uint32_t i = 0; i < trees->n_trees; i += ABREAST)
        sum = add_leaves(trees->nodes, trees->first + i, MIN(trees->n_trees - i, ABREAST), x, sum);
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

/* Checks a node. A node may only refer to later nodes, so every descent ends. The left child of an inner node is the
 * next node. */
static bool is_node(const struct tree_node *node, unsigned m, size_t i, size_t n)
{
    if (!isfinite(node->value) || node->feature < -1 || node->feature >= (int32_t)m) return false;
    if (node->right >= n || node->missing_left > 1) return false;
    return node->feature < 0 || (i + 1 < n && node->right > i);
}

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
        nodes[i] = (struct tree_node){(float)real, (int32_t)f, (uint32_t)r, (uint32_t)left};
        if (!is_node(&nodes[i], m, i, n)) return false;
    }
    return true;
}

/* Returns the number of nodes of all trees. Returns 0 if a tree is empty or there are too many nodes. */
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

/* --- the binary form: {"first": block, "nodes": block} instead of the list --- */

static bool are_trees(const struct trees *trees, size_t n_nodes, unsigned m)
{
    if (trees->first[0] != 0 || trees->first[trees->n_trees] != n_nodes) return false;
    for (uint32_t t = 0; t < trees->n_trees; t++) {
        size_t from = trees->first[t], to = trees->first[t + 1];
        if (to <= from || to > n_nodes || to - from > TREE_NODES_MAX) return false;
        for (size_t i = from; i < to; i++)
            if (!is_node(&trees->nodes[i], m, i - from, to - from)) return false;
    }
    return true;
}

static struct trees *map_trees(const json_t *object, unsigned m, const struct model_blocks *blocks)
{
    size_t n, n_nodes = 0;
    GBytes *first = model_block(blocks, json_object_get(object, "first"), sizeof(uint32_t), &n);
    GBytes *nodes = model_block(blocks, json_object_get(object, "nodes"), sizeof(struct tree_node), &n_nodes);
    struct trees *trees = NULL;
    if (first && nodes && n > 1 && n <= TREES_MAX + 1 && n_nodes <= UINT32_MAX / 2)
        trees = trees_new((uint32_t)n - 1, 0, m);
    if (trees) {
        memcpy(trees->first, g_bytes_get_data(first, NULL), n * sizeof *trees->first);
        g_free(trees->nodes);
        trees->mapped_nodes = g_bytes_ref(nodes);
        trees->nodes = (struct tree_node *)(uintptr_t)g_bytes_get_data(nodes, NULL);
        if (!are_trees(trees, n_nodes, m)) g_clear_pointer(&trees, trees_free);
    }
    if (first) g_bytes_unref(first);
    if (nodes) g_bytes_unref(nodes);
    return trees;
}

static bool trees_move(json_t *parameters, const void *p, struct model_blocks *blocks)
{
    const struct trees *trees = p;
    size_t first_size = ((size_t)trees->n_trees + 1) * sizeof *trees->first;
    size_t nodes_size = trees->first[trees->n_trees] * sizeof *trees->nodes;
    json_t *first = blocks_add(blocks, g_bytes_new(trees->first, first_size));
    json_t *nodes = blocks_add(blocks, g_bytes_new(trees->nodes, nodes_size));
    json_t *object = json_pack("{s:o,s:o}", "first", first, "nodes", nodes);
    return json_object_set_new(parameters, "trees", object) == 0;
}

/* --- loading --- */

static struct trees *load_list(const json_t *list, unsigned m)
{
    size_t n = json_array_size(list), nodes = count_nodes(list);
    if (n == 0 || n > TREES_MAX || nodes == 0) return NULL;
    struct trees *trees = trees_new((uint32_t)n, (uint32_t)nodes, m);
    bool ok = trees != NULL;
    for (size_t i = 0; i < n && ok; i++) {
        const json_t *tree = json_array_get(list, i);
        size_t size = json_array_size(json_object_get(tree, "feature"));
        ok = load_tree(tree, m, trees->nodes + trees->first[i], size);
        trees->first[i + 1] = trees->first[i] + (uint32_t)size;
    }
    if (ok || !trees) return trees;
    trees_free(trees);
    return NULL;
}

static void *trees_load(const json_t *parameters, unsigned m, const struct model_blocks *blocks)
{
    const json_t *list = json_object_get(parameters, "trees");
    double base;
    if (!model_get_real(parameters, "base", -100, 100, &base)) return NULL;
    struct trees *trees = json_is_object(list) ? map_trees(list, m, blocks) : load_list(list, m);
    if (!trees) return NULL;
    trees->base = (float)base;
    if (model_get_reals(parameters, "gain", 0, 1e30, m, trees->gain)) return trees;
    trees_free(trees);
    return NULL;
}

#ifdef ASSAY_TREES_TRAINING /* set if xgboost was found: see CMakeLists.txt */
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
    .move = trees_move,
    .free = trees_free,
};
