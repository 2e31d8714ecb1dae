/* Reads golden case files; the format is in tests/data/signals/README.md. */
#ifndef ASSAY_TESTS_UNIT_SIGNALS_CASE_FILE_H
#define ASSAY_TESTS_UNIT_SIGNALS_CASE_FILE_H

#include <glib.h>
#include <stdbool.h>

/* A line of the file as key and value, with continuation lines joined. */
struct case_line {
    char *key, *value;
    unsigned number; /* number of the first line, from 1 */
};

struct case_file {
    char *path;
    GPtrArray *lines; /* of struct case_line, in order */
};

/* Returns NULL and sets *why (free with g_free) if the file cannot be read or a line is not "key: value". */
struct case_file *case_file_read(const char *path, char **why);
void case_file_free(struct case_file *file);

#endif
