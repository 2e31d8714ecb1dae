#include "lib/db/sqlite_meter.h"

#include <sqlite3.h>
#include <stddef.h>

static sqlite3_mem_methods inner;
static _Thread_local struct meter *current;

void meter_use(struct meter *meter)
{
    current = meter;
}

static bool may_take(int64_t bytes)
{
    if (!current) return true;
    if (current->used + bytes > current->cap) return false;
    return !atomic_load_explicit(&current->late, memory_order_relaxed);
}

static void count(int64_t bytes)
{
    if (current) current->used += bytes;
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
    sqlite3_config(SQLITE_CONFIG_MALLOC, &outer);
}
