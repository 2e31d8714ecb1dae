#include "proto/message/fields.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define BYTES(...) (const unsigned char[]){__VA_ARGS__}, sizeof((const unsigned char[]){__VA_ARGS__})

static const struct {
    const char *what;
    const unsigned char *bytes;
    size_t len;
    enum err_code code;
} cases[] = {
    {"nothing", (const unsigned char *)"", 0, ERR_MALFORMED},
    {"a small number", BYTES(0x2a), ERR_OK},
    {"an array of 2^32-1 items in five bytes", BYTES(0xdd, 0xff, 0xff, 0xff, 0xff), ERR_MALFORMED},
    {"a map of 2^32-1 entries in five bytes", BYTES(0xdf, 0xff, 0xff, 0xff, 0xff), ERR_MALFORMED},
    {"a text of 2^32-1 bytes in five bytes", BYTES(0xdb, 0xff, 0xff, 0xff, 0xff), ERR_MALFORMED},
    {"an array that lacks an item", BYTES(0x92, 0x01), ERR_MALFORMED},
    {"a map that lacks a value", BYTES(0x81, 0x01), ERR_MALFORMED},
    {"a length cut short", BYTES(0xda, 0x01), ERR_MALFORMED},
    {"a number cut short", BYTES(0xcf, 1, 2, 3, 4, 5, 6, 7), ERR_MALFORMED},
    {"an array of three", BYTES(0x93, 0xc0, 0xc3, 0xa1, 'x'), ERR_OK},
    {"a reserved byte", BYTES(0xc1), ERR_MALFORMED},
    {"an extension", BYTES(0xc7, 0x01, 0x05, 0x00), ERR_MALFORMED},
    {"a fixed extension", BYTES(0xd4, 0x01, 0x00), ERR_MALFORMED},
};

Test(scan, values_are_checked_before_unpacking)
{
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t end;
        unsigned char *copy = malloc(cases[i].len + 1);
        memcpy(copy, cases[i].bytes, cases[i].len);
        enum err_code code = msg_scan(copy, cases[i].len, &end, NULL);
        free(copy);
        cr_assert_eq(code, cases[i].code, "%s: %s", cases[i].what, err_name(code));
        if (!code) cr_assert_eq(end, cases[i].len, "%s", cases[i].what);
    }
}

Test(scan, scan_stops_at_value_end)
{
    size_t end;
    cr_assert_eq(msg_scan("\x01\x02", 2, &end, NULL), ERR_OK);
    cr_assert_eq(end, 1);
}

Test(scan, depth_is_bounded)
{
    unsigned char deep[1000];
    size_t end;
    memset(deep, 0x91, sizeof deep);
    deep[MSG_MAX_DEPTH] = 0xc0;
    cr_assert_eq(msg_scan(deep, MSG_MAX_DEPTH + 1, &end, NULL), ERR_OK);
    deep[MSG_MAX_DEPTH] = 0x91;
    cr_assert_eq(msg_scan(deep, sizeof deep, &end, NULL), ERR_LIMIT_DEPTH);
}

Test(scan, the_number_of_values_is_bounded)
{
    size_t n = 5000000, end;
    unsigned char *many = calloc(1, n + 5);
    memcpy(many, (unsigned char[]){0xdd, 0x00, 0x4c, 0x4b, 0x40}, 5); /* an array of 5,000,000 zeros */
    cr_assert_eq(msg_scan(many, n + 5, &end, NULL), ERR_LIMIT_COUNT);
    free(many);
}
