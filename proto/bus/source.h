/* The requests of a replay, read from a log or from the history of a topic.
 *
 * source_advance moves a source from one request to the next. The current record stays valid until then, so the caller
 * can delay reading it into an arena. Thread: main.
 */
#ifndef ASSAY_PROTO_BUS_SOURCE_H
#define ASSAY_PROTO_BUS_SOURCE_H

#include "lib/base/input.h"
#include "proto/bus/range.h"
#include "proto/message/edge.h"

struct source {
    struct lines lines;  /* for a log */
    struct range *range; /* for a topic; NULL for a log */
    const char *topic;
    const struct bus_message *message; /* current record of the topic */
    const struct range_part *parts;    /* partitions of the range */
    uint32_t n_parts;
    int64_t *next; /* by partition: the first unanswered record; below 0 if none was answered */
    bool timed;    /* read the time of log lines */
};

enum { SOURCE_STOP = -1, SOURCE_END = 0, SOURCE_READY = 1, SOURCE_LATER = 2 };

/* Opens a log (standard input for "-") or a topic. After success the caller must call source_close. */
enum err_code source_open_log(struct source *source, const char *path, struct err *err);
enum err_code source_open_topic(struct source *source, struct bus *bus, const struct range_config *config,
                                struct err *err);
void source_close(struct source *source);

/* Moves to the next request. Returns SOURCE_LATER if none arrives within a few milliseconds, and SOURCE_STOP with `err`
 * on a permanent error. */
int source_advance(struct source *source, struct err *err);

/* Returns the position of the current record (proto/bus/position.h). */
uint64_t source_position(const struct source *source);

/* Returns the time of the request in milliseconds since 1970, or below 0 if unknown. For a topic it is the time of the
 * record. For a log with source.timed it is the key `time` of the line (RFC 3339 or a number). */
int64_t source_time_ms(const struct source *source);

/* Returns the text of the current record and its length in *len. Never returns NULL. The text is empty if the line is
 * too long or the record has no value. */
const char *source_text(const struct source *source, size_t *len);

/* Reads the current request. A request without an id gets its position as its id. Returns the errors of the
 * decoders. */
enum err_code source_read(const struct source *source, struct arena *arena, struct msg_request **out, struct err *err);

/* Reads id and db (NULL if missing) of an object that has an id but is not a valid request. Returns false if the record
 * is not such an object. */
bool source_name(const struct source *source, struct arena *arena, const char **id, const char **db);

/* Returns the position of the current record as text, such as "log.jsonl:7" or "topic[3]@17". Free with g_free. */
char *source_where(const struct source *source);

/* Returns the share of the source that has been read, from 0 to 1, or below 0 if unknown. */
double source_share(const struct source *source);

/* Marks the record at that position as answered, and all records before it in its partition. */
void source_answered(struct source *source, uint64_t place);

/* Writes the answered positions as the offsets of the topic's group. Does nothing for a log. */
enum err_code source_commit(struct source *source, struct err *err);

/* Parses RFC 3339 text or a number into milliseconds since 1970. Returns false if it is neither. */
bool source_parse_time(const char *text, int64_t *out);

#endif
