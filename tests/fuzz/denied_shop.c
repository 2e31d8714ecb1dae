/* Creates the databases with denied columns on SQLite, PostgreSQL and MariaDB, and opens an engine on each. Each shop
 * has its own database on the server, so that two shops can have tables with equal names. */
#include "tests/fuzz/denied_shop.h"

#include <glib/gstdio.h>
#include <libpq-fe.h>
#include <mysql.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void require(bool holds, const char *what, const char *why)
{
    if (holds) return;
    fprintf(stderr, "denied: %s: %s\n", what, why);
    exit(2);
}

/* --- SQLite --- */

static void make_sqlite(struct shop *shop, const char *script)
{
    shop->name = g_dir_make_tmp("assay-denied-XXXXXX", NULL);
    shop->path = g_build_filename(shop->name, "shop.sqlite", NULL);
    sqlite3 *conn = NULL;
    require(sqlite3_open(shop->path, &conn) == SQLITE_OK, "open", shop->path);
    char *why = NULL;
    require(sqlite3_exec(conn, script, NULL, NULL, &why) == SQLITE_OK, "schema", why ? why : "");
    sqlite3_close(conn);
}

static void remove_sqlite(struct shop *shop)
{
    g_remove(shop->path);
    g_rmdir(shop->name);
}

/* --- PostgreSQL: each shop has its own database, so that table names are equal in two of them --- */

static void in_postgres(const char *server, char *sql, const char *what)
{
    PGconn *conn = PQconnectdb(server);
    PGresult *result = PQexec(conn, sql);
    ExecStatusType status = PQresultStatus(result);
    require(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK, what, PQerrorMessage(conn));
    PQclear(result);
    PQfinish(conn);
    g_free(sql);
}

static void make_postgres(struct shop *shop, const char *script)
{
    shop->path = g_strdup_printf("%s dbname=%s", shop->server, shop->name); /* the last dbname takes effect */
    in_postgres(shop->server, g_strdup_printf("CREATE DATABASE %s", shop->name), "database");
    in_postgres(shop->path, g_strdup(script), "schema");
}

static void remove_postgres(struct shop *shop)
{
    in_postgres(shop->server, g_strdup_printf("DROP DATABASE %s WITH (FORCE)", shop->name), "drop");
}

/* --- MariaDB: each shop has its own database. The URL is mariadb://USER@HOST:PORT/ --- */

static void in_mariadb(const struct shop *shop, char *sql, const char *what)
{
    GUri *uri = g_uri_parse(shop->server, G_URI_FLAGS_NONE, NULL);
    require(uri != NULL, "server", shop->server);
    MYSQL *conn = mysql_init(NULL);
    require(mysql_real_connect(conn, g_uri_get_host(uri), g_uri_get_userinfo(uri), NULL, NULL,
                               (unsigned)g_uri_get_port(uri), NULL, CLIENT_MULTI_STATEMENTS) != NULL,
            "connect", mysql_error(conn));
    int status = mysql_query(conn, sql);
    while (status == 0) {
        mysql_free_result(mysql_store_result(conn));
        status = mysql_next_result(conn);
    }
    require(status == -1, what, mysql_error(conn));
    mysql_close(conn);
    g_uri_unref(uri);
    g_free(sql);
}

static void make_mariadb(struct shop *shop, const char *script)
{
    shop->path = g_strconcat(shop->server, shop->name, NULL);
    in_mariadb(shop, g_strdup_printf("CREATE DATABASE %s; USE %s; %s", shop->name, shop->name, script), "schema");
}

static void remove_mariadb(struct shop *shop)
{
    in_mariadb(shop, g_strdup_printf("DROP DATABASE %s", shop->name), "drop");
}

/* --- all engines --- */

static const struct {
    const char *name;
    void (*make)(struct shop *shop, const char *script);
    void (*remove)(struct shop *shop);
} makers[] = {[DENIED_SQLITE] = {"SQLite", make_sqlite, remove_sqlite},
              [DENIED_POSTGRES] = {"PostgreSQL", make_postgres, remove_postgres},
              [DENIED_MARIADB] = {"MariaDB", make_mariadb, remove_mariadb}};

void shop_make_on(struct shop *shop, const char *postgres, const char *mariadb, enum denied_data data)
{
    *shop = (struct shop){.engine = postgres  ? DENIED_POSTGRES
                                    : mariadb ? DENIED_MARIADB
                                              : DENIED_SQLITE,
                          .server = postgres ? postgres : mariadb};
    if (shop->server) shop->name = g_strdup_printf("denied_%d_%d", (int)getpid(), (int)data);
    char *script = denied_script(shop->engine, data);
    makers[shop->engine].make(shop, script);
    g_free(script);
}

const char *shop_engine_name(const struct shop *shop)
{
    return makers[shop->engine].name;
}

void shop_remove(struct shop *shop)
{
    makers[shop->engine].remove(shop);
    g_free(shop->path);
    g_free(shop->name);
}

void shop_open(struct shop *shop, enum worker_deny mode, int64_t time_ms)
{
    shop->entry = (struct worker_database){.name = "shop",
                                           .path = shop->path,
                                           .expose = MSG_EXPOSE_ROWS,
                                           .deny_columns = DENIED_COLUMNS,
                                           .n_deny_columns = mode ? N_DENIED_COLUMNS : 0,
                                           .deny_mode = mode};
    struct engine_config config = {.workers = 2,
                                   .window = 4,
                                   .models_dir = ASSAY_MODELS,
                                   .limits = {.time_ms = time_ms},
                                   .databases = {.files = &shop->entry, .n_files = 1},
                                   .schema = {.deny_columns = DENIED_COLUMNS,
                                              .n_deny_columns = shop->entry.n_deny_columns,
                                              .deny_hides = mode == WORKER_DENY_HIDE},
                                   .defaults = {.expose = MSG_EXPOSE_ROWS, .explain = MSG_EXPLAIN_FULL}};
    struct err err = {0};
    require(engine_open(&config, &shop->judge, &err) == ERR_OK, "engine", err.text);
}

struct msg_verdict *shop_judge(struct shop *shop, const struct msg_request *request)
{
    struct err err = {0};
    struct msg_verdict *verdict = NULL;
    require(engine_submit(shop->judge, request, -1, &err) == ERR_OK, "submit", err.text);
    require(engine_next(shop->judge, 120000, &verdict, &err) == ERR_OK, "verdict", err.text);
    return verdict;
}
