/* An output stream that stores the reason of its first failed write.
 *
 * A buffered stream writes in the middle of some fprintf. The errno of that write is overwritten before the stream is
 * flushed or closed, and the report then says "Success". This stream writes by itself and stores the first errno.
 */
#ifndef ASSAY_LIB_BASE_OUTFILE_H
#define ASSAY_LIB_BASE_OUTFILE_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stdio.h>

struct outfile {
    FILE *stream; /* to print to; NULL if the file did not open */
    int fd;
    int failed; /* errno of the first write that failed; 0 if none did */
    bool open;  /* fd is closed with the stream */
};

/* Opens `path` for writing, emptied, or at its end with `append`. Returns 0, or errno. The struct must not move until
 * outfile_close. Thread: one at a time. */
int outfile_open(struct outfile *out, const char *path, bool append);

/* Creates a stream for a descriptor that the caller owns. Returns 0, or errno. */
int outfile_of(struct outfile *out, int fd);

/* Replaces `stdout` by such a stream, for the rest of the program. Thread: main, before anything is printed. */
void outfile_take_stdout(void);

/* Flushes `stdout`. Returns 0, or errno of its first failed write. */
int outfile_flush_stdout(void);

/* Flushes. Returns 0, or errno of the first failed write. */
int outfile_flush(struct outfile *out);

/* Flushes, closes and frees the stream. Returns as outfile_flush. A second call does nothing and returns the same. */
int outfile_close(struct outfile *out);

/* Replaces the contents of a file. ERR_IO names the path and the reason. */
enum err_code outfile_write(const char *path, const char *bytes, size_t len, struct err *err);

#endif
