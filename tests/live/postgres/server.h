/* A database for one test on the server that $ASSAY_TEST_POSTGRES names, a superuser's DSN (tests/live/servers.sh
 * starts one), with a role that may only read it. Both are removed at the end. */
#ifndef ASSAY_TESTS_LIVE_POSTGRES_SERVER_H
#define ASSAY_TESTS_LIVE_POSTGRES_SERVER_H

#include "lib/db/db.h"

#include <libpq-fe.h>

enum role { SUPERUSER, READER };

struct server {
    char name[64];
    char *dsn[2];  /* for each role */
    PGconn *admin; /* in the database, may write */
    struct db *db; /* of server_open */
    struct arena arena;
};

/* Skips the test if there is no server. `sql` fills the database. */
void server_init(struct server *server, const char *sql);
void server_open(struct server *server, enum role role, const struct db_limits *limits);
/* Drops everything, then checks for leaks. */
void server_end(struct server *server);

/* Runs SQL as the superuser; asserts success. */
void server_exec(struct server *server, const char *sql);
/* Returns the first value of a query as text. Free with g_free. */
char *server_ask(struct server *server, const char *sql);

/* Call db_query without parameters; the second one returns the single integer of the query. */
enum err_code server_query(struct server *server, const char *sql, struct db_result *out, struct err *err);
int64_t server_int(struct server *server, const char *sql);

#endif
