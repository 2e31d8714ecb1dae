#include "signals/support/phrase.h"

#include <string.h>

static bool is_word(const struct text_token *token, const char *word, size_t len)
{
    if (len == 1 && *word == '*') return token->kind != TEXT_PUNCT;
    return (strncmp(token->norm, word, len) == 0 && token->norm[len] == '\0') ||
           (token->stem != token->norm && strncmp(token->stem, word, len) == 0 && token->stem[len] == '\0');
}

/* By its first letter: what decides nearly always, and cheaply. */
static bool may_not_be(const struct text_token *token, char first)
{
    return first != '*' && first != *token->norm && first != *token->stem;
}

/* Tokens that the phrase takes at `at`; 0: it does not stand there. */
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

/* Which of the first INDEXED tokens begin with a letter, as bits: most phrases of a list begin with none of them. */
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

/* The first place of the phrase in [from, end); `end`: none. */
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

bool vsig_phrase_find(const struct text_tokens *tokens, const char *const *phrases, uint32_t from,
                      struct vsig_phrase *at)
{
    struct first_letters letters;
    uint32_t first = tokens->n;
    index_letters(tokens, &letters);
    for (const char *const *phrase = phrases; *phrase; phrase++) {
        uint32_t length, place = phrase_place(tokens, &letters, *phrase, from, first, &length);
        if (place < first) *at = (struct vsig_phrase){first = place, length};
    }
    return first != tokens->n;
}

bool vsig_phrase_is(const struct text_token *token, const char *const *words)
{
    for (; *words; words++)
        if (!may_not_be(token, **words) && is_word(token, *words, strlen(*words))) return true;
    return false;
}
