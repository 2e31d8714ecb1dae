/* The lexicon: which words may mean each other, for all of English and not only for names of fields.
 *
 * lib/text/compile/ makes one file, models/words.lex, from WordNet 3.0 and our own tables (lib/text/words/). The file
 * is linked into the program and into the library as read-only data. There is no path to configure, and no file can be
 * missing at run time. The kernel loads only the pages that are read, and all processes share them. Rejected: a mapped
 * file. It saves nothing, because a program is mapped, too, and loading it may fail. Since the bytes are linked in,
 * they are as trusted as code. Values in them are still checked against their bounds when used.
 *
 * Words are stored by their stems (text_stem), and phrases by the stems of their words with one space between them. A
 * word has links to other words, each with a kind and a strength from 0 to 1. The strength falls with the number of the
 * sense. Only the first senses of both words count, so "state" is a country and not a verb of saying.
 *
 * Thread: any. No function fails, allocates or retains its arguments, except where an arena is named. */
#ifndef ASSAY_LIB_TEXT_LEXICON_H
#define ASSAY_LIB_TEXT_LEXICON_H

#include "lib/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The relation of the second word to the first. The file stores these numbers, so do not change them. */
enum text_relation_kind {
    TEXT_RELATION_NONE,
    TEXT_RELATION_SAME,      /* equal stems */
    TEXT_RELATION_SYNONYM,   /* customer: client */
    TEXT_RELATION_DERIVED,   /* arrive: arrival */
    TEXT_RELATION_ATTRIBUTE, /* old: age, expensive: price, populous: population, and back */
    TEXT_RELATION_DEMONYM,   /* French: France, and back; weaker: a language and where it is spoken */
    TEXT_RELATION_CODE,      /* F: female, JPN: Japan, Jan: January, and back; for values only, because the word "in"
                              * does not mean India */
    TEXT_RELATION_IS_A,      /* singer: person */
    TEXT_RELATION_HAS_KIND,  /* person: singer */
    TEXT_RELATION_OPPOSITE,  /* open: closed */
    TEXT_RELATION_KINDS
};
const char *text_relation_name(enum text_relation_kind kind);

struct text_relation {
    enum text_relation_kind kind;
    float strength; /* 0..1; 0 when kind is TEXT_RELATION_NONE */
};

/* TEXT_NO_WORD is the number of a word that the lexicon lacks. TEXT_MAX_LINKS is the maximum number of listed links. */
enum { TEXT_NO_WORD = UINT32_MAX >> 12, TEXT_MAX_LINKS = 64 };

/* Find the number of a word, either by its stem (text_token.stem), or by a folded word or phrase ("united kingdom").
 * Return TEXT_NO_WORD if it is unknown. */
uint32_t text_lexicon_stem(const char *stem);
uint32_t text_lexicon_word(const char *word);

/* Facts about a word. `commonness` (0..15) is roughly the binary logarithm of its count in a tagged corpus. `class` is
 * the class of its main sense: the WordNet file of its first sense, TEXT_CLASS_.... Both are zero for TEXT_NO_WORD. */
enum text_word_class {
    TEXT_CLASS_NONE = 0,
    TEXT_CLASS_ACT = 4,
    TEXT_CLASS_ANIMAL = 5,
    TEXT_CLASS_ARTIFACT = 6,
    TEXT_CLASS_ATTRIBUTE = 7,
    TEXT_CLASS_COMMUNICATION = 10,
    TEXT_CLASS_EVENT = 11,
    TEXT_CLASS_GROUP = 14,
    TEXT_CLASS_LOCATION = 15,
    TEXT_CLASS_PERSON = 18,
    TEXT_CLASS_POSSESSION = 21,
    TEXT_CLASS_QUANTITY = 23,
    TEXT_CLASS_TIME = 28
};
struct text_word_info {
    uint8_t commonness;
    uint8_t class; /* enum text_word_class, or the number of another WordNet file, below 45; 0 for a word of our own
                    * tables */
};
struct text_word_info text_lexicon_info(uint32_t word);

/* Returns the stem or phrase of a word number, for tests and output; "" for TEXT_NO_WORD. */
const char *text_lexicon_text(uint32_t word);

/* A link, unpacked: the other word and its relation to this one. */
struct text_link {
    uint32_t word;
    struct text_relation relation;
};
/* Lists the links of a word, at most TEXT_MAX_LINKS, in ascending order of the other word's number. Omits links of
 * TEXT_RELATION_HAS_KIND, because there are too many: 8,000 for "person". They are the TEXT_RELATION_IS_A links of the
 * other words. Returns the count. */
unsigned text_lexicon_links(uint32_t word, struct text_link *links, unsigned room);

/* Returns the relation of `b` to `a`, by the lexicon alone. */
struct text_relation text_lexicon_relate(uint32_t a, uint32_t b);

/* Returns the relation of two folded words or phrases. Consults the hand-made table of field words
 * (text_synonym_groups) first, because it is more reliable than the lexicon. */
struct text_relation text_relate(const char *a, const char *b);

/* Compares the words of two texts. Put the words of one text into the set, each with a tag. Then query each word of the
 * other text. The links of a word are looked up when it is put in, so a query is one look-up in a hash table. */
struct text_word_set;
struct text_word_match {
    uint32_t tag;
    struct text_relation relation; /* relation of the queried word to the stored word */
};
/* Returns NULL if the arena is full. `room` is the maximum number of words, below 65,536; further words are dropped. */
struct text_word_set *text_word_set_new(struct arena *arena, uint32_t room);
void text_word_set_add(struct text_word_set *set, const char *stem, uint32_t tag);
/* by the word's number: text_token.word */
void text_word_set_put(struct text_word_set *set, uint32_t word, uint32_t tag);
/* Return the matches of a stem, or of a word by its number: best first, one for each tag. Equal stems are
 * TEXT_RELATION_SAME. `kinds` are the requested relations, as bits 1U << kind. Return the count. */
unsigned text_word_set_match(const struct text_word_set *set, const char *stem, unsigned kinds,
                             struct text_word_match *matches, unsigned room);
unsigned text_word_set_find(const struct text_word_set *set, uint32_t word, unsigned kinds,
                            struct text_word_match *matches, unsigned room);

#endif
