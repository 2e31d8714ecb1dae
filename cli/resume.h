/* Continuing a replay that was killed.
 *
 * Each record of a jsonl replay ends with ,"line":N} where N is the line of the log that it answers. That alone says
 * what is done, in whatever order it was written: the file is scanned once, a torn last line is cut off, and the replay
 * skips the lines that have their verdict. No line twice, none lost. Memory: one bit a line of the log.
 */
#ifndef ASSAY_CLI_RESUME_H
#define ASSAY_CLI_RESUME_H

#include "lib/base/error.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum { RESUME_SAMPLES = 64 };

struct resume {
    GByteArray *bits;
    uint64_t done;
    /* The ids of the first records, to notice another log's file. */
    struct {
        uint64_t line;
        char *id;
    } samples[RESUME_SAMPLES];
    unsigned n_samples;
};

/* Scan and repair `path`; a missing file is an empty one. ERR_IO; ERR_MALFORMED when a line but the last is no record
 * of a replay. The caller owes resume_free in any case. */
enum err_code resume_scan(const char *path, struct resume *out, struct err *err);
void resume_free(struct resume *resume);

bool resume_has(const struct resume *resume, uint64_t line);

/* Was this line's verdict written for a request of another name? Then the file belongs to another log. */
bool resume_conflicts(const struct resume *resume, uint64_t line, const char *id);

/* The line number that a record ends with; 0: it has none, so it is torn or not ours. */
uint64_t resume_line_of(const char *record, size_t len);

#endif
