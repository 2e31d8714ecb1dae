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

/* The first letters of the tokens' words, as bits: most phrases of a list begin with none of them. */
static uint32_t letters_of(const struct text_tokens *tokens, uint32_t from)
{
    uint32_t letters = 1U << ('*' & 31);
    for (uint32_t i = from; i < tokens->n; i++)
        letters |= 1U << (*tokens->items[i].norm & 31) | 1U << (*tokens->items[i].stem & 31);
    return letters;
}

bool vsig_phrase_find(const struct text_tokens *tokens, const char *const *phrases, uint32_t from,
                      struct vsig_phrase *at)
{
    uint32_t letters = letters_of(tokens, from), first = UINT32_MAX;
    for (const char *const *phrase = phrases; *phrase; phrase++) {
        if (!(letters >> (**phrase & 31) & 1U)) continue;
        for (uint32_t i = from; i < tokens->n && i < first; i++) {
            uint32_t n = phrase_length(tokens, i, *phrase);
            if (n) *at = (struct vsig_phrase){first = i, n};
        }
    }
    return first != UINT32_MAX;
}

bool vsig_phrase_is(const struct text_token *token, const char *const *words)
{
    for (; *words; words++)
        if (!may_not_be(token, **words) && is_word(token, *words, strlen(*words))) return true;
    return false;
}
