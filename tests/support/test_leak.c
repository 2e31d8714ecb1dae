/* Does a leak that is found in a .fini fail the binary? This one must fail (WILL_FAIL): if it passes, no suite would
 * say anything of its leaks. */
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static void *volatile lost;

Test(leak, is_found_after_the_test, .fini = leak_check)
{
    lost = malloc(33);
    cr_assert_not_null(lost);
    lost = NULL;
}
