/* Reads golden case files; the format is in tests/data/signals/README.md. */
#ifndef ASSAY_TESTS_UNIT_SIGNALS_CASE_FILE_H
#define ASSAY_TESTS_UNIT_SIGNALS_CASE_FILE_H

#include <glib.h>
#include <stdbool.h>

/* A line of the file, split into key and value. Continuation lines are joined to it. */
struct case_line {
    char *key, *value;
    unsigned number; /* number of the first line, from 1 */
};

struct case_file {
    char *path;
    GPtrArray *lines; /* struct case_line, in the order of the file */
};

/* Reads a file. Returns NULL and sets *why (free with g_free) if it cannot be read or a line is not "key: value". */
struct case_file *case_file_read(const char *path, char **why);
void case_file_free(struct case_file *file);

#endif
