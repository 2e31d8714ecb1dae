/* Reads the configuration file: YAML, at most three levels deep, with the sections of the option tables.
 *
 *     judge:
 *       strategy: rerank
 *     signals:
 *       empty_predicate: {enabled: true, max_probe: 5}
 *
 * The file is read with libyaml, because the keys come from the option tables. Rejected: libcyaml, which needs a schema
 * of a C struct at compile time. An unknown key is an error that names its line. Otherwise a misspelt setting would be
 * ignored without notice.
 */
#include "cli/settings/catalogue.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <yaml.h>

enum { MAX_CONFIG_BYTES = 1 << 20 };

struct reader {
    struct cli *cli;
    const char *path;
    struct catalogue_entry *entry; /* entry of section `databases` that is being read */
    yaml_document_t document;
    struct err *err;
};

static enum err_code refuse(const struct reader *r, const yaml_node_t *node, const char *what)
{
    return err_set(r->err, ERR_CONFIG, "%s:%zu: %s", r->path, node->start_mark.line + 1, what);
}

/* Returns the text of a node. Returns NULL if the node is not a scalar, or its text contains a NUL. */
static const char *scalar(const yaml_node_t *node)
{
    if (!node || node->type != YAML_SCALAR_NODE) return NULL;
    const char *text = (const char *)node->data.scalar.value;
    return strlen(text) == node->data.scalar.length ? text : NULL;
}

static const char *origin(const struct reader *r, const yaml_node_t *node)
{
    const char *text = arena_printf(&r->cli->arena, "%s:%zu", r->path, node->start_mark.line + 1);
    return text ? text : r->path;
}

/* Prefixes an error of the option tables with the file and line. */
static enum err_code located(const struct reader *r, const yaml_node_t *node, enum err_code code)
{
    if (code == ERR_OK) return ERR_OK;
    struct err inner = *r->err;
    return err_at(r->err, code, &inner, "%s:%zu", r->path, node->start_mark.line + 1);
}

typedef enum err_code pair_fn(struct reader *r, const char *context, const char *key, const yaml_node_t *at,
                              const yaml_node_t *value);

/* Calls `each` for the pairs of a mapping; refuses repeated keys. */
static enum err_code each_pair(struct reader *r, const char *context, const yaml_node_t *node, pair_fn *each)
{
    /* a section may have no content, as in "judge:" */
    if (node->type == YAML_SCALAR_NODE && node->data.scalar.length == 0) return ERR_OK;
    if (node->type != YAML_MAPPING_NODE) return refuse(r, node, "expected a mapping (key: value)");
    GHashTable *seen = g_hash_table_new(g_str_hash, g_str_equal);
    enum err_code code = ERR_OK;
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
    for (; pair < node->data.mapping.pairs.top && code == ERR_OK; pair++) {
        const yaml_node_t *key = yaml_document_get_node(&r->document, pair->key);
        const yaml_node_t *value = yaml_document_get_node(&r->document, pair->value);
        const char *name = scalar(key);
        if (!name)
            code = refuse(r, key, "a key must be a word");
        else if (!g_hash_table_add(seen, (gpointer)name))
            code = refuse(r, key, "duplicate key");
        else
            code = each(r, context, name, key, value);
    }
    g_hash_table_destroy(seen);
    return code;
}

static enum err_code read_signal_option(struct reader *r, const char *signal, const char *key, const yaml_node_t *at,
                                        const yaml_node_t *value)
{
    const char *text = scalar(value);
    if (!text) return refuse(r, value, "expected yes, no or a number");
    return located(r, at, settings_set_signal(r->cli, signal, key, text, origin(r, at), r->err));
}

static enum err_code read_signal(struct reader *r, const char *section, const char *signal, const yaml_node_t *at,
                                 const yaml_node_t *value)
{
    (void)section;
    if (!vsig_by_name(signal)) {
        err_set(r->err, ERR_CONFIG, "unknown signal '%.60s'" ERR_HINT "run `assay signals` to list the signals",
                signal);
        return located(r, at, ERR_CONFIG);
    }
    return each_pair(r, signal, value, read_signal_option);
}

/* Sets one value of a section, or of the recipe (`section` NULL). */
static enum err_code set_value(struct reader *r, const char *section, const char *key, const char *text, bool append,
                               const yaml_node_t *at)
{
    const char *from = origin(r, at);
    return located(r, at,
                   section ? settings_set(r->cli, section, key, text, append, from, r->err)
                           : settings_set_recipe(r->cli, key, text, append, from, r->err));
}

static enum err_code read_list(struct reader *r, const char *section, const char *key, const yaml_node_t *at,
                               const yaml_node_t *list)
{
    enum err_code code = ERR_OK;
    const yaml_node_item_t *item = list->data.sequence.items.start;
    for (; item < list->data.sequence.items.top && code == ERR_OK; item++) {
        const yaml_node_t *node = yaml_document_get_node(&r->document, *item);
        const char *text = scalar(node);
        if (!text) return refuse(r, node, "expected a word");
        bool append = item > list->data.sequence.items.start;
        code = set_value(r, section, key, text, append, at);
    }
    return code;
}

static enum err_code read_setting(struct reader *r, const char *section, const char *key, const yaml_node_t *at,
                                  const yaml_node_t *value)
{
    const struct option_row *row = option_find(section ? section : options_recipe.section, key);
    if (value->type == YAML_SEQUENCE_NODE && row && row->type == OPT_LIST) return read_list(r, section, key, at, value);
    const char *text = scalar(value);
    if (!text) return refuse(r, value, "expected one value");
    return set_value(r, section, key, text, false, at);
}

/* Reads a key of section kafka. A key that is not a setting of the program is a property of librdkafka, which refuses
 * unknown properties. */
static enum err_code read_kafka(struct reader *r, const char *section, const char *key, const yaml_node_t *at,
                                const yaml_node_t *value)
{
    if (option_find(section, key)) return read_setting(r, section, key, at, value);
    const char *text = scalar(value);
    if (!text) return refuse(r, value, "expected one value");
    return located(r, at, settings_set_property(r->cli, key, text, origin(r, at), r->err));
}

static enum err_code read_database_option(struct reader *r, const char *name, const char *key, const yaml_node_t *at,
                                          const yaml_node_t *value)
{
    (void)name;
    if (value->type != YAML_SEQUENCE_NODE) {
        const char *text = scalar(value);
        if (!text) return refuse(r, value, "expected one value");
        return located(r, at, catalogue_set(r->cli, r->entry, key, text, false, r->err));
    }
    enum err_code code = ERR_OK;
    const yaml_node_item_t *item = value->data.sequence.items.start;
    for (bool append = false; item < value->data.sequence.items.top && code == ERR_OK; item++, append = true) {
        const yaml_node_t *node = yaml_document_get_node(&r->document, *item);
        const char *text = scalar(node);
        if (!text || strcmp(key, "deny_columns") != 0)
            return refuse(r, node, text ? "expected one value" : "expected a word");
        code = located(r, node, catalogue_set(r->cli, r->entry, key, text, append, r->err));
    }
    return code;
}

static enum err_code read_database(struct reader *r, const char *section, const char *name, const yaml_node_t *at,
                                   const yaml_node_t *value)
{
    (void)section;
    r->entry = catalogue_add(r->cli, name, origin(r, at), r->err);
    if (!r->entry) return located(r, at, ERR_CONFIG);
    enum err_code code = each_pair(r, name, value, read_database_option);
    return code ? code : located(r, at, catalogue_check(r->entry, r->err));
}

static enum err_code read_section(struct reader *r, const char *context, const char *section, const yaml_node_t *at,
                                  const yaml_node_t *value)
{
    (void)context;
    if (strcmp(section, options_signals.section) == 0) return each_pair(r, section, value, read_signal);
    if (strcmp(section, options_kafka.section) == 0) return each_pair(r, section, value, read_kafka);
    if (strcmp(section, "databases") == 0) return each_pair(r, section, value, read_database);
    if (option_group_find(section)) return each_pair(r, section, value, read_setting);
    err_set(r->err, ERR_CONFIG, "unknown section '%.60s'" ERR_HINT "see docs/configuration.md for the sections",
            section);
    return located(r, at, ERR_CONFIG);
}

static enum err_code parse(struct reader *r, const char *text, size_t len, pair_fn *each)
{
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) return err_set(r->err, ERR_NOMEM, "out of memory");
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
    enum err_code code = ERR_OK;
    if (!yaml_parser_load(&parser, &r->document)) {
        code = err_set(r->err, ERR_CONFIG, "%s:%zu: %s", r->path, parser.problem_mark.line + 1,
                       parser.problem ? parser.problem : "not YAML");
    } else {
        const yaml_node_t *root = yaml_document_get_root_node(&r->document);
        if (root) code = each_pair(r, NULL, root, each);
        yaml_document_delete(&r->document);
    }
    yaml_parser_delete(&parser);
    return code;
}

/* Reads a whole file and passes its pairs to `each`. */
static enum err_code read_pairs(struct cli *cli, const char *path, FILE *file, pair_fn *each, struct err *err)
{
    char *text = g_malloc(MAX_CONFIG_BYTES + 1);
    size_t len = fread(text, 1, MAX_CONFIG_BYTES + 1, file);
    struct reader reader = {.cli = cli, .path = path, .err = err};
    enum err_code code = ERR_OK;
    if (ferror(file))
        code = err_set(err, ERR_CONFIG, "%s: cannot be read", path);
    else if (len > MAX_CONFIG_BYTES)
        code = err_set(err, ERR_CONFIG, "%s: larger than %d bytes", path, MAX_CONFIG_BYTES);
    else
        code = parse(&reader, text, len, each);
    g_free(text);
    return code;
}

enum err_code config_file_read(struct cli *cli, const char *path, bool required, struct err *err)
{
    FILE *file = fopen(path, "re");
    if (!file && !required && (errno == ENOENT || errno == ENOTDIR)) return ERR_OK;
    if (!file) return err_set(err, ERR_CONFIG, "%s: cannot be read: %s", path, g_strerror(errno));
    enum err_code code = read_pairs(cli, path, file, read_section, err);
    fclose(file);
    return code;
}

enum err_code recipe_read(struct cli *cli, const char *text, struct err *err)
{
    if (text[0] == '{') {
        struct reader reader = {.cli = cli, .path = "--recipe", .err = err};
        return parse(&reader, text, strlen(text), read_setting);
    }
    FILE *file = fopen(text, "re");
    if (!file) return err_set(err, ERR_CONFIG, "%s: cannot be read: %s", text, g_strerror(errno));
    enum err_code code = read_pairs(cli, text, file, read_setting, err);
    fclose(file);
    return code;
}
