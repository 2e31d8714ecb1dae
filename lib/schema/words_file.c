/* Reads words.yaml in the folder of descriptions if one is given, otherwise beside the database.
 *
 *     words:
 *       churned customers: {column: customer.status, value: C}
 *     keys:
 *       - orders.customer_id -> customer.id
 *
 * People write the file. An unusable file, section or entry is noted with its line and is never an error.
 */
#include "lib/schema/words_file.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_FILE = 256 << 10, MAX_TEXT = 500 };

static const struct {
    const char *name;
    void (*read)(struct words_file *file, const yaml_node_t *section);
} SECTIONS[] = {{"words", words_read_terms}, {"keys", words_read_keys}};

const yaml_node_t *words_node(struct words_file *file, int number)
{
    return yaml_document_get_node(&file->document, number);
}

void words_note(struct words_file *file, const yaml_node_t *node, const char *what)
{
    builder_note(file->builder, "%s:%zu: %s", file->path, node->start_mark.line + 1, what);
}

const char *words_text(struct words_file *file, const yaml_node_t *node)
{
    if (!node || node->type != YAML_SCALAR_NODE) return NULL;
    const char *text = (const char *)node->data.scalar.value;
    size_t len = node->data.scalar.length;
    return len && len <= MAX_TEXT && strlen(text) == len ? arena_strndup(file->builder->arena, text, len) : NULL;
}

const struct schema_column *words_column(const struct schema_index *index, const char *name, size_t len)
{
    const char *dot = memrchr(name, '.', len);
    int table = dot ? schema_find_table(index, name, (size_t)(dot - name)) : -1;
    size_t rest = dot ? len - (size_t)(dot + 1 - name) : 0;
    int column = table >= 0 ? schema_find_column(index, table, dot + 1, rest) : -1;
    return column >= 0 ? &index->tables[table].columns[column] : NULL;
}

/* Reads one top-level entry. Returns false if its name is no known section. */
static bool read_section(struct words_file *file, const yaml_node_pair_t *pair)
{
    const yaml_node_t *value = words_node(file, pair->value);
    const char *name = words_text(file, words_node(file, pair->key));
    for (size_t i = 0; name && value && i < G_N_ELEMENTS(SECTIONS); i++) {
        if (strcmp(name, SECTIONS[i].name) != 0) continue;
        SECTIONS[i].read(file, value);
        return true;
    }
    return false;
}

static void read_document(struct words_file *file)
{
    const yaml_node_t *root = yaml_document_get_root_node(&file->document);
    bool mapping = root && root->type == YAML_MAPPING_NODE, known = false;
    const yaml_node_pair_t *end = mapping ? root->data.mapping.pairs.top : NULL;
    for (const yaml_node_pair_t *pair = mapping ? root->data.mapping.pairs.start : NULL; pair < end; pair++)
        known |= read_section(file, pair);
    if (!known) builder_note(file->builder, "%s has neither 'words' nor 'keys'", file->path);
}

void schema_read_words(struct builder *builder, const char *path)
{
    struct words_file file = {.builder = builder, .path = path};
    struct stat st;
    char *bytes = NULL;
    gsize len = 0;
    yaml_parser_t parser;
    if (stat(path, &st) != 0) return; /* the file does not exist */
    bool usable = S_ISREG(st.st_mode) && st.st_size <= MAX_FILE && g_file_get_contents(path, &bytes, &len, NULL);
    if (!usable) builder_note(builder, "%s is too large or no file", path);
    if (usable && yaml_parser_initialize(&parser)) {
        yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, len);
        if (yaml_parser_load(&parser, &file.document)) {
            read_document(&file);
            yaml_document_delete(&file.document);
        } else {
            builder_note(builder, "%s:%zu: %s", path, parser.problem_mark.line + 1,
                         parser.problem ? parser.problem : "not YAML");
        }
        yaml_parser_delete(&parser);
    }
    g_free(bytes);
}

void schema_print_scalar(const char *text, size_t len, FILE *out)
{
    json_t *json = json_stringn(text, len);
    char *quoted = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL; /* every JSON string is valid YAML */
    fputs(quoted ? quoted : "\"\"", out);
    free(quoted);
    json_decref(json);
}
