/* A query log, its requests found by id: where each stands, 45 bytes a request, and the line read again when it is asked for. */
#ifndef ASSAY_EVAL_LOG_INDEX_H
#define ASSAY_EVAL_LOG_INDEX_H

#include "lib/base/input.h"
#include "proto/message/msg.h"

struct log_index;

/* Read a regular file through; of requests with one id the first counts. `bad` is told of lines that are none, and may be NULL.
 * Errors: it cannot be read, is no log, or has more than DIFF_MAX_IDS requests. The caller owes log_index_close. Thread: one
 * at a time. */
enum err_code log_index_open(const char *path, void (*bad)(void *ctx, const struct lines *lines, const struct err *err),
                             void *ctx, struct log_index **out, struct err *err);
void log_index_close(struct log_index *log); /* NULL is fine */

/* The request of that id, until the next call; NULL: there is none. */
const struct msg_request *log_index_find(struct log_index *log, const char *id);

#endif
