/* Opens the target of a command's data: a file that the user names, or standard output. */
#ifndef ASSAY_CLI_OUTPUT_DESTINATION_H
#define ASSAY_CLI_OUTPUT_DESTINATION_H

#include "lib/base/error.h"
#include "lib/base/outfile.h"

struct destination {
    FILE *stream;     /* stream of the output */
    const char *path; /* NULL for standard output */
    struct outfile file;
};

/* Opens the file and empties it, or appends to it if `append` is true. `path` NULL means standard output. Returns
 * ERR_IO, with the path and the reason in `err`. The struct must not move until destination_close. */
enum err_code destination_open(struct destination *to, const char *path, bool append, struct err *err);

/* True if a write failed, so that further output is pointless. */
bool destination_failed(const struct destination *to);

/* Flushes the output and closes the file. Returns `code`. After a failure, prints the path and the reason and returns
 * EXIT_ERROR. close_stdout reports failures of standard output. Accepts a destination that did not open. */
int destination_close(struct destination *to, int code);

/* Flushes standard output and returns `code`. After a failure, prints the error and returns EXIT_ERROR. A closed pipe
 * is not an error. */
int close_stdout(int code);

#endif
