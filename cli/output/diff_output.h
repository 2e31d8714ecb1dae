/* Writes the output of assay diff. Thread: main. */
#ifndef ASSAY_CLI_OUTPUT_DIFF_OUTPUT_H
#define ASSAY_CLI_OUTPUT_DIFF_OUTPUT_H

#include "cli/output/format.h"
#include "eval/diff.h"

struct diff_writer;

/* Creates a writer. `names` are the names of the two sides. `list` bounds the changes that the text format shows; 0
 * shows all. Never returns NULL. Free with diff_writer_end. */
struct diff_writer *diff_writer_new(enum format format, const char *const names[2], uint64_t list, FILE *stream);
void diff_write_pair(struct diff_writer *writer, const struct diff_pair *pair);

/* Writes an id that only `side` has (`only` is true), or that `side` repeats. */
void diff_write_lone(struct diff_writer *writer, const char *id, unsigned side, uint64_t line, bool only);

/* Writes the summary and frees the writer. If the comparison did not finish, pass NULL as `totals`; no summary is then
 * written. */
void diff_writer_end(struct diff_writer *writer, const struct diff_totals *totals);

#endif
