#include "tests/support/leak.h"

#if defined(__SANITIZE_ADDRESS__)
#include "tests/support/wait.h"

#include <sanitizer/lsan_interface.h>
#include <stdio.h>
#include <stdlib.h>

/* Criterion's own parent process leaks now and then (two of its 48-byte records, seen with -j2); nothing of ours runs
 * there, so only the checks that tests ask for count. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "leak_check_at_exit=0";
}

enum { SETTLE_MS = 20 };

/* A library's thread that is just ending may hold the last pointer where nobody looks; what was lost is lost a moment later too. */
static bool is_clean(void *unused)
{
    (void)unused;
    return __lsan_do_recoverable_leak_check() == 0;
}

void leak_check(void)
{
    if (wait_until(is_clean, NULL, SETTLE_MS)) return;
    fputs("memory was leaked; the report is above\n", stderr);
    abort();
}
#else
void leak_check(void) {}
#endif
