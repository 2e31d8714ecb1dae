/* What one statement takes of SQLite's memory, and a way to stop it where the engine asks nobody.
 *
 * SQLite's hard heap limit is the whole process's: one hostile statement would starve its neighbours. It also takes one lock
 * for whatever is allocated, which two busy workers wait for. And nothing is
 * asked while a statement is compiled: twenty CTEs that each name the one before twice make the compiler copy for
 * minutes; nor where a program does not jump: thousands of columns, each of a call that makes megabytes. So SQLite's
 * allocator is wrapped: it counts, on the thread that runs a statement, and fails once the statement is over its share,
 * is late, or the process over its bound, of which each thread tells the others now and then. SQLite's own statistics are off.
 */
#ifndef ASSAY_LIB_DB_SQLITE_METER_H
#define ASSAY_LIB_DB_SQLITE_METER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct meter {
    int64_t used, cap; /* bytes, of this statement */
    atomic_bool late;  /* set by the watchdog's thread */
};

/* Count on this thread from now on; NULL: no more. */
void meter_use(struct meter *meter);

/* SQLite's memory in this process, give or take 64 KiB a thread, above which metered statements get no more; the last setting wins.
 * Where SQLite was in use before this was loaded, its hard heap limit. Thread: any. */
void meter_bound(int64_t bytes);

#endif
