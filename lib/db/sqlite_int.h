/* The SQLite handle. It is shared by sqlite.c (statements), sqlite_open.c (files), sqlite_limits.c, sqlite_probes.c and
 * definitions.c (schemas without data). */
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

/* A cached prepared statement. Each use binds new values to its parameters. */
struct probe {
    char *sql; /* owned; NULL if the slot is free */
    size_t len;
    sqlite3_stmt *stmt;
    bool varies;   /* guard.varies of the statement */
    uint64_t used; /* value of `tick` at the last use */
};

/* File metadata, compared to detect that a file has changed. */
struct file_face {
    uint64_t device, inode;
    int64_t size, mtime_s, mtime_ns;
};

struct sqlite_db {
    struct db base; /* must be the first member */
    char *path;     /* NULL for a schema without data (definitions.c) */
    sqlite3 *conn;
    struct guard guard;
    struct watch watch;
    struct sink_buffer buffer;
    struct probe probes[PROBES];
    uint64_t tick;
    bool immutable;
    struct file_face file; /* metadata when `conn` opened the file */
    int64_t checked_ns;    /* time of the last comparison with `file` */

    /* State of the running statement. */
    int64_t time_ms;   /* its time limit */
    int64_t max_steps; /* its limit on steps */
    int64_t due_ns;
    bool due_is_deadline;  /* due_ns comes from base.deadline_ns, not from time_ms */
    int64_t steps;         /* steps since its start, as counted by the callbacks */
    enum err_code stopped; /* reason why a callback stopped it */
    struct meter meter;
    struct work work;      /* work of replacement functions */
    atomic_bool cancelled; /* thread: any */
};

static inline struct sqlite_db *sqlite_of(struct db *db)
{
    return (struct sqlite_db *)db;
}

/* --- sqlite.c --- */

/* sqlite_init initialises a zeroed handle without a connection. sqlite_watch adds the handle to the watchdog; call it
 * after connecting. It returns false if the watchdog's thread cannot be started. */
void sqlite_init(struct sqlite_db *self, const struct db_engine *engine, const struct db_limits *limits);
bool sqlite_watch(struct sqlite_db *self);

/* --- sqlite_open.c --- */

/* Opens self->path and checks that it is a database with tables. On failure closes the connection. */
enum err_code sqlite_connect(struct sqlite_db *self, struct err *err);
void sqlite_disconnect(struct sqlite_db *self);

/* Reopens the file if it was replaced or rewritten since it was opened, or if it must no longer be read as immutable.
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
/* Lowers the limit on the length of values according to the size of the statement, unless limits.killable is set. The
 * caller must set SQLITE_LIMIT_LENGTH again after the statement. */
void sqlite_bound_values(const struct sqlite_db *self, sqlite3_stmt *stmt);

/* --- sqlite_probes.c --- */

/* Returns the cached statement with this text, or NULL. */
sqlite3_stmt *sqlite_find_probe(struct sqlite_db *self, const char *sql, size_t len);
/* Caches `stmt`, and evicts the least recently used statement. Takes ownership of `stmt`; copies `sql`. */
void sqlite_keep_probe(struct sqlite_db *self, const char *sql, size_t len, sqlite3_stmt *stmt);
void sqlite_forget_probes(struct sqlite_db *self);

#endif
