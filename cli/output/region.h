/* Computes the position of a clause: in its candidate, or in the file from which the candidate was read. */
#ifndef ASSAY_CLI_OUTPUT_REGION_H
#define ASSAY_CLI_OUTPUT_REGION_H

#include "proto/message/msg.h"

/* A file with one query, which other lines may precede. */
struct sql_file {
    const char *path; /* path as given; UTF-8 */
    unsigned line;    /* line where the query begins, from 1 */
    uint32_t start;   /* byte of the file where the query begins */
};

struct region {
    unsigned line, column, end_line, end_column; /* count from 1; columns count characters; the end is exclusive */
    uint32_t start, end;                         /* byte offsets */
};

/* Returns the region of a clause in `file`, or in the candidate itself if `file` is NULL. If `clause` is NULL, returns
 * the region of the whole query. */
struct region region_of(const struct sql_file *file, const struct msg_text *sql, const struct msg_clause *clause);

/* Returns the path as a relative reference, or as a file: URI if it is absolute (RFC 3986). Free with g_free. */
char *region_uri(const struct sql_file *file);

#endif
