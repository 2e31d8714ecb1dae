/* Dead letters: a message that could not be handled, kept where a person finds it, with where it stood and why.
 *
 * A letter is the message itself, key, value and headers untouched where they fit, and headers of its own, all UTF-8
 * text:
 *
 *   x-dlq-topic, x-dlq-partition, x-dlq-offset   where it stood
 *   x-dlq-timestamp                              when it came there, ms since 1970 by the brokers' clock
 *   x-dlq-code, x-dlq-message                    what was wrong (lib/base/error.h), and in words, at most 1 KiB
 *   x-dlq-stage                                  read, judge, ...: what was being done
 *   x-dlq-attempts                               deliveries before the last one
 *   x-dlq-group, x-dlq-host, x-dlq-version       who gave up
 *   x-dlq-first-seen                             when it first became a letter: kept when it is sent again and fails
 *                                                again
 *   x-dlq-redriven                               how often it was sent again (letter_again); none: never
 *   x-dlq-cut                                    which of headers, key, value are not all there; none: all are
 *
 * INVARIANT sendable: a letter fits wherever its message came from or is going, however large that was and whatever
 * stood in its headers; else one hostile message would end every process that tries to put it aside.
 *
 * A letter never holds a value of the data judged. Nothing here keeps or sends; the transport copies.
 */
#ifndef ASSAY_PROTO_BUS_LETTER_H
#define ASSAY_PROTO_BUS_LETTER_H

#include "proto/bus/transport.h"

enum { LETTER_MESSAGE = 1024, LETTER_GROUP = 256 };
enum { LETTER_OWN = 16, LETTER_OWN_BYTES = 4096, LETTER_KEY = 1024 }; /* of the message's headers; of its key */

/* Why a message becomes a letter. */
struct letter_cause {
    const char *group; /* whose consumer gave it up */
    const char *stage;
    enum err_code code;
    const char *text; /* NULL: the code's meaning */
    int64_t now_ns;   /* bus_now_ns */
};

/* Headers of a letter; their texts are in here, or the message's own. */
struct letter {
    struct bus_header headers[BUS_MAX_HEADERS];
    uint32_t n_headers;
    char partition[16], offset[24], timestamp[24], attempts[16], first_seen[24], redriven[16];
    char message[LETTER_MESSAGE + 1], group[LETTER_GROUP + 1], host[65], cut[24];
};

/* Make the letter of a message, for `topic`, of at most `most` bytes (bus_max_bytes; not below 16 KiB): *out points
 * into `letter` and `message`, for as long as both live. The message's own headers come first, the first LETTER_OWN of
 * them; what does not fit is cut, and x-dlq-cut says so. Thread: any. */
void letter_make(struct letter *letter, const struct bus_message *message, const struct letter_cause *cause,
                 const char *topic, size_t most, struct bus_out *out);

/* What a letter says. Texts are the message's; NULL: it does not say. */
struct letter_origin {
    const char *topic, *code, *stage, *text, *group, *host, *version, *cut;
    int32_t partition; /* -1: it does not say */
    int64_t offset, timestamp_ms, first_seen_ms;
    uint32_t attempts, redriven;
};

/* ERR_MALFORMED: not a letter, since it does not name the topic it came from, or a number in it cannot be read. Thread:
 * any. */
enum err_code letter_read(const struct bus_message *message, struct letter_origin *out, struct err *err);

/* Send it again: *out is the original message, to its topic and partition, with its own headers, x-dlq-first-seen, and
 * x-dlq-redriven one higher. ERR_MALFORMED as above; ERR_LIMIT_BYTES: not all of it is there. Thread: any. */
enum err_code letter_again(struct letter *letter, const struct bus_message *message, struct bus_out *out,
                           struct err *err);

#endif
