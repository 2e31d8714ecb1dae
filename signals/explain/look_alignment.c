/* Phrases of the explanation against the words of the question, both ways. Only operation-level phrases count: what is
 * told of rows depends on what may be shown. */
#include "signals/explain/look.h"

#include "lib/explain/explain.h"

#include <glib.h>
#include <string.h>

enum { MAX_PHRASES = 64, MAX_PHRASE_WORDS = 80, MAX_QUESTION_WORDS = 200 };

/* Words that any explanation is made of. */
static const char *const FRAME[] = {"queri", "return", "result", "row",   "column", "kept", "where",
                                    "read",  "tabl",   "each",   "order", "valu",   "keep", "match"};

static bool is_frame(const char *stem)
{
    for (size_t i = 0; i < G_N_ELEMENTS(FRAME); i++)
        if (strcmp(FRAME[i], stem) == 0) return true;
    return false;
}

static bool counts(const struct text_token *t)
{
    return t->kind != TEXT_PUNCT && !t->is_stop;
}

static bool mean_the_same(const struct text_token *a, const struct text_token *b)
{
    if (strcmp(a->stem, b->stem) == 0) return true;
    const uint16_t *x, *y;
    unsigned n = text_synonym_groups(a->stem, &x), m = text_synonym_groups(b->stem, &y);
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < m; k++)
            if (x[i] == y[k]) return true;
    return false;
}

/* The share of the phrase's words that the question has; those it has are marked in `covered`. Below 0: no words. */
static float answered(const struct look *look, const struct explain_phrase *phrase, bool *covered)
{
    const struct text_tokens *asked = &look->asked->tokens;
    struct text_tokens words = text_tokenize(look->arena, phrase->prose, strlen(phrase->prose));
    float n = 0, found = 0;
    for (uint32_t i = 0; words.items && i < words.n && i < MAX_PHRASE_WORDS; i++) {
        bool hit = false;
        if (!counts(&words.items[i]) || is_frame(words.items[i].stem)) continue;
        for (uint32_t q = 0; q < asked->n && q < MAX_QUESTION_WORDS; q++) {
            if (!counts(&asked->items[q]) || !mean_the_same(&words.items[i], &asked->items[q])) continue;
            covered[q] = hit = true;
        }
        n++;
        found += hit;
    }
    return n > 0 ? found / n : -1;
}

static void least(float *out, float score)
{
    if (!(*out <= score)) *out = score;
}

static void set_phrase(struct look *look, enum explain_kind kind, float score)
{
    float *out = look->out;
    if (kind == EXPLAIN_JOIN) least(&out[VERIFIER_phrase_join_least], score);
    if (kind == EXPLAIN_FILTER || kind == EXPLAIN_HAVING) least(&out[VERIFIER_phrase_filter_least], score);
    if (kind == EXPLAIN_SELECT) least(&out[VERIFIER_phrase_select_least], score);
    least(&out[VERIFIER_phrase_least], score);
}

static void set_covered(struct look *look, const bool *covered)
{
    const struct text_tokens *asked = &look->asked->tokens;
    float n = 0, found = 0;
    for (uint32_t q = 0; q < asked->n && q < MAX_QUESTION_WORDS; q++) {
        n += counts(&asked->items[q]);
        found += counts(&asked->items[q]) && covered[q];
    }
    if (n > 0) look->out[VERIFIER_question_covered] = found / n;
}

static void set_cosine(struct look *look, const struct explanation *explanation)
{
    float vector[TEXT_DIM];
    const struct text_embedder *embedder = text_builtin_embedder();
    const char *operations = explain_operations(look->arena, explanation);
    if (operations && embedder->embed(embedder, operations, strlen(operations), vector))
        look->out[VERIFIER_premise_cosine] = text_cosine(vector, look->asked->embedding, TEXT_DIM);
}

void look_alignment(struct look *look, const struct explanation *explanation)
{
    float n = 0, sum = 0;
    if (!explanation || !look->asked) return;
    bool *covered = arena_array(look->arena, look->asked->tokens.n + 1, sizeof *covered);
    for (uint32_t i = 0; covered && i < explanation->n_phrases && i < MAX_PHRASES; i++) {
        const struct explain_phrase *phrase = &explanation->phrases[i];
        if (phrase->from_data || phrase->kind == EXPLAIN_SUMMARY || !phrase->prose) continue;
        float score = answered(look, phrase, covered);
        if (score < 0) continue;
        set_phrase(look, phrase->kind, score);
        n++;
        sum += score;
    }
    look->out[VERIFIER_phrases] = n;
    if (n > 0) look->out[VERIFIER_phrase_mean] = sum / n;
    if (covered) set_covered(look, covered);
    set_cosine(look, explanation);
}
