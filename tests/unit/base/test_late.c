#include "lib/base/late.h"

#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

int assay_no_such_call(void);

#define MATHS(X) X(cos) X(ldexp)
LATE_CALLS(maths, MATHS)
LATE_LIBRARY(maths, MATHS, "libm.so.6", "libc6")

#define ABSENT(X) X(cos)
LATE_CALLS(absent, ABSENT)
LATE_LIBRARY(absent, ABSENT, "libassay-none.so.9", "libassay-none9")

#define OLDER(X) X(cos) X(assay_no_such_call)
LATE_CALLS(older, OLDER)
LATE_LIBRARY(older, OLDER, "libm.so.6", "libc6")

Test(late, calls_resolve_under_their_own_names)
{
    struct err err = {0};
    cr_assert_null(maths.cos);
    cr_assert_eq(maths_open(&err), ERR_OK, "%s", err.text);
    cr_expect_float_eq(maths.cos(0), 1, 1e-12);
    cr_expect_float_eq(maths.ldexp(3, 2), 12, 1e-12);
    cr_expect_eq(maths_open(NULL), ERR_OK, "a second time");
}

Test(late, missing_library_is_named_with_its_package)
{
    struct err err = {0};
    cr_expect_eq(absent_open(&err), ERR_CONFIG);
    cr_expect(strstr(err.text, "libassay-none.so.9") && strstr(err.text, "install the package libassay-none9"), "%s",
              err.text);
    cr_expect_eq(absent_open(NULL), ERR_CONFIG, "it is looked for again");
}

Test(late, library_of_other_version_is_refused)
{
    struct err err = {0};
    cr_expect_eq(older_open(&err), ERR_CONFIG);
    cr_expect(strstr(err.text, "libm.so.6 has no function assay_no_such_call"), "%s", err.text);
}
