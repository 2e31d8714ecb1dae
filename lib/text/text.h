/* Words: tokens, stems, identifiers, similarity, embeddings. No database, no SQL.
 *
 * Thread: every function may run on any thread; stemming keeps a handle per thread.
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
    const char *norm;    /* folded (lower case, no accents); inside of the quotes for TEXT_QUOTED */
    const char *stem;    /* Porter2 stem of norm for TEXT_WORD, else norm */
    double number;       /* TEXT_NUMBER, also number words (two, dozen) as TEXT_WORD with is_number */
    bool is_number, is_stop, is_capital; /* capital: starts with an upper-case letter in the source */
};

struct text_tokens {
    const char *source;
    size_t len;
    struct text_token *items;
    uint32_t n;
};

/* Splits a question or a description. Keeps 1,234.5, 3-D, O'Brien, e-mail, dates as one token; finds 'x', "x", “x”
 * quotes but not apostrophes. Items are NULL if the arena is full. Input past 64 KiB is cut. */
struct text_tokens text_tokenize(struct arena *arena, const char *text, size_t len);

/* Splits an identifier into folded words: "AvgSalary_2", "HTTPServer", "dept-no" -> avg salary 2 / http server / dept
 * no. A table expands common abbreviations (num → number, avg → average, dept → department, ...). */
struct text_tokens text_split_identifier(struct arena *arena, const char *name, size_t len);

/* Returns the number before the hyphen of "7-day" or "three-week". Returns 0 if there is none, or if it is above
 * 1,000,000. */
long text_number_in_span(const char *word);

/* Folds a text for comparison: NFKD without marks, lower case, single spaces, trimmed. Returns NULL if the arena is
 * full. */
char *text_fold(struct arena *arena, const char *text, size_t len);

/* Folds into `size` bytes of the caller's. Returns NULL if the result does not fit. */
char *text_fold_short(char *out, size_t size, const char *text, size_t len);

/* Returns the Porter2 (Snowball English) stem of a folded word. */
const char *text_stem(struct arena *arena, const char *word);

/* Returns how similar two words are in meaning, 0..1: equal stems, singular and plural, or listed synonyms. */
double text_word_similarity(const char *a, const char *b);

/* Lists the groups of synonyms that contain a stem (at most 6 numbers below TEXT_MAX_GROUPS). Two stems with a common
 * group may mean each other. Faster than text_word_similarity for many words. Returns the count. */
enum { TEXT_MAX_GROUPS = 1024 };
unsigned text_synonym_groups(const char *stem, const uint16_t **groups);

/* Returns the Damerau-Levenshtein distance on code points, at most `limit` (otherwise limit + 1). Words past 64 code
 * points are compared by bytes. */
unsigned text_distance(const char *a, const char *b, unsigned limit);

/* Returns a Jaro-Winkler-like similarity 0..1 of two folded strings. */
double text_similarity(const char *a, const char *b);

/* Embeddings behind one interface. The built-in one hashes weighted stems and character trigrams into TEXT_DIM floats
 * of unit length. Field synonyms (customer/client, salary/wage/pay, ...) share buckets. */
enum { TEXT_DIM = 256 };
struct text_embedder {
    const char *name;
    /* Fills out[dim] for a text. Returns false on failure (the caller reports it as unavailable). */
    bool (*embed)(const struct text_embedder *self, const char *text, size_t len, float *out);
    unsigned dim;
    void *state;
};
const struct text_embedder *text_builtin_embedder(void);
float text_cosine(const float *a, const float *b, unsigned dim);

/* True if two words are equal to the byte. The first letter is compared first, because it nearly always decides. */
static inline bool text_same(const char *a, const char *b)
{
    return *a == *b && strcmp(a, b) == 0;
}

/* True for stop words and question words (the, of, what, show, list, ...). The input is folded. */
bool text_is_stop(const char *word);

#endif
