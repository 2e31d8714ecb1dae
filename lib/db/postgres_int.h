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
    char *dsn;               /* may hold a password: goes to libpq and nowhere else */
    char *place;             /* what may be said of it: "database 'shop' on db.example" */
    PGconn *conn;            /* NULL: lost, to be made again by the next statement */
    bool misses_clients;     /* the server notices when we are gone */
    bool positions_in_bytes; /* the server counts bytes, for its encoding has no characters */
    struct sink_buffer buffer;
    struct postgres_own *own;      /* what the database has of its own; NULL: nothing known. postgres_check.h */
    char *snapshot;                /* the server's, when `print` was made */
    char print[33];                /* the last fingerprint */
    bool counts_changes;           /* as of then, all of them: db_tells_changes */
    int64_t checked_ns, stable_ns; /* when it was made; from when on it holds until the snapshot changes */

    /* The statement that runs now. */
    const struct postgres_calls *calls; /* by what names it could call something; NULL: it is Assay's own */
    bool asks_names, stale;             /* which question went with it; `own` is not true any more */
    int64_t due_ns;                     /* INT64_MAX: none */
    int64_t end_ns;                     /* the thread is given back then, whatever the server does; INT64_MAX: none */
    bool due_is_deadline;               /* due_ns comes from base.deadline_ns, not from time_ms */
    uint64_t unread;                    /* bytes that have come since the last whole row */
    unsigned owed;                      /* sections sent whose end has not come */
    bool cleaning;                      /* the last CLEAN_SECTIONS of them clean up */
    unsigned n_frame;                   /* statements that set up its frame */
    bool refused;          /* the server said no to something of a section before those, and skips the rest of it */
    bool unclean;          /* it said no to the cleaning up */
    atomic_bool cancelled; /* thread: any */
};

static inline struct postgres_db *postgres_of(struct db *db)
{
    return (struct postgres_db *)db;
}

/* --- postgres_link.c ---------------------------------------------------------------------------------------------- */

/* Connect unless connected. ERR_UNREACHABLE (retry), ERR_DB_MISSING, ERR_DB_UNREADABLE. */
enum err_code link_open(struct postgres_db *self, int64_t until_ns, struct err *err);
void link_close(struct postgres_db *self);

/* Does libpq read it, with a host and port that look like such? Else nothing of it may be repeated. */
bool link_is_plain(const char *dsn);
/* Text for place: no password, no options. */
char *link_place(const char *dsn, bool name_only);
/* db_path_has_secret, db_path_with_password */
bool link_has_secret(const char *dsn);
char *link_with_password(const char *dsn, const char *password);

/* Statements go to the server in flights of sections, by the extended protocol, each statement alone. A failure skips
 * the rest of its section; nothing waits for an answer before link_fly. */
enum err_code link_queue(struct postgres_db *self, const char *sql, const struct db_statement *params, struct err *err);
enum err_code link_queue_parse(struct postgres_db *self, const char *sql, struct err *err); /* parse only */
enum err_code link_end_section(struct postgres_db *self, struct err *err);
enum err_code link_fly(struct postgres_db *self, struct err *err);

/* The next result of the statement whose turn it is, NULL at its end; PQclear. What the server says is in the result; a
 * code means that there is none: time, called off, too large, connection lost. */
enum err_code link_next(struct postgres_db *self, PGresult **out, struct err *err);

/* Read to the end of that statement; the first failure counts. */
enum err_code link_finish(struct postgres_db *self, struct err *err);

/* Read what is left of the flight, and drop it. */
enum err_code link_settle(struct postgres_db *self, struct err *err);

/* May a statement that we sent still run in the server, not counting the cleaning up? */
bool link_is_running(const struct postgres_db *self);
/* Stop that and read what is left of the flight; or close the connection if this takes too long, or past end_ns. */
void link_stop(struct postgres_db *self);

/* Code and text of a result that is a failure. */
enum err_code link_failure(const struct postgres_db *self, const PGresult *result, struct err *err);
/* Why our own clock or somebody else stopped the statement. */
enum err_code link_stopped(const struct postgres_db *self, enum err_code code, struct err *err);

/* --- postgres_value.c --------------------------------------------------------------------------------------------- */

/* Column `i` of a row; texts stay the result's, bytea is decoded in its place. */
struct db_value postgres_value(PGresult *row, int i);

#endif
