/* Isolation of tasks that may kill their process.
 *
 * A task that was delivered to two processes that then died is a suspect. So are all other tasks that these processes
 * had in flight. A suspect is therefore judged in an isolated process. If that process dies by a signal, the task is
 * the cause: it is answered `rejected` and dead-lettered. Otherwise its result is valid. No innocent task is rejected.
 * A poison task costs the family two workers, and not every worker that receives it until its deadline.
 *
 * The program that runs the worker defines how to start such a process (cli/commands/worker.c). The process reads a
 * task from its standard input and writes the result to its standard output.
 */
#ifndef ASSAY_WORKER_ISOLATED_H
#define ASSAY_WORKER_ISOLATED_H

#include "worker/worker.h"

/* Judges one encoded task on the calling thread, without a bus, in the isolated process. `left_ms` is the time until
 * its deadline; 0 means no deadline. Puts the encoded result into *result. An error of class reject during judging
 * becomes a result with unavailable signals, and the call returns ERR_OK. Any other error is returned. */
enum err_code isolated_evaluate(const struct worker_config *config, const void *task, size_t len, int64_t left_ms,
                                struct msg_buffer *result, struct err *err);

/* Runs a program with `input` on its standard input, for at most `limit_ms`, and stores up to `max` bytes of its
 * output. `argv` ends with NULL, and `variable` ("NAME=VALUE") is added to the environment.
 *
 * Returns ERR_OK if the program exited with 0. Returns ERR_REJECTED if it died by a signal that this process did not
 * send, and ERR_DEADLINE if this process killed it after limit_ms. Returns ERR_UNREACHABLE (retry) if it could not be
 * started or exited with another status; in that case the task is not at fault. Thread: any.
 */
enum err_code isolated_run(const char *const *argv, const char *variable, const void *input, size_t len,
                           int64_t limit_ms, size_t max, struct msg_buffer *output, struct err *err);

#endif
