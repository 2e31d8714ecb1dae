#include "tests/support/leak.h"

#if defined(__SANITIZE_ADDRESS__)
#include <criterion/criterion.h>
#include <sanitizer/lsan_interface.h>

void leak_check(void)
{
    cr_assert(__lsan_do_recoverable_leak_check() == 0, "memory was leaked; the report is above");
}
#else
void leak_check(void) {}
#endif
