#include "lib/base/utf8.h"

#include <glib.h>
#include <stdint.h>
#include <string.h>

/* For each range of first bytes: the length of the character and the range of its second byte. Table 3-7 of the Unicode
 * standard. */
static const struct {
    unsigned char first, last;
    unsigned char len, low, high;
} forms[] = {{0x01, 0x7F, 1, 0, 0},       {0xC2, 0xDF, 2, 0x80, 0xBF}, {0xE0, 0xE0, 3, 0xA0, 0xBF},
             {0xE1, 0xEC, 3, 0x80, 0xBF}, {0xED, 0xED, 3, 0x80, 0x9F}, {0xEE, 0xEF, 3, 0x80, 0xBF},
             {0xF0, 0xF0, 4, 0x90, 0xBF}, {0xF1, 0xF3, 4, 0x80, 0xBF}, {0xF4, 0xF4, 4, 0x80, 0x8F}};

unsigned utf8_length(const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (at[0] < forms[i].first || at[0] > forms[i].last) continue;
        if (forms[i].len > 1 && (at[1] < forms[i].low || at[1] > forms[i].high)) return 0;
        for (unsigned k = 2; k < forms[i].len; k++)
            if ((at[k] & 0xC0) != 0x80) return 0;
        return forms[i].len;
    }
    return 0;
}

size_t utf8_valid_bytes(const char *text, size_t len)
{
    static const uint64_t ones = UINT64_MAX / UINT8_MAX;
    size_t i = 0;
    for (uint64_t eight; i + sizeof eight <= len; i += sizeof eight) {
        memcpy(&eight, text + i, sizeof eight);
        uint64_t has_zero = (eight - ones) & ~eight;
        if ((eight | has_zero) & ones << 7) break;
    }
    const char *end;
    return g_utf8_validate_len(text + i, len - i, &end) ? len : (size_t)(end - text);
}
