/* Where the requests of a replay come from: a log, or the past of a topic.
 *
 * A source moves from request to request; the current record stays valid until it moves on, so that a request can wait
 * for its turn before it is read into an arena. Thread: main.
 */
#ifndef ASSAY_PROTO_BUS_SOURCE_H
#define ASSAY_PROTO_BUS_SOURCE_H

#include "lib/base/input.h"
#include "proto/bus/range.h"
#include "proto/message/edge.h"

struct source {
    struct lines lines;  /* a log */
    struct range *range; /* a topic; NULL: a log */
    const char *topic;
    const struct bus_message *message; /* that it stands on */
    const struct range_part *parts;    /* of the range */
    uint32_t n_parts;
    int64_t *next; /* by partition: the first record that is not answered; below 0: none was */
    bool timed;    /* ask log lines for their time */
};

enum { SOURCE_STOP = -1, SOURCE_END = 0, SOURCE_READY = 1, SOURCE_LATER = 2 };

/* Open a log, or standard input for "-"; or a topic. On success the caller owes source_close. */
enum err_code source_open_log(struct source *source, const char *path, struct err *err);
enum err_code source_open_topic(struct source *source, struct bus *bus, const struct range_config *config,
                                struct err *err);
void source_close(struct source *source);

/* Go to the next request. SOURCE_LATER: none within a few milliseconds; SOURCE_STOP: it cannot go on, `err` says why.
 */
int source_advance(struct source *source, struct err *err);

/* Where it stands (proto/bus/position.h). */
uint64_t source_position(const struct source *source);

/* When the request was made, milliseconds since 1970: the record's time, or the key `time` of a log line (RFC 3339 or a
 * number) if source.timed. Below 0: not known. */
int64_t source_time_ms(const struct source *source);

/* What it stands on, *len bytes; empty where a line is too long, or a record has no value. Never NULL. */
const char *source_text(const struct source *source, size_t *len);

/* Read the request it stands on. One without an id gets a name from where it stands. Errors as those of the formats. */
enum err_code source_read(const struct source *source, struct arena *arena, struct msg_request **out, struct err *err);

/* The id and db (NULL: none) of an object that has an id but is not a valid request. False: it is not such an object.
 */
bool source_name(const struct source *source, struct arena *arena, const char **id, const char **db);

/* "log.jsonl:7", "topic[3]@17". g_free */
char *source_where(const struct source *source);

/* Share that has been read, 0 to 1; below 0: not known. */
double source_share(const struct source *source);

/* This record has its answer, and so has everything before it in its partition. */
void source_answered(struct source *source, uint64_t place);

/* Write what is answered to the topic's group. Nothing to do for a log. */
enum err_code source_commit(struct source *source, struct err *err);

/* Milliseconds since 1970 of RFC 3339 text, or of a number of them. False: neither. */
bool source_parse_time(const char *text, int64_t *out);

#endif
