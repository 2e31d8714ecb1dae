/* What assay diff writes. Thread: main. */
#ifndef ASSAY_CLI_OUTPUT_DIFF_OUTPUT_H
#define ASSAY_CLI_OUTPUT_DIFF_OUTPUT_H

#include "cli/output/format.h"
#include "eval/diff.h"

struct diff_writer;

/* `names`: of the two sides. `list`: changes shown as text; 0: all. Never NULL; the caller owes diff_writer_end. */
struct diff_writer *diff_writer_new(enum format format, const char *const names[2], uint64_t list, FILE *stream);
void diff_write_pair(struct diff_writer *writer, const struct diff_pair *pair);

/* An id that one side lacks (`only`), or has again. `side` is the one that has it. */
void diff_write_lone(struct diff_writer *writer, const char *id, unsigned side, uint64_t line, bool only);

/* The summary (NULL: none, the comparison was not finished); frees the writer. */
void diff_writer_end(struct diff_writer *writer, const struct diff_totals *totals);

#endif
