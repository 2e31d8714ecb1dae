/* Libraries that only training calls (liblinear and the BLAS it brings, xgboost), opened when it first does. Linked in, they
 * are a third of the time in which the program starts, and OpenBLAS starts threads of its own in every process. */
#ifndef ASSAY_LIB_LEARN_LATE_H
#define ASSAY_LIB_LEARN_LATE_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct late_call {
    const char *name;
    void *address; /* of the pointer to the function */
};

struct late_library {
    const char *file; /* as the loader knows it: its soname */
    const struct late_call *calls;
    size_t n;
    bool open; /* private */
};

/* Fill the pointers of all calls, once; the library then stays. ERR_CONFIG: it is not installed, or is another version.
 * Thread: any. */
enum err_code late_open(struct late_library *library, struct err *err);

#endif
