/* Continuing a replay that was killed.
 *
 * Each record of a jsonl replay ends with ,"line":N} where N is the line of the log that it answers, or with
 * ,"partition":P,"offset":O} of the topic. That alone says what is done, in whatever order it was written: the file is
 * scanned once, a torn last line is cut off, and the replay skips what has its verdict. No line twice, none lost.
 * Memory: about one bit a line, in pieces of 4,096 lines, since offsets may start anywhere.
 */
#ifndef ASSAY_CLI_RESUME_H
#define ASSAY_CLI_RESUME_H

#include "cli/input.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

enum { RESUME_SAMPLES = 64, RESUME_PIECE = 4096 };

struct resume {
    GHashTable *pieces; /* place / RESUME_PIECE → that many bits */
    uint64_t done;
    /* The ids of the first records, to notice another log's file. */
    struct {
        uint64_t place;
        char *id;
    } samples[RESUME_SAMPLES];
    unsigned n_samples;
};

#define RESUME_NO_RECORD "not a record of a replay in jsonl"

/* Take one record of a file, or, without `keep`, only look at it; NULL, or what is wrong with it. */
typedef const char *resume_take(void *ctx, const struct lines *lines, bool keep);

/* Hand each record of `path` to `take` and cut a torn last one off; a missing file is an empty one. ERR_IO;
 * ERR_MALFORMED when something is wrong with any other. */
enum err_code resume_each(const char *path, resume_take *take, void *ctx, struct err *err);

/* Scan and repair `path`; a missing file is an empty one. ERR_IO; ERR_MALFORMED when a line but the last is no record
 * of a replay. The caller owes resume_free in any case. */
enum err_code resume_scan(const char *path, struct resume *out, struct err *err);
void resume_free(struct resume *resume);

/* Places as in cli/place.h. */
bool resume_has(const struct resume *resume, uint64_t place);

/* Was this place's verdict written for a request of another name? Then the file belongs to another log. */
bool resume_conflicts(const struct resume *resume, uint64_t place, const char *id);

/* The place that a record ends with; 0: it has none, so it is torn or not ours. */
uint64_t resume_place_of(const char *record, size_t len);

#endif
