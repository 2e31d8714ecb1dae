#include "lib/base/utf8.h"

#include <criterion/criterion.h>
#include <string.h>

Test(utf8, valid_bytes)
{
    static const struct {
        const char *text;
        size_t len, valid;
    } cases[] = {
        {"", 0, 0},
        {"eight is a word of plain text", 29, 29},
        {"eight is a\0word", 15, 10},
        {"\0", 1, 0},
        {"12345678\0", 9, 8},
        {"Z\xC3\xBCrich, Gen\xC3\xA8ve", 16, 16},
        {"plain text and \xFF", 16, 15},
        {"plain text and \xC3", 16, 15}, /* truncated character */
        {"1234567\xC3\xA9", 9, 9},       /* spans two machine words */
        {"1234567\xC3(", 9, 7},
        {"\xED\xA0\x80", 3, 0}, /* a surrogate */
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(utf8_valid_bytes(cases[i].text, cases[i].len), cases[i].valid, "case %u: %zu", i,
                     utf8_valid_bytes(cases[i].text, cases[i].len));
}
