/* The maintainer's tool that makes models/words.lex (lib/text/lexicon.h), run by hand and never by the build.
 *
 *   lexicon_compile --wordnet /usr/share/wordnet --tables lib/text/words --out models/words.lex
 *
 * Every word of WordNet becomes its stem. How much of a stem's use is one sense (its share) comes from WordNet's counts of
 * tagged text, smoothed by the rank of the sense; a link is worth the geometric mean of the shares at its two ends times
 * what its kind is worth. Weak links are left out, so that rare senses do not flood. Our own tables say their strength.
 */
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
    double total;  /* of its senses' weights */
    double count;  /* how often it was seen in tagged text */
    GArray *links; /* of struct build_link */
    double class_weight;
    uint8_t class; /* of the sense of the greatest weight */
};

struct build {
    GPtrArray *words;   /* of struct build_word */
    GHashTable *by_key; /* key -> number + 1 */
};

/* Number of a folded word or phrase, new where need be; UINT32_MAX where it is too long. */
uint32_t build_word_of(struct build *build, const char *phrase);
struct build_word *build_word_at(const struct build *build, uint32_t number);

/* b is `kind` of a; the way back too, but for TEXT_RELATION_IS_A. The stronger of two links of the same words stays, but
 * synonyms of WordNet add up over the senses they share, so that "colour" is all that "color" is. */
void build_relate(struct build *build, uint32_t a, uint32_t b, enum text_relation_kind kind, double strength);

/* End the program with a message. */
_Noreturn void build_fail(const char *what, const char *path);
/* The lines of a file, NULL-ended; g_strfreev. Ends the program where it cannot be read. */
char **build_lines(const char *folder, const char *name);

void wordnet_read(struct build *build, const char *folder);
void tables_read(struct build *build, const char *folder);
void lexicon_write(const struct build *build, const char *path);

#endif
