/* Where one of a list of phrases stands in a text. */
#ifndef ASSAY_SIGNALS_SUPPORT_PHRASE_H
#define ASSAY_SIGNALS_SUPPORT_PHRASE_H

#include "lib/text/text.h"

struct vsig_phrase {
    uint32_t first, n_tokens;
};

/* The first place at or after token `from` where one of the phrases stands (NULL-terminated list; folded words or
 * stems, single spaces; * stands for any one word); the first of them in the list where several do. False: nowhere. */
bool vsig_phrase_find(const struct text_tokens *tokens, const char *const *phrases, uint32_t from,
                      struct vsig_phrase *at);

/* Is the token one of these words, folded or by its stem? */
bool vsig_phrase_is(const struct text_token *token, const char *const *words);

#endif
