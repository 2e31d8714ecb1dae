/* The program itself, in a scratch folder (tests/unit/cli/spawn.h), against the real broker. */
#ifndef ASSAY_TESTS_LIVE_PROGRAM_H
#define ASSAY_TESTS_LIVE_PROGRAM_H

extern char *servers; /* the broker's address, while a test runs; NULL: none was started */

/* Before and after each test: the scratch folder, and at the end a look for leaks. */
void program_begin(void);
void program_end(void);

#endif
