/* The target of a command's data: a user's file, or standard output. */
#ifndef ASSAY_CLI_OUTPUT_DESTINATION_H
#define ASSAY_CLI_OUTPUT_DESTINATION_H

#include "lib/base/error.h"
#include "lib/base/outfile.h"

struct destination {
    FILE *stream;     /* stream of the output */
    const char *path; /* NULL for standard output */
    struct outfile file;
};

/* Opens the file, emptied, or at its end with `append`. `path` NULL is standard output. ERR_IO names the path and the
 * reason. The struct must not move until destination_close. */
enum err_code destination_open(struct destination *to, const char *path, bool append, struct err *err);

/* True if a write failed, so that further output is pointless. */
bool destination_failed(const struct destination *to);

/* Flushes, and closes a file. Returns `code`, or EXIT_ERROR after a complaint with the path and the reason.
 * close_stdout reports failures of standard output. Accepts a destination that did not open. */
int destination_close(struct destination *to, int code);

/* Flushes standard output. Returns `code`, or EXIT_ERROR after a complaint. A closed pipe is not an error. */
int close_stdout(int code);

#endif
