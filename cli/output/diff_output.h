/* The output of assay diff. Thread: main. */
#ifndef ASSAY_CLI_OUTPUT_DIFF_OUTPUT_H
#define ASSAY_CLI_OUTPUT_DIFF_OUTPUT_H

#include "cli/output/format.h"
#include "eval/diff.h"

struct diff_writer;

/* Creates a writer. `names` are those of the two sides; `list` bounds the changes shown as text, and 0 shows all. Never
 * returns NULL. Free with diff_writer_end. */
struct diff_writer *diff_writer_new(enum format format, const char *const names[2], uint64_t list, FILE *stream);
void diff_write_pair(struct diff_writer *writer, const struct diff_pair *pair);

/* Writes an id that one side lacks (`only`), or that occurs again. `side` is the one that has it. */
void diff_write_lone(struct diff_writer *writer, const char *id, unsigned side, uint64_t line, bool only);

/* Writes the summary and frees the writer. `totals` is NULL if the comparison did not finish; there is no summary then.
 */
void diff_writer_end(struct diff_writer *writer, const struct diff_totals *totals);

#endif
