/* Phrases of the explanation against the words of the question, both ways. Only operation-level phrases count: what is
 * told of rows depends on what may be shown. */
#include "scoring/features/extract.h"

#include "lib/explain/explain.h"

#include <glib.h>
#include <string.h>

enum { MAX_PHRASES = 64, MAX_PHRASE_WORDS = 80 };

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

/* A word of the question, with its groups looked up once: each is held against each word of the explanation. */
struct asked_word {
    const char *stem; /* NULL: it does not count */
    const uint16_t *groups;
    unsigned n_groups;
    bool covered; /* some phrase has it */
};

struct asked_words {
    struct asked_word *items;
    uint32_t n;
};

static struct asked_words read_asked(struct look *look)
{
    const struct text_tokens *tokens = &look->asked->tokens;
    uint32_t n = tokens->n < LOOK_MAX_ASKED ? tokens->n : LOOK_MAX_ASKED;
    struct asked_words asked = {arena_array(look->arena, n + 1, sizeof *asked.items), n};
    for (uint32_t q = 0; asked.items && q < n; q++) {
        struct asked_word *word = &asked.items[q];
        *word = (struct asked_word){0};
        if (!counts(&tokens->items[q])) continue;
        word->stem = tokens->items[q].stem;
        word->n_groups = text_synonym_groups(word->stem, &word->groups);
    }
    return asked;
}

static bool share_group(const struct asked_word *asked, const uint16_t *groups, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < asked->n_groups; k++)
            if (groups[i] == asked->groups[k]) return true;
    return false;
}

/* Mark the words of the question that mean the same; is there one? */
static bool cover(struct asked_words *asked, const char *stem)
{
    const uint16_t *groups;
    unsigned n = text_synonym_groups(stem, &groups);
    bool hit = false;
    for (uint32_t q = 0; q < asked->n; q++) {
        struct asked_word *word = &asked->items[q];
        if (!word->stem || (strcmp(word->stem, stem) != 0 && !share_group(word, groups, n))) continue;
        word->covered = hit = true;
    }
    return hit;
}

struct share {
    float n, found;
};

static void add_words(struct share *share, const struct text_tokens *words, struct asked_words *asked)
{
    for (uint32_t i = 0; words->items && i < words->n && i < MAX_PHRASE_WORDS; i++) {
        const char *stem = words->items[i].stem;
        if (!counts(&words->items[i]) || is_frame(stem) || text_is_stop(stem))
            continue; /* "lists" as little as "list" */
        share->n++;
        share->found += cover(asked, stem);
    }
}

/* A name that the explanation spells as the schema does: "has_pet", "IsOfficial". */
static bool is_spelt_name(const char *word, size_t len)
{
    for (size_t i = 1; i < len; i++)
        if (word[i] == '_' || (g_ascii_isupper(word[i]) && g_ascii_islower(word[i - 1]))) return true;
    return false;
}

/* The share of the phrase's words that the question has; those it has are marked. Below 0: no words. */
static float answered(const struct look *look, const struct explain_phrase *phrase, struct asked_words *asked)
{
    struct text_tokens words = text_tokenize(look->arena, phrase->prose, strlen(phrase->prose));
    struct share share = {0};
    for (uint32_t i = 0; words.items && i < words.n && i < MAX_PHRASE_WORDS; i++) {
        const struct text_token *word = &words.items[i];
        struct text_tokens parts = {.items = words.items + i, .n = 1};
        if (word->kind == TEXT_WORD && is_spelt_name(phrase->prose + word->start, word->end - word->start))
            parts = text_split_identifier(look->arena, phrase->prose + word->start, word->end - word->start);
        add_words(&share, &parts, asked);
    }
    return share.n > 0 ? share.found / share.n : -1;
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

static void set_covered(struct look *look, const struct asked_words *asked)
{
    float n = 0, found = 0;
    for (uint32_t q = 0; q < asked->n; q++) {
        n += asked->items[q].stem != NULL;
        found += asked->items[q].covered;
        look->covered[q] = asked->items[q].covered;
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
    struct asked_words asked = read_asked(look);
    for (uint32_t i = 0; asked.items && i < explanation->n_phrases && i < MAX_PHRASES; i++) {
        const struct explain_phrase *phrase = &explanation->phrases[i];
        if (phrase->from_data || phrase->kind == EXPLAIN_SUMMARY || !phrase->prose) continue;
        float score = answered(look, phrase, &asked);
        if (score < 0) continue;
        set_phrase(look, phrase->kind, score);
        n++;
        sum += score;
    }
    look->out[VERIFIER_phrases] = n;
    if (n > 0) look->out[VERIFIER_phrase_mean] = sum / n;
    if (asked.items) set_covered(look, &asked);
    set_cosine(look, explanation);
}
