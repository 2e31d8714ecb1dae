/* Creates a database for one test on a MariaDB server. $ASSAY_TEST_MARIADB has its URL, with an account that has all
 * rights (tests/live/servers.sh starts one). Tests have three accounts: this one, one that may read and write, and one
 * that may only read. The end of the test removes the database and its accounts. */
#ifndef ASSAY_TESTS_LIVE_MARIADB_SERVER_H
#define ASSAY_TESTS_LIVE_MARIADB_SERVER_H

#include "lib/db/db.h"

#include <mysql.h>

enum account { ALMIGHTY, WRITER, READER, N_ACCOUNTS };

struct server {
    char name[64];
    char *url[N_ACCOUNTS];
    unsigned port;
    MYSQL *admin;  /* connection with all rights; reads SQL like a server in its default configuration */
    struct db *db; /* opened by server_open */
    struct arena arena;
};

/* Skips the test if there is no server. `sql` fills the database. */
void server_init(struct server *server, const char *sql);
void server_open(struct server *server, enum account account, const struct db_limits *limits);
/* Drops the database and its accounts, then checks for leaks. */
void server_end(struct server *server);

/* Runs statements, separated by ;, with all rights; asserts success. */
void server_exec(struct server *server, const char *sql);
/* Likewise, with each %s replaced by the database's name. */
void server_exec_named(struct server *server, const char *format);
/* Returns the first value of a query as text, "" for NULL. Free with g_free. */
char *server_ask(struct server *server, const char *sql);

/* Call db_query without parameters. The second function returns the single integer of the result. */
enum err_code server_query(struct server *server, const char *sql, struct db_result *out, struct err *err);
int64_t server_int(struct server *server, const char *sql);

#endif
