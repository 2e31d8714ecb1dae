/* Finds the phrases of a list in a question or in another text. */
#ifndef ASSAY_LIB_QUESTION_PHRASE_H
#define ASSAY_LIB_QUESTION_PHRASE_H

#include "lib/question/question.h"

struct question_phrase {
    uint32_t first, n_tokens;
};

/* Finds the first occurrence of any phrase in a NULL-terminated list, at or after token `from`. A phrase is folded
 * words or stems, separated by single spaces. In a phrase, * matches any one token except punctuation. If several
 * phrases begin at the same token, the first in the list wins. Returns false if there is no occurrence, and leaves *at
 * unchanged. */
bool question_phrase_in(const struct text_tokens *tokens, const char *const *phrases, uint32_t from,
                        struct question_phrase *at);

/* Searches the question's own words like question_phrase_in. Results are cached by the list's address and `from`, so
 * the list must be static. The cache is in the question's arena, so one thread at a time may use a question. */
bool question_phrase_find(const struct question *question, const char *const *phrases, uint32_t from,
                          struct question_phrase *at);

/* Returns true if the token is one of these words, by its folded form or its stem. */
bool question_token_is(const struct text_token *token, const char *const *words);

#endif
