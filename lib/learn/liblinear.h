/* liblinear, loaded at first use (lib/base/late.h). */
#ifndef ASSAY_LIB_LEARN_LIBLINEAR_H
#define ASSAY_LIB_LEARN_LIBLINEAR_H

#include "lib/base/late.h"

#include <linear.h>

#define LIBLINEAR_CALLS(X)                                                                                             \
    X(check_parameter)                                                                                                 \
    X(free_and_destroy_model)                                                                                          \
    X(set_print_string_function)                                                                                       \
    X(train)
LATE_CALLS(liblinear, LIBLINEAR_CALLS)
#include "lib/learn/liblinear_late.h"

#endif
