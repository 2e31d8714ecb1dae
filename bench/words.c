/* Compares the time of a word lookup in the lexicon with one in a GLib hash table of the same words. Usage:
 * bench_words */
#include "lib/base/clock.h"
#include "lib/text/lexicon.h"

#include <glib.h>
#include <stdio.h>

enum { WORDS = 20000, ROUNDS = 50 };

int main(void)
{
    static const char *words[WORDS];
    GHashTable *peer = g_hash_table_new(g_str_hash, g_str_equal);
    unsigned found = 0, met = 0;
    for (uint32_t i = 0; i < WORDS; i++) words[i] = text_lexicon_text(i * 3 % 60000);
    for (uint32_t i = 0; i < WORDS; i++) g_hash_table_insert(peer, (gpointer)words[i], (gpointer)words[i]);
    int64_t start = clock_now_ns();
    for (uint32_t i = 0; i < WORDS * ROUNDS; i++) found += text_lexicon_stem(words[i % WORDS]) != TEXT_NO_WORD;
    int64_t middle = clock_now_ns();
    for (uint32_t i = 0; i < WORDS * ROUNDS; i++) met += g_hash_table_lookup(peer, words[i % WORDS]) != NULL;
    int64_t end = clock_now_ns();
    double ours = (double)(middle - start) / (WORDS * ROUNDS), theirs = (double)(end - middle) / (WORDS * ROUNDS);
    printf("lexicon %.0f ns, GHashTable %.0f ns a word: ratio %.2f (%u and %u found)\n", ours, theirs, ours / theirs,
           found, met);
    g_hash_table_destroy(peer);
    return found == met && ours < 1000 ? 0 : 1;
}
