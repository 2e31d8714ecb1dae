/* Finds grammatical faults that arise when the program inserts names and numbers into sentences: "the the", "with the
 * same the", "1 rows", "a album", "of the 100", doubled quotes. Quoted text is skipped, because it is data or SQL. */
#ifndef ASSAY_TESTS_SUPPORT_ENGLISH_H
#define ASSAY_TESTS_SUPPORT_ENGLISH_H

#include <jansson.h>
#include <stdint.h>

/* Returns the name of the first fault, or NULL if there is none. */
const char *english_fault(const char *text);

struct english_count {
    uint64_t texts, faults;
};

/* Checks all sentences of a verdict: explanations, messages of findings, why, missing, notes. Prints each fault to
 * standard error and returns their number. */
void english_verdict(const json_t *verdict, struct english_count *count);

#endif
