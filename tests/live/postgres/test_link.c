/* Tests the connection to the server: the round trips of a statement, and the check of the server's identity. */
#include "lib/schema/schema.h"

#include "tests/live/postgres/proxy.h"
#include "tests/live/postgres/server.h"
#include "tests/support/port.h"
#include "tests/support/wait.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct server server;

static void begin(void)
{
    server_init(&server, "CREATE TABLE t(id int PRIMARY KEY, name text);"
                         "INSERT INTO t SELECT i, 'n' || i FROM generate_series(1, 200) i;");
}

static void end(void)
{
    if (server.admin) server_end(&server);
}
TestSuite(link, .init = begin, .fini = end);

/* Appends the formatted text to the reader's DSN. */
static void add_to_dsn(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *more = g_strdup_vprintf(format, args), *dsn = g_strconcat(server.dsn[READER], " ", more, NULL);
    va_end(args);
    g_free(server.dsn[READER]);
    g_free(more);
    server.dsn[READER] = dsn;
}

/* --- round trips -------------------------------------------------------------------------------------------------- */

static struct proxy *proxy;

static void open_behind_proxy(void)
{
    char *port = server_ask(&server, "SELECT inet_server_port()");
    proxy = proxy_start((uint16_t)atoi(port));
    g_free(port);
    add_to_dsn("port=%d", proxy_port(proxy));
    server_open(&server, READER, NULL);
    cr_assert_eq(server_int(&server, "SELECT 1"), 1);
}

static enum err_code ask(const char *sql, uint32_t stop_rows)
{
    struct db_result result;
    struct err err = {0};
    return db_query(server.db, &server.arena, sql, strlen(sql), NULL, 0, stop_rows, &result, &err);
}

static unsigned trips_of(const char *sql, enum err_code expected)
{
    unsigned before = proxy_trips(proxy);
    cr_expect_eq(ask(sql, 0), expected, "%s", sql);
    return proxy_trips(proxy) - before;
}

static void end_proxy(void)
{
    db_close(server.db);
    server.db = NULL;
    proxy_stop(proxy);
}

Test(link, statement_takes_one_round_trip)
{
    open_behind_proxy();
    cr_expect_eq(trips_of("SELECT * FROM t", ERR_OK), 1);
    cr_expect_eq(trips_of("SELECT nothing FROM t", ERR_ENGINE), 1);
    cr_expect_eq(trips_of("SELECT 1 / (id - id) FROM t", ERR_ENGINE), 1);
    unsigned before = proxy_trips(proxy);
    cr_expect_eq(ask("SELECT generate_series(1, 1000000000)", 5), ERR_OK);
    cr_expect_eq(proxy_trips(proxy) - before, 1);
    before = proxy_trips(proxy);
    static const char sql[] = "SELECT name FROM t";
    cr_expect_eq(db_prepare_check(server.db, sql, strlen(sql), NULL, NULL), ERR_OK);
    cr_expect_eq(proxy_trips(proxy) - before, 1);
    end_proxy();
}

Test(link, cost_limit_takes_second_round_trip)
{
    open_behind_proxy();
    db_set_limits(server.db, &(struct db_limits){.max_cost = 1000});
    cr_expect_eq(trips_of("SELECT * FROM t", ERR_OK), 2);
    cr_expect_eq(trips_of("SELECT * FROM t AS a, t AS b, t AS c", ERR_TOO_COSTLY), 2);
    cr_expect_eq(trips_of("SELECT * FROM t", ERR_OK), 2, "what was not run left nothing behind");
    end_proxy();
}

/* The functions that a database defines are listed only once. */
Test(link, own_functions_take_no_extra_round_trip)
{
    open_behind_proxy();
    server_exec(&server, "CREATE FUNCTION fullname(t) RETURNS text LANGUAGE sql AS $$ SELECT 'x' $$");
    cr_expect_eq(trips_of("SELECT t.name FROM t", ERR_OK), 3, "they are listed");
    cr_expect_eq(trips_of("SELECT t.name FROM t", ERR_OK), 1);
    cr_expect_eq(trips_of("SELECT t.fullname FROM t", ERR_REFUSED), 1);
    cr_expect_eq(trips_of("SELECT t.name FROM t", ERR_OK), 1, "what was not run left nothing behind");
    end_proxy();
}

/* Statements sent before the answer to BEGIN still run inside the transaction. */
Test(link, pipelined_statement_is_inside_transaction)
{
    struct err err = {0};
    struct db_result result;
    server_exec(&server, "CREATE FUNCTION lower(int) RETURNS text LANGUAGE sql SECURITY DEFINER AS"
                         " 'DELETE FROM t RETURNING name'; CREATE VIEW sly AS SELECT lower(1) AS x");
    server_open(&server, READER, NULL);
    cr_expect_eq(server_query(&server, "SELECT x FROM sly", &result, &err), ERR_REFUSED, "%s", err.text);
    cr_expect(strstr(err.text, "25006"), "%s", err.text);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 200);
}

/* --- TLS ---------------------------------------------------------------------------------------------------------- */

static const char *authority(void)
{
    const char *ca = getenv("ASSAY_TEST_POSTGRES_CA");
    if (!ca || !*ca) cr_skip_test("ASSAY_TEST_POSTGRES_CA names no certificate");
    return ca;
}

static enum err_code try_open(struct err *err)
{
    *err = (struct err){0};
    return db_open(server.dsn[READER], NULL, &server.db, err);
}

Test(link, server_with_trusted_certificate_is_accepted)
{
    struct err err;
    add_to_dsn("host=localhost hostaddr=127.0.0.1 sslmode=verify-full sslrootcert=%s", authority());
    cr_assert_eq(try_open(&err), ERR_OK, "%s", err.text);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 200);
    char *sql = g_strdup_printf("SELECT bool_and(s.ssl) FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid)"
                                " WHERE a.usename = '%s'",
                                server.name);
    char *encrypted = server_ask(&server, sql);
    cr_expect_str_eq(encrypted, "t");
    g_free(encrypted);
    g_free(sql);
    /* Reads more rows than libpq buffers, cancels, and continues. */
    cr_expect_eq(ask("SELECT repeat('x', 1000) FROM generate_series(1, 5000)", 0), ERR_OK);
    db_set_limits(server.db, &(struct db_limits){.time_ms = 100});
    cr_expect_eq(ask("SELECT count(*) FROM generate_series(1, 1000000000000)", 0), ERR_LIMIT_TIME);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 200);
}

/* An error on an abandoned connection must not count against the new connection. */
Test(link, new_connection_counts_from_zero)
{
    server_open(&server, READER, NULL);
    db_set_limits(server.db, &(struct db_limits){.time_ms = 20000});
    for (int i = 0; i < 5; i++) {
        cr_expect_eq(ask("SELECT repeat('x', 1000) FROM generate_series(1, 99000)", 0), ERR_LIMIT_BYTES);
        cr_expect_eq(ask("SELECT repeat('x', 100000000)", 0), ERR_LIMIT_BYTES);
        cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 200);
    }
}

Test(link, server_of_other_name_is_refused)
{
    struct err err;
    add_to_dsn("host=elsewhere.example hostaddr=127.0.0.1 sslmode=verify-full sslrootcert=%s", authority());
    cr_expect_eq(try_open(&err), ERR_DB_UNREADABLE, "%s", err.text);
    cr_expect(strstr(err.text, "elsewhere.example"), "%s", err.text);
}

Test(link, server_with_untrusted_certificate_is_refused)
{
    struct err err;
    char *said = NULL, *dir = g_dir_make_tmp("assay-test-XXXXXX", NULL),
         *other = g_build_filename(dir, "other.pem", NULL);
    char *command = g_strdup_printf("openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1"
                                    " -subj /CN=127.0.0.1 -keyout /dev/null -out %s",
                                    other);
    authority();
    cr_assert(g_spawn_command_line_sync(command, NULL, &said, NULL, NULL));
    add_to_dsn("host=localhost hostaddr=127.0.0.1 sslmode=verify-full sslrootcert=%s", other);
    cr_expect_eq(try_open(&err), ERR_DB_UNREADABLE, "%s", err.text);
    cr_expect(strstr(err.text, "certificate"), "%s", err.text);
    add_to_dsn("sslrootcert=%s/missing.pem", dir);
    cr_expect_eq(try_open(&err), ERR_DB_UNREADABLE, "%s", err.text);
    unlink(other);
    rmdir(dir);
    g_free(said);
    g_free(command);
    g_free(other);
    g_free(dir);
}

/* --- PgBouncer ---------------------------------------------------------------------------------------------------- */

static struct {
    char *dir, *config;
    GPid pid;
    uint16_t port;
} pooler;

static bool pooler_answers(void *unused)
{
    (void)unused;
    char *dsn = g_strdup_printf("%s port=%d", server.dsn[READER], pooler.port);
    bool answers = PQping(dsn) == PQPING_OK;
    g_free(dsn);
    return answers;
}

/* Starts PgBouncer in front of the server, with one connection to it. PgBouncer does not run as root. */
static void open_pooler(const char *mode)
{
    char *program = g_find_program_in_path("pgbouncer"), *port = server_ask(&server, "SELECT inet_server_port()");
    if (!program) cr_skip_test("pgbouncer is not installed");
    pooler.dir = g_dir_make_tmp("assay-test-XXXXXX", NULL);
    pooler.config = g_build_filename(pooler.dir, "pgbouncer.ini", NULL);
    pooler.port = free_port();
    char *text =
        g_strdup_printf("[databases]\n%s = host=127.0.0.1 port=%s user=%s\n[pgbouncer]\nlisten_addr = 127.0.0.1\n"
                        "listen_port = %d\nauth_type = any\npool_mode = %s\ndefault_pool_size = 1\n"
                        "unix_socket_dir =\n",
                        server.name, port, server.name, pooler.port, mode);
    cr_assert(g_file_set_contents(pooler.config, text, -1, NULL) && chmod(pooler.dir, 0755) == 0);
    char *as_nobody[] = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", program, "-q", pooler.config,
                         NULL};
    cr_assert(g_spawn_async(NULL, getuid() == 0 ? as_nobody : as_nobody + 4, NULL,
                            G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL,
                            &pooler.pid, NULL));
    g_free(text);
    g_free(port);
    g_free(program);
    cr_assert(wait_until(pooler_answers, NULL, 10000));
    add_to_dsn("port=%d", pooler.port);
}

static void close_pooler(void)
{
    if (!pooler.pid) return;
    kill(pooler.pid, SIGKILL);
    waitpid(pooler.pid, NULL, 0);
    unlink(pooler.config);
    rmdir(pooler.dir);
    g_free(pooler.config);
    g_free(pooler.dir);
}

static void end_pooler(void)
{
    db_close(server.db);
    server.db = NULL;
    close_pooler();
}

/* Two clients share one server connection; each has it for a transaction. */
Test(link, transaction_pooler_is_supported, .fini = end_pooler)
{
    struct err err = {0};
    struct db *other;
    struct schema_index *index;
    open_pooler("transaction");
    server_open(&server, READER, NULL);
    cr_assert_eq(db_open(server.dsn[READER], NULL, &other, &err), ERR_OK, "%s", err.text);
    for (int i = 0; i < 5; i++) {
        struct db_result result;
        static const char sql[] = "SELECT name FROM t WHERE id = $1";
        struct db_value id = {.type = DB_INT, .i = i + 1};
        cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 200);
        cr_expect_eq(db_query(other, &server.arena, sql, strlen(sql), &id, 1, 0, &result, &err), ERR_OK, "%s",
                     err.text);
        cr_expect_eq(ask("SELECT nothing FROM t", 0), ERR_ENGINE);
        cr_expect_eq(db_prepare_check(other, "SELECT x FROM t", 15, NULL, NULL), ERR_ENGINE);
    }
    cr_assert_eq(schema_build(other, "x", NULL, NULL, &index, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(index->n_columns, 2);
    schema_unref(index);
    db_set_limits(server.db, &(struct db_limits){.time_ms = 200});
    cr_expect_eq(ask("SELECT count(*) FROM generate_series(1, 1000000000000)", 0), ERR_LIMIT_TIME);
    db_set_limits(server.db, &(struct db_limits){.time_ms = 20000});
    cr_expect_eq(ask("SELECT repeat('x', 1000) FROM generate_series(1, 200000)", 0), ERR_LIMIT_BYTES);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 200);
    PGconn *conn = PQconnectdb(server.dsn[READER]);
    PGresult *left =
        PQexec(conn, "SELECT current_setting('statement_timeout') || current_setting('transaction_read_only')"
                     " || current_setting('client_connection_check_interval') || current_setting('jit')");
    cr_expect_str_eq(PQgetvalue(left, 0, 0), "0off0on", "nothing stays set for who comes next");
    PQclear(left);
    PQfinish(conn);
    db_close(other);
}

/* A pooler that does not keep transactions together cannot protect a statement. So the database is refused, and the
 * candidate is not blamed. */
Test(link, statement_pooler_is_refused, .fini = end_pooler)
{
    struct err err;
    open_pooler("statement");
    cr_expect_eq(try_open(&err), ERR_DB_UNREADABLE, "%s", err.text);
    cr_expect(strstr(err.text, "statement pooling mode"), "%s", err.text);
    server.db = NULL;
}

/* --- statements that run on --------------------------------------------------------------------------------------- */

/* Creates a column that is larger than any that a statement is expected to read. */
static void make_large(void)
{
    server_exec(&server, "CREATE TABLE large(a text, b text); INSERT INTO large SELECT repeat('a', 200000), "
                         "repeat('b', 3000);");
}

static bool are_gone(void *path)
{
    return db_abandoned_ask(path, NULL) == ERR_OK && db_abandoned(path).running == 0;
}

Test(link, abandoned_statement_is_counted_until_gone, .timeout = 120)
{
    make_large();
    server_open(&server, READER, &(struct db_limits){.time_ms = 300});
    char *path = server.dsn[READER];
    cr_expect_eq(db_abandoned(path).ever, 0);
    cr_expect_eq(ask("SELECT length(translate(a, b, '')) FROM large", 0), ERR_LIMIT_TIME);
    cr_expect_eq(db_abandoned(path).running, 1);
    cr_expect_eq(db_abandoned_ask(path, NULL), ERR_OK);
    cr_expect_eq(db_abandoned(path).running, 1, "the server still runs it");
    cr_expect_eq(ask("SELECT count(*) FROM t", 0), ERR_OK, "the handle connects anew");
    cr_expect(wait_until(are_gone, path, 60000));
    cr_expect_eq(db_abandoned(path).ever, 1);
    cr_expect_eq(ask("SELECT count(*) FROM t a, t b, t c, t d", 0), ERR_LIMIT_TIME);
    cr_expect_eq(db_abandoned(path).ever, 1, "one that can be stopped is not abandoned");
}
