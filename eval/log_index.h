/* An index of a query log by request id. It holds the offset of each request, in 45 bytes per request. A lookup reads
 * the line again. */
#ifndef ASSAY_EVAL_LOG_INDEX_H
#define ASSAY_EVAL_LOG_INDEX_H

#include "lib/base/input.h"
#include "proto/message/msg.h"

struct log_index;

/* Reads a regular file and indexes its requests. The first of several requests with the same id counts. `bad` receives
 * each line that is not a request, and may be NULL. Returns an error if the file cannot be read, is not a log, or has
 * more than DIFF_MAX_IDS ids. Close with log_index_close. Thread: one at a time. */
enum err_code log_index_open(const char *path, void (*bad)(void *ctx, const struct lines *lines, const struct err *err),
                             void *ctx, struct log_index **out, struct err *err);
void log_index_close(struct log_index *log); /* NULL is fine */

/* Returns the request with that id, valid until the next call, or NULL if the log has no such request. */
const struct msg_request *log_index_find(struct log_index *log, const char *id);

#endif
