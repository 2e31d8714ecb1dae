/* Files that are read again when somebody has changed them, without a restart. */
#ifndef ASSAY_SERVER_FILE_WATCH_H
#define ASSAY_SERVER_FILE_WATCH_H

#include <stdbool.h>
#include <sys/stat.h>

/* Is the file at `path` another one, or of another time or size, than `*seen`? That is brought up to date; its size is -1 where it cannot be
 * looked at, so that this is said once. Thread: one at a time for each `seen`. */
bool file_watch_changed(const char *path, struct stat *seen);

#endif
