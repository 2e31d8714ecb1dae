/* The built-in embedding: a bag of hashed features in TEXT_DIM signed buckets, scaled to unit length.
 *
 * A word adds three kinds of features: its stem, its synonym groups, and the trigrams of its stem. The groups make
 * salary and wage similar, and the trigrams make similar spellings similar. Stop words count only if the text has no
 * other words. Generic field words (name, id, type) have a lower weight.
 *
 * Texts, and above all explanations, repeat their words. So each thread caches the features of a word by its spelling,
 * and a repeated word needs no other lookup. Cached features are added in the same order as new ones, so the sums are
 * identical to the bit. */
#include "lib/text/internal.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

static const float STEM_WEIGHT = 1.0F, GROUP_WEIGHT = 0.9F, TRIGRAM_WEIGHT = 0.45F, GENERIC = 0.4F;

enum { KEPT_WORDS = 512, KEPT_TEXT = 24, KEPT_FEATURES = 40 };

struct feature {
    uint32_t bucket;
    float weight;
};

/* A cached word as written, and its features; `len` is 0 if the slot is empty. Two kinds of words are computed each
 * time: words longer than `text`, and words with more features than fit into the slot. `n` counts all features. */
struct kept_word {
    uint8_t kind, len;
    bool is_stop; /* true if the word adds no features */
    char text[KEPT_TEXT];
    uint32_t n;
    struct feature features[KEPT_FEATURES];
};

struct embed_state {
    struct arena scratch;
    struct kept_word kept[KEPT_WORDS];
};

static void state_free(void *p)
{
    struct embed_state *state = p;
    arena_free(&state->scratch);
    g_free(state);
}

static GPrivate thread_state = G_PRIVATE_INIT(state_free);

static struct embed_state *state_get(void)
{
    struct embed_state *state = g_private_get(&thread_state);
    if (state) return state;
    state = g_new0(struct embed_state, 1);
    arena_init(&state->scratch, 0);
    g_private_set(&thread_state, state);
    return state;
}

/* The target of new features: `out`, and the word to cache (NULL if none). */
struct bag {
    float *out;
    struct kept_word *keep;
};

static void add_feature(struct bag *bag, const void *bytes, size_t len, unsigned salt, float weight)
{
    uint64_t hash = XXH3_64bits_withSeed(bytes, len, salt);
    struct feature feature = {hash % TEXT_DIM, hash >> 63 ? weight : -weight};
    bag->out[feature.bucket] += feature.weight;
    if (!bag->keep) return;
    if (bag->keep->n < KEPT_FEATURES) bag->keep->features[bag->keep->n] = feature;
    bag->keep->n++;
}

static void add_trigrams(struct bag *bag, const char *stem, float weight)
{
    char padded[WORD_MAX + 2];
    size_t n = strnlen(stem, WORD_MAX - 1);
    padded[0] = '^';
    memcpy(padded + 1, stem, n);
    padded[n + 1] = '$';
    for (size_t i = 0; i < n; i++) add_feature(bag, padded + i, 3, 3, weight / sqrtf((float)n));
}

static void add_word(struct bag *bag, const struct text_token *token, float weight)
{
    const struct lexeme *word = lexeme_find(token->norm), *stem = lexeme_find(token->stem);
    if (word && word->is_generic) weight *= GENERIC;
    add_feature(bag, token->stem, strlen(token->stem), 1, weight * STEM_WEIGHT);
    add_trigrams(bag, token->stem, weight * TRIGRAM_WEIGHT);
    if (!stem || !stem->n_groups) return;
    float share = weight * GROUP_WEIGHT / sqrtf((float)stem->n_groups);
    for (unsigned i = 0; i < stem->n_groups; i++) add_feature(bag, &stem->groups[i], sizeof stem->groups[i], 2, share);
}

/* Adds a word that is not cached. A name ("avg_salary", "StuID") counts as the words that it consists of. Most words
 * are no such names and are added unchanged. */
static bool add_anew(struct arena *arena, struct bag *bag, const char *text, const struct text_token *token,
                     bool stop_words)
{
    size_t len = token->end - token->start;
    bool name = token->kind == TEXT_WORD || token->kind == TEXT_QUOTED;
    if (!name || is_plain_word(text, len)) {
        add_word(bag, token, 1);
        return true;
    }
    struct text_tokens words = text_split_identifier(arena, text, len);
    if (!words.items) return false;
    for (uint32_t i = 0; i < words.n; i++)
        if (stop_words || !words.items[i].is_stop || words.n == 1) add_word(bag, &words.items[i], 1);
    return true;
}

static bool is_same_span(const struct kept_word *word, const struct token_span *span)
{
    return word->len == span->len && word->kind == span->kind && word->n <= KEPT_FEATURES &&
           memcmp(word->text, span->text, span->len) == 0;
}

/* Reads a word that is not cached, and caches it if it fits into a slot. Returns NULL if the arena is full. */
static const struct kept_word *read_word(struct embed_state *state, float *out, const struct token_scan *scan,
                                         const struct token_span *span, struct kept_word *word)
{
    struct text_token token = {0};
    struct bag bag = {out, word};
    bool fits = span->len <= KEPT_TEXT;
    *word = (struct kept_word){.kind = (uint8_t)span->kind, .len = fits ? (uint8_t)span->len : 0};
    if (fits) memcpy(word->text, span->text, span->len);
    bool read = token_read(&state->scratch, scan, span, &token);
    word->is_stop = token.is_stop;
    if (read && (token.is_stop || add_anew(&state->scratch, &bag, span->text, &token, false))) return word;
    word->len = 0;
    return NULL;
}

/* Adds a word, from the cache if possible. The features of a word depend only on its kind and its text. */
static const struct kept_word *add_span(struct embed_state *state, float *out, const struct token_scan *scan,
                                        const struct token_span *span)
{
    struct kept_word *word = &state->kept[XXH3_64bits_withSeed(span->text, span->len, span->kind) % KEPT_WORDS];
    if (!is_same_span(word, span)) return read_word(state, out, scan, span, word);
    for (uint32_t i = 0; i < word->n; i++) out[word->features[i].bucket] += word->features[i].weight;
    return word;
}

/* Adds the words of a text that has only stop words. */
static bool add_stop_words(struct embed_state *state, float *out, const char *text, size_t len)
{
    struct text_tokens tokens = text_tokenize(&state->scratch, text, len);
    struct bag bag = {.out = out};
    for (uint32_t i = 0; tokens.items && i < tokens.n; i++) {
        const struct text_token *token = &tokens.items[i];
        if (token->kind == TEXT_PUNCT) continue;
        if (!add_anew(&state->scratch, &bag, text + token->start, token, true)) return false;
    }
    return tokens.items != NULL;
}

static bool add_text(struct embed_state *state, float *out, const char *text, size_t len)
{
    struct token_scan scan = token_scan_of(text, len);
    struct token_span span;
    bool content = false;
    while (token_next(&scan, &span)) {
        if (span.kind == TEXT_PUNCT) continue;
        const struct kept_word *word = add_span(state, out, &scan, &span);
        if (!word) return false;
        content |= !word->is_stop;
    }
    return content || add_stop_words(state, out, text, len);
}

static bool embed(const struct text_embedder *self, const char *text, size_t len, float *out)
{
    (void)self;
    memset(out, 0, TEXT_DIM * sizeof *out);
    struct embed_state *state = state_get();
    bool ok = add_text(state, out, text, len);
    arena_reset(&state->scratch);
    float norm = 0;
    for (unsigned i = 0; i < TEXT_DIM; i++) norm += out[i] * out[i];
    norm = sqrtf(norm);
    if (norm > 0)
        for (unsigned i = 0; i < TEXT_DIM; i++) out[i] /= norm;
    return ok;
}

const struct text_embedder *text_builtin_embedder(void)
{
    static const struct text_embedder builtin = {.name = "hashed", .embed = embed, .dim = TEXT_DIM};
    return &builtin;
}

float text_cosine(const float *a, const float *b, unsigned dim)
{
    float dot = 0, aa = 0, bb = 0;
    for (unsigned i = 0; i < dim; i++) {
        dot += a[i] * b[i];
        aa += a[i] * a[i];
        bb += b[i] * b[i];
    }
    return aa > 0 && bb > 0 ? dot / sqrtf(aa * bb) : 0;
}
