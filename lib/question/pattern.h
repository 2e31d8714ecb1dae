/* Patterns of words in a question.
 *
 * A pattern is words, separated by spaces: `a|b` are alternatives, `?a` is optional, `#` is a number, `*` is any one
 * word. A table of patterns is compiled once, and each pattern is found by its first word. */
#ifndef ASSAY_LIB_QUESTION_PATTERN_H
#define ASSAY_LIB_QUESTION_PATTERN_H

#include "lib/question/question.h"

struct pattern_table;

/* Compiles n rows of `stride` bytes; the first member of a row is its pattern, a `const char *` to static text. Aborts
 * if a pattern is malformed or the table has more than 2,048 different words. The table is never freed. */
const struct pattern_table *pattern_compile(const void *rows, size_t stride, uint32_t n);

enum { PATTERN_NO_WORD = UINT32_MAX };

/* Gives the number of a word in the table, or PATTERN_NO_WORD. Thread: any. */
uint32_t pattern_word(const struct pattern_table *table, const char *word);

/* The tokens of a question, prepared for one table. */
struct pattern_text {
    const struct pattern_table *table;
    const struct question *question;
    uint32_t *ids; /* number of each token's word; the caller may replace it by another word's */
    int *value_at; /* index of the number that begins at a token; -1 */
    /* Says whether a match counts. NULL: all do. */
    bool (*accept)(const struct pattern_text *text, uint32_t row, uint32_t first, uint32_t n_tokens);
};

/* Reads the tokens and numbers of a question. False if the arena is full. */
bool pattern_read(struct pattern_text *text, struct arena *arena, const struct pattern_table *table,
                  const struct question *question);

/* Gives the row that takes most tokens from `token` on, the earlier row among equals; *n_tokens is their number. -1 if
 * no row matches. */
int pattern_at(const struct pattern_text *text, uint32_t token, uint32_t *n_tokens);

#endif
