/* The MariaDB handle, for mariadb.c (statements), mariadb_address.c (the URL), mariadb_link.c (the connection) and
 * mariadb_value.c. */
#ifndef ASSAY_LIB_DB_MARIADB_INT_H
#define ASSAY_LIB_DB_MARIADB_INT_H

#include "lib/db/db_engine.h"
#include "lib/db/libmariadb.h"
#include "lib/db/mariadb_address.h"
#include "lib/db/sink.h"

#include <stdatomic.h>

struct mariadb_killer;

struct mariadb_db {
    struct db base; /* first */
    struct mariadb_address *address;
    char *path;  /* the URL; may hold a password */
    char *place; /* what may be said of it: "MariaDB database 'shop' on db.example" */
    MYSQL *conn; /* NULL: lost, to be made again by the next statement */
    struct sink_buffer buffer;
    unsigned modes;     /* how other sessions of the server read: mariadb_gate.h */
    int64_t set_ms;     /* of the session: max_statement_time */
    uint64_t set_rows;  /* sql_select_limit */
    char print[33];     /* the last fingerprint */
    int64_t checked_ns; /* when it was made */

    /* The statement that runs now. */
    int64_t due_ns;                /* INT64_MAX: none */
    int64_t end_ns;                /* the thread is given back then, whatever the server does; INT64_MAX: none */
    bool due_is_deadline;          /* due_ns comes from base.deadline_ns, not from time_ms */
    enum err_code stopping;        /* why the server was asked to end it; ERR_OK: it was not */
    int64_t stop_ns;               /* until when that is waited for */
    struct mariadb_killer *killer; /* who asks */
    atomic_bool cancelled;         /* thread: any */
};

static inline struct mariadb_db *mariadb_of(struct db *db)
{
    return (struct mariadb_db *)db;
}

/* --- mariadb_link.c ----------------------------------------------------------------------------------------------- */

/* Connect unless connected, and make the session what mariadb.c relies on. ERR_UNREACHABLE (retry), ERR_DB_MISSING,
 * ERR_DB_UNREADABLE. */
enum err_code mariadb_link_open(struct mariadb_db *self, int64_t until_ns, struct err *err);
void mariadb_link_close(struct mariadb_db *self);

/* Run a statement. *out: its rows, to be read by mariadb_link_row and let go by mariadb_link_end; NULL: it has none.
 * Nothing is held back in the client. */
enum err_code mariadb_link_ask(struct mariadb_db *self, const char *sql, size_t len, MYSQL_RES **out, struct err *err);
/* The next row, NULL at the end. */
enum err_code mariadb_link_row(struct mariadb_db *self, MYSQL_RES *result, MYSQL_ROW *out, struct err *err);
/* Done with the rows. What has not been read is stopped in the server; where that takes too long the connection is
 * closed. */
void mariadb_link_end(struct mariadb_db *self, MYSQL_RES *result);
/* Run a statement that has no rows. */
enum err_code mariadb_link_do(struct mariadb_db *self, const char *sql, struct err *err);
/* Resolve a statement and run nothing. */
enum err_code mariadb_link_prepare(struct mariadb_db *self, const char *sql, size_t len, struct err *err);

/* Wait for whoever was sent to stop the statement, so that it cannot hit the next one; or close the connection. */
void mariadb_link_settle(struct mariadb_db *self);
/* Why our own clock or somebody else stopped the statement. */
enum err_code mariadb_link_stopped(const struct mariadb_db *self, enum err_code code, struct err *err);

/* --- mariadb_value.c ---------------------------------------------------------------------------------------------- */

/* Column `i` of a row; texts stay the row's. */
struct db_value mariadb_value(const MYSQL_FIELD *field, char *text, unsigned long len);

#endif
