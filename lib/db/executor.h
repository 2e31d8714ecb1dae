/* Statements in a process of their own, which can be ended.
 *
 * SQLite looks at the clock only where a program jumps, and a defect in it would take the process with it. So untrusted
 * statements can run in a child: one for each thread, for all of its databases, started when first needed. One that
 * overruns its limit by more than EXECUTOR_GRACE_MS is killed, and the next statement gets a new child; so is one that
 * crashes, which fails the statement and nothing else. The child may open no socket, start no program and write no
 * file, and dies with its parent.
 *
 * The child is the program itself, executed anew under the name EXECUTOR_NAME: a process with threads must not fork
 * without executing. Requests and replies cross a socket pair as bytes (executor_wire.h). Rejected: shared memory for
 * results. The child could write to it while it is read, and the overhead of a statement is two wake-ups, not the copy
 * (bench/executor.c).
 */
#ifndef ASSAY_LIB_DB_EXECUTOR_H
#define ASSAY_LIB_DB_EXECUTOR_H

#include "lib/db/db.h"

/* argv[0] of a child: a program that opens executors hands over to executor_serve when it is called so. */
#define EXECUTOR_NAME "assay-executor"
#define EXECUTOR_SELF "/proc/self/exe"

enum { EXECUTOR_GRACE_MS = 200, EXECUTOR_HANDLES = 64 /* open at a time */ };

struct executor;

/* `program`: the file to execute, EXECUTOR_SELF for this one. Starts nothing yet. An executor belongs to one
 * thread at a time, like its handles, which must be closed before it is freed. */
struct executor *executor_new(const char *program);
void executor_free(struct executor *executor); /* NULL is fine */

/* db_open, but db_query and db_prepare_check run in the executor's child. db_scan and db_fingerprint, whose SQL is the
 * program's own, stay here. A schema without data is made in
 * both. A server's database is opened as ever: it has processes of its own. Beside db_query's
 * errors: ERR_ENGINE, the statement ended its process; ERR_UNREACHABLE (retry), no process could be started. */
enum err_code executor_open(struct executor *executor, const char *path, const struct db_limits *limits,
                            struct db **out, struct err *err);

/* Children that were started, and how many were ended for overrunning or ended by themselves. */
struct executor_stats {
    unsigned started, killed, crashed;
};
struct executor_stats executor_stats(const struct executor *executor);

/* The child's side, with argv[1]: serve until the parent is gone. Does not return. */
_Noreturn void executor_serve(const char *parent);

#endif
