#include "lib/base/digits.h"

#include <stdio.h>
#include <string.h>

enum { MOST_DECIMALS = 20 };

size_t digits_whole(int64_t number, char out[DIGITS_WHOLE_MAX])
{
    char reversed[DIGITS_WHOLE_MAX];
    uint64_t rest = number < 0 ? -(uint64_t)number : (uint64_t)number;
    size_t n = 0, len = 0;
    do {
        reversed[n++] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (number < 0) out[len++] = '-';
    while (n) out[len++] = reversed[--n];
    out[len] = '\0';
    return len;
}

struct digits_pair digits_apart(double first, double second, int least)
{
    struct digits_pair out;
    int decimals = least;
    do {
        snprintf(out.first, sizeof out.first, "%.*f", decimals, first);
        snprintf(out.second, sizeof out.second, "%.*f", decimals, second);
    } while (strcmp(out.first, out.second) == 0 && (first < second || first > second) && ++decimals <= MOST_DECIMALS);
    return out;
}
