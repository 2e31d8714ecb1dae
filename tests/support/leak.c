#include "tests/support/leak.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#include <stdio.h>
#include <stdlib.h>

/* Criterion's own parent process leaks now and then: two of its 48-byte records, seen with -j2. None of our code runs
 * in that process. So leaks are checked only where tests request it, not at exit. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "leak_check_at_exit=0";
}

void leak_check(void)
{
    if (__lsan_do_recoverable_leak_check() == 0) return;
    fputs("memory was leaked; the report is above\n", stderr);
    abort();
}
#else
void leak_check(void) {}
#endif
