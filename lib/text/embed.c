/* The built-in embedding: a bag of hashed features in TEXT_DIM signed buckets, of unit length. A word adds its stem,
 * its groups of synonyms (so that salary and wage meet) and the trigrams of its stem (so that near spellings do).
 * Stop words count only when there is nothing else; generic field words (name, id, type) count less. */
#include "lib/text/internal.h"

#include <math.h>
#include <string.h>
#include <xxhash.h>

static const float STEM_WEIGHT = 1.0F, GROUP_WEIGHT = 0.9F, TRIGRAM_WEIGHT = 0.45F, GENERIC = 0.4F;

static void add_feature(float *out, const void *bytes, size_t len, unsigned salt, float weight)
{
    uint64_t hash = XXH3_64bits_withSeed(bytes, len, salt);
    out[hash % TEXT_DIM] += hash >> 63 ? weight : -weight;
}

static void add_trigrams(float *out, const char *stem, float weight)
{
    char padded[WORD_MAX + 2];
    size_t n = strnlen(stem, WORD_MAX - 1);
    padded[0] = '^';
    memcpy(padded + 1, stem, n);
    padded[n + 1] = '$';
    for (size_t i = 0; i < n; i++) add_feature(out, padded + i, 3, 3, weight / sqrtf((float)n));
}

static void add_word(float *out, const struct text_token *token, float weight)
{
    const struct lexeme *word = lexeme_find(token->norm), *stem = lexeme_find(token->stem);
    if (word && word->is_generic) weight *= GENERIC;
    add_feature(out, token->stem, strlen(token->stem), 1, weight * STEM_WEIGHT);
    add_trigrams(out, token->stem, weight * TRIGRAM_WEIGHT);
    if (!stem || !stem->n_groups) return;
    float share = weight * GROUP_WEIGHT / sqrtf((float)stem->n_groups);
    for (unsigned i = 0; i < stem->n_groups; i++) add_feature(out, &stem->groups[i], sizeof stem->groups[i], 2, share);
}

/* Names inside a text ("avg_salary", "StuID") count as their words. Most words are not names and are taken as they are.
 */
static bool add_token(struct arena *arena, float *out, const char *source, const struct text_token *token,
                      bool stop_words)
{
    if (token->kind == TEXT_PUNCT || (token->is_stop && !stop_words)) return true;
    bool name = token->kind == TEXT_WORD || token->kind == TEXT_QUOTED;
    if (!name || is_plain_word(source + token->start, token->end - token->start)) {
        add_word(out, token, 1);
        return true;
    }
    struct text_tokens words = text_split_identifier(arena, source + token->start, token->end - token->start);
    if (!words.items) return false;
    for (uint32_t i = 0; i < words.n; i++)
        if (stop_words || !words.items[i].is_stop || words.n == 1) add_word(out, &words.items[i], 1);
    return true;
}

static bool add_text(struct arena *arena, float *out, const char *text, size_t len)
{
    struct text_tokens tokens = text_tokenize(arena, text, len);
    if (!tokens.items) return false;
    bool content = false;
    for (uint32_t i = 0; i < tokens.n; i++) content |= !tokens.items[i].is_stop && tokens.items[i].kind != TEXT_PUNCT;
    for (uint32_t i = 0; i < tokens.n; i++)
        if (!add_token(arena, out, text, &tokens.items[i], !content)) return false;
    return true;
}

static bool embed(const struct text_embedder *self, const char *text, size_t len, float *out)
{
    (void)self;
    memset(out, 0, TEXT_DIM * sizeof *out);
    struct arena arena;
    arena_init(&arena, 0);
    bool ok = add_text(&arena, out, text, len);
    arena_free(&arena);
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
