/* Tasks that may end the process.
 *
 * A task that was delivered twice to processes that then died is suspected, but so is whatever they held beside it. So
 * a suspect is judged by a process of its own: if that one dies by a signal, the task is what did it, and it is
 * answered `rejected` and becomes a dead letter. If it does not, its answer is as good as any. No innocent task is ever
 * rejected for the company that it was in, and a poisoned one costs the family two workers, not its deadline.
 *
 * How such a process is started is its owner's business (cli/commands/worker.c): it reads a task from its standard
 * input and writes the result.
 */
#ifndef ASSAY_WORKER_ISOLATED_H
#define ASSAY_WORKER_ISOLATED_H

#include "worker/worker.h"

/* Judge one encoded task on the calling thread, without a bus: in the process of its own. `left_ms`: until its
 * deadline, 0: none. The result, encoded, is put into *result. Errors are the task's; one that a family would answer
 * with signals unavailable comes as such an answer, with ERR_OK, unless it may pass (class retry). */
enum err_code isolated_evaluate(const struct worker_config *config, const void *task, size_t len, int64_t left_ms,
                                struct msg_buffer *result, struct err *err);

/* Run a program with `input` on its standard input, at most `limit_ms`, and keep up to `max` bytes of its output.
 * `argv` ends with NULL, `variable` ("NAME=VALUE") is added to the environment. ERR_OK: it ended with 0.
 * ERR_REJECTED: it died by a signal that was not ours. ERR_DEADLINE: it was stopped. ERR_UNREACHABLE (retry): it could
 * not be started, or ended with something else; nothing is known of the task. Thread: any. */
enum err_code isolated_run(const char *const *argv, const char *variable, const void *input, size_t len,
                           int64_t limit_ms, size_t max, struct msg_buffer *output, struct err *err);

#endif
