/* LeakSanitizer runs at process exit, where Criterion's forked children end too early for its report to fail the test
 * (measured). leak_check() asks now and fails the running test. Without AddressSanitizer it does nothing. */
#ifndef ASSAY_TESTS_SUPPORT_LEAK_H
#define ASSAY_TESTS_SUPPORT_LEAK_H
void leak_check(void);
#endif
