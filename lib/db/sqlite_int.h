/* The SQLite handle, shared by sqlite.c (statements), sqlite_open.c (files), sqlite_limits.c and sqlite_probes.c. */
#ifndef ASSAY_LIB_DB_SQLITE_INT_H
#define ASSAY_LIB_DB_SQLITE_INT_H

#include "lib/db/db_engine.h"
#include "lib/db/sink.h"
#include "lib/db/sqlite_guard.h"
#include "lib/db/sqlite_meter.h"
#include "lib/db/watchdog.h"

#include <limits.h>
#include <sqlite3.h>
#include <stdatomic.h>

enum { PROBES = 24 };

/* A cached prepared statement. Its text and its number of parameters are fixed; their values change. */
struct probe {
    char *sql; /* owned; NULL if the slot is free */
    size_t len;
    sqlite3_stmt *stmt;
    bool varies;   /* the guard's value when it was prepared */
    uint64_t used; /* tick of the last use */
};

/* Metadata that detects a changed file without reading it. */
struct file_face {
    uint64_t device, inode;
    int64_t size, mtime_s, mtime_ns;
};

struct sqlite_db {
    struct db base; /* first */
    char *path;     /* NULL if there is no file (definitions.c) */
    sqlite3 *conn;
    struct guard guard;
    struct watch watch;
    struct sink_buffer buffer;
    struct probe probes[PROBES];
    uint64_t tick;
    bool immutable;
    struct file_face file; /* state when `conn` opened the file */
    int64_t checked_ns;    /* time of the last check of that state */

    /* State of the running statement. */
    int64_t time_ms;   /* bound on its time */
    int64_t max_steps; /* bound on its steps */
    int64_t due_ns;
    bool due_is_deadline;  /* due_ns comes from base.deadline_ns, not from time_ms */
    int64_t steps;         /* since its start, counted by the progress callback */
    enum err_code stopped; /* reason why the progress callback stopped it */
    struct meter meter;
    struct work work;      /* bytes that replacement functions process between two calls of the progress callback */
    atomic_bool cancelled; /* thread: any */
};

static inline struct sqlite_db *sqlite_of(struct db *db)
{
    return (struct sqlite_db *)db;
}

/* --- sqlite.c --- */

/* sqlite_init initialises a zeroed handle without a connection. sqlite_watch starts the watchdog once there is a
 * connection; it returns false if no thread can be started. */
void sqlite_init(struct sqlite_db *self, const struct db_engine *engine, const struct db_limits *limits);
bool sqlite_watch(struct sqlite_db *self);

/* --- sqlite_open.c --- */

/* Opens self->path and checks that it is a database with tables. On failure nothing remains open. */
enum err_code sqlite_connect(struct sqlite_db *self, struct err *err);
void sqlite_disconnect(struct sqlite_db *self);

/* Reopens the file if it has changed since it was opened: replaced, rewritten, or no longer readable as immutable.
 * Checks at most every 100 ms. */
enum err_code sqlite_reconnect_if_changed(struct sqlite_db *self, int64_t now_ns, struct err *err);
enum err_code sqlite_fingerprint(struct db *db, char out[33], struct err *err);

/* --- sqlite_limits.c --- */

static inline int sqlite_as_int(uint64_t value)
{
    return value > INT_MAX ? INT_MAX : (int)value;
}

/* Applies self->base.limits to the connection. */
void sqlite_apply_limits(struct sqlite_db *self);
/* Sets the longest value of this statement, unless the process can be killed. Holds until SQLITE_LIMIT_LENGTH is set
 * again. */
void sqlite_bound_values(const struct sqlite_db *self, sqlite3_stmt *stmt);

/* --- sqlite_probes.c --- */

/* Returns the cached statement of this text, or NULL. */
sqlite3_stmt *sqlite_find_probe(struct sqlite_db *self, const char *sql, size_t len);
/* Caches `stmt` in place of the least recently used one. Takes ownership of `stmt`; copies `sql`. */
void sqlite_keep_probe(struct sqlite_db *self, const char *sql, size_t len, sqlite3_stmt *stmt);
void sqlite_forget_probes(struct sqlite_db *self);

#endif
