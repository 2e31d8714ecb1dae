#include "lib/db/sqlite_meter.h"

#include <sqlite3.h>
#include <stddef.h>

enum { TELL_EVERY = 64 << 10 }; /* bytes that a thread takes or gives before it tells the others */

static sqlite3_mem_methods inner;
static bool installed;
static atomic_llong all_used, all_cap = INT64_MAX; /* of the process */
static _Thread_local struct meter *current;
static _Thread_local int64_t untold; /* of this thread's, not in all_used yet */

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
    void *p = may_take(size) ? inner.xMalloc(size) : NULL;
    if (p) count(inner.xSize(p));
    return p;
}

static void meter_free(void *p)
{
    if (p) count(-inner.xSize(p));
    inner.xFree(p);
}

static void *meter_realloc(void *p, int size)
{
    int before = inner.xSize(p);
    void *moved = may_take((int64_t)size - before) ? inner.xRealloc(p, size) : NULL;
    if (moved) count((int64_t)inner.xSize(moved) - before);
    return moved;
}

static int meter_size(void *p)
{
    return inner.xSize(p);
}
static int meter_roundup(int size)
{
    return inner.xRoundup(size);
}
static int meter_init(void *data)
{
    return inner.xInit(data);
}
static void meter_shutdown(void *data)
{
    inner.xShutdown(data);
}

/* Before main, since SQLite takes an allocator only before its first use. */
__attribute__((constructor)) static void meter_install(void)
{
    static sqlite3_mem_methods outer = {meter_malloc,  meter_free, meter_realloc,  meter_size,
                                        meter_roundup, meter_init, meter_shutdown, NULL};
    if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &inner) != SQLITE_OK) return;
    outer.pAppData = inner.pAppData;
    installed = sqlite3_config(SQLITE_CONFIG_MALLOC, &outer) == SQLITE_OK;
    if (installed) sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}
