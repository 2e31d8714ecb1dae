/* Matches patterns of words in a question.
 *
 * A pattern is a list of words, separated by spaces. `a|b` are alternatives, `?a` is optional, `#` is a number, and `*`
 * is any one word. Compile a table of patterns once; its patterns are then indexed by their first word. */
#ifndef ASSAY_LIB_QUESTION_PATTERN_H
#define ASSAY_LIB_QUESTION_PATTERN_H

#include "lib/question/question.h"

struct pattern_table;

/* Compiles n rows of `stride` bytes. The first member of a row is its pattern, a `const char *` to static text. Aborts
 * if the table has more than 2,048 different words or 65,535 rows. The table is never freed. Thread: any. */
const struct pattern_table *pattern_compile(const void *rows, size_t stride, uint32_t n);

enum { PATTERN_NO_WORD = UINT32_MAX };

/* Returns the number of a word in the table, or PATTERN_NO_WORD. Thread: any. */
uint32_t pattern_word(const struct pattern_table *table, const char *word);

/* The tokens of a question, prepared for one table. */
struct pattern_text {
    const struct pattern_table *table;
    const struct question *question;
    uint32_t *ids; /* by token: number of its word in the table; the caller may replace it with the number of another
                    * word */
    int *value_at; /* by token: index of the question's value that is a number and begins there, or -1 */
    /* Returns true if a match counts. NULL accepts all matches. */
    bool (*accept)(const struct pattern_text *text, uint32_t row, uint32_t first, uint32_t n_tokens);
};

/* Reads the tokens and numbers of a question. Returns false if the arena is full. Thread: any. */
bool pattern_read(struct pattern_text *text, struct arena *arena, const struct pattern_table *table,
                  const struct question *question);

/* Returns the row that matches the most tokens, beginning at `token`. If several rows match equally many, returns the
 * first of them. *n_tokens gets the number of matched tokens. Returns -1 if no row matches. Thread: any. */
int pattern_at(const struct pattern_text *text, uint32_t token, uint32_t *n_tokens);

#endif
