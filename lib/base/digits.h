/* Numbers for people: as few digits as tell them apart. */
#ifndef ASSAY_LIB_BASE_DIGITS_H
#define ASSAY_LIB_BASE_DIGITS_H

enum { DIGITS_TEXT_MAX = 32 };

struct digits_pair {
    char first[DIGITS_TEXT_MAX], second[DIGITS_TEXT_MAX];
};

/* Two numbers from 0 to 1 with `least` decimals, or as many more as it takes until their texts differ; equal numbers
 * have equal texts. So that nothing ever reads "0.50 is below 0.50". Thread: any. */
struct digits_pair digits_apart(double first, double second, int least);

#endif
