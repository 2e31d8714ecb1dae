/* The MariaDB handle. It is shared by mariadb.c (statements), mariadb_link.c (the connection) and mariadb_value.c
 * (values). */
#ifndef ASSAY_LIB_DB_MARIADB_INT_H
#define ASSAY_LIB_DB_MARIADB_INT_H

#include "lib/db/db_engine.h"
#include "lib/db/libmariadb.h"
#include "lib/db/mariadb_address.h"
#include "lib/db/sink.h"

#include <stdatomic.h>

struct mariadb_killer;

struct mariadb_db {
    struct db base; /* must be the first member */
    struct mariadb_address *address;
    char *path;  /* the URL; may contain a password */
    char *place; /* description for messages: "MariaDB database 'shop' on db.example" */
    MYSQL *conn; /* NULL if closed; the next statement opens it */
    struct sink_buffer buffer;
    unsigned modes;     /* sql_mode of the server's other sessions, as flags of mariadb_gate.h */
    int64_t set_ms;     /* max_statement_time that the session has */
    uint64_t set_rows;  /* sql_select_limit that the session has */
    char print[33];     /* the last fingerprint */
    int64_t checked_ns; /* time of the last fingerprint */

    /* State of the running statement. */
    int64_t due_ns;         /* INT64_MAX if there is no limit */
    int64_t end_ns;         /* time at which the call returns, even if the server does not respond; INT64_MAX if there
                             * is none */
    bool due_is_deadline;   /* due_ns comes from base.deadline_ns, not from time_ms */
    enum err_code stopping; /* reason why the server was asked to stop the statement; ERR_OK if it was not */
    int64_t stop_ns;        /* deadline for the server to stop it */
    struct mariadb_killer *killer; /* thread that asks the server to stop it */
    atomic_bool cancelled;         /* thread: any */
};

static inline struct mariadb_db *mariadb_of(struct db *db)
{
    return (struct mariadb_db *)db;
}

/* --- mariadb_link.c ----------------------------------------------------------------------------------------------- */

/* Opens a connection unless it is open, and sets up the session. Errors: ERR_UNREACHABLE (retry), ERR_DB_MISSING,
 * ERR_DB_UNREADABLE. */
enum err_code mariadb_link_open(struct mariadb_db *self, int64_t until_ns, struct err *err);
void mariadb_link_close(struct mariadb_db *self);

/* Runs a statement. Sets *out to its result, or NULL if it has none. Read the rows with mariadb_link_row and close the
 * result with mariadb_link_end. The client does not buffer rows. */
enum err_code mariadb_link_ask(struct mariadb_db *self, const char *sql, size_t len, MYSQL_RES **out, struct err *err);
/* Reads the next row; sets *out to NULL at the end. */
enum err_code mariadb_link_row(struct mariadb_db *self, MYSQL_RES *result, MYSQL_ROW *out, struct err *err);
/* Closes a result. If rows are unread, stops the statement in the server; if that takes too long, closes the
 * connection. */
void mariadb_link_end(struct mariadb_db *self, MYSQL_RES *result);
/* Runs a statement that returns no rows. */
enum err_code mariadb_link_do(struct mariadb_db *self, const char *sql, struct err *err);
/* Prepares a statement in the server, which checks it without running it. */
enum err_code mariadb_link_prepare(struct mariadb_db *self, const char *sql, size_t len, struct err *err);

/* Waits for the thread that stops the statement, because its kill could otherwise stop the next statement. Closes the
 * connection if that takes too long. */
void mariadb_link_settle(struct mariadb_db *self);
/* Reports that a deadline, the time limit or a cancellation, as `code` says, stopped the statement. Returns `code`. */
enum err_code mariadb_link_stopped(const struct mariadb_db *self, enum err_code code, struct err *err);

/* --- mariadb_value.c ---------------------------------------------------------------------------------------------- */

/* Converts column `i` of a row. Texts point into the row. */
struct db_value mariadb_value(const MYSQL_FIELD *field, char *text, unsigned long len);

#endif
