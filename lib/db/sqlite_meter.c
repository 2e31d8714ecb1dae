#include "lib/db/sqlite_meter.h"

#include "lib/db/sqlite_blocks.h"

#include <sqlite3.h>
#include <stddef.h>

enum { TELL_EVERY = 64 << 10 }; /* bytes that a thread may allocate or free before it updates all_used */

static bool installed;
static atomic_llong all_used, all_cap = INT64_MAX; /* of the process; all_used lacks the `untold` of each thread */
static _Thread_local struct meter *current;
static _Thread_local int64_t untold; /* bytes of this thread that are not yet added to all_used */

static void tell(void)
{
    atomic_fetch_add_explicit(&all_used, untold, memory_order_relaxed);
    untold = 0;
}

void meter_use(struct meter *meter)
{
    if (!meter && untold) tell();
    current = meter;
}

void meter_bound(int64_t bytes)
{
    if (installed)
        atomic_store_explicit(&all_cap, bytes, memory_order_relaxed);
    else
        sqlite3_hard_heap_limit64(bytes);
}

static bool may_take(int64_t bytes)
{
    if (!current) return true;
    if (current->used + bytes > current->cap) return false;
    int64_t all = atomic_load_explicit(&all_used, memory_order_relaxed) + untold + bytes;
    if (bytes > 0 && all > atomic_load_explicit(&all_cap, memory_order_relaxed)) return false;
    return !atomic_load_explicit(&current->late, memory_order_relaxed);
}

static void count(int64_t bytes)
{
    if (current) current->used += bytes;
    untold += bytes;
    if (untold > TELL_EVERY || untold < -TELL_EVERY) tell();
}

static void *meter_malloc(int size)
{
    void *p = may_take(size) ? block_take(size) : NULL;
    if (p) count(block_size(p));
    return p;
}

static void meter_free(void *p)
{
    if (p) count(-block_size(p));
    block_give(p);
}

static void *meter_realloc(void *p, int size)
{
    int before = block_size(p);
    void *moved = may_take((int64_t)size - before) ? block_resize(p, size) : NULL;
    if (moved) count((int64_t)block_size(moved) - before);
    return moved;
}

static int meter_size(void *p)
{
    return p ? block_size(p) : 0;
}

static int meter_init(void *unused)
{
    (void)unused;
    return SQLITE_OK;
}

static void meter_shutdown(void *unused)
{
    (void)unused;
}

/* Installs the allocator. Runs before main, because SQLite accepts an allocator only before its first use. Also turns
 * off the allocation of twenty pages at once, because most page caches belong to temporary tables of one or two pages.
 */
__attribute__((constructor)) static void meter_install(void)
{
    static const sqlite3_mem_methods methods = {meter_malloc,   meter_free, meter_realloc,  meter_size,
                                                block_size_for, meter_init, meter_shutdown, NULL};
    installed = sqlite3_config(SQLITE_CONFIG_MALLOC, &methods) == SQLITE_OK;
    if (!installed) return;
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_config(SQLITE_CONFIG_PAGECACHE, NULL, 0, 0);
}
