/* Loads rarely used libraries on first use. Linking them would cost start-up time: the libraries for servers and
 * networks would take two fifths of the start-up of `assay check` (bench/start.py). OpenBLAS would also start threads
 * in every process.
 *
 * Each such library has a header in this program. It includes the library's own header, for the types and prototypes,
 * and lists the functions that the program calls:
 *
 *     #define LIBPQ_CALLS(X) X(PQclear) X(PQexec)
 *     LATE_CALLS(libpq, LIBPQ_CALLS)
 *     #include "lib/db/libpq_late.h"
 *
 * CMake generates the last header from these rows (assay_late). It maps PQexec to libpq.PQexec and defines the file
 * name of the library and its package. One source file must contain LATE_LIBRARY. A call of a function that is not
 * listed fails to link.
 *
 * The function pointers are NULL before libpq_open, so code must call libpq_open before it creates an object of the
 * library.
 */
#ifndef ASSAY_LIB_BASE_LATE_H
#define ASSAY_LIB_BASE_LATE_H

#include "lib/base/error.h"

#include <stdbool.h>

/* Declares the struct of function pointers and the function LIBRARY_open, which loads the library and fills the struct.
 * Further calls do nothing; the library stays loaded. LIBRARY_open returns ERR_CONFIG if the library is missing or has
 * another version. If it is missing, the hint names the package to install. Thread: any. */
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

/* Used only by the macros above. */
struct late_library {
    const char *file;    /* soname of the library */
    const char *package; /* name of the Debian package */
    const char *names;   /* names of the functions, each with a NUL; an empty name ends the list */
    void *pointers;      /* one function pointer for each name, in the same order */
    bool open;
};
enum err_code late_open(struct late_library *library, struct err *err);

#endif
