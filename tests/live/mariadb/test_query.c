/* Runs statements in a real MariaDB: values, errors and bounds. No statement may affect a later one. */
#include "lib/base/clock.h"
#include "lib/db/mariadb_gate.h"
#include "tests/live/mariadb/server.h"
#include "tests/support/wait.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <glib.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SCHEMA                                                                                                         \
    "CREATE TABLE t(id int PRIMARY KEY, name varchar(40), price decimal(8,2), part double, ok boolean,"                \
    " raw varbinary(20), day date, pad char(6), small smallint, large bigint);"                                        \
    "INSERT INTO t VALUES (1, 'one', 2.50, 0.1, true, x'00ff41', '2026-03-01', 'ab', 7, 9007199254740993),"            \
    " (2, 'zwölf', 3.00, 2, false, x'', '1999-12-31', 'abcdef', -7, -1), (3, NULL, NULL, NULL, NULL, NULL, NULL,"     \
    " NULL, NULL, NULL);"                                                                                              \
    "CREATE TABLE big(n int); INSERT INTO big SELECT seq FROM seq_1_to_20000;"

/* The same data in SQLite, for comparison. */
#define TWIN                                                                                                           \
    "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, price REAL, part REAL, ok INTEGER, raw BLOB, day TEXT,"         \
    " pad TEXT, small INTEGER, large INTEGER);"                                                                        \
    "INSERT INTO t VALUES (1, 'one', 2.50, 0.1, 1, x'00ff41', '2026-03-01', 'ab', 7, 9007199254740993),"               \
    " (2, 'zwölf', 3.00, 2, 0, x'', '1999-12-31', 'abcdef', -7, -1), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL,"   \
    " NULL, NULL);"

static const char endless[] = "SELECT count(*) FROM big a, big b, big c WHERE a.n + b.n = c.n + 0.5";

static struct server server;

static void begin(void)
{
    server_init(&server, SCHEMA);
    server_open(&server, READER, NULL);
}

static void end(void)
{
    server_end(&server);
}
TestSuite(mariadb, .init = begin, .fini = end, .timeout = 120);

static enum err_code fail(const char *sql, struct err *err)
{
    struct db_result result;
    *err = (struct err){0};
    return server_query(&server, sql, &result, err);
}

/* --- values ------------------------------------------------------------------------------------------------------- */

static struct db *open_twin(const char *dir, char **path)
{
    *path = g_build_filename(dir, "twin.sqlite", NULL);
    char *quoted = g_shell_quote(*path), *sql = g_shell_quote(TWIN);
    char *command = g_strdup_printf("sqlite3 %s %s", quoted, sql);
    int status;
    cr_assert(g_spawn_command_line_sync(command, NULL, NULL, &status, NULL) && status == 0, "%s", command);
    struct db *db;
    struct err err = {0};
    cr_assert_eq(db_open(*path, NULL, &db, &err), ERR_OK, "%s", err.text);
    g_free(command);
    g_free(quoted);
    g_free(sql);
    return db;
}

Test(mariadb, digests_match_sqlite)
{
    static const char *const queries[] = {
        "SELECT * FROM t ORDER BY id",
        "SELECT name, id FROM t WHERE id < 3 ORDER BY id DESC",
        "SELECT count(*), sum(small), avg(small), min(part), max(name) FROM t",
        "SELECT sum(part) FROM t WHERE id = 2",
        "SELECT price * 2, part + 1, length(pad), upper(pad) FROM t WHERE id < 3",
        "SELECT day, count(*) FROM t WHERE day IS NOT NULL GROUP BY day ORDER BY day DESC",
        "SELECT 1 FROM t WHERE 1 = 2",
        "WITH c AS (SELECT id FROM t) SELECT a.id, b.name FROM c AS a LEFT JOIN t AS b ON b.id = a.id + 1",
        "SELECT CASE WHEN id > 1 THEN 'x' ELSE 'y' END, coalesce(name, '-'), id || '-' || pad FROM t ORDER BY 1",
        "SELECT 'it''s', 'a\\b', \"name\", `id` FROM t WHERE name = 'one' -- a comment",
    };
    char *dir = g_dir_make_tmp("assay-test-XXXXXX", NULL), *path;
    struct db *twin = open_twin(dir, &path);
    for (size_t i = 0; i < G_N_ELEMENTS(queries); i++) {
        struct db_result here, there;
        struct err err = {0};
        const char *sql = queries[i];
        cr_expect_eq(server_query(&server, sql, &here, &err), ERR_OK, "%s: %s", sql, err.text);
        cr_expect_eq(db_query(twin, &server.arena, sql, strlen(sql), NULL, 0, 0, &there, &err), ERR_OK, "%s", err.text);
        cr_expect(here.digest[0] == there.digest[0] && here.digest[1] == there.digest[1], "%s", sql);
        bool ordered = here.ordered_digest[0] == there.ordered_digest[0];
        cr_expect(ordered || !strstr(sql, "ORDER BY"), "%s: order", sql);
        cr_expect_eq(here.n_rows, there.n_rows);
        cr_expect_eq(here.n_columns, there.n_columns);
    }
    db_close(twin);
    unlink(path);
    rmdir(dir);
    g_free(path);
    g_free(dir);
}

Test(mariadb, special_values_are_read)
{
    struct db_result r;
    struct err err = {0};
    cr_assert_eq(server_query(&server,
                              "SELECT 18446744073709551615, 1e300, b'101' + 0, timestamp('2026-01-02 03:04:05'),"
                              " INTERVAL '1' DAY + date('2026-01-31'), '', NULL, 1 = 1, 0.30",
                              &r, &err),
                 ERR_OK, "%s", err.text);
    const struct db_value *v = r.values;
    cr_expect(v[0].type == DB_FLOAT && v[0].f == 18446744073709551615.0);
    cr_expect(v[1].type == DB_FLOAT && v[1].f == 1e300);
    cr_expect(v[2].type == DB_INT && v[2].i == 5);
    cr_expect_str_eq(v[3].text, "2026-01-02 03:04:05");
    cr_expect_str_eq(v[4].text, "2026-02-01");
    cr_expect(v[5].type == DB_TEXT && v[5].len == 0);
    cr_expect_eq(v[6].type, DB_NULL);
    cr_expect(v[7].type == DB_INT && v[7].i == 1);
    cr_expect(v[8].type == DB_FLOAT && v[8].f == 0.3);
}

Test(mariadb, parameters_are_bound)
{
    struct db_value params[] = {{.type = DB_INT, .i = 2},
                                {.type = DB_TEXT, .text = "x'; DROP TABLE t \\'", .len = 19},
                                {.type = DB_FLOAT, .f = 1.5},
                                {.type = DB_BLOB, .text = "\0\377A", .len = 3},
                                {.type = DB_NULL},
                                {.type = DB_INT, .i = -3}};
    const char *sql =
        "SELECT id, ?2, ?3 + 1, (SELECT name FROM t WHERE raw = ?4), ?5, 1-?6 FROM t WHERE id = ?1 AND ?2 = ?2";
    struct db_result r;
    struct err err = {0};
    cr_assert_eq(db_query(server.db, &server.arena, sql, strlen(sql), params, 6, 0, &r, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(r.n_rows, 1);
    cr_expect_eq(r.values[0].i, 2);
    cr_expect_str_eq(r.values[1].text, params[1].text);
    cr_expect_eq(r.values[2].f, 2.5);
    cr_expect_str_eq(r.values[3].text, "one");
    cr_expect_eq(r.values[4].type, DB_NULL);
    cr_expect_eq(r.values[5].i, 4);
    cr_assert_eq(db_query(server.db, &server.arena, sql, strlen(sql), params, 5, 0, &r, &err), ERR_ENGINE);
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

Test(mariadb, errors_have_codes_texts_and_offsets)
{
    static const struct {
        const char *sql;
        enum err_code code;
        const char *part; /* part of the text, in which the error is expected */
        const char *at;   /* text at the error's offset, or NULL if it has no offset */
    } cases[] = {
        {"SELECT nam FROM t", ERR_ENGINE, "Unknown column 'nam'", NULL},
        {"SELECT * FROM tt", ERR_ENGINE, "tt' doesn't exist", NULL},
        {"SELECT nosuch(id) FROM t", ERR_REFUSED, "nosuch", NULL},
        {"SELECT id FROM t WHERE", ERR_ENGINE, "1064", ""},
        {"SELECT FROM WHERE", ERR_ENGINE, "1064", "FROM WHERE"},
        {"SELECT a::int FROM t", ERR_ENGINE, "1064", "::int FROM t"},
        {"SELECT lower(1, 2) FROM t", ERR_ENGINE, "", NULL},
        {"DELETE FROM t", ERR_REFUSED, "DELETE", NULL},
        {"SELECT 1; SELECT 2", ERR_REFUSED, "statement", NULL},
        {"SELECT count (*) FROM t", ERR_REFUSED, "space", NULL},
        {"SELECT @@version", ERR_REFUSED, "variable", NULL},
        {"SELECT * FROM mysql.user", ERR_REFUSED, "other database", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *sql = cases[i].sql;
        struct err err = {0};
        int offset = 0;
        enum err_code code = db_prepare_check(server.db, sql, strlen(sql), &offset, &err);
        cr_expect_eq(code, cases[i].code, "%s: %s %s", sql, err_name(code), err.text);
        cr_expect(strstr(err.text, cases[i].part) != NULL, "%s: %s", sql, err.text);
        const char *at = offset < 0 ? NULL : sql + offset;
        bool right = cases[i].at ? at && strcmp(at, cases[i].at) == 0 : !at;
        cr_expect(right, "%s: at %d", sql, offset);
        code = fail(sql, &err);
        cr_expect_eq(code, cases[i].code, "run: %s: %s %s", sql, err_name(code), err.text);
    }
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 3);
}

/* Each listed name must be a function of the server. Otherwise the name could refer to one of the database's own
 * functions. */
Test(mariadb, gate_lists_only_server_functions)
{
    size_t n;
    const char *const *names = mariadb_gate_functions(&n);
    for (size_t i = 0; i < n; i++) {
        char *sql = g_strdup_printf("CREATE FUNCTION `%s`(x int) RETURNS int RETURN 4711", names[i]);
        server_exec(&server, sql);
        g_free(sql);
    }
    for (size_t i = 0; i < n; i++) {
        char *sql = g_strdup_printf("SELECT %s(1)", names[i]);
        struct db_result r;
        struct err err = {0};
        enum err_code code = server_query(&server, sql, &r, &err);
        bool own = !code && r.n_rows == 1 && r.values[0].type == DB_INT && r.values[0].i == 4711;
        cr_expect_not(own, "%s", sql);
        /* for the reader account, which may run no function */
        cr_expect_not(strstr(err.text, "denied"), "%s: %s", sql, err.text);
        cr_expect_not(strstr(err.text, "does not exist"), "%s: %s", sql, err.text);
        g_free(sql);
    }
}

Test(mariadb, check_executes_nothing)
{
    struct err err = {0};
    int64_t start = clock_now_ns();
    cr_expect_eq(db_prepare_check(server.db, endless, strlen(endless), NULL, &err), ERR_OK, "%s", err.text);
    cr_expect_lt(clock_ms(clock_now_ns() - start), 2000);
}

/* Some session settings change the meaning of a statement. Such a statement is refused, unless all sessions read it as
 * ours does. */
Test(mariadb, candidates_have_standard_meaning)
{
    static const struct {
        const char *sql, *part;
    } cases[] = {{"SELECT id FROM t WHERE name = \"one\"", "double quotes"},
                 {"SELECT id FROM t WHERE name LIKE '50\\%'", "backslash"},
                 {"SELECT name || 'x' FROM t", "CONCAT"}};
    struct err err = {0};
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        enum err_code code = db_candidate_check(server.db, cases[i].sql, strlen(cases[i].sql), &err);
        cr_expect_eq(code, ERR_REFUSED, "%s", cases[i].sql);
        cr_expect(strstr(err.text, cases[i].part) != NULL, "%s", err.text);
        cr_expect_eq(mariadb_gate_portable(cases[i].sql, strlen(cases[i].sql), 7, NULL), ERR_OK, "%s", cases[i].sql);
    }
    static const char plain[] = "SELECT `name` FROM t WHERE name = 'it''s \"x\" || y' OR id | 1 -- \"\\||";
    cr_expect_eq(db_candidate_check(server.db, plain, strlen(plain), &err), ERR_OK, "%s", err.text);
}

Test(mariadb, unreadable_table_is_refused)
{
    server_exec_named(&server, "CREATE DATABASE x_%s; CREATE TABLE x_%s.hidden(a int);"
                               "CREATE SQL SECURITY INVOKER VIEW v AS SELECT a FROM x_%s.hidden");
    struct err err;
    enum err_code code = fail("SELECT * FROM v", &err);
    server_exec_named(&server, "DROP DATABASE x_%s");
    cr_expect(code == ERR_REFUSED || code == ERR_ENGINE, "%s", err.text);
}

/* The server's error contains the name of the account, which only the operator may know. */
Test(mariadb, refused_table_error_hides_account)
{
    struct err err;
    server_exec_named(&server, "CREATE TABLE kept_apart(a int); REVOKE SELECT ON %s.* FROM r_%s@'%';"
                               "GRANT SELECT ON %s.t TO r_%s@'%'");
    db_close(server.db);
    server_open(&server, READER, NULL);
    enum err_code code = fail("SELECT * FROM kept_apart", &err);
    cr_expect_eq(code, ERR_REFUSED, "%s", err.text);
    cr_expect_not(strstr(err.text, "r_") || strstr(err.text, "@"), "%s", err.text);
    cr_expect(strstr(err.text, "denied to user the account"), "%s", err.text);
}

static void expect_no_secret(const char *url, enum err_code expected)
{
    struct db *db;
    struct err err = {0};
    enum err_code code = db_open(url, NULL, &db, &err);
    cr_expect_eq(code, expected, "%s: %s %s", url, err_name(code), err.text);
    cr_expect(err.text[0] && !strstr(err.text, "sesame"), "%s", err.text);
}

Test(mariadb, url_errors_show_no_secrets)
{
    char *port = g_strdup_printf("%u", server.port), **parts, *url;
    static const struct {
        const char *url;
        enum err_code code;
    } cases[] = {
        {"mariadb://r_NAME:sesame2@127.0.0.1:PORT/NAME", ERR_DB_UNREADABLE},
        {"mariadb://r_NAME@127.0.0.1:PORT/NAME", ERR_DB_UNREADABLE},
        {"mariadb://assay@127.0.0.1:PORT/nosuch_sesam", ERR_DB_MISSING},
        {"mariadb://r_NAME:sesame@127.0.0.1:PORT/mysql", ERR_DB_UNREADABLE},
        {"mariadb://me:sesame@127.0.0.1:1/shop", ERR_UNREACHABLE},
        {"mariadb://me:sesame@127.0.0.1:sesame/shop", ERR_DB_MISSING},
        {"mariadb://me:ses@ame@127.0.0.1/shop?sesame=1", ERR_DB_MISSING},
        {"mariadb://me:sesame@127.0.0.1/", ERR_DB_MISSING},
        {"mariadb://me@127.0.0.1/shop?ssl_mode=sesame", ERR_DB_MISSING},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        parts = g_strsplit(cases[i].url, "NAME", -1);
        url = g_strjoinv(server.name, parts);
        g_strfreev(parts);
        parts = g_strsplit(url, "PORT", -1);
        g_free(url);
        url = g_strjoinv(port, parts);
        g_strfreev(parts);
        expect_no_secret(url, cases[i].code);
        g_free(url);
    }
    g_free(port);
}

/* --- bounds ------------------------------------------------------------------------------------------------------- */

static bool nothing_runs(void *unused)
{
    (void)unused;
    char *n = server_ask(&server, "SELECT count(*) FROM information_schema.processlist WHERE user LIKE 'r\\_assay%' AND"
                                  " command = 'Query'");
    bool none = strcmp(n, "0") == 0;
    g_free(n);
    return none;
}

Test(mariadb, time_limit_stops_statement)
{
    struct err err;
    db_set_limits(server.db, &(struct db_limits){.time_ms = 200});
    int64_t start = clock_now_ns();
    cr_expect_eq(fail(endless, &err), ERR_LIMIT_TIME, "%s", err.text);
    cr_expect_lt(clock_ms(clock_now_ns() - start), 200 + 250 + 1000, "with room for a busy machine");
    cr_expect(wait_until(nothing_runs, NULL, 5000));
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 3);
}

Test(mariadb, deadline_is_distinct_from_time_limit)
{
    struct err err;
    db_set_deadline(server.db, clock_now_ns() + 200 * 1000000LL);
    cr_expect_eq(fail(endless, &err), ERR_DEADLINE, "%s", err.text);
    cr_expect_eq(fail("SELECT 1", &err), ERR_DEADLINE, "%s", err.text);
    db_set_deadline(server.db, 0);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 3);
}

Test(mariadb, rows_bytes_and_values_are_limited)
{
    struct err err;
    db_set_limits(server.db, &(struct db_limits){.max_rows = 100});
    cr_expect_eq(fail("SELECT n FROM big", &err), ERR_LIMIT_ROWS, "%s", err.text);
    cr_expect_eq(fail("SELECT a.n FROM big a, big b LIMIT 300000000", &err), ERR_LIMIT_ROWS, "%s", err.text);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 3);
    db_set_limits(server.db, &(struct db_limits){.max_bytes = 1 << 20});
    cr_expect_eq(fail("SELECT repeat('x', 100000) FROM big", &err), ERR_LIMIT_BYTES, "%s", err.text);
    db_set_limits(server.db, &(struct db_limits){.value_bytes = 1000});
    cr_expect_eq(fail("SELECT repeat('x', 1001)", &err), ERR_LIMIT_BYTES, "%s", err.text);
    db_set_limits(server.db, &(struct db_limits){.value_bytes = 1000, .max_bytes = 1000});
    cr_expect_eq(fail("SELECT repeat('x', 3000000)", &err), ERR_LIMIT_BYTES, "%s", err.text);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 3);
}

Test(mariadb, statement_may_stop_early)
{
    static const char *const sql = "SELECT a.n FROM big a, big b, big c";
    struct db_result r;
    struct err err = {0};
    cr_assert_eq(db_query(server.db, &server.arena, sql, strlen(sql), NULL, 0, 5, &r, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(r.n_rows, 5);
    cr_expect(r.truncated);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM big"), 20000, "nothing of it sticks");
}

static bool take_int(void *out, const struct db_value *row, uint32_t n)
{
    cr_assert(n == 1 && row->type == DB_INT);
    *(int64_t *)out = row->i;
    return true;
}

static int64_t connection_id(void)
{
    int64_t id = 0;
    cr_assert_eq(db_scan(server.db, "SELECT connection_id()", take_int, &id, NULL), ERR_OK);
    return id;
}

/* Cancelling uses a second connection, so that the handle's own connection stays open. */
Test(mariadb, early_stop_keeps_connection)
{
    static const char *const statements[] = {"SELECT n FROM big", "SELECT 1 FROM big LIMIT 1",
                                             "SELECT n FROM big LIMIT 50"};
    int64_t before = connection_id();
    server_exec_named(&server, "ALTER USER r_%s@'%' WITH MAX_USER_CONNECTIONS 1");
    for (size_t i = 0; i < G_N_ELEMENTS(statements); i++) {
        struct db_result r;
        const char *sql = statements[i];
        cr_expect_eq(db_query(server.db, &server.arena, sql, strlen(sql), NULL, 0, 1, &r, NULL), ERR_OK, "%s", sql);
        cr_expect(r.n_rows == 1 && r.truncated);
        cr_expect_eq(connection_id(), before, "%s", sql);
    }
}

Test(mariadb, missing_estimate_prevents_execution)
{
    struct err err;
    db_set_limits(server.db, &(struct db_limits){.max_cost = 1e9});
    cr_expect_eq(fail("SELECT 1", &err), ERR_TOO_COSTLY, "%s", err.text);
    cr_expect_not(db_knows_cost(server.url[READER]));
}

static atomic_bool called_off;

/* Interrupts repeatedly, because an interrupt before the start of the statement has no effect. */
static bool is_heard(void *db)
{
    db_interrupt(db);
    return atomic_load(&called_off);
}

static void *interrupt_until_heard(void *db)
{
    wait_until(is_heard, db, 30000);
    return NULL;
}

Test(mariadb, another_thread_cancels_statement)
{
    struct err err;
    pthread_t thread;
    db_set_limits(server.db, &(struct db_limits){.time_ms = 60000});
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 3);
    pthread_create(&thread, NULL, interrupt_until_heard, server.db);
    int64_t start = clock_now_ns();
    cr_expect_eq(fail(endless, &err), ERR_CANCELLED, "%s", err.text);
    atomic_store(&called_off, true);
    cr_expect_lt(clock_ms(clock_now_ns() - start), 30000, "not by its time limit");
    pthread_join(thread, NULL);
    cr_expect(wait_until(nothing_runs, NULL, 5000), "it has been stopped in the server");
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 3);
}

/* --- lost connections --------------------------------------------------------------------------------------------- */

Test(mariadb, lost_connection_is_reopened)
{
    cr_expect_eq(server_int(&server, "SELECT 1"), 1);
    char *id = server_ask(&server, "SELECT max(id) FROM information_schema.processlist WHERE user LIKE 'r\\_assay%'"
                                   " AND db = DATABASE()");
    char *sql = g_strdup_printf("KILL CONNECTION %s", id);
    server_exec(&server, sql);
    g_free(sql);
    g_free(id);
    cr_expect_eq(server_int(&server, "SELECT 2"), 2);
}

Test(mariadb, locked_table_is_retryable)
{
    struct err err;
    server_exec(&server, "LOCK TABLES t WRITE");
    enum err_code code = fail("SELECT * FROM t", &err);
    server_exec(&server, "UNLOCK TABLES");
    cr_expect_eq(code, ERR_DB_LOCKED, "%s", err.text);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 3);
}

Test(peer, silent_server_is_unreachable)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof at;
    cr_assert(bind(fd, (struct sockaddr *)&at, len) == 0 && listen(fd, 4) == 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    char *url = g_strdup_printf("mariadb://me@127.0.0.1:%d/shop", ntohs(at.sin_port));
    struct db *db;
    struct err err = {0};
    int64_t start = clock_now_ns();
    cr_expect_eq(db_open(url, &(struct db_limits){.time_ms = 500}, &db, &err), ERR_UNREACHABLE, "%s", err.text);
    cr_expect_lt(clock_ms(clock_now_ns() - start), 4000);
    g_free(url);
    close(fd);
}

/* --- TLS ---------------------------------------------------------------------------------------------------------- */

static enum err_code open_with(const char *host, const char *more, struct err *err)
{
    char *url = g_strdup_printf("mariadb://r_%s:sesame@%s:%u/%s?%s", server.name, host, server.port, server.name, more);
    struct db *db = NULL;
    *err = (struct err){0};
    enum err_code code = db_open(url, NULL, &db, err);
    db_close(db);
    g_free(url);
    return code;
}

Test(mariadb, server_identity_is_verified)
{
    const char *ca = g_getenv("ASSAY_TEST_MARIADB_CA");
    struct err err;
    if (!ca) cr_skip_test("the server has no certificate");
    char *trusting = g_strdup_printf("ssl_ca=%s", ca);
    server_exec_named(&server, "ALTER USER r_%s@'%' REQUIRE SSL");
    cr_expect_eq(open_with("127.0.0.1", "ssl_mode=disable", &err), ERR_DB_UNREADABLE, "%s", err.text);
    cr_expect_eq(open_with("127.0.0.1", "ssl_mode=require", &err), ERR_OK, "%s", err.text);
    cr_expect_eq(open_with("localhost", trusting, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(open_with("127.0.0.1", "ssl_mode=verify-full", &err), ERR_DB_UNREADABLE, "%s", err.text);
    g_free(trusting);
}

/* --- the fingerprint ---------------------------------------------------------------------------------------------- */

static char last_print[33];

static bool print_has_changed(void *unused)
{
    (void)unused;
    char now[33];
    struct err err = {0};
    cr_assert_eq(db_fingerprint(server.db, now, &err), ERR_OK, "%s", err.text);
    return strcmp(now, last_print) != 0;
}

static bool is_quiet(void *unused)
{
    (void)unused;
    char one[33], two[33];
    cr_assert_eq(db_fingerprint(server.db, one, NULL), ERR_OK);
    g_usleep(1200000); /* by now the time within a fingerprint has advanced */
    cr_assert_eq(db_fingerprint(server.db, two, NULL), ERR_OK);
    memcpy(last_print, two, sizeof last_print);
    return strcmp(one, two) == 0;
}

Test(mariadb, fingerprint_follows_schema_and_data)
{
    static const char *const changes[] = {
        "ALTER TABLE t ADD COLUMN more int",     "INSERT INTO t(id) VALUES (50)",
        "UPDATE t SET name = 'x' WHERE id = 50", "DELETE FROM t WHERE id = 50",
        "CREATE VIEW v AS SELECT id FROM t",     "CREATE OR REPLACE VIEW v AS SELECT id + 1 AS id FROM t",
        "ALTER TABLE t COMMENT 'of all'",        "CREATE UNIQUE INDEX i ON t(name)",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
        cr_assert(wait_until(is_quiet, NULL, 20000), "never quiet before: %s", changes[i]);
        server_exec(&server, changes[i]);
        cr_expect(wait_until(print_has_changed, NULL, 5000), "%s", changes[i]);
    }
}

/* --- statements that run on --------------------------------------------------------------------------------------- */

static bool are_gone(void *url)
{
    return db_abandoned_ask(url, NULL) == ERR_OK && db_abandoned(url).running == 0;
}

Test(mariadb, abandoned_statement_is_counted_until_gone)
{
    struct db_result result;
    char *url = server.url[READER];
    server_exec(&server, "CREATE TABLE large(a longtext, b longtext); INSERT INTO large SELECT REPEAT('a', 300000), "
                         "CONCAT(REPEAT('a', 5000), 'b')");
    db_set_limits(server.db, &(struct db_limits){.time_ms = 300});
    cr_expect_eq(server_query(&server, "SELECT LOCATE(b, a) FROM large", &result, NULL), ERR_LIMIT_TIME);
    cr_expect_eq(db_abandoned(url).running, 1);
    cr_expect_eq(db_abandoned_ask(url, NULL), ERR_OK);
    cr_expect_eq(db_abandoned(url).running, 1, "the server still runs it");
    cr_expect_eq(server_query(&server, "SELECT count(*) FROM t", &result, NULL), ERR_OK, "the handle connects anew");
    cr_expect(wait_until(are_gone, url, 60000));
    cr_expect_eq(db_abandoned(url).ever, 1);
}
