/* Converts the model that xgboost saves as JSON to our flat arrays. Nodes are in preorder, and gains are summed by
 * feature. */
#include "lib/learn/trees.h"

#include "lib/learn/internal.h"

#include <glib.h>
#include <math.h>

struct source { /* one tree in xgboost's JSON */
    const json_t *left, *right, *feature, *value, *missing, *gain;
    size_t n;
};

static struct source source_of(const json_t *tree)
{
    const json_t *left = json_object_get(tree, "left_children");
    return (struct source){left,
                           json_object_get(tree, "right_children"),
                           json_object_get(tree, "split_indices"),
                           json_object_get(tree, "split_conditions"),
                           json_object_get(tree, "default_left"),
                           json_object_get(tree, "loss_changes"),
                           json_array_size(left)};
}

/* Reads a flag. Some versions write true and false, others 1 and 0. */
static bool flag_at(const json_t *array, size_t i)
{
    const json_t *item = json_array_get(array, i);
    return json_is_true(item) || (json_is_integer(item) && json_integer_value(item) != 0);
}

/* Copies the subtree at `at` to the end of `out`, in preorder. Returns the number of its nodes, or 0 if the model is
 * malformed. */
static uint32_t copy_nodes(const struct source *source, long long at, struct trees *trees, struct tree_node *out,
                           uint32_t index, unsigned m, unsigned depth)
{
    if (at < 0 || (size_t)at >= source->n || index >= source->n || depth > 64) return 0;
    long long left = json_integer_value(json_array_get(source->left, (size_t)at));
    struct tree_node *node = &out[index];
    *node = (struct tree_node){(float)json_number_value(json_array_get(source->value, (size_t)at)), -1, 0, false};
    if (left < 0) return 1;
    long long feature = json_integer_value(json_array_get(source->feature, (size_t)at));
    if (feature < 0 || feature >= m) return 0;
    node->feature = (int32_t)feature;
    node->missing_left = flag_at(source->missing, (size_t)at);
    trees->gain[feature] += fmax(0, json_number_value(json_array_get(source->gain, (size_t)at)));
    uint32_t n_left = copy_nodes(source, left, trees, out, index + 1, m, depth + 1);
    if (!n_left) return 0;
    node->right = index + 1 + n_left;
    long long right = json_integer_value(json_array_get(source->right, (size_t)at));
    uint32_t n_right = copy_nodes(source, right, trees, out, node->right, m, depth + 1);
    return n_right ? 1 + n_left + n_right : 0;
}

static double base_margin(const json_t *learner)
{
    const json_t *parameters = json_object_get(learner, "learner_model_param");
    const char *text = json_string_value(json_object_get(parameters, "base_score"));
    if (text && *text == '[') text++;
    return learn_logit(text ? g_ascii_strtod(text, NULL) : 0.5, LEARN_LEAST_P);
}

static struct trees *convert(const json_t *root, unsigned m)
{
    const json_t *learner = json_object_get(root, "learner");
    const json_t *booster = json_object_get(learner, "gradient_booster");
    const json_t *list = json_object_get(json_object_get(booster, "model"), "trees");
    size_t n = json_array_size(list), nodes = 0;
    for (size_t i = 0; i < n; i++) nodes += source_of(json_array_get(list, i)).n;
    struct trees *trees = n && n <= TREES_MAX ? trees_new((uint32_t)n, (uint32_t)nodes, m) : NULL;
    if (!trees) return NULL;
    trees->base = (float)base_margin(learner);
    for (size_t i = 0; i < n; i++) {
        struct source source = source_of(json_array_get(list, i));
        uint32_t taken = copy_nodes(&source, 0, trees, trees->nodes + trees->first[i], 0, m, 0);
        trees->first[i + 1] = trees->first[i] + taken;
        if (taken) continue;
        trees_free(trees);
        return NULL;
    }
    return trees;
}

struct trees *trees_from_xgboost(const char *text, size_t len, unsigned m)
{
    json_t *root = json_loadb(text, len, 0, NULL);
    struct trees *trees = root ? convert(root, m) : NULL;
    json_decref(root);
    return trees;
}
