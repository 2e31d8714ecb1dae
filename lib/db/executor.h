/* Runs untrusted statements in a separate process, which can be killed.
 *
 * SQLite calls the progress callback only at jumps of the compiled statement, so the clock is not checked between
 * jumps. A crash in SQLite would end the whole process. So untrusted statements can run in a child process. Each thread
 * has one child for all of its databases, which starts when it is first needed. If a statement exceeds its time limit
 * by more than EXECUTOR_GRACE_MS, the child is killed. If the child crashes, only its statement fails. In both cases
 * the next statement starts a new child. The child cannot open sockets, start programs or write files, and it is killed
 * when its parent ends.
 *
 * The child is the same program, executed again with EXECUTOR_NAME as argv[0], because a process with threads must not
 * fork without execve. Requests and replies are sent as bytes over a socket pair (executor_wire.h).
 *
 * Rejected: shared memory for results. The child could change the memory while the parent reads it. It would not be
 * faster either, because the main cost of a statement is two context switches and not the copy (bench/executor.c).
 */
#ifndef ASSAY_LIB_DB_EXECUTOR_H
#define ASSAY_LIB_DB_EXECUTOR_H

#include "lib/db/db.h"

/* argv[0] of a child. A program that uses executors must call executor_serve if its argv[0] is this name. */
#define EXECUTOR_NAME "assay-executor"
#define EXECUTOR_SELF "/proc/self/exe"

enum { EXECUTOR_GRACE_MS = 200, EXECUTOR_HANDLES = 64 /* maximum number of open handles in a child */ };

struct executor;

/* Creates an executor without starting a process. `program` is the file to execute; EXECUTOR_SELF is the running
 * program. An executor and its handles belong to one thread at a time. Close the handles before executor_free. */
struct executor *executor_new(const char *program);
void executor_free(struct executor *executor); /* may be NULL */

/* Opens a database like db_open. db_query and db_prepare_check then run in the executor's child. db_scan and
 * db_fingerprint run only the program's own SQL, so they stay in this process. A schema without data is built in both
 * processes. For a server it only calls db_open, because the server has processes of its own. Statements have two
 * further errors: ERR_ENGINE if the child crashed, ERR_UNREACHABLE (retry) if no child could be started. */
enum err_code executor_open(struct executor *executor, const char *path, const struct db_limits *limits,
                            struct db **out, struct err *err);

/* Numbers of children that were started, that were killed because a statement exceeded its time, and that crashed. */
struct executor_stats {
    unsigned started, killed, crashed;
};
struct executor_stats executor_stats(const struct executor *executor);

/* Runs the child: serves requests until the parent ends. `parent` is argv[1]. Does not return. */
_Noreturn void executor_serve(const char *parent);

#endif
