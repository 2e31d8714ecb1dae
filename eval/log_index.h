/* Finds the requests of a query log by id. The index holds the position of each line, 45 bytes for each request. The
 * line itself is read from the file when needed. */
#ifndef ASSAY_EVAL_LOG_INDEX_H
#define ASSAY_EVAL_LOG_INDEX_H

#include "lib/base/input.h"
#include "proto/message/msg.h"

struct log_index;

/* Indexes a regular file. If several requests have the same id, only the first counts. `bad` (may be NULL) receives
 * invalid lines. Close with log_index_close. Errors: the file is unreadable, is not a log, or has more than
 * DIFF_MAX_IDS requests. Thread: one at a time. */
enum err_code log_index_open(const char *path, void (*bad)(void *ctx, const struct lines *lines, const struct err *err),
                             void *ctx, struct log_index **out, struct err *err);
void log_index_close(struct log_index *log); /* NULL is fine */

/* Returns the request of that id, valid until the next call, or NULL. */
const struct msg_request *log_index_find(struct log_index *log, const char *id);

#endif
