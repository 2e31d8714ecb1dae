/* Resumes a replay that was killed.
 *
 * Each record of a jsonl replay ends with ,"line":N}, where N is the line of its request, or with
 * ,"partition":P,"offset":O} for a topic. These positions alone determine the completed requests, in any order. The
 * file is scanned once, a torn last line is cut off, and the replay skips requests with a verdict. No line is repeated,
 * and none is lost.
 *
 * A verdict is matched with its request by the request's digest (msg_request_digest). A verdict of schema version 1, or
 * on an invalid request, has no digest and is matched by its id.
 *
 * Each line takes 4 bytes, which hold 31 bits of a hash. They are stored in pieces of 4,096 positions, because offsets
 * may start at any number.
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
    GHashTable *pieces;  /* position / RESUME_PIECE → array of marks (hashes); 0 means no verdict */
    uint64_t done;       /* number of verdicts */
    uint64_t of_topics;  /* number of verdicts on records of a topic instead of lines */
    uint64_t undigested; /* number of verdicts from a version without digests */
};

/* The part of a record that identifies its request. */
struct resume_record {
    const char *id;     /* owned by `json` */
    const char *digest; /* 32 hexadecimal digits; NULL if missing */
    bool old;           /* true if the record is from a version without digests */
    json_t *json;
};

#define RESUME_NO_RECORD    "not a record of a jsonl replay"
#define RESUME_OLD_VERDICTS "%s: %llu verdicts of schema version 1 have no request digest: they are compared by id only"

/* Processes one record of a file. If `keep` is false, only checks it. Returns NULL, or a description of the fault. */
typedef const char *resume_take(void *ctx, const struct lines *lines, bool keep);

/* Passes each record of `path` to `take`, and cuts off a torn last record. A missing file counts as empty. Errors:
 * ERR_IO; ERR_MALFORMED if a record before the last one is faulty. */
enum err_code resume_each(const char *path, resume_take *take, void *ctx, struct err *err);

/* Scans and repairs `path`; a missing file counts as empty. Free *out with resume_free in any case. Errors: ERR_IO;
 * ERR_MALFORMED if a line other than the last is not a record of a replay. */
enum err_code resume_scan(const char *path, struct resume *out, struct err *err);
void resume_free(struct resume *resume);

/* True if the position (proto/bus/position.h) has a verdict. */
bool resume_has(const struct resume *resume, uint64_t place);

/* True if the verdict at this position belongs to another request, so the file belongs to another log. `digest` is the
 * result of msg_request_digest, or NULL if the line is not a request. `id` is the request's id, or NULL. */
bool resume_conflicts(const struct resume *resume, uint64_t place, const uint64_t digest[2], const char *id);

/* Parses a record. Returns false if it is not JSON with an id. Release out->json with json_decref in any case. */
bool resume_read(const struct lines *lines, struct resume_record *out);

/* Writes the digest in the form of verdicts: 32 hexadecimal digits and a NUL. */
void resume_digest_text(const uint64_t digest[2], char out[33]);

/* Returns the position at the end of a record. Returns 0 if it has none; the record is then torn or from another
 * program. */
uint64_t resume_place_of(const char *record, size_t len);

#endif
