/* Prints SQL for people, with carets under the suspect clauses:
 *
 *     SELECT h.name, s.title FROM host AS h JOIN show AS s ON h.host_id = s.show_id
 *                                                             ^^^^^^^^^^^^^^^^^^^^^ [1]
 */
#ifndef ASSAY_CLI_OUTPUT_CARET_H
#define ASSAY_CLI_OUTPUT_CARET_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct mark {
    uint32_t start, end; /* byte offsets in the text; an empty range marks a position */
    unsigned number;     /* shown after the carets */
};

/* Prints `sql` in lines of at most `width` columns (broken at spaces). Each line has `indent` spaces before it, and the
 * carets of its marks below it. Control characters are shown as escapes. */
void caret_print(FILE *stream, const char *sql, size_t len, const struct mark *marks, unsigned n_marks, unsigned indent,
                 unsigned width);

/* Computes line and column of a byte, both from 1; the column counts characters. */
void caret_position(const char *sql, size_t len, uint32_t at, unsigned *line, unsigned *column);

#endif
