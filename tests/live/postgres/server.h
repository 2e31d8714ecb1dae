/* A database of its own on the server that $ASSAY_TEST_POSTGRES names, a superuser's DSN (tests/live/servers.sh starts
 * one), with a role that may only read it. Removed at the end. */
#ifndef ASSAY_TESTS_LIVE_POSTGRES_SERVER_H
#define ASSAY_TESTS_LIVE_POSTGRES_SERVER_H

#include "lib/db/db.h"

#include <libpq-fe.h>

enum role { SUPERUSER, READER };

struct server {
    char name[64];
    char *dsn[2];  /* by role */
    PGconn *admin; /* in the database, may write */
    struct db *db; /* of server_open */
    struct arena arena;
};

/* Skips the test when there is no server. `sql` fills the database. */
void server_init(struct server *server, const char *sql);
void server_open(struct server *server, enum role role, const struct db_limits *limits);
/* Drop all, then look for leaks. */
void server_end(struct server *server);

/* Run as the superuser; asserts success. */
void server_exec(struct server *server, const char *sql);
/* The first value of a query as text; g_free. */
char *server_ask(struct server *server, const char *sql);

/* db_query without parameters, and the one integer that a query gives. */
enum err_code server_query(struct server *server, const char *sql, struct db_result *out, struct err *err);
int64_t server_int(struct server *server, const char *sql);

#endif
