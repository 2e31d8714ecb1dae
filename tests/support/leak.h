/* Checks a test for leaks. LeakSanitizer runs at process exit. Criterion's forked children end too early for its report
 * to fail the test (measured). leak_check() runs the check at once and aborts if there is a leak. It does not assert,
 * because Criterion ignores a failed assertion in a .fini; a crash makes the binary fail. Without AddressSanitizer
 * leak_check() does nothing. */
#ifndef ASSAY_TESTS_SUPPORT_LEAK_H
#define ASSAY_TESTS_SUPPORT_LEAK_H
void leak_check(void);
#endif
