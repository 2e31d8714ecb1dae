/* Checks a test for leaks. LeakSanitizer runs at process exit, where Criterion's forked children end too early for its
 * report to fail the test (measured). leak_check() runs the check at once and aborts: Criterion ignores a failed
 * assertion in a .fini, but a crash makes the binary fail. Without AddressSanitizer leak_check() does nothing. */
#ifndef ASSAY_TESTS_SUPPORT_LEAK_H
#define ASSAY_TESTS_SUPPORT_LEAK_H
void leak_check(void);
#endif
