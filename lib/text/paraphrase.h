/* Checks that a text rewritten by a model preserves the numbers, names and values of the original: none is added, none
 * is lost.
 *   - values: quoted texts of the original must recur verbatim, in quotes of any kind or without quotes.
 *   - numbers: compared by value. 1,234 and 1234 equal "one thousand two hundred thirty-four"; "a" and "only" may
 *     mean 1.
 *   - names: every other word, compared by its stem. Plain words of a sentence (stop words and a list of words about
 *     queries) may be added or dropped. customer_id equals "customer ID".
 *   - sense: greater, less, most, least, not, average, distinct, between. Both texts must have words of the same
 *     senses.
 *
 * It does not detect numbers or names that were exchanged. */
#ifndef ASSAY_LIB_TEXT_PARAPHRASE_H
#define ASSAY_LIB_TEXT_PARAPHRASE_H

#include "lib/base/arena.h"

#include <stdbool.h>
#include <stddef.h>

/* The first difference between a text and the original. */
struct paraphrase_difference {
    bool added;       /* true if added, false if lost */
    const char *kind; /* "number", "name", "value", "sign", "sense of"; static */
    char what[48];    /* the added or lost word, printable and truncated */
};

/* Compares two texts of valid UTF-8. Reads at most 64 KiB of each. `names` are identifiers: their words count as names,
 * even plain words such as "order" and "number". Returns true for a paraphrase. Otherwise `out` gets the difference, or
 * kind "memory" if the arena is full. Thread: any. */
bool paraphrase_check(struct arena *arena, const char *text, const char *original, const char *const *names,
                      size_t n_names, struct paraphrase_difference *out);

#endif
