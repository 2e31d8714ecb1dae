/* A database of its own on the server that $ASSAY_TEST_MARIADB names, the URL of an account that may do all
 * (tests/live/servers.sh starts one), with three accounts: that one, one that may read and write, and one that may only
 * read. Removed at the end. */
#ifndef ASSAY_TESTS_LIVE_MARIADB_SERVER_H
#define ASSAY_TESTS_LIVE_MARIADB_SERVER_H

#include "lib/db/db.h"

#include <mysql.h>

enum account { ALMIGHTY, WRITER, READER, N_ACCOUNTS };

struct server {
    char name[64];
    char *url[N_ACCOUNTS];
    unsigned port;
    MYSQL *admin;  /* in the database, may do all, reads SQL as a server does that nobody has set up */
    struct db *db; /* of server_open */
    struct arena arena;
};

/* Skips the test when there is no server. `sql` fills the database. */
void server_init(struct server *server, const char *sql);
void server_open(struct server *server, enum account account, const struct db_limits *limits);
/* Drop all, then look for leaks. */
void server_end(struct server *server);

/* Run statements, with a ; between them, as the one that may do all; asserts success. */
void server_exec(struct server *server, const char *sql);
/* With the database's name for each %s. */
void server_exec_named(struct server *server, const char *format);
/* The first value of a query as text, "" for NULL; g_free. */
char *server_ask(struct server *server, const char *sql);

/* db_query without parameters, and the one integer that a query gives. */
enum err_code server_query(struct server *server, const char *sql, struct db_result *out, struct err *err);
int64_t server_int(struct server *server, const char *sql);

#endif
