/* Checks that a leak found in a .fini fails the binary. This test must fail (WILL_FAIL). If it passed, suites would not
 * report their leaks. */
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void *volatile lost;

Test(leak, leak_in_fini_fails_the_binary, .fini = leak_check)
{
    lost = malloc(33);
    cr_assert_not_null(lost);
    lost = NULL;
}
