/* Reads a range of a topic again, in each partition from one point to another. Reading does not affect other readers of
 * the topic. Kafka only.
 *
 * The end is fixed when the range is opened. Records written later are not read, so reading ends even on a busy topic.
 * The range assigns its partitions itself, so no consumer group is rebalanced. Only range_commit writes the group's
 * offsets; the caller chooses the group.
 *
 * Thread: one at a time.
 */
#ifndef ASSAY_PROTO_BUS_RANGE_H
#define ASSAY_PROTO_BUS_RANGE_H

#include "proto/bus/transport.h"

enum range_kind {
    RANGE_FIRST,  /* at the oldest record */
    RANGE_LAST,   /* after the newest record */
    RANGE_OFFSET, /* at this offset, in every partition */
    RANGE_TIME,   /* at the first record with at least this time, in milliseconds since 1970 */
    RANGE_NEVER   /* only as an end: read without an end */
};

struct range_point {
    enum range_kind kind;
    int64_t value;
};

struct range_config {
    const char *topic;
    const char *group;       /* group whose offsets `resume` reads and range_commit writes */
    struct range_point from; /* first record that is read */
    struct range_point to;   /* first record that is not read */
    bool resume;             /* begin at the group's offsets if they are later than `from` */
    bool in_order;           /* order the records of all partitions by time; not with RANGE_NEVER */
};

/* The range of one partition. Offsets are limited to existing records. `from` is at most `to`, unless there is no
 * end. */
struct range_part {
    int32_t partition;
    int64_t from, to; /* `to` is INT64_MAX if there is no end */
    int64_t at;       /* all records of the range before this offset have been read */
};

struct range;

/* Finds the topic and its offsets and starts reading. Returns ERR_CONFIG if the transport is not Kafka or the topic is
 * missing. Returns ERR_UNREACHABLE if no broker answers within the bus's connect_ms. The bus must outlive the range.
 * Free with range_close. */
enum err_code range_open(struct bus *bus, const struct range_config *config, struct range **out, struct err *err);
void range_close(struct range *range); /* NULL is allowed */

/* Returns the next record, which belongs to the range until the next call. Returns ERR_FULL if none arrives within
 * timeout_ms, and ERR_CLOSED if every partition is at its end. Any other code is permanent: records deleted before they
 * were read, or rights revoked. */
enum err_code range_poll(struct range *range, int64_t timeout_ms, const struct bus_message **out, struct err *err);

/* Returns the partitions, ordered by number, and their count in *n. Valid until range_close. */
const struct range_part *range_parts(const struct range *range, uint32_t *n);

/* Writes the group's offsets. next[i] is the first unfinished record of the i-th partition of range_parts. A value
 * below 0 leaves that partition unchanged. Waits for the reply with a timeout. */
enum err_code range_commit(struct range *range, const int64_t *next, struct err *err);

/* Returns ERR_OK if the topic exists and ERR_CONFIG if it is missing. Never creates it. */
enum err_code range_topic_exists(struct bus *bus, const char *topic, struct err *err);

#endif
