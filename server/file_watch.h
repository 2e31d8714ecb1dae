/* Detects changed files, so that a process can reload them without a restart. */
#ifndef ASSAY_SERVER_FILE_WATCH_H
#define ASSAY_SERVER_FILE_WATCH_H

#include <stdbool.h>
#include <sys/stat.h>

/* Returns true if the file at `path` differs from `*seen` in identity, time or size, and updates `*seen`. If the file
 * cannot be read, the size in `*seen` is -1, so each failure is reported once. Thread: one at a time per `seen`. */
bool file_watch_changed(const char *path, struct stat *seen);

#endif
