/* Reads a team's terms, the section `words` of words.yaml (words_file.c):
 *
 *     words:
 *       churned customers: {column: customer.status, value: C}
 *       region: {column: store.area_code}
 *       net revenue: {formula: sum(price * quantity) - sum(discount)}
 *
 * A question with a term is read as if its evidence contained the term's definition (lib/question/terms.c). An unusable
 * entry is noted with its line and is never an error.
 */
#include "lib/schema/words_file.h"

#include <string.h>

enum { MAX_TERMS = 1000 };

struct terms_reader {
    struct words_file *file;
    struct schema_term *terms;
    uint32_t n;
};

enum { KEY_COLUMN, KEY_VALUE, KEY_FORMULA, N_KEYS };
static const char *const KEYS[N_KEYS] = {"column", "value", "formula"};

/* Reads the texts of a term's keys. Notes an error and returns false if an entry is unusable. */
static bool read_keys(struct terms_reader *r, const yaml_node_t *node, const char *given[N_KEYS])
{
    if (node->type != YAML_MAPPING_NODE)
        return words_note(r->file, node, "expected {column: ..., value: ..., formula: ...}"), false;
    const yaml_node_pair_t *pair = node->data.mapping.pairs.start;
    for (; pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = words_node(r->file, pair->key);
        const char *name = words_text(r->file, key), *text = words_text(r->file, words_node(r->file, pair->value));
        int k = 0;
        while (k < N_KEYS && (!name || strcmp(name, KEYS[k]) != 0)) k++;
        if (k == N_KEYS) return words_note(r->file, key, "no such key: column, value or formula"), false;
        if (!text) return words_note(r->file, key, "expected a text of at most 500 bytes"), false;
        given[k] = text;
    }
    return true;
}

/* Returns the definition of the term in the form of evidence. */
static const char *meaning_of(struct terms_reader *r, const char *const given[N_KEYS])
{
    struct arena *arena = r->file->builder->arena;
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
    const char *given[N_KEYS] = {NULL}, *term = words_text(r->file, key);
    if (!term) {
        words_note(r->file, key, "expected a term of at most 500 bytes");
        return;
    }
    if (!read_keys(r, node, given)) return;
    const struct schema_column *column =
        given[KEY_COLUMN] ? words_column(r->file->builder->index, given[KEY_COLUMN], strlen(given[KEY_COLUMN])) : NULL;
    struct schema_term read = {.term = term,
                               .words = text_tokenize(r->file->builder->arena, term, strlen(term)),
                               .meaning = meaning_of(r, given),
                               .column = column ? column->id : UINT32_MAX};
    if (given[KEY_COLUMN] && !column)
        words_note(r->file, node, "there is no such column");
    else if (!given[KEY_COLUMN] && !given[KEY_FORMULA])
        words_note(r->file, node, "a term takes a column or a formula");
    else if (read.words.n && read.meaning)
        r->terms[r->n++] = read;
}

void words_read_terms(struct words_file *file, const yaml_node_t *section)
{
    struct terms_reader r = {.file = file};
    if (section->type != YAML_MAPPING_NODE) {
        words_note(file, section, "expected a mapping of terms");
        return;
    }
    size_t n = (size_t)(section->data.mapping.pairs.top - section->data.mapping.pairs.start);
    if (n > MAX_TERMS) words_note(file, section, "too many words: the first 1,000 are read");
    r.terms = arena_new_array(file->builder->arena, n < MAX_TERMS ? n + 1 : MAX_TERMS, struct schema_term);
    for (size_t i = 0; r.terms && i < n && i < MAX_TERMS; i++) {
        const yaml_node_pair_t *pair = &section->data.mapping.pairs.start[i];
        const yaml_node_t *key = words_node(file, pair->key), *value = words_node(file, pair->value);
        if (key && value) read_term(&r, key, value);
    }
    file->builder->index->terms = r.terms;
    file->builder->index->n_terms = r.n;
}
