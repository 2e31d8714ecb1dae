/* Does one text say what another says, as far as numbers, names and values go? For texts that a model rewrote: nothing of that may
 * be added, and nothing lost.
 *
 *   values   what the original has in quotes: verbatim, in quotes of any kind or none
 *   numbers  by what they are worth: 1,234 is 1234 is "one thousand two hundred thirty-four"; "a" and "only" may stand for 1
 *   names    every other word, by its stem, except the plain words of a sentence (stop words and a list of words that tell of
 *            queries), which may come and go; customer_id is "customer ID"
 *   sense    greater, less, most, least, not, average, distinct, between: whether one of its words is there
 *
 * It does not see numbers or names that changed places.
 */
#ifndef ASSAY_LIB_TEXT_PARAPHRASE_H
#define ASSAY_LIB_TEXT_PARAPHRASE_H

#include "lib/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* The first thing that differs. */
struct paraphrase_difference {
    bool added;       /* else lost */
    const char *kind; /* "number", "name", "value", "sign", "sense of"; static */
    char what[48];    /* printable, cut */
};

/* Both texts are valid UTF-8, of which 64 KiB are read. `names`: identifiers, whose words are names even where they are plain
 * ("order", "number"). True: a paraphrase. False: `out` says why not; where the arena is full too (kind "memory"). Thread: any. */
bool paraphrase_check(struct arena *arena, const char *text, const char *original, const char *const *names,
                      size_t n_names, struct paraphrase_difference *out);

#endif
