/* Reads the terms of a team from words.yaml: beside the database, or in the folder of descriptions if one is given.
 *
 *     words:
 *       churned customers: {column: customer.status, value: C}
 *       region: {column: store.area_code}
 *       net revenue: {formula: sum(price * quantity) - sum(discount)}
 *
 * A question with a term is read as if its evidence contained the term's definition (lib/question/terms.c). People
 * write the file: unusable entries are noted with their line and are never an error.
 */
#include "lib/schema/schema_int.h"

#include <string.h>
#include <sys/stat.h>
#include <yaml.h>

enum { MAX_FILE = 256 << 10, MAX_TERMS = 1000, MAX_TEXT = 500 };

struct terms_reader {
    struct builder *builder;
    const char *path;
    yaml_document_t document;
    struct schema_term *terms;
    uint32_t n;
};

static void note(struct terms_reader *r, const yaml_node_t *node, const char *what)
{
    builder_note(r->builder, "%s:%zu: %s", r->path, node->start_mark.line + 1, what);
}

/* Returns the text of a scalar, in the arena. Returns NULL for any other node, and for a text that is empty, too long,
 * or contains a NUL. */
static const char *text_of(struct terms_reader *r, const yaml_node_t *node)
{
    if (!node || node->type != YAML_SCALAR_NODE) return NULL;
    const char *text = (const char *)node->data.scalar.value;
    size_t len = node->data.scalar.length;
    return len && len <= MAX_TEXT && strlen(text) == len ? arena_strndup(r->builder->arena, text, len) : NULL;
}

/* Returns the column of "table.column". */
static const struct schema_column *column_of(const struct schema_index *index, const char *name)
{
    const char *dot = strrchr(name, '.');
    int table = dot ? schema_find_table(index, name, (size_t)(dot - name)) : -1;
    int column = table >= 0 ? schema_find_column(index, table, dot + 1, strlen(dot + 1)) : -1;
    return column >= 0 ? &index->tables[table].columns[column] : NULL;
}

enum { KEY_COLUMN, KEY_VALUE, KEY_FORMULA, N_KEYS };
static const char *const KEYS[N_KEYS] = {"column", "value", "formula"};

/* Reads the texts of a term's keys. Returns false after noting an error. */
static bool read_keys(struct terms_reader *r, const yaml_node_t *node, const char *given[N_KEYS])
{
    if (node->type != YAML_MAPPING_NODE)
        return note(r, node, "expected {column: ..., value: ..., formula: ...}"), false;
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
    for (; pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(&r->document, pair->key);
        const char *name = text_of(r, key), *text = text_of(r, yaml_document_get_node(&r->document, pair->value));
        int k = 0;
        while (k < N_KEYS && (!name || strcmp(name, KEYS[k]) != 0)) k++;
        if (k == N_KEYS) return note(r, key, "no such key: column, value or formula"), false;
        if (!text) return note(r, key, "expected a text of at most 500 bytes"), false;
        given[k] = text;
    }
    return true;
}

/* Returns the definition of the term in the form of evidence. */
static const char *meaning_of(struct terms_reader *r, const char *const given[N_KEYS])
{
    struct arena *arena = r->builder->arena;
    if (given[KEY_FORMULA]) return given[KEY_FORMULA];
    if (!given[KEY_VALUE]) return given[KEY_COLUMN];
    char **parts = g_strsplit(given[KEY_VALUE], "'", -1), *quoted = g_strjoinv("''", parts);
    const char *meaning = arena_printf(arena, "%s = '%s'", given[KEY_COLUMN], quoted);
    g_strfreev(parts);
    g_free(quoted);
    return meaning;
}

static void read_term(struct terms_reader *r, const yaml_node_t *key, const yaml_node_t *node)
{
    const char *given[N_KEYS] = {NULL}, *term = text_of(r, key);
    if (!term) {
        note(r, key, "expected a term of at most 500 bytes");
        return;
    }
    if (!read_keys(r, node, given)) return;
    const struct schema_column *column = given[KEY_COLUMN] ? column_of(r->builder->index, given[KEY_COLUMN]) : NULL;
    struct schema_term read = {.term = term,
                               .words = text_tokenize(r->builder->arena, term, strlen(term)),
                               .meaning = meaning_of(r, given),
                               .column = column ? column->id : UINT32_MAX};
    if (given[KEY_COLUMN] && !column)
        note(r, node, "there is no such column");
    else if (!given[KEY_COLUMN] && !given[KEY_FORMULA])
        note(r, node, "a term takes a column or a formula");
    else if (read.words.n && read.meaning)
        r->terms[r->n++] = read;
}

static const yaml_node_t *find_words(struct terms_reader *r)
{
    const yaml_node_t *root = yaml_document_get_root_node(&r->document);
    if (!root || root->type != YAML_MAPPING_NODE) return NULL;
    const yaml_node_pair_t *pair = root->data.mapping.pairs.start;
    for (; pair < root->data.mapping.pairs.top; pair++) {
        const char *name = text_of(r, yaml_document_get_node(&r->document, pair->key));
        const yaml_node_t *value = yaml_document_get_node(&r->document, pair->value);
        if (name && strcmp(name, "words") == 0 && value && value->type == YAML_MAPPING_NODE) return value;
    }
    return NULL;
}

static void read_document(struct terms_reader *r)
{
    const yaml_node_t *words = find_words(r);
    if (!words) {
        builder_note(r->builder, "%s has no mapping 'words'", r->path);
        return;
    }
    size_t n = (size_t)(words->data.mapping.pairs.top - words->data.mapping.pairs.start);
    if (n > MAX_TERMS) note(r, words, "too many words: the first 1,000 are read");
    r->terms = arena_new_array(r->builder->arena, n < MAX_TERMS ? n + 1 : MAX_TERMS, struct schema_term);
    for (size_t i = 0; r->terms && i < n && i < MAX_TERMS; i++) {
        const yaml_node_pair_t *pair = &words->data.mapping.pairs.start[i];
        const yaml_node_t *key = yaml_document_get_node(&r->document, pair->key);
        const yaml_node_t *value = yaml_document_get_node(&r->document, pair->value);
        if (key && value) read_term(r, key, value);
    }
    r->builder->index->terms = r->terms;
    r->builder->index->n_terms = r->n;
}

void schema_read_terms(struct builder *builder, const char *path)
{
    struct terms_reader r = {.builder = builder, .path = path};
    struct stat st;
    char *bytes = NULL;
    gsize len = 0;
    yaml_parser_t parser;
    if (stat(path, &st) != 0) return; /* the file does not exist */
    bool usable = S_ISREG(st.st_mode) && st.st_size <= MAX_FILE && g_file_get_contents(path, &bytes, &len, NULL);
    if (!usable) builder_note(builder, "%s is too large or no file", path);
    if (usable && yaml_parser_initialize(&parser)) {
        yaml_parser_set_input_string(&parser, (const unsigned char *)bytes, len);
        if (yaml_parser_load(&parser, &r.document)) {
            read_document(&r);
            yaml_document_delete(&r.document);
        } else {
            builder_note(builder, "%s:%zu: %s", path, parser.problem_mark.line + 1,
                         parser.problem ? parser.problem : "not YAML");
        }
        yaml_parser_delete(&parser);
    }
    g_free(bytes);
}
