/* Counts the memory that one statement allocates in SQLite, and stops statements where the engine checks nothing else.
 *
 * SQLite's hard heap limit applies to the whole process: one hostile statement would starve its neighbours. It also
 * takes one lock for each allocation, which delays busy workers. And SQLite checks no callback in two cases:
 * - while a statement is compiled: twenty CTEs that each name the previous one twice make the compiler copy for minutes
 * - where a program does not jump: thousands of columns, each of a call that returns megabytes
 *
 * So SQLite's allocator is wrapped. It counts on the thread that runs a statement. It fails once the statement exceeds
 * its share or is late, or the process exceeds its bound. Each thread adds its count to the process's total now and
 * then. SQLite's own statistics are off.
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

/* Starts counting on this thread; NULL stops it. */
void meter_use(struct meter *meter);

/* Sets the bound of SQLite's memory in this process, accurate to 64 KiB a thread. Above it metered statements get no
 * more memory; the last setting wins. If SQLite was in use before this code was loaded, sets SQLite's hard heap limit
 * instead. Thread: any. */
void meter_bound(int64_t bytes);

#endif
