/* Creates a database for one test on a PostgreSQL server, and a role that may only read it. $ASSAY_TEST_POSTGRES is the
 * DSN of a superuser (tests/live/servers.sh starts such a server). The end of the test removes both. */
#ifndef ASSAY_TESTS_LIVE_POSTGRES_SERVER_H
#define ASSAY_TESTS_LIVE_POSTGRES_SERVER_H

#include "lib/db/db.h"

#include <libpq-fe.h>

enum role { SUPERUSER, READER };

struct server {
    char name[64];
    char *dsn[2];  /* one for each role */
    PGconn *admin; /* connection to the database that may write */
    struct db *db; /* opened by server_open */
    struct arena arena;
};

/* Skips the test if there is no server. `sql` fills the database. */
void server_init(struct server *server, const char *sql);
void server_open(struct server *server, enum role role, const struct db_limits *limits);
/* Drops the database and the role, then checks for leaks. */
void server_end(struct server *server);

/* Runs SQL as the superuser; asserts success. */
void server_exec(struct server *server, const char *sql);
/* Returns the first value of a query as text. Free with g_free. */
char *server_ask(struct server *server, const char *sql);

/* Call db_query without parameters. The second function returns the single integer of the result. */
enum err_code server_query(struct server *server, const char *sql, struct db_result *out, struct err *err);
int64_t server_int(struct server *server, const char *sql);

#endif
