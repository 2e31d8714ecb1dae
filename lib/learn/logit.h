/* The log-odds of a probability. */
#ifndef ASSAY_LIB_LEARN_LOGIT_H
#define ASSAY_LIB_LEARN_LOGIT_H

#include <math.h>

/* log(p / (1 - p)), with `p` first kept within [least, 1 - least]: how sure a probability may be taken to be is the
 * caller's to say. `least` 0: as it is, infinite at 0 and 1. NaN stays NaN. Thread: any. */
static inline double learn_logit(double p, double least)
{
    p = p < least ? least : p > 1 - least ? 1 - least : p;
    return log(p / (1 - p));
}

#endif
