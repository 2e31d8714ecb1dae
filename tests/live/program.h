/* Runs the program in a scratch folder (tests/unit/cli/spawn.h), against the real broker. */
#ifndef ASSAY_TESTS_LIVE_PROGRAM_H
#define ASSAY_TESTS_LIVE_PROGRAM_H

extern char *servers; /* address of the broker during a test; NULL if none was started */

/* Run before and after each test. The first creates the scratch folder, the second checks for leaks. */
void program_begin(void);
void program_end(void);

#endif
