/* Dead letters: messages that cannot be processed. They are stored with their origin and the error, so that an operator
 * can inspect them.
 *
 * A dead letter is the message itself with additional headers. Key, value and headers of the message are unchanged if
 * they fit. The additional headers are UTF-8 text:
 *
 *    x-dlq-topic, x-dlq-partition, x-dlq-offset   position of the message
 *    x-dlq-timestamp                              time of the message, ms since 1970 by the brokers' clock
 *    x-dlq-code, x-dlq-message                    error code (lib/base/error.h) and its text, at most 1 KiB
 *    x-dlq-stage                                  step that failed: read, judge, ...
 *    x-dlq-attempts                               deliveries before the last one
 *    x-dlq-group, x-dlq-host, x-dlq-version       consumer that dead-lettered the message
 *    x-dlq-first-seen                             time of the first dead letter of this message; survives redelivery
 *    x-dlq-redriven                               number of redeliveries (letter_again); missing if 0
 *    x-dlq-cut                                    which of headers, key, value are incomplete; missing if none is
 *
 * INVARIANT sendable: a dead letter fits its topic, however large its message and headers are. Otherwise one hostile
 * message would end every process that tries to dead-letter it.
 *
 * A dead letter never contains a value of the judged database. This module neither stores nor sends; the transport
 * copies.
 */
#ifndef ASSAY_PROTO_BUS_LETTER_H
#define ASSAY_PROTO_BUS_LETTER_H

#include "proto/bus/transport.h"

enum { LETTER_MESSAGE = 1024, LETTER_GROUP = 256 };
/* limits: number and bytes of the message's own headers; bytes of its key */
enum { LETTER_OWN = 16, LETTER_OWN_BYTES = 4096, LETTER_KEY = 1024 };

/* The reason for a dead letter. */
struct letter_cause {
    const char *group; /* consumer group that dead-lettered the message */
    const char *stage;
    enum err_code code;
    const char *text; /* text of the error; NULL: meaning of the code */
    int64_t now_ns;   /* current time, from bus_now_ns */
};

/* Headers of a dead letter. Their texts are stored in this struct or in the message. */
struct letter {
    struct bus_header headers[BUS_MAX_HEADERS];
    uint32_t n_headers;
    char partition[16], offset[24], timestamp[24], attempts[16], first_seen[24], redriven[16];
    char message[LETTER_MESSAGE + 1], group[LETTER_GROUP + 1], host[65], cut[24];
};

/* Builds the dead letter of a message for `topic`. *out has at most `most` bytes (bus_max_bytes; at least 16 KiB). *out
 * points into `letter` and `message` and is valid while both live. The first LETTER_OWN headers of the message come
 * first. Parts that do not fit are cut, and x-dlq-cut names them. Thread: any. */
void letter_make(struct letter *letter, const struct bus_message *message, const struct letter_cause *cause,
                 const char *topic, size_t most, struct bus_out *out);

/* The parsed headers of a dead letter. Texts belong to the message. A text is NULL if its header is missing. */
struct letter_origin {
    const char *topic, *code, *stage, *text, *group, *host, *version, *cut;
    int32_t partition; /* -1 if the header is missing */
    int64_t offset, timestamp_ms, first_seen_ms;
    uint32_t attempts, redriven;
};

/* Reads the headers of a dead letter. Returns ERR_MALFORMED if they do not name the original topic or if a number
 * cannot be parsed. Thread: any. */
enum err_code letter_read(const struct bus_message *message, struct letter_origin *out, struct err *err);

/* Builds the redelivery of a dead letter: *out is the original message for its original topic and partition. Its
 * headers are those of the original message, x-dlq-first-seen, and x-dlq-redriven increased by one. Returns
 * ERR_MALFORMED as letter_read does, and ERR_LIMIT_BYTES if a part of the message was cut. Thread: any. */
enum err_code letter_again(struct letter *letter, const struct bus_message *message, struct bus_out *out,
                           struct err *err);

#endif
