#include "lib/base/digits.h"

#include <stdio.h>
#include <string.h>

enum { MOST_DECIMALS = 20 };

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
