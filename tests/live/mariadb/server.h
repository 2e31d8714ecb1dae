/* A database for one test on the server that $ASSAY_TEST_MARIADB names, with the URL of an account with all rights
 * (tests/live/servers.sh starts one). It has three accounts: that one, one that may read and write, and one that may
 * only read. All are removed at the end. */
#ifndef ASSAY_TESTS_LIVE_MARIADB_SERVER_H
#define ASSAY_TESTS_LIVE_MARIADB_SERVER_H

#include "lib/db/db.h"

#include <mysql.h>

enum account { ALMIGHTY, WRITER, READER, N_ACCOUNTS };

struct server {
    char name[64];
    char *url[N_ACCOUNTS];
    unsigned port;
    MYSQL *admin;  /* in the database, with all rights; reads SQL like a server in its default configuration */
    struct db *db; /* of server_open */
    struct arena arena;
};

/* Skips the test if there is no server. `sql` fills the database. */
void server_init(struct server *server, const char *sql);
void server_open(struct server *server, enum account account, const struct db_limits *limits);
/* Drops everything, then checks for leaks. */
void server_end(struct server *server);

/* Runs statements, separated by ;, with all rights; asserts success. */
void server_exec(struct server *server, const char *sql);
/* Likewise, with the database's name for each %s. */
void server_exec_named(struct server *server, const char *format);
/* Returns the first value of a query as text, "" for NULL. Free with g_free. */
char *server_ask(struct server *server, const char *sql);

/* Call db_query without parameters; the second one returns the single integer of the query. */
enum err_code server_query(struct server *server, const char *sql, struct db_result *out, struct err *err);
int64_t server_int(struct server *server, const char *sql);

#endif
