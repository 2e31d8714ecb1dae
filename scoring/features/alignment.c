/* Compares phrases of the explanation with the words of the question, in both directions.
 *
 * The share of a phrase is the share of its content words that the question contains, as equal stems or synonyms. The
 * features are the least share for each kind of phrase, and the mean share. Further features are the share of the
 * question's words that some phrase contains, and the cosine of both texts. Only operation-level phrases count, because
 * data-level phrases depend on the permitted exposure. The marks in `covered` also serve the gaps (features.c). */
#include "scoring/features/extract.h"

#include "lib/explain/explain.h"

#include <glib.h>
#include <string.h>

enum { MAX_PHRASES = 64, MAX_PHRASE_WORDS = 80 };

/* Words that every explanation contains, so they do not count. */
static const char *const FRAME[] = {"queri", "return", "result", "row",   "column", "kept", "where",
                                    "read",  "tabl",   "each",   "order", "valu",   "keep", "match"};

static bool is_frame(const char *stem)
{
    for (size_t i = 0; i < G_N_ELEMENTS(FRAME); i++)
        if (text_same(FRAME[i], stem)) return true;
    return false;
}

static bool is_content_word(const struct text_token *t)
{
    return t->kind != TEXT_PUNCT && !t->is_stop;
}

/* A word of the question. Its synonym groups are looked up once, because each word of the explanation is compared with
 * it. */
struct question_word {
    const char *stem; /* NULL if the word does not count */
    const uint16_t *groups;
    unsigned n_groups;
    bool covered; /* true if some phrase has the word */
};

struct question_words {
    struct question_word *items;
    uint32_t n;
};

static struct question_words read_question_words(struct extraction *ex)
{
    const struct text_tokens *tokens = &ex->question->tokens;
    uint32_t n = tokens->n < EXTRACT_MAX_QUESTION_WORDS ? tokens->n : EXTRACT_MAX_QUESTION_WORDS;
    struct question_words question = {arena_array(ex->arena, n + 1, sizeof *question.items), n};
    for (uint32_t q = 0; question.items && q < n; q++) {
        struct question_word *word = &question.items[q];
        *word = (struct question_word){0};
        if (!is_content_word(&tokens->items[q])) continue;
        word->stem = tokens->items[q].stem;
        word->n_groups = text_synonym_groups(word->stem, &word->groups);
    }
    return question;
}

static bool share_group(const struct question_word *question, const uint16_t *groups, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        for (unsigned k = 0; k < question->n_groups; k++)
            if (groups[i] == question->groups[k]) return true;
    return false;
}

/* Marks the words of the question that have the same meaning. Returns true if there is one. */
static bool mark_covered(struct question_words *question, const char *stem)
{
    const uint16_t *groups;
    unsigned n = text_synonym_groups(stem, &groups);
    bool hit = false;
    for (uint32_t q = 0; q < question->n; q++) {
        struct question_word *word = &question->items[q];
        if (!word->stem || (!text_same(word->stem, stem) && !share_group(word, groups, n))) continue;
        word->covered = hit = true;
    }
    return hit;
}

struct share {
    float n, found;
};

static void add_words(struct share *share, const struct text_tokens *words, struct question_words *question)
{
    for (uint32_t i = 0; words->items && i < words->n && i < MAX_PHRASE_WORDS; i++) {
        const char *stem = words->items[i].stem;
        if (!is_content_word(&words->items[i]) || is_frame(stem) || text_is_stop(stem))
            continue; /* "lists" counts no more than "list" */
        share->n++;
        share->found += mark_covered(question, stem);
    }
}

/* True for a name in the spelling of a schema, such as "has_pet" or "IsOfficial". */
static bool is_spelt_name(const char *word, size_t len)
{
    for (size_t i = 1; i < len; i++)
        if (word[i] == '_' || (g_ascii_isupper(word[i]) && g_ascii_islower(word[i - 1]))) return true;
    return false;
}

/* Returns the share of the phrase's words that the question contains, and marks those words. Returns a negative value
 * if the phrase has no content words. */
static float share_covered(const struct extraction *ex, const struct explain_phrase *phrase,
                           struct question_words *question)
{
    struct text_tokens words = text_tokenize(ex->arena, phrase->prose, strlen(phrase->prose));
    struct share share = {0};
    for (uint32_t i = 0; words.items && i < words.n && i < MAX_PHRASE_WORDS; i++) {
        const struct text_token *word = &words.items[i];
        struct text_tokens parts = {.items = words.items + i, .n = 1};
        if (word->kind == TEXT_WORD && is_spelt_name(phrase->prose + word->start, word->end - word->start))
            parts = text_split_identifier(ex->arena, phrase->prose + word->start, word->end - word->start);
        add_words(&share, &parts, question);
    }
    return share.n > 0 ? share.found / share.n : -1;
}

static void keep_least(float *out, float score)
{
    if (!(*out <= score)) *out = score;
}

static void set_phrase(struct extraction *ex, enum explain_kind kind, float score)
{
    float *out = ex->out;
    if (kind == EXPLAIN_JOIN) keep_least(&out[FEATURE_phrase_join_least], score);
    if (kind == EXPLAIN_FILTER || kind == EXPLAIN_HAVING) keep_least(&out[FEATURE_phrase_filter_least], score);
    if (kind == EXPLAIN_SELECT) keep_least(&out[FEATURE_phrase_select_least], score);
    keep_least(&out[FEATURE_phrase_least], score);
}

static void set_covered(struct extraction *ex, const struct question_words *question)
{
    float n = 0, found = 0;
    for (uint32_t q = 0; q < question->n; q++) {
        n += question->items[q].stem != NULL;
        found += question->items[q].covered;
        ex->covered[q] = question->items[q].covered;
    }
    if (n > 0) ex->out[FEATURE_question_covered] = found / n;
}

static void set_cosine(struct extraction *ex, const struct explanation *explanation)
{
    float vector[TEXT_DIM];
    const struct text_embedder *embedder = text_builtin_embedder();
    const char *operations = explain_operations(ex->arena, explanation);
    if (operations && embedder->embed(embedder, operations, strlen(operations), vector))
        ex->out[FEATURE_premise_cosine] = text_cosine(vector, ex->question->embedding, TEXT_DIM);
}

void extract_alignment(struct extraction *ex, const struct explanation *explanation)
{
    float n = 0, sum = 0;
    if (!explanation || !ex->question) return;
    struct question_words question = read_question_words(ex);
    for (uint32_t i = 0; question.items && i < explanation->n_phrases && i < MAX_PHRASES; i++) {
        const struct explain_phrase *phrase = &explanation->phrases[i];
        if (phrase->from_data || phrase->kind == EXPLAIN_SUMMARY || !phrase->prose) continue;
        float score = share_covered(ex, phrase, &question);
        if (score < 0) continue;
        set_phrase(ex, phrase->kind, score);
        n++;
        sum += score;
    }
    ex->out[FEATURE_phrases] = n;
    if (n > 0) ex->out[FEATURE_phrase_mean] = sum / n;
    if (question.items) set_covered(ex, &question);
    set_cosine(ex, explanation);
}
