/* Caches the PROBES most recently used prepared statements that have parameters. */
#include "lib/db/sqlite_int.h"

#include <glib.h>
#include <string.h>

static void probe_drop(struct probe *probe)
{
    sqlite3_finalize(probe->stmt);
    g_free(probe->sql);
    *probe = (struct probe){0};
}

void sqlite_forget_probes(struct sqlite_db *self)
{
    for (size_t i = 0; i < PROBES; i++) probe_drop(&self->probes[i]);
}

static struct probe *probe_find(struct sqlite_db *self, const char *sql, size_t len)
{
    for (size_t i = 0; i < PROBES; i++) {
        struct probe *probe = &self->probes[i];
        if (probe->sql && probe->len == len && memcmp(probe->sql, sql, len) == 0) return probe;
    }
    return NULL;
}

static struct probe *probe_oldest(struct sqlite_db *self)
{
    struct probe *oldest = &self->probes[0];
    for (size_t i = 1; i < PROBES; i++)
        if (self->probes[i].used < oldest->used) oldest = &self->probes[i];
    return oldest;
}

sqlite3_stmt *sqlite_find_probe(struct sqlite_db *self, const char *sql, size_t len)
{
    struct probe *probe = probe_find(self, sql, len);
    if (!probe) return NULL;
    probe->used = ++self->tick;
    self->guard.varies = probe->varies;
    return probe->stmt;
}

void sqlite_keep_probe(struct sqlite_db *self, const char *sql, size_t len, sqlite3_stmt *stmt)
{
    struct probe *probe = probe_oldest(self);
    probe_drop(probe);
    *probe = (struct probe){g_strndup(sql, len), len, stmt, self->guard.varies, ++self->tick};
}
