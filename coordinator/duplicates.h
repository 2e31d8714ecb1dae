/* Recognizes duplicate requests by id and content, within the last offsets of a partition.
 *
 * A sender that gets no reply may send its request again. The second copy has the same id and the same bytes, and needs
 * no verdict of its own. The same id with other bytes is a mistake, and the sender gets an error.
 *
 * Both rules apply only within a partition (the id is the record key) and within DUPLICATES_WINDOW offsets. The bound
 * is needed because the data must fit into memory, and because a take-over rebuilds them. Offsets arrive in ascending
 * order. Thread: one at a time.
 */
#ifndef ASSAY_COORDINATOR_DUPLICATES_H
#define ASSAY_COORDINATOR_DUPLICATES_H

#include "proto/message/msg.h"

enum { DUPLICATES_WINDOW = 4096 };

struct duplicates;

enum duplicates_answer {
    DUPLICATES_NONE,
    DUPLICATES_SAME,  /* same id and bytes */
    DUPLICATES_OTHER, /* same id, other bytes */
    DUPLICATES_NOMEM
};

struct duplicates *duplicates_new(void);
void duplicates_free(struct duplicates *duplicates); /* NULL is allowed */

/* Compares a request with earlier ones, and stores it. A request with the same `key` is the same record, not a
 * duplicate. */
enum duplicates_answer duplicates_check(struct duplicates *duplicates, struct msg_key key, const char *id,
                                        const void *bytes, size_t len);

/* Deletes the data of a partition, which will be read again from its start. */
void duplicates_forget(struct duplicates *duplicates, int32_t partition);

#endif
