/* Words: tokens, stems, identifiers, similarity and embeddings. Uses no database and no SQL.
 *
 * Thread: every function may run on any thread. Stemming keeps a handle for each thread.
 */
#ifndef ASSAY_LIB_TEXT_TEXT_H
#define ASSAY_LIB_TEXT_TEXT_H

#include "lib/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum text_token_kind { TEXT_WORD, TEXT_NUMBER, TEXT_QUOTED, TEXT_PUNCT };

struct text_token {
    enum text_token_kind kind;
    uint32_t start, end; /* bytes of the source; TEXT_QUOTED includes the quotes */
    uint32_t word;       /* number in the lexicon (lib/text/lexicon.h) for TEXT_WORD, otherwise TEXT_NO_WORD */
    const char *norm;    /* folded text (lower case, no accents); for TEXT_QUOTED only the text inside the quotes */
    const char *stem;    /* Porter2 stem of norm for TEXT_WORD, else norm */
    double number;       /* value of a TEXT_NUMBER, or of a number word (two, dozen), which is a TEXT_WORD with
                          * is_number */
    bool is_number, is_stop, is_capital; /* is_capital: starts with an upper-case letter in the source */
};

struct text_tokens {
    const char *source;
    size_t len;
    struct text_token *items;
    uint32_t n;
};

/* Splits a question or a description into tokens. Each of 1,234.5, 3-D, O'Brien, e-mail and a date is one token. A text
 * in quotes ('x', "x", “x”) is one token, but an apostrophe is no quote. Items are NULL if the arena is full. Input
 * beyond 64 KiB is ignored. */
struct text_tokens text_tokenize(struct arena *arena, const char *text, size_t len);

/* Splits an identifier into folded words: AvgSalary_2 into avg salary 2, HTTPServer into http server, dept-no into dept
 * no. A table expands common abbreviations (num → number, avg → average, dept → department, ...). */
struct text_tokens text_split_identifier(struct arena *arena, const char *name, size_t len);

/* Returns the number before the hyphen of "7-day" or "three-week". Returns 0 if there is none, or if it is above
 * 1,000,000. */
long text_number_in_span(const char *word);

/* Folds a text for comparison: NFKD without marks, lower case, single spaces, trimmed. Returns NULL if the arena is
 * full. */
char *text_fold(struct arena *arena, const char *text, size_t len);

/* Returns the letters and digits of a text, and its bytes outside of ASCII, in lower case. Returns NULL if the arena is
 * full. */
char *text_letters(struct arena *arena, const char *text, size_t len);

/* Returns the number of an ordinal, from 1: "third", "3rd", or "third" of "third-highest". Returns 0 for other words.
 * Words from "first" to "twelfth" are known. */
unsigned text_ordinal(const char *word);

/* Folds a text like text_fold, into the caller's `size` bytes. Returns NULL if the result does not fit. */
char *text_fold_short(char *out, size_t size, const char *text, size_t len);

/* Returns the Porter2 (Snowball English) stem of a folded word. */
const char *text_stem(struct arena *arena, const char *word);

/* Returns how similar two words are in meaning, 0..1. Equal stems, singular and plural, and listed synonyms are
 * similar. */
double text_word_similarity(const char *a, const char *b);

/* Lists the groups of synonyms that contain a stem: at most 6 numbers below TEXT_MAX_GROUPS. Two stems with a common
 * group may mean each other. For many words this is faster than text_word_similarity. Returns the count. */
enum { TEXT_MAX_GROUPS = 1024 };
unsigned text_synonym_groups(const char *stem, const uint16_t **groups);

/* Returns the Damerau-Levenshtein distance in code points, or limit + 1 if it exceeds `limit`. Words longer than 64
 * code points are compared by bytes. */
unsigned text_distance(const char *a, const char *b, unsigned limit);

/* Returns a Jaro-Winkler-like similarity 0..1 of two folded strings. */
double text_similarity(const char *a, const char *b);

/* Embeddings behind one interface. The built-in embedder hashes weighted stems and character trigrams into TEXT_DIM
 * floats of unit length. Synonyms of the field (customer/client, salary/wage/pay, ...) share buckets. */
enum { TEXT_DIM = 256 };
struct text_embedder {
    const char *name;
    /* Fills out[dim] for a text. Returns false on failure, which the caller reports as unavailable. */
    bool (*embed)(const struct text_embedder *self, const char *text, size_t len, float *out);
    unsigned dim;
    void *state;
};
const struct text_embedder *text_builtin_embedder(void);
float text_cosine(const float *a, const float *b, unsigned dim);

/* Returns true if two words are byte for byte equal. Compares the first letter first, because it nearly always
 * decides. */
static inline bool text_same(const char *a, const char *b)
{
    return *a == *b && strcmp(a, b) == 0;
}

/* Returns true for stop words and question words (the, of, what, show, list, ...). The input must be folded. */
bool text_is_stop(const char *word);

#endif
