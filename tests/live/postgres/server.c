#include "tests/live/postgres/server.h"

#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void be_quiet(void *unused, const PGresult *notice)
{
    (void)unused, (void)notice;
}

static PGconn *connect_to(const char *dsn)
{
    PGconn *conn = PQconnectdb(dsn);
    cr_assert_eq(PQstatus(conn), CONNECTION_OK, "%s", PQerrorMessage(conn));
    PQsetNoticeReceiver(conn, be_quiet, NULL);
    return conn;
}

static void exec(PGconn *conn, const char *sql)
{
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    cr_assert(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, "%.200s: %s", sql, PQerrorMessage(conn));
    PQclear(result);
}

static void exec_format(PGconn *conn, const char *format, const char *name)
{
    char *sql = g_strdup_printf(format, name, name);
    exec(conn, sql);
    g_free(sql);
}

void server_init(struct server *server, const char *sql)
{
    const char *dsn = getenv("ASSAY_TEST_POSTGRES");
    if (!dsn || !*dsn) cr_skip_test("ASSAY_TEST_POSTGRES names no server");
    memset(server, 0, sizeof *server);
    arena_init(&server->arena, 256UL << 20);
    g_snprintf(server->name, sizeof server->name, "assay_test_%d", (int)getpid());
    PGconn *conn = connect_to(dsn);
    exec_format(conn, "CREATE DATABASE %s", server->name);
    exec_format(conn, "CREATE ROLE %s LOGIN PASSWORD 'sesame'", server->name);
    PQfinish(conn);
    server->dsn[SUPERUSER] = g_strdup_printf("%s dbname=%s", dsn, server->name);
    server->dsn[READER] = g_strdup_printf("%s dbname=%s user=%s password=sesame", dsn, server->name, server->name);
    server->admin = connect_to(server->dsn[SUPERUSER]);
    exec_format(server->admin, "ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO %s", server->name);
    if (sql) exec(server->admin, sql);
}

void server_open(struct server *server, enum role role, const struct db_limits *limits)
{
    struct err err = {0};
    cr_assert_eq(db_open(server->dsn[role], limits, &server->db, &err), ERR_OK, "%s", err.text);
}

void server_end(struct server *server)
{
    db_close(server->db);
    arena_free(&server->arena);
    exec_format(server->admin, "DROP OWNED BY %s", server->name);
    PQfinish(server->admin);
    PGconn *conn = connect_to(getenv("ASSAY_TEST_POSTGRES"));
    exec_format(conn, "DROP DATABASE %s WITH (FORCE)", server->name);
    exec_format(conn, "DROP ROLE %s", server->name);
    PQfinish(conn);
    g_free(server->dsn[SUPERUSER]);
    g_free(server->dsn[READER]);
    leak_check();
}

void server_exec(struct server *server, const char *sql)
{
    exec(server->admin, sql);
}

char *server_ask(struct server *server, const char *sql)
{
    PGresult *result = PQexec(server->admin, sql);
    cr_assert(PQresultStatus(result) == PGRES_TUPLES_OK && PQntuples(result) > 0, "%s: %s", sql,
              PQerrorMessage(server->admin));
    char *text = g_strdup(PQgetvalue(result, 0, 0));
    PQclear(result);
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
