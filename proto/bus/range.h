/* A range of a topic, read again: from a point to a point, each partition to its end, and nothing of it marked as
 * read for those who share the topic. Kafka only.
 *
 * The end is fixed when the range is opened: what is written meanwhile is not read, so that reading ends on a topic
 * that is never quiet. Partitions are assigned by hand; nobody's share of the topic changes. The group's offsets are
 * written by range_commit alone, and a group of one's own is the caller's to choose.
 *
 * Thread: one at a time.
 */
#ifndef ASSAY_PROTO_BUS_RANGE_H
#define ASSAY_PROTO_BUS_RANGE_H

#include "proto/bus/transport.h"

enum range_kind {
    RANGE_FIRST,  /* the oldest record there is */
    RANGE_LAST,   /* after the newest one */
    RANGE_OFFSET, /* this offset, in every partition */
    RANGE_TIME,   /* the first record that is no older than this: milliseconds since 1970 */
    RANGE_NEVER   /* only as an end: there is none */
};

struct range_point {
    enum range_kind kind;
    int64_t value;
};

struct range_config {
    const char *topic;
    const char *group;       /* whose offsets `resume` reads and range_commit writes */
    struct range_point from; /* the first record that is read */
    struct range_point to;   /* the first that is not */
    bool resume;             /* begin where the group's offsets stand, where that is later than `from` */
    bool in_order;           /* over all partitions by time; not with RANGE_NEVER */
};

/* One partition. Offsets are cut to what there is: from <= to unless there is no end. */
struct range_part {
    int32_t partition;
    int64_t from, to; /* to: INT64_MAX without an end */
    int64_t at;       /* everything before it has been read, and lay in the range */
};

struct range;

/* Find topic and offsets and start reading. ERR_CONFIG: no kafka transport, no such topic; ERR_UNREACHABLE within the
 * bus's connect_ms. The bus must outlive it; the caller owes range_close. */
enum err_code range_open(struct bus *bus, const struct range_config *config, struct range **out, struct err *err);
void range_close(struct range *range); /* NULL is fine */

/* The next record; it belongs to the range until the next call. ERR_FULL: none within timeout_ms. ERR_CLOSED: every
 * partition is at its end. Else what went wrong for good: records deleted before they were read, rights taken away. */
enum err_code range_poll(struct range *range, int64_t timeout_ms, const struct bus_message **out, struct err *err);

/* The partitions, by number; *n of them. Valid until range_close. */
const struct range_part *range_parts(const struct range *range, uint32_t *n);

/* Write the group's offsets: next[i], the first record that is not done, of the i-th of range_parts; below 0: nothing
 * to say of it. Waits for the answer, bounded. */
enum err_code range_commit(struct range *range, const int64_t *next, struct err *err);

/* Is there this topic? Never makes it. ERR_CONFIG when there is none. */
enum err_code range_topic_exists(struct bus *bus, const char *topic, struct err *err);

#endif
