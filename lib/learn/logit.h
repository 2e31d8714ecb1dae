/* Log-odds of a probability. */
#ifndef ASSAY_LIB_LEARN_LOGIT_H
#define ASSAY_LIB_LEARN_LOGIT_H

#include <math.h>

/* Returns log(p / (1 - p)), with `p` first clamped to [least, 1 - least]. With `least` 0, `p` is not clamped, and the
 * result is infinite at 0 and 1. NaN stays NaN. Thread: any. */
static inline double learn_logit(double p, double least)
{
    p = p < least ? least : p > 1 - least ? 1 - least : p;
    return log(p / (1 - p));
}

#endif
