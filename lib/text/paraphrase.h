/* Checks that a text rewritten by a model preserves the numbers, names and values of the original: none added, none
 * lost.
 *   - values: quoted texts of the original, verbatim, in quotes of any kind or none
 *   - numbers: by value. 1,234 is 1234 is "one thousand two hundred thirty-four"; "a" and "only" may mean 1.
 *   - names: every other word, by its stem. Plain words of a sentence (stop words and a list of words about queries)
 *     may be added or dropped. customer_id is "customer ID".
 *   - sense: greater, less, most, least, not, average, distinct, between. Each text must have a word of the same
 *     senses.
 *
 * It does not detect numbers or names that were exchanged. */
#ifndef ASSAY_LIB_TEXT_PARAPHRASE_H
#define ASSAY_LIB_TEXT_PARAPHRASE_H

#include "lib/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* The first difference. */
struct paraphrase_difference {
    bool added;       /* true if added, false if lost */
    const char *kind; /* "number", "name", "value", "sign", "sense of"; static */
    char what[48];    /* printable, cut */
};

/* Compares two texts of valid UTF-8, of which 64 KiB are read. `names` are identifiers, whose words are names even if
 * they are plain ("order", "number"). Returns true for a paraphrase. Otherwise `out` has the difference, or kind
 * "memory" if the arena is full. Thread: any. */
bool paraphrase_check(struct arena *arena, const char *text, const char *original, const char *const *names,
                      size_t n_names, struct paraphrase_difference *out);

#endif
