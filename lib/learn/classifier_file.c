/* Reads and writes the file of a classifier.
 *
 *   {"format": "assay-classifier", "version": 1, "kind": "logistic" | "trees", "command", "features": [name],
 *    "calibration": {"kind": "none" | "platt" | "isotonic", "a", "b", "x": [], "y": []}, "parameters": {...}}
 *
 * The parameters of logistic are bias, weight, scale and mean (m each). The parameters of trees are base, gain (m) and
 * trees. Each tree has feature, value, right and missing_left, with one entry for each node in preorder. To change the
 * format, raise LEARN_FILE_VERSION. Continue to read the older versions, with a test file of each. */
#include "lib/learn/blocks.h"
#include "lib/learn/classifier_kind.h"
#include "lib/learn/json_file.h"

#include <glib.h>
#include <string.h>

static const char FORMAT[] = "assay-classifier";

static json_t *save_calibration(const struct learn_calibration *c)
{
    return json_pack("{s:s,s:f,s:f,s:o,s:o}", "kind", learn_calibration_name(c->kind), "a", c->a, "b", c->b, "x",
                     model_reals(c->x, c->n), "y", model_reals(c->y, c->n));
}

static json_t *save_features(const struct learn_model *model)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < model->m; i++) json_array_append_new(list, json_string(model->names[i]));
    return list;
}

char *learn_save_text(const struct learn_model *model)
{
    json_t *root =
        json_pack("{s:s,s:i,s:s,s:s,s:o,s:o,s:o}", "format", FORMAT, "version", LEARN_FILE_VERSION, "kind",
                  model->kind->name, "command", model->command, "features", save_features(model), "calibration",
                  save_calibration(&model->calibration), "parameters", model->kind->save(model->state, model->m));
    return model_json_text(root, model->kind->compact);
}

enum err_code learn_save(const struct learn_model *model, const char *path, struct err *err)
{
    char *text = learn_save_text(model);
    enum err_code code = model_file_write(path, text, err);
    free(text);
    return code;
}

static bool rising(const double *values, unsigned n, bool strictly)
{
    for (unsigned i = 1; i < n; i++)
        if (values[i] < values[i - 1] || (strictly && values[i] <= values[i - 1])) return false;
    return true;
}

static bool load_calibration(const json_t *object, struct learn_calibration *c)
{
    char name[16];
    if (!model_get_text(object, "kind", sizeof name, name)) return false;
    int kind = learn_calibration_by_name(name);
    size_t n = json_array_size(json_object_get(object, "x"));
    if (kind < 0 || n > LEARN_MAX_KNOTS || (kind == LEARN_ISOTONIC) != (n > 0)) return false;
    c->kind = (enum learn_calibration_kind)kind;
    c->n = (unsigned)n;
    c->x = g_new0(double, n + 1);
    c->y = g_new0(double, n + 1);
    bool ok = model_get_real(object, "a", -1e6, 1e6, &c->a) && model_get_real(object, "b", -1e6, 1e6, &c->b) &&
              model_get_reals(object, "x", 0, 1, n, c->x) && model_get_reals(object, "y", 0, 1, n, c->y) &&
              rising(c->x, c->n, true) && rising(c->y, c->n, false);
    if (ok) learn_calibration_bound(c);
    return ok;
}

static bool load_features(const json_t *list, struct learn_model *model)
{
    size_t n = json_array_size(list);
    if (n == 0 || n > LEARN_MAX_FEATURES) return false;
    model->m = (unsigned)n;
    model->names = g_new0(char *, n + 1);
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        ok = name && *name && strlen(name) == json_string_length(json_array_get(list, i)) &&
             g_hash_table_add(seen, (gpointer)name);
        if (ok) model->names[i] = g_strdup(name);
    }
    g_hash_table_unref(seen);
    return ok;
}

static enum err_code load_model(const json_t *root, const struct model_blocks *blocks, struct learn_model *model,
                                struct err *err)
{
    const char *kind = json_string_value(json_object_get(root, "kind"));
    const char *command = json_string_value(json_object_get(root, "command"));
    model->kind = kind ? classifier_kind_find(kind) : NULL;
    if (!model->kind) return err_set(err, ERR_MALFORMED, "kind is missing or is an unknown kind of classifier");
    if (!command) return err_set(err, ERR_MALFORMED, "command is missing");
    model->command = g_strdup(command);
    if (!load_features(json_object_get(root, "features"), model))
        return err_set(err, ERR_MALFORMED, "the list of features is invalid");
    if (!load_calibration(json_object_get(root, "calibration"), &model->calibration))
        return err_set(err, ERR_MALFORMED, "the calibration is invalid");
    model->state = model->kind->load(json_object_get(root, "parameters"), model->m, blocks);
    return model->state ? ERR_OK : err_set(err, ERR_MALFORMED, "the parameters of '%s' are invalid", kind);
}

enum err_code learn_load_json(const json_t *root, const struct model_blocks *blocks, struct learn_model **out,
                              struct err *err)
{
    *out = NULL;
    enum err_code code = model_json_check(root, FORMAT, LEARN_FILE_VERSION, err);
    if (code) return code;
    struct learn_model *model = g_new0(struct learn_model, 1);
    code = load_model(root, blocks, model, err);
    if (code)
        learn_free(model);
    else
        *out = model;
    return code;
}

enum err_code learn_move(json_t *root, struct model_blocks *blocks, struct err *err)
{
    struct learn_model *model;
    enum err_code code = learn_load_json(root, NULL, &model, err);
    if (code) return code;
    if (model->kind->move && !model->kind->move(json_object_get(root, "parameters"), model->state, blocks))
        code = err_set(err, ERR_NOMEM, "out of memory for the classifier's blocks");
    learn_free(model);
    return code;
}

enum err_code learn_load_text(const char *text, size_t len, struct learn_model **out, struct err *err)
{
    *out = NULL;
    json_t *root;
    enum err_code code = model_json_parse(text, len, FORMAT, LEARN_FILE_VERSION, &root, err);
    if (code) return code;
    code = learn_load_json(root, NULL, out, err);
    json_decref(root);
    return code;
}

enum err_code learn_load(const char *path, struct learn_model **out, struct err *err)
{
    struct model_document document;
    struct err inner = {0};
    *out = NULL;
    enum err_code code = model_document_open(path, FORMAT, LEARN_FILE_VERSION, &document, err);
    if (code) return code;
    code = learn_load_json(document.root, &document.blocks, out, &inner);
    model_document_clear(&document);
    return code ? err_at(err, code, &inner, "%s", path) : ERR_OK;
}
