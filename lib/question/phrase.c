#include "lib/question/phrase.h"

#include "lib/question/memo.h"

#include <string.h>

static bool is_word(const struct text_token *token, const char *word, size_t len)
{
    if (len == 1 && *word == '*') return token->kind != TEXT_PUNCT;
    return (strncmp(token->norm, word, len) == 0 && token->norm[len] == '\0') ||
           (token->stem != token->norm && strncmp(token->stem, word, len) == 0 && token->stem[len] == '\0');
}

/* True if the first letter shows that the token is another word. This cheap test decides most comparisons. */
static bool may_not_be(const struct text_token *token, char first)
{
    return first != '*' && first != *token->norm && first != *token->stem;
}

/* Returns the number of tokens that the phrase has at `at`; 0 if it does not occur there. */
static uint32_t phrase_length(const struct text_tokens *tokens, uint32_t at, const char *phrase)
{
    uint32_t n = 0;
    while (*phrase) {
        if (at + n >= tokens->n || may_not_be(&tokens->items[at + n], *phrase)) return 0;
        size_t len = strcspn(phrase, " ");
        if (!is_word(&tokens->items[at + n], phrase, len)) return 0;
        n++;
        phrase += len;
        while (*phrase == ' ') phrase++;
    }
    return n;
}

enum { LETTERS = 32, INDEXED = 64 };

/* The first INDEXED tokens, indexed by first letter: bit i is token i. Most phrases of a list begin with none of these
 * letters. */
struct first_letters {
    uint64_t at[LETTERS];
};

static void index_letters(const struct text_tokens *tokens, struct first_letters *letters)
{
    *letters = (struct first_letters){{0}};
    for (uint32_t i = 0; i < tokens->n && i < INDEXED; i++) {
        letters->at[*tokens->items[i].norm & (LETTERS - 1)] |= UINT64_C(1) << i;
        letters->at[*tokens->items[i].stem & (LETTERS - 1)] |= UINT64_C(1) << i;
    }
}

/* Returns the first token of the phrase's first occurrence in [from, end); `end` if it does not occur. */
static uint32_t phrase_place(const struct text_tokens *tokens, const struct first_letters *letters, const char *phrase,
                             uint32_t from, uint32_t end, uint32_t *length)
{
    uint64_t places = *phrase == '*' ? UINT64_MAX : letters->at[*phrase & (LETTERS - 1)];
    for (places = from < INDEXED ? places >> from << from : 0; places; places &= places - 1) {
        uint32_t at = (uint32_t)__builtin_ctzll(places);
        if (at >= end) return end;
        if ((*length = phrase_length(tokens, at, phrase))) return at;
    }
    for (uint32_t at = from < INDEXED ? INDEXED : from; at < end; at++)
        if ((*length = phrase_length(tokens, at, phrase))) return at;
    return end;
}

static bool find(const struct text_tokens *tokens, const struct first_letters *letters, const char *const *phrases,
                 uint32_t from, struct question_phrase *at)
{
    uint32_t first = tokens->n;
    for (const char *const *phrase = phrases; *phrase; phrase++) {
        uint32_t length, place = phrase_place(tokens, letters, *phrase, from, first, &length);
        if (place < first) *at = (struct question_phrase){first = place, length};
    }
    return first != tokens->n;
}

bool question_phrase_in(const struct text_tokens *tokens, const char *const *phrases, uint32_t from,
                        struct question_phrase *at)
{
    struct first_letters letters;
    index_letters(tokens, &letters);
    return find(tokens, &letters, phrases, from, at);
}

/* --- cached results, because all candidates of a question search for the same lists --- */

enum { KEPT = 128, PROBES = 8 };

struct kept_phrase {
    const char *const *phrases; /* NULL if the slot is free */
    uint32_t from;
    bool found;
    struct question_phrase at; /* valid if `found` */
};

struct kept_phrases {
    struct first_letters letters;
    struct kept_phrase items[KEPT];
};

/* Returns the cache of the question. Returns NULL if it has none, or if the arena is full. */
static struct kept_phrases *kept_of(const struct question *question)
{
    struct question_memo *memo = question->memo;
    if (!memo || memo->phrases) return memo ? memo->phrases : NULL;
    memo->phrases = arena_new(memo->arena, struct kept_phrases);
    if (memo->phrases) index_letters(&question->tokens, &memo->phrases->letters);
    return memo->phrases;
}

/* Returns the slot that holds this search, or a free slot for it. Returns NULL if neither is among the first PROBES
 * slots. */
static struct kept_phrase *place_of(struct kept_phrases *kept, const char *const *phrases, uint32_t from)
{
    uint64_t hash = ((uintptr_t)phrases / sizeof *phrases + from) * UINT64_C(0x9E3779B97F4A7C15) >> 32;
    for (uint32_t i = 0; i < PROBES; i++) {
        struct kept_phrase *item = &kept->items[(hash + i) % KEPT];
        if (!item->phrases || (item->phrases == phrases && item->from == from)) return item;
    }
    return NULL;
}

bool question_phrase_find(const struct question *question, const char *const *phrases, uint32_t from,
                          struct question_phrase *at)
{
    struct kept_phrases *kept = kept_of(question);
    if (!kept) return question_phrase_in(&question->tokens, phrases, from, at);
    struct kept_phrase *item = place_of(kept, phrases, from);
    if (!item) return find(&question->tokens, &kept->letters, phrases, from, at);
    if (!item->phrases) {
        *item = (struct kept_phrase){.phrases = phrases, .from = from};
        item->found = find(&question->tokens, &kept->letters, phrases, from, &item->at);
    }
    if (item->found) *at = item->at;
    return item->found;
}

bool question_token_is(const struct text_token *token, const char *const *words)
{
    for (; *words; words++)
        if (!may_not_be(token, **words) && is_word(token, *words, strlen(*words))) return true;
    return false;
}
