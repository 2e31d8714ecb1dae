#include "tests/live/mariadb/server.h"

#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static MYSQL *connect_to(const char *url, const char *database, unsigned *port)
{
    int number = -1;
    cr_assert(g_uri_split_network(url, G_URI_FLAGS_NONE, NULL, NULL, &number, NULL), "%s", url);
    MYSQL *conn = mysql_init(NULL);
    mysql_options(conn, MYSQL_SET_CHARSET_NAME, "utf8mb4");
    *port = (unsigned)number;
    cr_assert(mysql_real_connect(conn, "127.0.0.1", "assay", NULL, database, *port, NULL, CLIENT_MULTI_STATEMENTS),
              "%s", mysql_error(conn));
    return conn;
}

static void exec(MYSQL *conn, const char *sql)
{
    int more = mysql_query(conn, sql);
    while (!more) {
        mysql_free_result(mysql_store_result(conn));
        more = mysql_next_result(conn);
    }
    cr_assert_leq(more, 0, "%.200s: %s", sql, mysql_error(conn));
}

void server_exec_named(struct server *server, const char *format)
{
    char **parts = g_strsplit(format, "%s", -1), *sql = g_strjoinv(server->name, parts);
    exec(server->admin, sql);
    g_strfreev(parts);
    g_free(sql);
}

static char *url_of(const struct server *server, const char *who)
{
    return g_strdup_printf("mariadb://%s@127.0.0.1:%u/%s", who, server->port, server->name);
}

void server_init(struct server *server, const char *sql)
{
    const char *url = getenv("ASSAY_TEST_MARIADB");
    if (!url || !*url) cr_skip_test("ASSAY_TEST_MARIADB names no server");
    memset(server, 0, sizeof *server);
    arena_init(&server->arena, 256UL << 20);
    g_snprintf(server->name, sizeof server->name, "assay_test_%d", (int)getpid());
    server->admin = connect_to(url, NULL, &server->port);
    server_exec_named(server,
                      "CREATE DATABASE %s; USE %s; CREATE USER r_%s@'%' IDENTIFIED BY 'sesame';"
                      "CREATE USER w_%s@'%' IDENTIFIED BY 'sesame'; GRANT SELECT, SHOW VIEW ON %s.* TO r_%s@'%';"
                      "GRANT ALL ON %s.* TO w_%s@'%'; GRANT FILE ON *.* TO w_%s@'%'");
    char *reader = g_strdup_printf("r_%s:sesame", server->name), *writer = g_strdup_printf("w_%s:sesame", server->name);
    server->url[ALMIGHTY] = url_of(server, "assay");
    server->url[READER] = url_of(server, reader);
    server->url[WRITER] = url_of(server, writer);
    g_free(reader);
    g_free(writer);
    if (sql) exec(server->admin, sql);
}

void server_open(struct server *server, enum account account, const struct db_limits *limits)
{
    struct err err = {0};
    cr_assert_eq(db_open(server->url[account], limits, &server->db, &err), ERR_OK, "%s", err.text);
}

void server_end(struct server *server)
{
    if (!server->admin) return;
    db_close(server->db);
    arena_free(&server->arena);
    server_exec_named(server, "DROP DATABASE %s; DROP USER r_%s@'%'; DROP USER w_%s@'%'");
    mysql_close(server->admin);
    for (unsigned i = 0; i < N_ACCOUNTS; i++) g_free(server->url[i]);
    leak_check();
}

void server_exec(struct server *server, const char *sql)
{
    exec(server->admin, sql);
}

char *server_ask(struct server *server, const char *sql)
{
    cr_assert_eq(mysql_query(server->admin, sql), 0, "%s: %s", sql, mysql_error(server->admin));
    MYSQL_RES *result = mysql_store_result(server->admin);
    MYSQL_ROW row = mysql_fetch_row(result);
    char *text = g_strdup(row && row[0] ? row[0] : "");
    mysql_free_result(result);
    return text;
}

enum err_code server_query(struct server *server, const char *sql, struct db_result *out, struct err *err)
{
    return db_query(server->db, &server->arena, sql, strlen(sql), NULL, 0, 0, out, err);
}

int64_t server_int(struct server *server, const char *sql)
{
    struct db_result result;
    struct err err = {0};
    cr_assert_eq(server_query(server, sql, &result, &err), ERR_OK, "%s: %s", sql, err.text);
    cr_assert(result.n_rows == 1 && result.n_columns == 1 && result.values[0].type == DB_INT, "%s", sql);
    return result.values[0].i;
}
