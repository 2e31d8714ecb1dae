/* Reads and writes the file of a label model.
 *
 *   {"format": "assay-label-model", "version": 1, "command", "n", "prior_wrong", "log_likelihood", "iterations",
 *    "rounds", "converged", "signals": [{"name", "kind", "order", "levels", "coverage", "available",
 *                                        "fired_given_wrong", "fired_given_right", "precision", "odds_ratio",
 *                                        "p_wrong": [level], "p_right": [level], "parent", "parent_bits",
 *                                        "given_wrong": [[level of parent, level]], "given_right"}]}
 *
 * fired_given_*, precision and odds_ratio are informative; loading ignores them. To change the format, raise
 * LM_FILE_VERSION. Continue to read the older versions, with a test file of each. */
#include "lib/learn/internal.h"
#include "lib/learn/json_file.h"

#include <glib.h>
#include <math.h>
#include <string.h>

static const char FORMAT[] = "assay-label-model";
static const char *const KINDS[] = {"signal", "positive", "view"};
static const char *const ORDERS[] = {"free", "more_wrong", "more_right"};
static const double LEAST_SHARE = 1e-9; /* least entry of a table, which keeps every likelihood ratio within 1e±9 */

static json_t *save_given(const struct lm_model *model, const struct lm_signal *s, unsigned class)
{
    json_t *rows = json_array();
    for (unsigned q = 0; q < model->signals[s->parent].levels; q++)
        json_array_append_new(rows, model_reals(s->given[class][q], s->levels));
    return rows;
}

static json_t *save_signal(const struct lm_model *model, unsigned at)
{
    const struct lm_signal *s = &model->signals[at];
    json_t *out =
        json_pack("{s:s,s:s,s:s,s:i,s:f,s:f,s:f,s:f,s:f,s:f,s:o,s:o}", "name", s->name, "kind", KINDS[s->kind], "order",
                  ORDERS[s->order], "levels", (int)s->levels, "coverage", s->coverage, "available", s->available,
                  "fired_given_wrong", 1 - s->p[1][0], "fired_given_right", 1 - s->p[0][0], "precision",
                  lm_precision(model, at), "odds_ratio", lm_odds_ratio(model, at), "p_wrong",
                  model_reals(s->p[1], s->levels), "p_right", model_reals(s->p[0], s->levels));
    if (!out || s->parent < 0) return out;
    json_object_set_new(out, "parent", json_string(model->signals[s->parent].name));
    json_object_set_new(out, "parent_bits", json_real(s->parent_bits));
    json_object_set_new(out, "given_wrong", save_given(model, s, 1));
    json_object_set_new(out, "given_right", save_given(model, s, 0));
    return out;
}

char *lm_save_text(const struct lm_model *model)
{
    json_t *root = json_pack("{s:s,s:i,s:s,s:f,s:f,s:f,s:i,s:i,s:b}", "format", FORMAT, "version", LM_FILE_VERSION,
                             "command", model->command, "n", model->n, "prior_wrong", model->prior_wrong,
                             "log_likelihood", model->log_likelihood, "iterations", (int)model->iterations, "rounds",
                             (int)model->rounds, "converged", (int)model->converged);
    if (!root) return NULL;
    json_t *signals = json_array();
    bool ok = true;
    for (unsigned i = 0; i < model->n_signals; i++) ok &= json_array_append_new(signals, save_signal(model, i)) == 0;
    if (json_object_set_new(root, "signals", signals) || !ok) {
        json_decref(root);
        return NULL;
    }
    return model_json_text(root, false);
}

enum err_code lm_save(const struct lm_model *model, const char *path, struct err *err)
{
    char *text = lm_save_text(model);
    enum err_code code = model_file_write(path, text, err);
    free(text);
    return code;
}

static int index_of(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static bool sums_to_one(const double *p, unsigned n)
{
    double sum = 0;
    for (unsigned i = 0; i < n; i++) sum += p[i];
    return fabs(sum - 1) < 1e-3;
}

static bool load_table(const json_t *array, unsigned levels, double *out)
{
    return model_read_reals(array, LEAST_SHARE, 1, levels, out) && sums_to_one(out, levels);
}

/* Loads a signal without its parent, because the parent may come later in the file. */
static bool load_signal(const json_t *item, struct lm_signal *s)
{
    char kind[16], order[16];
    size_t levels;
    if (!model_get_text(item, "name", sizeof s->name, s->name) || !*s->name) return false;
    if (!model_get_text(item, "kind", sizeof kind, kind) || !model_get_text(item, "order", sizeof order, order))
        return false;
    int kind_at = index_of(KINDS, G_N_ELEMENTS(KINDS), kind), order_at = index_of(ORDERS, G_N_ELEMENTS(ORDERS), order);
    if (kind_at < 0 || order_at < 0 || !model_get_count(item, "levels", LM_MAX_LEVELS, &levels) || levels < 2)
        return false;
    s->kind = (enum lm_kind)kind_at;
    s->order = (enum lm_order)order_at;
    s->levels = (unsigned)levels;
    s->parent = -1;
    return (s->kind != LM_POSITIVE || levels == 2) && model_get_real(item, "coverage", 0, 1, &s->coverage) &&
           model_get_real(item, "available", 0, 1.0001, &s->available) &&
           load_table(json_object_get(item, "p_wrong"), s->levels, s->p[1]) &&
           load_table(json_object_get(item, "p_right"), s->levels, s->p[0]);
}

static bool load_given(const json_t *rows, unsigned parent_levels, unsigned levels,
                       double out[LM_MAX_LEVELS][LM_MAX_LEVELS])
{
    if (!json_is_array(rows) || json_array_size(rows) != parent_levels) return false;
    for (unsigned q = 0; q < parent_levels; q++)
        if (!load_table(json_array_get(rows, q), levels, out[q])) return false;
    return true;
}

static int find_signal(const struct lm_model *model, const char *name)
{
    for (unsigned i = 0; i < model->n_signals; i++)
        if (strcmp(model->signals[i].name, name) == 0) return (int)i;
    return -1;
}

static bool load_parent(const json_t *item, struct lm_model *model, unsigned at)
{
    struct lm_signal *s = &model->signals[at];
    const char *name = json_string_value(json_object_get(item, "parent"));
    if (!name) return json_object_get(item, "parent") == NULL;
    int parent = find_signal(model, name);
    if (parent < 0 || s->kind == LM_POSITIVE || model->signals[parent].kind == LM_POSITIVE) return false;
    unsigned levels = model->signals[parent].levels;
    s->parent = parent;
    return model_get_real(item, "parent_bits", 0, 1e6, &s->parent_bits) &&
           load_given(json_object_get(item, "given_wrong"), levels, s->levels, s->given[1]) &&
           load_given(json_object_get(item, "given_right"), levels, s->levels, s->given[0]);
}

static bool load_head(const json_t *root, struct lm_model *model)
{
    size_t iterations, rounds;
    const json_t *converged = json_object_get(root, "converged");
    if (!json_is_boolean(converged) || !model_get_text(root, "command", sizeof model->command, model->command))
        return false;
    if (!model_get_count(root, "iterations", INT_MAX, &iterations)) return false;
    if (!model_get_count(root, "rounds", INT_MAX, &rounds)) return false;
    model->iterations = (unsigned)iterations;
    model->rounds = (unsigned)rounds;
    model->converged = json_is_true(converged);
    return model_get_real(root, "n", 0, 1e15, &model->n) &&
           model_get_real(root, "prior_wrong", 1e-6, 1 - 1e-6, &model->prior_wrong) &&
           model_get_real(root, "log_likelihood", -1e9, 1e-6, &model->log_likelihood);
}

static enum err_code load_signals(const json_t *items, struct lm_model *model, struct err *err)
{
    for (unsigned i = 0; i < model->n_signals; i++) {
        struct lm_signal *s = &model->signals[i];
        if (!load_signal(json_array_get(items, i), s)) return err_set(err, ERR_MALFORMED, "signal %u is invalid", i);
        if (find_signal(model, s->name) != (int)i) return err_set(err, ERR_MALFORMED, "duplicate signal '%s'", s->name);
    }
    for (unsigned i = 0; i < model->n_signals; i++)
        if (!load_parent(json_array_get(items, i), model, i))
            return err_set(err, ERR_MALFORMED, "the parent of signal '%s' is invalid", model->signals[i].name);
    return lm_sort_signals(model) ? ERR_OK : err_set(err, ERR_MALFORMED, "the parents of the signals form a cycle");
}

enum err_code lm_load_text(const char *text, size_t len, struct lm_model **out, struct err *err)
{
    *out = NULL;
    json_t *root;
    enum err_code code = model_json_parse(text, len, FORMAT, LM_FILE_VERSION, &root, err);
    if (code) return code;
    const json_t *items = json_object_get(root, "signals");
    size_t n = json_is_array(items) ? json_array_size(items) : 0;
    struct lm_model *model = g_new0(struct lm_model, 1);
    if (n == 0 || n > LM_MAX_COLUMNS) {
        code = err_set(err, ERR_MALFORMED, "a label model must have 1 to %d signals", LM_MAX_COLUMNS);
    } else {
        model->n_signals = (unsigned)n;
        model->signals = g_new0(struct lm_signal, n);
        model->order = g_new0(unsigned, n);
        code = load_head(root, model) ? load_signals(items, model, err)
                                      : err_set(err, ERR_MALFORMED, "the header of the label model is invalid");
    }
    json_decref(root);
    if (code)
        lm_free(model);
    else
        *out = model;
    return code;
}

enum err_code lm_load(const char *path, struct lm_model **out, struct err *err)
{
    char *text;
    size_t len;
    *out = NULL;
    enum err_code code = model_file_read(path, &text, &len, err);
    if (code) return code;
    struct err inner = {0};
    code = lm_load_text(text, len, out, &inner);
    g_free(text);
    return code ? err_at(err, code, &inner, "%s", path) : ERR_OK;
}
