/* Reads keys from a dbt project's manifest.json (schema versions 7 to 12, dbt 1.3 and later).
 *
 * A generic test is a separate node. `test_metadata` has its name and arguments, `attached_node` the tested model, and
 * `depends_on.nodes` all models that it reads. A constraint belongs to a model or to one of its columns. The output
 * names a model by the name of its database table: a model's alias, or a source's identifier. The schema precedes the
 * name only if two models have the same alias.
 *
 * The file is not trusted: a member of an unexpected type is treated as absent.
 */
#include "lib/schema/dbt.h"

#include "lib/schema/schema.h"

#include <glib.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_FILE = 256 << 20 };

struct manifest {
    json_t *root;
    GHashTable *aliases; /* table name → number of models with this name */
    GPtrArray *keys;     /* texts of keys, as in words.yaml */
    GHashTable *known;   /* set of the same texts */
};

static const char *member(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static const char *table_name(const json_t *model)
{
    static const char *const NAMES[] = {"alias", "identifier", "name"};
    for (size_t i = 0; i < G_N_ELEMENTS(NAMES); i++)
        if (member(model, NAMES[i])) return member(model, NAMES[i]);
    return NULL;
}

/* Returns the model or source of an id such as "model.shop.orders", or NULL. */
static const json_t *model_of(const struct manifest *manifest, const char *id)
{
    if (!id) return NULL;
    const json_t *model = json_object_get(json_object_get(manifest->root, "nodes"), id);
    return model ? model : json_object_get(json_object_get(manifest->root, "sources"), id);
}

/* --- keys as texts ------------------------------------------------------------------------------------------------ */

static void append_column(const struct manifest *manifest, GString *text, const json_t *model, const char *column)
{
    const char *table = table_name(model), *schema = member(model, "schema");
    size_t len = strlen(column);
    bool quoted = len > 2 && strchr("\"`", column[0]) && column[len - 1] == column[0];
    if (text->len) g_string_append(text, ", ");
    if (schema && GPOINTER_TO_UINT(g_hash_table_lookup(manifest->aliases, table)) > 1)
        g_string_append_printf(text, "%s.", schema);
    g_string_append_printf(text, "%s.%.*s", table, (int)(quoted ? len - 2 : len), column + quoted);
}

/* Returns one column, or the columns of a list, as "table.column, table.column". Returns NULL if a name is missing.
 * Free with g_free. */
static char *side_of(const struct manifest *manifest, const json_t *model, const json_t *columns)
{
    if (!model || !table_name(model)) return NULL;
    GString *text = g_string_new(NULL);
    if (json_string_value(columns)) append_column(manifest, text, model, json_string_value(columns));
    size_t i;
    const json_t *column;
    json_array_foreach(columns, i, column)
    {
        if (json_string_value(column)) append_column(manifest, text, model, json_string_value(column));
    }
    return g_string_free(text, text->len == 0);
}

/* Adds a key unless it is already present. Frees `from` and `to`. `to` is NULL for a unique key. */
static void add_key(struct manifest *manifest, char *from, char *to)
{
    char *text = to ? g_strdup_printf("%s -> %s", from, to) : g_strdup(from);
    if (g_hash_table_add(manifest->known, g_strdup(text)))
        g_ptr_array_add(manifest->keys, text);
    else
        g_free(text);
    g_free(from);
    g_free(to);
}

static void add_unique(struct manifest *manifest, const json_t *model, const json_t *columns)
{
    char *key = side_of(manifest, model, columns);
    if (key) add_key(manifest, key, NULL);
}

static void add_reference(struct manifest *manifest, const json_t *from, const json_t *from_columns, const json_t *to,
                          const json_t *to_columns)
{
    char *a = side_of(manifest, from, from_columns), *b = side_of(manifest, to, to_columns);
    if (a && b) {
        add_key(manifest, a, b);
    } else {
        g_free(a);
        g_free(b);
    }
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

/* Returns the other model that a test of two models reads. Returns the test's own model for a reference within one
 * table. */
static const json_t *other_model(const struct manifest *manifest, const json_t *test, const char *own)
{
    size_t i;
    const json_t *id, *nodes = json_object_get(json_object_get(test, "depends_on"), "nodes");
    json_array_foreach(nodes, i, id)
    {
        const char *name = json_string_value(id);
        if (name && strcmp(name, own) != 0) return model_of(manifest, name);
    }
    return model_of(manifest, own);
}

static const json_t *test_argument(const json_t *arguments, const char *name)
{
    const json_t *value = json_object_get(arguments, name);
    return value ? value : json_object_get(json_object_get(arguments, "arguments"), name);
}

static void read_test(struct manifest *manifest, const json_t *test)
{
    const json_t *metadata = json_object_get(test, "test_metadata"), *arguments = json_object_get(metadata, "kwargs");
    const char *name = member(metadata, "name"), *own = member(test, "attached_node");
    const json_t *column = json_object_get(test, "column_name");
    if (!json_string_value(column)) column = test_argument(arguments, "column_name");
    if (!name || !own) return;
    if (strcmp(name, "unique") == 0)
        add_unique(manifest, model_of(manifest, own), column);
    else if (strcmp(name, "unique_combination_of_columns") == 0)
        add_unique(manifest, model_of(manifest, own), test_argument(arguments, "combination_of_columns"));
    else if (strcmp(name, "relationships") == 0)
        add_reference(manifest, model_of(manifest, own), column, other_model(manifest, test, own),
                      test_argument(arguments, "field"));
}

/* --- constraints -------------------------------------------------------------------------------------------------- */

/* Returns the model whose `relation_name` equals the `to` of a constraint, or NULL. */
static const json_t *model_by_relation(const struct manifest *manifest, const char *relation)
{
    static const char *const MEMBERS[] = {"nodes", "sources"};
    for (size_t i = 0; relation && i < G_N_ELEMENTS(MEMBERS); i++) {
        const char *id;
        json_t *model;
        json_object_foreach(json_object_get(manifest->root, MEMBERS[i]), id, model)
        {
            const char *own = member(model, "relation_name");
            if (own && strcmp(own, relation) == 0) return model;
        }
    }
    return NULL;
}

/* Reads the constraints of a model. `columns` is NULL, or the column that the constraints belong to. */
static void read_constraints(struct manifest *manifest, const json_t *model, const json_t *list, const json_t *columns)
{
    size_t i;
    const json_t *constraint;
    json_array_foreach(list, i, constraint)
    {
        const char *type = member(constraint, "type");
        const json_t *own = columns ? columns : json_object_get(constraint, "columns");
        if (!type) continue;
        if (strcmp(type, "primary_key") == 0 || strcmp(type, "unique") == 0)
            add_unique(manifest, model, own);
        else if (strcmp(type, "foreign_key") == 0)
            add_reference(manifest, model, own, model_by_relation(manifest, member(constraint, "to")),
                          json_object_get(constraint, "to_columns"));
    }
}

static void read_model(struct manifest *manifest, const json_t *model)
{
    const char *id;
    json_t *column;
    read_constraints(manifest, model, json_object_get(model, "constraints"), NULL);
    json_object_foreach(json_object_get(model, "columns"), id, column)
    {
        read_constraints(manifest, model, json_object_get(column, "constraints"), json_object_get(column, "name"));
    }
}

/* --- the file ----------------------------------------------------------------------------------------------------- */

static void count_alias(struct manifest *manifest, const json_t *model)
{
    const char *type = member(model, "resource_type"), *table = table_name(model);
    if (!table || (type && strcmp(type, "test") == 0)) return;
    guint n = GPOINTER_TO_UINT(g_hash_table_lookup(manifest->aliases, table));
    g_hash_table_insert(manifest->aliases, g_strdup(table), GUINT_TO_POINTER(n + 1));
}

static void read_nodes(struct manifest *manifest)
{
    const char *id;
    json_t *node;
    json_object_foreach(json_object_get(manifest->root, "nodes"), id, node) count_alias(manifest, node);
    json_object_foreach(json_object_get(manifest->root, "sources"), id, node) count_alias(manifest, node);
    json_object_foreach(json_object_get(manifest->root, "nodes"), id, node)
    {
        if (json_object_get(node, "test_metadata"))
            read_test(manifest, node);
        else
            read_model(manifest, node);
    }
}

static int compare_texts(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void print_keys(struct manifest *manifest, FILE *out)
{
    g_ptr_array_sort(manifest->keys, compare_texts);
    for (guint i = 0; i < manifest->keys->len; i++) {
        if (i == 0) fputs("keys:\n", out);
        fputs("  - ", out);
        schema_print_scalar(manifest->keys->pdata[i], strlen(manifest->keys->pdata[i]), out);
        fputc('\n', out);
    }
}

static enum err_code load_json(const char *path, json_t **root, struct err *err)
{
    struct stat st;
    json_error_t error;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return err_set(err, ERR_IO, "%s cannot be read", path);
    if (st.st_size > MAX_FILE) return err_set(err, ERR_LIMIT_BYTES, "%s is larger than 256 MiB", path);
    *root = json_load_file(path, 0, &error);
    if (!*root) return err_set(err, ERR_MALFORMED, "%s:%d: %s", path, error.line, error.text);
    if (json_is_object(json_object_get(*root, "nodes"))) return ERR_OK;
    json_decref(*root);
    return err_set(err, ERR_MALFORMED, "%s has no object `nodes`; expected the manifest.json of a dbt project", path);
}

enum err_code schema_dbt_keys(const char *path, FILE *out, unsigned *n, struct err *err)
{
    struct manifest manifest = {0};
    enum err_code code = load_json(path, &manifest.root, err);
    *n = 0;
    if (code) return code;
    manifest.aliases = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    manifest.keys = g_ptr_array_new_with_free_func(g_free);
    manifest.known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    read_nodes(&manifest);
    print_keys(&manifest, out);
    *n = manifest.keys->len;
    g_hash_table_destroy(manifest.aliases);
    g_hash_table_destroy(manifest.known);
    g_ptr_array_free(manifest.keys, TRUE);
    json_decref(manifest.root);
    return ERR_OK;
}
