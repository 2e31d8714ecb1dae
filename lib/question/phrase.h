/* Where one of a list of phrases stands in a question, or in another text. */
#ifndef ASSAY_LIB_QUESTION_PHRASE_H
#define ASSAY_LIB_QUESTION_PHRASE_H

#include "lib/question/question.h"

struct question_phrase {
    uint32_t first, n_tokens;
};

/* The first place at or after token `from` where one of the phrases stands (NULL-terminated list; folded words or
 * stems, single spaces; * stands for any one word); the first of them in the list where several do. False: nowhere. */
bool question_phrase_in(const struct text_tokens *tokens, const char *const *phrases, uint32_t from,
                        struct question_phrase *at);

/* The same in the question's own words. Looked for once a question, list and place, and kept in the question's arena: a
 * list is known again by its address, so it must be static, and a question is asked by one thread at a time. */
bool question_phrase_find(const struct question *question, const char *const *phrases, uint32_t from,
                          struct question_phrase *at);

/* Is the token one of these words, folded or by its stem? */
bool question_token_is(const struct text_token *token, const char *const *words);

#endif
