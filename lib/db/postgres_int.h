/* The PostgreSQL handle, for postgres.c (statements), postgres_link.c (the connection) and postgres_value.c. */
#ifndef ASSAY_LIB_DB_POSTGRES_INT_H
#define ASSAY_LIB_DB_POSTGRES_INT_H

#include "lib/db/db_engine.h"
#include "lib/db/libpq.h"
#include "lib/db/sink.h"

#include <stdatomic.h>

enum { CLEAN_SECTIONS = 2 };

struct postgres_calls;
struct postgres_own;

struct postgres_db {
    struct db base;          /* first */
    char *dsn;               /* may hold a password: passed to libpq and nothing else */
    char *place;             /* description for messages: "database 'shop' on db.example" */
    PGconn *conn;            /* NULL if closed; the next statement reopens it */
    bool misses_clients;     /* the server can detect that a client has gone */
    bool positions_in_bytes; /* the server counts bytes, because its encoding has no characters */
    struct sink_buffer buffer;
    struct postgres_own *own;      /* user-defined functions of the database (postgres_check.h); NULL if not loaded */
    char *snapshot;                /* the server's snapshot of `print` */
    char print[33];                /* the last fingerprint */
    bool counts_changes;           /* `print` covers every change (db_tells_changes) */
    int64_t checked_ns, stable_ns; /* time of `print`; time from which it holds until the snapshot changes */

    /* State of the running statement. */
    const struct postgres_calls *calls; /* names by which it could call a function; NULL for Assay's own SQL */
    bool asks_names, stale;             /* which check accompanied it; whether `own` is out of date */
    int64_t due_ns;                     /* INT64_MAX if there is no limit */
    int64_t end_ns;        /* time when the thread is released, whatever the server does; INT64_MAX if there is none */
    bool due_is_deadline;  /* due_ns comes from base.deadline_ns, not from time_ms */
    uint64_t unread;       /* bytes received since the last whole row */
    unsigned owed;         /* sections sent whose end has not arrived */
    bool cleaning;         /* the last CLEAN_SECTIONS of them clean up */
    unsigned n_frame;      /* number of statements that set up its frame */
    bool refused;          /* a section before the clean-up failed; the server skips the rest of it */
    bool unclean;          /* the clean-up failed */
    atomic_bool cancelled; /* thread: any */
};

static inline struct postgres_db *postgres_of(struct db *db)
{
    return (struct postgres_db *)db;
}

/* --- postgres_link.c ---------------------------------------------------------------------------------------------- */

/* Opens a connection unless there is one. Errors: ERR_UNREACHABLE (retry), ERR_DB_MISSING, ERR_DB_UNREADABLE. */
enum err_code link_open(struct postgres_db *self, int64_t until_ns, struct err *err);
void link_close(struct postgres_db *self);

/* True if libpq can parse `dsn` and its host and port are plausible. If false, no part of `dsn` may appear in a
 * message. */
bool link_is_plain(const char *dsn);
/* Returns the text of `place`: no password, no options. */
char *link_place(const char *dsn, bool name_only);
/* db_path_has_secret, db_path_with_password */
bool link_has_secret(const char *dsn);
char *link_with_password(const char *dsn, const char *password);

/* Queue statements. They go to the server in flights of sections, by the extended protocol, each statement alone. A
 * failure skips the rest of its section. No function before link_fly waits for a result. */
enum err_code link_queue(struct postgres_db *self, const char *sql, const struct db_statement *params, struct err *err);
enum err_code link_queue_parse(struct postgres_db *self, const char *sql, struct err *err); /* parse only */
enum err_code link_end_section(struct postgres_db *self, struct err *err);
enum err_code link_fly(struct postgres_db *self, struct err *err);

/* Reads the next result of the current statement into *out, NULL at its end; free with PQclear. An error of the server
 * is in the result. A returned error means that there is no result: timeout, cancelled, too large, connection lost. */
enum err_code link_next(struct postgres_db *self, PGresult **out, struct err *err);

/* Reads to the end of the current statement and returns its first failure. */
enum err_code link_finish(struct postgres_db *self, struct err *err);

/* Reads and drops the rest of the flight. */
enum err_code link_settle(struct postgres_db *self, struct err *err);

/* True if a statement of the flight, other than the clean-up, may still run in the server. */
bool link_is_running(const struct postgres_db *self);
/* Stops the running statement and reads the rest of the flight. Closes the connection if this takes too long or passes
 * end_ns. */
void link_stop(struct postgres_db *self);

/* Sets the code and text of a failed result. */
enum err_code link_failure(const struct postgres_db *self, const PGresult *result, struct err *err);
/* Returns why a deadline or a cancellation stopped the statement. */
enum err_code link_stopped(const struct postgres_db *self, enum err_code code, struct err *err);

/* --- postgres_value.c --------------------------------------------------------------------------------------------- */

/* Converts column `i` of a row. Texts point into the result; bytea is decoded in place. */
struct db_value postgres_value(PGresult *row, int i);

#endif
