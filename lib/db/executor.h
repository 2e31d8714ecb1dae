/* Runs statements in a separate process, which can be killed.
 *
 * SQLite checks the clock only where a program jumps, and a crash in it would end the whole process. So untrusted
 * statements can run in a child: one for each thread, for all of its databases, started when first needed. A statement
 * that overruns its limit by more than EXECUTOR_GRACE_MS gets its child killed. A child that crashes fails its
 * statement and nothing else. In both cases the next statement gets a new child. The child may open no socket, start no
 * program and write no file, and it dies with its parent.
 *
 * The child is the program itself, executed again under the name EXECUTOR_NAME: a process with threads must not fork
 * without executing. Requests and replies cross a socket pair as bytes (executor_wire.h).
 *
 * Rejected: shared memory for results. The child could write to it while the parent reads, and the overhead of a
 * statement is two wake-ups, not the copy (bench/executor.c).
 */
#ifndef ASSAY_LIB_DB_EXECUTOR_H
#define ASSAY_LIB_DB_EXECUTOR_H

#include "lib/db/db.h"

/* argv[0] of a child. A program that opens executors must call executor_serve when it is started under this name. */
#define EXECUTOR_NAME "assay-executor"
#define EXECUTOR_SELF "/proc/self/exe"

enum { EXECUTOR_GRACE_MS = 200, EXECUTOR_HANDLES = 64 /* handles open in a child at a time */ };

struct executor;

/* Creates an executor; starts no process yet. `program` is the file to execute, EXECUTOR_SELF for the current one. An
 * executor belongs to one thread at a time, as do its handles. Close the handles before executor_free. */
struct executor *executor_new(const char *program);
void executor_free(struct executor *executor); /* NULL is fine */

/* Opens a database as db_open does, but runs db_query and db_prepare_check in the executor's child. db_scan and
 * db_fingerprint run the program's own SQL and stay in this process. A schema without data is built in both processes.
 * A server's database is opened by db_open alone, because the server has processes of its own. Further errors:
 * ERR_ENGINE if the statement ended its process, ERR_UNREACHABLE (retry) if no process could be started. */
enum err_code executor_open(struct executor *executor, const char *path, const struct db_limits *limits,
                            struct db **out, struct err *err);

/* Numbers of children that were started, that were killed for an overrun, and that crashed. */
struct executor_stats {
    unsigned started, killed, crashed;
};
struct executor_stats executor_stats(const struct executor *executor);

/* Runs the child's side until the parent ends; `parent` is argv[1]. Does not return. */
_Noreturn void executor_serve(const char *parent);

#endif
