/* Which requests came twice: by id and content, within the last offsets of a partition.
 *
 * A sender that did not hear back sends again. The second copy has the same id and the same bytes, and needs no verdict
 * of its own; the same id with other bytes is a mistake, and the sender is told so. Only within a partition (the id is
 * the key) and within DUPLICATES_WINDOW offsets: what is promised must fit into memory and be there again after a
 * take-over. Offsets come in rising order. Thread: one at a time.
 */
#ifndef ASSAY_COORDINATOR_DUPLICATES_H
#define ASSAY_COORDINATOR_DUPLICATES_H

#include "proto/message/msg.h"

enum { DUPLICATES_WINDOW = 4096 };

struct duplicates;

enum duplicates_answer {
    DUPLICATES_NONE,
    DUPLICATES_SAME,  /* id and bytes */
    DUPLICATES_OTHER, /* the id, with other bytes */
    DUPLICATES_NOMEM
};

struct duplicates *duplicates_new(void);
void duplicates_free(struct duplicates *duplicates); /* NULL is fine */

/* Compare with what came before, and remember it. The same key again is the same request. */
enum duplicates_answer duplicates_check(struct duplicates *duplicates, struct msg_key key, const char *id,
                                        const void *bytes, size_t len);

/* Forget a partition: it is read from its start again. */
void duplicates_forget(struct duplicates *duplicates, int32_t partition);

#endif
