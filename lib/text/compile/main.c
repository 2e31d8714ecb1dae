/* The program that builds models/words.lex (compile.h). */
#include "lib/text/compile/compile.h"

#include "lib/text/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void build_fail(const char *what, const char *path)
{
    fprintf(stderr, "lexicon_compile: %s: %s\n", path, what);
    exit(1);
}

char **build_lines(const char *folder, const char *name)
{
    char *path = g_build_filename(folder, name, NULL), *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL)) build_fail("cannot be read", path);
    char **lines = g_strsplit(text, "\n", -1);
    g_free(text);
    g_free(path);
    return lines;
}

struct build_word *build_word_at(const struct build *build, uint32_t number)
{
    return g_ptr_array_index(build->words, number);
}

uint32_t build_word_of(struct build *build, const char *phrase)
{
    char key[LEXICON_KEY];
    if (!lexicon_key(phrase, key)) return UINT32_MAX;
    uint32_t number = GPOINTER_TO_UINT(g_hash_table_lookup(build->by_key, key));
    if (number) return number - 1;
    struct build_word *word = g_new0(struct build_word, 1);
    word->key = g_strdup(key);
    word->links = g_array_new(FALSE, FALSE, sizeof(struct build_link));
    g_ptr_array_add(build->words, word);
    g_hash_table_insert(build->by_key, word->key, GUINT_TO_POINTER(build->words->len));
    return build->words->len - 1;
}

static void add_link(struct build_word *word, uint32_t to, enum text_relation_kind kind, double strength)
{
    for (unsigned i = 0; i < word->links->len; i++) {
        struct build_link *link = &g_array_index(word->links, struct build_link, i);
        if (link->to != to) continue;
        if (kind == TEXT_RELATION_SYNONYM && link->kind == kind) strength += link->strength;
        if (link->strength < strength) *link = (struct build_link){to, kind, strength};
        return;
    }
    struct build_link link = {to, kind, strength};
    g_array_append_val(word->links, link);
}

void build_relate(struct build *build, uint32_t a, uint32_t b, enum text_relation_kind kind, double strength)
{
    if (a == b || a == UINT32_MAX || b == UINT32_MAX) return;
    add_link(build_word_at(build, a), b, kind, strength);
    if (kind != TEXT_RELATION_IS_A) add_link(build_word_at(build, b), a, kind, strength);
}

int main(int argc, char **argv)
{
    char *wordnet = NULL, *tables = NULL, *out = NULL;
    const GOptionEntry options[] = {
        {"wordnet", 0, 0, G_OPTION_ARG_FILENAME, &wordnet, "Folder of WordNet's data files", "DIR"},
        {"tables", 0, 0, G_OPTION_ARG_FILENAME, &tables, "Folder of our own tables", "DIR"},
        {"out", 0, 0, G_OPTION_ARG_FILENAME, &out, "The file to write", "FILE"},
        {NULL},
    };
    GOptionContext *context = g_option_context_new("- make the lexicon");
    g_option_context_add_main_entries(context, options, NULL);
    if (!g_option_context_parse(context, &argc, &argv, NULL) || !wordnet || !tables || !out)
        build_fail("--wordnet DIR --tables DIR --out FILE", "usage");
    g_option_context_free(context);
    struct build build = {g_ptr_array_new(), g_hash_table_new(g_str_hash, g_str_equal)};
    tables_read(&build, tables);
    wordnet_read(&build, wordnet);
    lexicon_write(&build, out);
    return 0;
}
