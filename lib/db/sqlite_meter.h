/* Limits the memory that a statement allocates in SQLite. Also stops late statements where SQLite calls no callback.
 *
 * SQLite's hard heap limit applies to the whole process, so one hostile statement could make all others fail. It also
 * takes a lock for each allocation, which slows workers down. SQLite calls no callback in two cases:
 * - while it compiles a statement: twenty CTEs that each name the previous one twice take minutes
 * - while the compiled statement does not jump: for example in thousands of columns that each return megabytes
 *
 * So this module replaces SQLite's allocator. It counts the bytes of the statement that runs on the calling thread. An
 * allocation fails if the statement exceeds its share or its time, or if the process exceeds its limit. Each thread
 * adds its count to the total of the process at intervals. SQLite's own statistics are off.
 */
#ifndef ASSAY_LIB_DB_SQLITE_METER_H
#define ASSAY_LIB_DB_SQLITE_METER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct meter {
    int64_t used, cap; /* bytes of this statement; their limit */
    atomic_bool late;  /* the statement exceeded its time; set by the watchdog's thread */
};

/* Counts the following allocations of this thread in `meter`. NULL stops counting. */
void meter_use(struct meter *meter);

/* Sets the limit of SQLite's memory in this process, replacing an earlier one. Above it allocations of metered
 * statements fail. It is accurate to 64 KiB a thread. If SQLite was in use before this code was loaded, sets SQLite's
 * hard heap limit instead. Thread: any. */
void meter_bound(int64_t bytes);

#endif
