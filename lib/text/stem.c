/* Stems: Porter2 after the tables' irregular forms. Snowball's handle is not thread-safe and costs an allocation, so
 * each thread keeps one, with a small direct-mapped cache in front of it: questions and schemas repeat their words. */
#include "lib/text/internal.h"

#include <glib.h>
#include <libstemmer.h>
#include <string.h>

enum { CACHE_SLOTS = 512 };

struct stem_state {
    struct sb_stemmer *stemmer; /* NULL: out of memory; words are then their own stems */
    struct {
        char word[WORD_MAX / 2], stem[WORD_MAX / 2];
    } cache[CACHE_SLOTS];
};

static void state_free(void *p)
{
    struct stem_state *state = p;
    if (state->stemmer) sb_stemmer_delete(state->stemmer);
    g_free(state);
}

static GPrivate thread_state = G_PRIVATE_INIT(state_free);

static struct stem_state *state_get(void)
{
    struct stem_state *state = g_private_get(&thread_state);
    if (state) return state;
    state = g_new0(struct stem_state, 1);
    state->stemmer = sb_stemmer_new("english", "UTF_8");
    g_private_set(&thread_state, state);
    return state;
}

/* Without the hyphens, so that "e-mail" and "email" meet. */
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
        squeeze(word, out); /* "does" is not a doe */
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

void stem_into(const char *word, char out[WORD_MAX])
{
    size_t len = strnlen(word, WORD_MAX);
    if (len == 0 || len >= WORD_MAX / 2) {
        stem_slow(word, out);
        return;
    }
    struct stem_state *state = state_get();
    uint32_t slot = slot_of(word, len);
    if (strcmp(state->cache[slot].word, word) != 0) {
        stem_slow(word, out);
        size_t n = strlen(out);
        if (n >= sizeof state->cache[slot].stem) return;
        memcpy(state->cache[slot].word, word, len + 1);
        memcpy(state->cache[slot].stem, out, n + 1);
        return;
    }
    memcpy(out, state->cache[slot].stem, sizeof state->cache[slot].stem);
}

const char *text_stem(struct arena *arena, const char *word)
{
    if (strnlen(word, WORD_MAX) >= WORD_MAX) return arena_strdup(arena, word);
    char stem[WORD_MAX];
    stem_into(word, stem);
    return strcmp(stem, word) == 0 ? arena_strdup(arena, word) : arena_strdup(arena, stem);
}
