/* The PostgreSQL handle. It is shared by postgres.c (statements), postgres_link.c (the connection), postgres_check.c
 * (user-defined functions) and postgres_value.c (values). */
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
    struct db base;          /* must be the first member */
    char *dsn;               /* may contain a password, so only libpq receives it */
    char *place;             /* description for messages: "database 'shop' on db.example" */
    PGconn *conn;            /* NULL if closed; the next statement opens it */
    bool misses_clients;     /* the server supports client_connection_check_interval */
    bool positions_in_bytes; /* error positions count bytes, not characters (encoding SQL_ASCII) */
    struct sink_buffer buffer;
    struct postgres_own *own;      /* list of user-defined functions (postgres_check.h); NULL if not loaded */
    char *snapshot;                /* the server's snapshot when `print` was computed */
    char print[33];                /* the last fingerprint */
    bool counts_changes;           /* `print` covers every change (db_tells_changes) */
    int64_t checked_ns, stable_ns; /* time of `print`; time after which `print` is valid until the snapshot changes */

    /* State of the running statement. */
    const struct postgres_calls *calls; /* names of its possible calls; NULL for Assay's own SQL */
    bool asks_names, stale;             /* the check by names was sent with the statement; `own` is out of date */
    int64_t due_ns;                     /* INT64_MAX if there is no limit */
    int64_t end_ns;        /* time at which the call returns, even if the server does not respond; INT64_MAX if there is
                            * none */
    bool due_is_deadline;  /* due_ns comes from base.deadline_ns, not from time_ms */
    uint64_t unread;       /* bytes received since the last whole row */
    unsigned owed;         /* sections that were sent and whose end has not been received */
    bool cleaning;         /* the last CLEAN_SECTIONS of these sections are the clean-up */
    unsigned n_frame;      /* number of statements of its frame */
    bool refused;          /* a section before the clean-up failed, and the server skips its rest */
    bool unclean;          /* the clean-up failed */
    atomic_bool cancelled; /* thread: any */
};

static inline struct postgres_db *postgres_of(struct db *db)
{
    return (struct postgres_db *)db;
}

/* --- postgres_link.c ---------------------------------------------------------------------------------------------- */

/* Opens a connection unless it is open. Errors: ERR_UNREACHABLE (retry), ERR_DB_MISSING, ERR_DB_UNREADABLE. */
enum err_code link_open(struct postgres_db *self, int64_t until_ns, struct err *err);
void link_close(struct postgres_db *self);

/* True if libpq can parse `dsn`, and its host and port contain only valid characters. If false, no part of `dsn` may
 * appear in a message, because it may contain a password. */
bool link_is_plain(const char *dsn);
/* Returns a description of the database for messages, or its name if `name_only`. Contains no password. Free with
 * g_free. */
char *link_place(const char *dsn, bool name_only);
/* Implement db_path_has_secret and db_path_with_password. */
bool link_has_secret(const char *dsn);
char *link_with_password(const char *dsn, const char *password);

/* Queue statements for one flight. A flight consists of sections, which link_end_section ends. link_fly sends the
 * flight. Each statement is a separate message of the extended protocol. If a statement fails, the server skips the
 * rest of its section. No function here waits for a result. */
enum err_code link_queue(struct postgres_db *self, const char *sql, const struct db_statement *params, struct err *err);
enum err_code link_queue_parse(struct postgres_db *self, const char *sql, struct err *err); /* only prepares it */
enum err_code link_end_section(struct postgres_db *self, struct err *err);
enum err_code link_fly(struct postgres_db *self, struct err *err);

/* Reads the next result of the current statement into *out, or NULL at its end. Free with PQclear. An error of the
 * server is a result too. Returns an error if there is no result: timeout, cancellation, row too large, or connection
 * lost. */
enum err_code link_next(struct postgres_db *self, PGresult **out, struct err *err);

/* Reads and drops the results of the current statement. Returns its first error. */
enum err_code link_finish(struct postgres_db *self, struct err *err);

/* Reads and drops all remaining results of the flight. */
enum err_code link_settle(struct postgres_db *self, struct err *err);

/* True if a statement of the flight may still run in the server. The clean-up does not count. */
bool link_is_running(const struct postgres_db *self);
/* Stops the running statement and reads the rest of the flight. Closes the connection if this takes too long or end_ns
 * passes. */
void link_stop(struct postgres_db *self);

/* Fills `err` from a failed result. Returns the code. */
enum err_code link_failure(const struct postgres_db *self, const PGresult *result, struct err *err);
/* Reports that a deadline, the time limit or a cancellation, as `code` says, stopped the statement. Returns `code`. */
enum err_code link_stopped(const struct postgres_db *self, enum err_code code, struct err *err);

/* --- postgres_value.c --------------------------------------------------------------------------------------------- */

/* Converts column `i` of a row. Texts point into the result. Decodes bytea in place. */
struct db_value postgres_value(PGresult *row, int i);

#endif
