/* The SQLite handle, for sqlite.c (statements) and what it stands on: sqlite_open.c (files), sqlite_limits.c and
 * sqlite_probes.c. */
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

/* A prepared statement that is kept: its text and parameters' number do not change, its values do. */
struct probe {
    char *sql; /* owned; NULL: free slot */
    size_t len;
    sqlite3_stmt *stmt;
    bool varies;   /* as the guard found when it was prepared */
    uint64_t used; /* tick of the last use */
};

/* What tells one state of a file from another without reading it. */
struct file_face {
    uint64_t device, inode;
    int64_t size, mtime_s, mtime_ns;
};

struct sqlite_db {
    struct db base; /* first */
    char *path;     /* NULL: there is no file (definitions.c) */
    sqlite3 *conn;
    struct guard guard;
    struct watch watch;
    struct sink_buffer buffer;
    struct probe probes[PROBES];
    uint64_t tick;
    bool immutable;
    struct file_face file; /* as it was when `conn` opened it */
    int64_t checked_ns;    /* when that was last checked */

    /* The statement that runs now. */
    int64_t time_ms;   /* what it may take by the clock */
    int64_t max_steps; /* and in steps */
    int64_t due_ns;
    bool due_is_deadline;  /* due_ns comes from base.deadline_ns, not from time_ms */
    int64_t steps;         /* since its start, as the progress callback counts them */
    enum err_code stopped; /* why the progress callback said stop */
    struct meter meter;
    struct work work;      /* what own functions do between two calls of the progress callback */
    atomic_bool cancelled; /* thread: any */
};

static inline struct sqlite_db *sqlite_of(struct db *db)
{
    return (struct sqlite_db *)db;
}

/* --- sqlite.c --- */

/* A handle without a connection, zeroed before; and its statements' end by the clock, once it has one. False: no thread
 * can be had. */
void sqlite_init(struct sqlite_db *self, const struct db_engine *engine, const struct db_limits *limits);
bool sqlite_watch(struct sqlite_db *self);

/* --- sqlite_open.c --- */

/* Open self->path and check that it is a database with tables. On failure nothing is left open. */
enum err_code sqlite_connect(struct sqlite_db *self, struct err *err);
void sqlite_disconnect(struct sqlite_db *self);

/* Reopen if the file has changed since it was opened: replaced, rewritten, or no longer to be read as immutable. Looks
 * at most every 100 ms. */
enum err_code sqlite_reconnect_if_changed(struct sqlite_db *self, int64_t now_ns, struct err *err);
enum err_code sqlite_fingerprint(struct db *db, char out[33], struct err *err);

/* --- sqlite_limits.c --- */

static inline int sqlite_as_int(uint64_t value)
{
    return value > INT_MAX ? INT_MAX : (int)value;
}

/* Set what self->base.limits says on the connection. */
void sqlite_apply_limits(struct sqlite_db *self);
/* Set the longest value that this statement may have in hand, unless another process runs it. It holds until
 * SQLITE_LIMIT_LENGTH is set again. */
void sqlite_bound_values(const struct sqlite_db *self, sqlite3_stmt *stmt);

/* --- sqlite_probes.c --- */

/* The prepared statement of this text; NULL: none is kept. */
sqlite3_stmt *sqlite_find_probe(struct sqlite_db *self, const char *sql, size_t len);
/* Keep `stmt` in place of the one that was not used for longest; it is the handle's from here on. `sql` is copied. */
void sqlite_keep_probe(struct sqlite_db *self, const char *sql, size_t len, sqlite3_stmt *stmt);
void sqlite_forget_probes(struct sqlite_db *self);

#endif
