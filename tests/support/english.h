/* Faults of English that a program makes when it fills names and numbers into sentences: "the the", "with the same
 * the", "1 rows", "a album", "of the 100", doubled quotes. What stands in quotes is not looked at: it is data or SQL.
 */
#ifndef ASSAY_TESTS_SUPPORT_ENGLISH_H
#define ASSAY_TESTS_SUPPORT_ENGLISH_H

#include <jansson.h>
#include <stdint.h>

/* The name of the first fault, or NULL: none. */
const char *english_fault(const char *text);

struct english_count {
    uint64_t texts, faults;
};

/* All that a verdict says in sentences: explanations, messages of findings, why, missing, notes. Faults are counted and
 * shown on standard error. */
void english_verdict(const json_t *verdict, struct english_count *count);

#endif
