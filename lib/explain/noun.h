/* Names of tables and columns as English words: whether they can follow an article, and their number.
 *
 * "vessel", "date of birth" and "addresses" are noun phrases. Names such as "took_office", "eliminated_by",
 * "IsOfficial", "f1" and "100" are not. They keep their own spelling, and the sentence supplies the noun ("the column
 * IsOfficial"). Words with letters beyond ASCII keep their spelling, too. */
#ifndef ASSAY_LIB_EXPLAIN_NOUN_H
#define ASSAY_LIB_EXPLAIN_NOUN_H

#include "lib/explain/say.h"
#include "lib/text/text.h"

enum { NOUN_BYTES = 160 };

struct noun {
    char text[NOUN_BYTES];   /* words of the noun, or the name in its own spelling; truncated at the end of a word */
    uint32_t head, head_len; /* span of the head, the word with a singular and a plural: "weeks" of "weeks on top" */
    bool is_phrase;          /* true if `text` is an English noun phrase, according to word lists */
    bool is_counted;         /* true if the head has a singular and a plural, unlike "data" */
};

/* Reads a name that was split into `words` (text_split_identifier of `name`). `is_table` is true for a table's name.
 * Such a name is no noun phrase if it ends in a participle ("documents mailed"), because it does not name one row. */
void noun_of_name(struct noun *out, const char *name, const struct text_tokens *words, bool is_table);
/* Reads a name in plain words, such as a sidecar file gives. */
void noun_of_words(struct noun *out, const char *words);

/* Write the noun unchanged, in singular ("vessel"), or in plural ("vessels"). Mass nouns do not change. */
void say_noun(struct say *out, const struct noun *noun);
void say_noun_singular(struct say *out, const struct noun *noun);
void say_noun_plural(struct say *out, const struct noun *noun);

/* Returns true if the noun takes "are". */
bool noun_is_plural(const struct noun *noun);
/* Returns true if the word takes "an", judged by its spelling. */
bool noun_takes_an(const char *text);

#endif
