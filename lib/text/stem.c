/* Stems: the irregular forms of the tables, then Porter2. The Snowball handle is not thread-safe, and making one costs
 * an allocation, so each thread keeps one. Questions and schemas repeat their words. So each thread also has a small
 * direct-mapped cache of all facts about a word. */
#include "lib/text/internal.h"
#include "lib/text/lexicon.h"

#include <glib.h>
#include <libstemmer.h>
#include <string.h>

enum { CACHE_SLOTS = 1024 };

struct stem_slot {
    char word[WORD_MAX / 2], stem[WORD_MAX / 2];
    const struct lexeme *known;
    uint32_t number;
};

struct stem_state {
    struct sb_stemmer *stemmer; /* NULL if memory ran out; each word is then its own stem */
    struct stem_slot cache[CACHE_SLOTS];
};

static _Thread_local struct stem_state *thread_stems; /* equals thread_state, but is read without a function call */

static void state_free(void *p)
{
    struct stem_state *state = p;
    thread_stems = NULL;
    if (state->stemmer) sb_stemmer_delete(state->stemmer);
    g_free(state);
}

static GPrivate thread_state = G_PRIVATE_INIT(state_free);

static struct stem_state *state_get(void)
{
    if (thread_stems) return thread_stems;
    thread_stems = g_new0(struct stem_state, 1);
    thread_stems->stemmer = sb_stemmer_new("english", "UTF_8");
    g_private_set(&thread_state, thread_stems);
    return thread_stems;
}

/* Copies the word without its hyphens, so that "e-mail" equals "email". */
static size_t squeeze(const char *word, char out[WORD_MAX])
{
    size_t n = 0;
    for (; *word && n < WORD_MAX - 1; word++)
        if (*word != '-') out[n++] = *word;
    out[n] = '\0';
    return n;
}

void stem_raw(const char *word, char out[WORD_MAX])
{
    size_t len = squeeze(word, out);
    struct stem_state *state = state_get();
    if (!state->stemmer) return;
    const sb_symbol *stem = sb_stemmer_stem(state->stemmer, (const sb_symbol *)out, (int)len);
    int n = stem ? sb_stemmer_length(state->stemmer) : 0;
    if (n <= 0 || n >= WORD_MAX) return;
    memcpy(out, stem, (size_t)n);
    out[n] = '\0';
}

static void stem_slow(const char *word, char out[WORD_MAX])
{
    const struct lexeme *known = lexeme_find(word);
    if (known && known->is_stop) {
        squeeze(word, out); /* stop words are not stemmed: "does" is no plural of "doe" */
        return;
    }
    stem_raw(known && known->base ? known->base : word, out);
}

static uint32_t slot_of(const char *word, size_t len)
{
    uint32_t hash = 2166136261U;
    for (size_t i = 0; i < len; i++) hash = (hash ^ (unsigned char)word[i]) * 16777619U;
    return (hash ^ hash >> 16) % CACHE_SLOTS;
}

/* Returns the cached facts of a word. Returns NULL if the word is empty, or if the word or its stem is too long for a
 * slot. */
static const struct stem_slot *slot_get(const char *word)
{
    size_t len = strnlen(word, WORD_MAX);
    if (len == 0 || len >= WORD_MAX / 2) return NULL;
    struct stem_slot *slot = &state_get()->cache[slot_of(word, len)];
    if (memcmp(slot->word, word, len + 1) == 0) return slot;
    char stem[WORD_MAX];
    stem_slow(word, stem);
    size_t n = strlen(stem);
    if (n >= sizeof slot->stem) return NULL;
    memcpy(slot->word, word, len + 1);
    memcpy(slot->stem, stem, n + 1);
    slot->known = lexeme_find(word);
    slot->number = text_lexicon_stem(stem);
    return slot;
}

void stem_into(const char *word, char out[WORD_MAX])
{
    const struct stem_slot *slot = slot_get(word);
    if (slot)
        memcpy(out, slot->stem, sizeof slot->stem);
    else
        stem_slow(word, out);
}

void word_look(const char *word, struct word_facts *out)
{
    const struct stem_slot *slot = slot_get(word);
    if (slot) {
        memcpy(out->stem, slot->stem, sizeof slot->stem);
        out->known = slot->known;
        out->number = slot->number;
    } else {
        stem_slow(word, out->stem);
        out->known = lexeme_find(word);
        out->number = text_lexicon_stem(out->stem);
    }
}

const char *text_stem(struct arena *arena, const char *word)
{
    if (strnlen(word, WORD_MAX) >= WORD_MAX) return arena_strdup(arena, word);
    char stem[WORD_MAX];
    stem_into(word, stem);
    return strcmp(stem, word) == 0 ? arena_strdup(arena, word) : arena_strdup(arena, stem);
}
