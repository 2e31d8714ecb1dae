/* An output stream that stores the errno of its first failed write.
 *
 * A buffered stream writes when its buffer is full, during some call of fprintf. If that write fails, errno is
 * overwritten before the caller flushes or closes the stream, and the error message then says "Success". This stream
 * has its own write function, which stores the first errno.
 */
#ifndef ASSAY_LIB_BASE_OUTFILE_H
#define ASSAY_LIB_BASE_OUTFILE_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stdio.h>

struct outfile {
    FILE *stream; /* the stream for fprintf; NULL if the file could not be opened */
    int fd;
    int failed; /* errno of the first write that failed; 0 if none did */
    bool open;  /* closing the stream closes fd */
};

/* Opens `path` for writing. Truncates the file unless `append`. Returns 0 or an errno. The struct must not be moved
 * before outfile_close. Thread: one at a time. */
int outfile_open(struct outfile *out, const char *path, bool append);

/* Creates a stream for a descriptor that the caller owns. Returns 0 or an errno. */
int outfile_of(struct outfile *out, int fd);

/* Replaces `stdout` by such a stream for the rest of the program. Thread: main, before any output. */
void outfile_take_stdout(void);

/* Flushes `stdout`. Returns 0, or the errno of its first failed write. */
int outfile_flush_stdout(void);

/* Flushes the stream. Returns 0, or the errno of its first failed write. */
int outfile_flush(struct outfile *out);

/* Flushes, closes and frees the stream. Returns the same value as outfile_flush. A second call does nothing and returns
 * the same value again. */
int outfile_close(struct outfile *out);

/* Replaces the contents of a file. Error: ERR_IO, with the path and the reason. */
enum err_code outfile_write(const char *path, const char *bytes, size_t len, struct err *err);

#endif
