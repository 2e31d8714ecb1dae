/* Loads rarely used libraries on first use. If linked in, the libraries for servers and networks take two fifths of the
 * start-up time of `assay check` (bench/start.py), and OpenBLAS starts threads in every process.
 *
 * A library has a header here that includes the library's own header, for the true types and prototypes, and lists the
 * functions used:
 *
 *     #define LIBPQ_CALLS(X) X(PQclear) X(PQexec)
 *     LATE_CALLS(libpq, LIBPQ_CALLS)
 *     #include "lib/db/libpq_late.h"
 *
 * CMake generates the last header from the rows (assay_late). It maps PQexec to libpq.PQexec and defines the names of
 * the library and of its package. One source file has LATE_LIBRARY. A call of a function without a row does not link.
 *
 * The functions are NULL before libpq_open, so code that creates an object of a library calls it first.
 */
#ifndef ASSAY_LIB_BASE_LATE_H
#define ASSAY_LIB_BASE_LATE_H

#include "lib/base/error.h"

#include <stdbool.h>

/* Declares the struct of function pointers, and the function that fills it once; the library stays loaded. ERR_CONFIG,
 * with the package to install: the library is missing or has another version. Thread: any. */
#define LATE_CALLS(library, calls)                                                                                     \
    extern struct library {                                                                                            \
        calls(LATE_POINTER)                                                                                            \
    } library;                                                                                                         \
    enum err_code library##_open(struct err *err);

#define LATE_LIBRARY(library, calls, file, package)                                                                    \
    struct library library;                                                                                            \
    enum err_code library##_open(struct err *err)                                                                      \
    {                                                                                                                  \
        static struct late_library late = {file, package, calls(LATE_NAME), &library, false};                          \
        return late_open(&late, err);                                                                                  \
    }

#define LATE_POINTER(call) __typeof__(call) *call;
#define LATE_NAME(call)    #call "\0"

/* Implementation of the macros above. */
struct late_library {
    const char *file;    /* its soname, for the loader */
    const char *package; /* of Debian */
    const char *names;   /* each followed by a NUL, with an empty one at the end */
    void *pointers;      /* one for each name, in the same order */
    bool open;
};
enum err_code late_open(struct late_library *library, struct err *err);

#endif
