/* The PostgreSQL handle, for postgres.c (statements), postgres_link.c (the connection) and postgres_value.c. */
#ifndef ASSAY_LIB_DB_POSTGRES_INT_H
#define ASSAY_LIB_DB_POSTGRES_INT_H

#include "lib/db/db_engine.h"
#include "lib/db/sink.h"

#include <libpq-fe.h>
#include <stdatomic.h>

struct postgres_db {
    struct db base;          /* first */
    char *dsn;               /* may hold a password: goes to libpq and nowhere else */
    char *place;             /* what may be said of it: "database 'shop' on db.example" */
    PGconn *conn;            /* NULL: lost, to be made again by the next statement */
    bool misses_clients;     /* the server notices when we are gone */
    bool positions_in_bytes; /* the server counts bytes, for its encoding has no characters */
    struct sink_buffer buffer;
    char *snapshot;                /* the server's, when `print` was made */
    char print[33];                /* the last fingerprint */
    int64_t looked_ns, settled_ns; /* when it was made; from when on it holds until the snapshot changes */

    /* The statement that runs now. */
    int64_t due_ns;        /* INT64_MAX: none */
    bool due_is_deadline;  /* due_ns comes from base.deadline_ns, not from time_ms */
    uint64_t unread;       /* bytes that have come since the last whole row */
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

/* Give a statement to the server: with `n_params` 0 and `simple` as a plain text that may hold several (the program's
 * own only), else by the extended protocol. */
enum err_code link_send(struct postgres_db *self, const char *sql, bool simple, const struct db_statement *params,
                        struct err *err);
enum err_code link_send_parse(struct postgres_db *self, const char *sql, struct err *err);

/* The next result of what was sent, NULL at its end; PQclear. What the server says is in the result; a code means that
 * there is none: time, called off, too large, connection lost. */
enum err_code link_next(struct postgres_db *self, PGresult **out, struct err *err);

/* Read to the end of what was sent; the first failure counts. */
enum err_code link_finish(struct postgres_db *self, struct err *err);

/* Stop what runs and have the connection ready again, or closed if that takes too long. */
void link_stop(struct postgres_db *self);

/* Code and text of a result that is a failure. */
enum err_code link_failure(const struct postgres_db *self, const PGresult *result, struct err *err);
/* Why our own clock or somebody else stopped the statement. */
enum err_code link_stopped(const struct postgres_db *self, enum err_code code, struct err *err);

/* --- postgres_value.c --------------------------------------------------------------------------------------------- */

/* Column `i` of a row; texts stay the result's, bytea is decoded in its place. */
struct db_value postgres_value(PGresult *row, int i);

#endif
