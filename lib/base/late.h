/* Libraries that few processes call, opened when one first does. Linked in, those of servers and networks, with all that they bring,
 * are two fifths of the time in which `assay check` starts (bench/start.py), and OpenBLAS starts threads of its own in every process.
 *
 * To the code such a library is a header here that includes the library's own, so that types and prototypes are the true ones, and that
 * lists the functions which are called:
 *
 *     #define LIBPQ_CALLS(X) X(PQclear) X(PQexec)
 *     LATE_CALLS(libpq, LIBPQ_CALLS)
 *     #include "lib/db/libpq_late.h"
 *
 * The last is made of the rows by CMake (assay_late): there PQexec becomes libpq.PQexec, and stand the names of the library and of its
 * package. One source file has LATE_LIBRARY. A function that is called and is no row does not link.
 *
 * Before libpq_open the functions are NULL: whoever gets hold of a library's objects first calls it. */
#ifndef ASSAY_LIB_BASE_LATE_H
#define ASSAY_LIB_BASE_LATE_H

#include "lib/base/error.h"

#include <stdbool.h>

/* The struct of pointers to the functions, and what fills it, once; the library then stays. ERR_CONFIG, with the package to install: it
 * is not there, or is another version. Thread: any. */
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

/* What the macros above are made of. */
struct late_library {
    const char *file;    /* as the loader knows it: its soname */
    const char *package; /* of Debian */
    const char *names;   /* each with a NUL behind it, and an empty one at the end */
    void *pointers;      /* as many, in that order */
    bool open;
};
enum err_code late_open(struct late_library *library, struct err *err);

#endif
