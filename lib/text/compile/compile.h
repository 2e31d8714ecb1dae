/* The tool that builds models/words.lex (lib/text/lexicon.h). A maintainer runs it by hand; the build never does:
 *
 *   lexicon_compile --wordnet /usr/share/wordnet --tables lib/text/words --out models/words.lex
 *
 * Each word of WordNet is stored by its stem. A sense has a share in the use of a stem. The share comes from WordNet's
 * counts of tagged text, smoothed by the rank of the sense. The strength of a link is the geometric mean of the shares
 * at its two ends, times a factor for its kind. Weak links are dropped, so rare senses do not dominate. Our own tables
 * state their strengths. */
#ifndef ASSAY_LIB_TEXT_COMPILE_COMPILE_H
#define ASSAY_LIB_TEXT_COMPILE_COMPILE_H

#include "lib/text/lexicon.h"

#include <glib.h>

struct build_link {
    uint32_t to;
    enum text_relation_kind kind;
    double strength;
};

struct build_word {
    char *key;     /* stem, or the stems of a phrase */
    double total;  /* sum of the weights of its senses */
    double count;  /* number of occurrences in tagged text */
    GArray *links; /* of struct build_link */
    double class_weight;
    uint8_t class; /* class of the sense of the greatest weight */
};

struct build {
    GPtrArray *words;   /* of struct build_word */
    GHashTable *by_key; /* key -> number + 1 */
};

/* Returns the number of a folded word or phrase, which it adds if it is new. Returns UINT32_MAX if it is too long. */
uint32_t build_word_of(struct build *build, const char *phrase);
struct build_word *build_word_at(const struct build *build, uint32_t number);

/* Adds the relation "b is `kind` of a" and its inverse, except that TEXT_RELATION_IS_A gets no inverse. Of two links
 * between the same words, only the stronger one remains. Synonyms of WordNet add up over the senses that they share, so
 * "colour" is a full synonym of "color". */
void build_relate(struct build *build, uint32_t a, uint32_t b, enum text_relation_kind kind, double strength);

/* Prints a message and ends the program. */
_Noreturn void build_fail(const char *what, const char *path);
/* Returns the lines of a file, NULL-terminated; free with g_strfreev. Ends the program if the file cannot be read. */
char **build_lines(const char *folder, const char *name);

void wordnet_read(struct build *build, const char *folder);
void tables_read(struct build *build, const char *folder);
void lexicon_write(const struct build *build, const char *path);

#endif
