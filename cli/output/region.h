/* Where a clause stands: in its candidate, or in the file that the candidate was read from. */
#ifndef ASSAY_CLI_OUTPUT_REGION_H
#define ASSAY_CLI_OUTPUT_REGION_H

#include "proto/message/msg.h"

/* A file that holds one query, behind lines of its own. */
struct sql_file {
    const char *path; /* as it was named; UTF-8 */
    unsigned line;    /* at which the query begins, from 1 */
    uint32_t start;   /* the same as a byte of the file */
};

struct region {
    unsigned line, column, end_line, end_column; /* from 1, columns in characters; the end is behind the last one */
    uint32_t start, end;                         /* bytes */
};

/* The place of a clause, or without one of the whole query, in `file`; NULL: in the candidate itself. */
struct region region_of(const struct sql_file *file, const struct msg_text *sql, const struct msg_clause *clause);

/* The path as a relative reference, or a file: URI where it is absolute (RFC 3986). g_free */
char *region_uri(const struct sql_file *file);

#endif
