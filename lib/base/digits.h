/* Formats numbers as text. */
#ifndef ASSAY_LIB_BASE_DIGITS_H
#define ASSAY_LIB_BASE_DIGITS_H

#include <stddef.h>
#include <stdint.h>

enum { DIGITS_TEXT_MAX = 32, DIGITS_WHOLE_MAX = 21 };

/* Writes a whole number in decimal with a NUL, like %lld of printf but in a tenth of the time. Returns the length
 * without the NUL. Thread: any. */
size_t digits_whole(int64_t number, char out[DIGITS_WHOLE_MAX]);

struct digits_pair {
    char first[DIGITS_TEXT_MAX], second[DIGITS_TEXT_MAX];
};

/* Formats two numbers from 0 to 1 with at least `least` decimals. Adds decimals until the texts of different numbers
 * differ, so that no message reads "0.50 is below 0.50". Thread: any. */
struct digits_pair digits_apart(double first, double second, int least);

#endif
