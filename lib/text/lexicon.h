/* The lexicon: which words may mean each other, of all English and not only of the words that name fields.
 *
 * One file, models/words.lex, made of WordNet 3.0 and our own tables (lib/text/words/) by lib/text/compile/.
 * It is linked into the program and into the library as read-only data: so there is no path to configure, nothing that
 * can be missing when it runs, and the kernel reads only the pages that are looked at, which all processes share. A
 * mapped file was the other way; it saves nothing, since a program is mapped too, and adds a failure. For the same
 * reason its bytes are as trusted as code; still all that it says is checked against its bounds when it is used.
 *
 * Words are kept by their stems (text_stem), a phrase by the stems of its words with one space between them. A word has
 * links to others, each with a kind and a strength, 0 to 1, that falls with the number of the sense: only the first
 * senses of both words count, so that "state" is a country and not a way to say something.
 *
 * Thread: any. No function fails, allocates or keeps what it is given, but where an arena is named.
 */
#ifndef ASSAY_LIB_TEXT_LEXICON_H
#define ASSAY_LIB_TEXT_LEXICON_H

#include "lib/base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the second word is to the first. Numbers are in the file. */
enum text_relation_kind {
    TEXT_RELATION_NONE,
    TEXT_RELATION_SAME,      /* equal stems */
    TEXT_RELATION_SYNONYM,   /* customer: client */
    TEXT_RELATION_DERIVED,   /* arrive: arrival */
    TEXT_RELATION_ATTRIBUTE, /* old: age, expensive: price, populous: population, and back */
    TEXT_RELATION_DEMONYM,   /* French: France, and back; a language and where it is spoken, weaker */
    TEXT_RELATION_CODE,      /* F: female, JPN: Japan, Jan: January, and back. Of values: "in" is no Indian */
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

/* Number of a word in the lexicon. */
enum { TEXT_NO_WORD = UINT32_MAX >> 12, TEXT_MAX_LINKS = 64 };

/* By its stem (text_token.stem), or by a folded word or phrase ("united kingdom"). TEXT_NO_WORD where it is not known. */
uint32_t text_lexicon_stem(const char *stem);
uint32_t text_lexicon_word(const char *word);

/* What is known of a word: how common it is (0..15, about the binary logarithm of its count in a tagged corpus), and
 * what it is above all (the file of WordNet that its first sense is in: TEXT_CLASS_...). Zero for TEXT_NO_WORD. */
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
    uint8_t class; /* enum text_word_class, or another number of WordNet's files below 45; 0: of our own tables */
};
struct text_word_info text_lexicon_info(uint32_t word);

/* The stem or phrase of a word, for tests and for what is printed; "" for TEXT_NO_WORD. */
const char *text_lexicon_text(uint32_t word);

/* A link, unpacked: the other word and what it is to this one. */
struct text_link {
    uint32_t word;
    struct text_relation relation;
};
/* Links of a word, ascending by the other word's number; at most TEXT_MAX_LINKS. Those of TEXT_RELATION_HAS_KIND are not
 * listed (a person is of 8,000 kinds): they are the other word's TEXT_RELATION_IS_A. Count. */
unsigned text_lexicon_links(uint32_t word, struct text_link *links, unsigned room);

/* What `b` is to `a`, by the lexicon alone. */
struct text_relation text_lexicon_relate(uint32_t a, uint32_t b);

/* The same of two folded words or phrases, by the hand-made table of words that name fields (text_synonym_groups) first,
 * which is the surer source. */
struct text_relation text_relate(const char *a, const char *b);

/* Many words against many: put the words of one text in (a question's, say), each with a tag of the caller's, then ask
 * for each word of the other text which of them it may mean. What a word is linked to is looked up once, when it goes
 * in, so that asking is a look into a hash table. */
struct text_word_set;
struct text_word_match {
    uint32_t tag;
    struct text_relation relation; /* what the word asked for is to the word put in */
};
/* NULL when the arena is full. `room`: words that go in at most, below 65,536; more are left out. */
struct text_word_set *text_word_set_new(struct arena *arena, uint32_t room);
void text_word_set_add(struct text_word_set *set, const char *stem, uint32_t tag);
void text_word_set_put(struct text_word_set *set, uint32_t word, uint32_t tag); /* by its number: text_token.word */
/* The matches of a stem, or of a word by its number, by the lexicon, best first, one for each tag; equal stems are TEXT_RELATION_SAME. `kinds` are bits
 * 1U << kind that are wanted. Count. */
unsigned text_word_set_match(const struct text_word_set *set, const char *stem, unsigned kinds,
                             struct text_word_match *matches, unsigned room);
unsigned text_word_set_find(const struct text_word_set *set, uint32_t word, unsigned kinds,
                            struct text_word_match *matches, unsigned room);

#endif
