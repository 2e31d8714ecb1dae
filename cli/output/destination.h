/* Where a command writes its data: a file of the user's, or standard output. */
#ifndef ASSAY_CLI_OUTPUT_DESTINATION_H
#define ASSAY_CLI_OUTPUT_DESTINATION_H

#include "lib/base/error.h"
#include "lib/base/outfile.h"

struct destination {
    FILE *stream;     /* to print to */
    const char *path; /* NULL: standard output */
    struct outfile file;
};

/* Opens the file, emptied, or at its end with `append`. `path` NULL is standard output. ERR_IO names the path and the
 * reason. The struct must not move until destination_close. */
enum err_code destination_open(struct destination *to, const char *path, bool append, struct err *err);

/* True if a write failed: the rest need not be made. */
bool destination_failed(const struct destination *to);

/* Flushes; closes a file. Returns `code`, or EXIT_ERROR after a complaint that names the path and the reason. A failure
 * of standard output is left to close_stdout. A destination that did not open is fine. */
int destination_close(struct destination *to, int code);

/* Flushes standard output. Returns `code`, or EXIT_ERROR after a complaint. A pipe whose reader has gone is no error. */
int close_stdout(int code);

#endif
