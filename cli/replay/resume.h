/* Continuing a replay that was killed.
 *
 * Each record of a jsonl replay ends with ,"line":N} where N is the line of the log that it answers, or with
 * ,"partition":P,"offset":O} of the topic. That alone says what is done, in whatever order it was written: the file is
 * scanned once, a torn last line is cut off, and the replay skips what has its verdict. No line twice, none lost.
 *
 * Whose verdicts they are is told by the digest of the request that each one carries (msg_request_digest); a verdict of
 * schema version 1, or on a line that is not a valid request, has no digest and is told by its id. 31 bits of either
 * are kept for each line, in pieces of 4,096 lines, since offsets may start anywhere: 4 bytes a line.
 */
#ifndef ASSAY_CLI_REPLAY_RESUME_H
#define ASSAY_CLI_REPLAY_RESUME_H

#include "lib/base/input.h"

#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { RESUME_PIECE = 4096 };

struct resume {
    GHashTable *pieces;  /* place / RESUME_PIECE → that many marks; 0: no verdict */
    uint64_t done;       /* verdicts */
    uint64_t of_topics;  /* those of them on records of a topic, and not on lines of a log */
    uint64_t undigested; /* those of a version without digests */
};

/* What a record says of the request that it answers. */
struct resume_record {
    const char *id;     /* belongs to `json` */
    const char *digest; /* 32 hexadecimal digits; NULL: it has none */
    bool old;           /* of a version that had none */
    json_t *json;
};

#define RESUME_NO_RECORD    "not a record of a jsonl replay"
#define RESUME_OLD_VERDICTS "%s: %llu verdicts of schema version 1 have no request digest: they are compared by id only"

/* Take one record of a file, or, without `keep`, only look at it; NULL, or what is wrong with it. */
typedef const char *resume_take(void *ctx, const struct lines *lines, bool keep);

/* Hand each record of `path` to `take` and cut a torn last one off; a missing file is an empty one. ERR_IO;
 * ERR_MALFORMED when something is wrong with any other. */
enum err_code resume_each(const char *path, resume_take *take, void *ctx, struct err *err);

/* Scan and repair `path`; a missing file is an empty one. ERR_IO; ERR_MALFORMED when a line but the last is no record
 * of a replay. The caller owes resume_free in any case. */
enum err_code resume_scan(const char *path, struct resume *out, struct err *err);
void resume_free(struct resume *resume);

/* Places as in proto/bus/position.h. */
bool resume_has(const struct resume *resume, uint64_t place);

/* Was this place's verdict written for another request? Then the file belongs to another log. `digest` is that of the
 * request as msg_request_digest gives it, NULL: the line is not a request; `id` its id, NULL: it has none. */
bool resume_conflicts(const struct resume *resume, uint64_t place, const uint64_t digest[2], const char *id);

/* Take a record apart. False: it is no JSON with an id. The caller owes json_decref of out->json in any case. */
bool resume_read(const struct lines *lines, struct resume_record *out);

/* The digest as verdicts have it: 32 hexadecimal digits and a NUL. */
void resume_digest_text(const uint64_t digest[2], char out[33]);

/* The place that a record ends with; 0: it has none, so it is torn or not ours. */
uint64_t resume_place_of(const char *record, size_t len);

#endif
