/* Runs statements in a real PostgreSQL: values, errors and bounds. No statement may affect a later one. */
#include "lib/base/clock.h"
#include "lib/db/postgres_gate.h"
#include "tests/live/postgres/server.h"
#include "tests/support/wait.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <signal.h>
#include <sys/socket.h>
#include <string.h>
#include <unistd.h>

#define SCHEMA                                                                                                         \
    "CREATE TABLE t(id integer PRIMARY KEY, name text, price numeric(8,2), part double precision, ok boolean,"         \
    " raw bytea, day date, pad char(6), small smallint, large bigint);"                                                \
    "INSERT INTO t VALUES (1, 'one', 2.50, 0.1, true, '\\x00ff41', '2026-03-01', 'ab', 7, 9007199254740993),"          \
    " (2, 'zwölf', 3.00, 2, false, '\\x', '1999-12-31', 'abcdef', -7, -1), (3, NULL, NULL, NULL, NULL, NULL, NULL,"   \
    " NULL, NULL, NULL);"

/* The same data in SQLite, for comparison. */
#define TWIN                                                                                                           \
    "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, price REAL, part REAL, ok INTEGER, raw BLOB, day TEXT,"         \
    " pad TEXT, small INTEGER, large INTEGER);"                                                                        \
    "INSERT INTO t VALUES (1, 'one', 2.50, 0.1, 1, x'00ff41', '2026-03-01', 'ab', 7, 9007199254740993),"               \
    " (2, 'zwölf', 3.00, 2, 0, x'', '1999-12-31', 'abcdef', -7, -1), (3, NULL, NULL, NULL, NULL, NULL, NULL, NULL,"   \
    " NULL, NULL);"

static struct server server;

static void begin(void)
{
    server_init(&server, SCHEMA);
    server_open(&server, READER, NULL);
}

static void end(void)
{
    if (server.admin) server_end(&server);
}

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

Test(postgres, digests_match_sqlite, .init = begin, .fini = end)
{
    static const char *const queries[] = {
        "SELECT * FROM t ORDER BY id",
        "SELECT name, id FROM t WHERE id < 3 ORDER BY id DESC",
        "SELECT count(*), sum(small), avg(small), min(part), max(name) FROM t",
        "SELECT avg(large), sum(part) FROM t WHERE id = 2",
        "SELECT price * 2, part + 1, id / 2, length(name), upper(pad) FROM t WHERE id < 3",
        "SELECT day, count(*) FROM t WHERE day IS NOT NULL GROUP BY day ORDER BY day DESC",
        "SELECT 1 WHERE 1 = 2",
        "VALUES (1, 'a'), (2, NULL)",
        "WITH c AS (SELECT id FROM t) SELECT a.id, b.name FROM c AS a LEFT JOIN t AS b ON b.id = a.id + 1",
        "SELECT CASE WHEN id > 1 THEN 'x' ELSE 'y' END, coalesce(name, '-'), id || '-' || pad FROM t ORDER BY 1",
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

Test(postgres, special_values_are_read, .init = begin, .fini = end)
{
    struct db_result r;
    struct err err = {0};
    cr_assert_eq(
        server_query(&server,
                     "SELECT 'NaN'::float8, 'NaN'::numeric, '-Infinity'::float8, 1e30::numeric, 18446744073709551615,"
                     " '2026-01-02 03:04:05.5'::timestamp, interval '1 day 2 hours', ARRAY[1,2], ''::text,"
                     " timestamptz '2026-01-02 03:04:05+02'",
                     &r, &err),
        ERR_OK, "%s", err.text);
    const struct db_value *v = r.values;
    cr_expect(v[0].type == DB_TEXT && strcmp(v[0].text, "NaN") == 0);
    cr_expect(v[1].type == DB_TEXT && strcmp(v[1].text, "NaN") == 0);
    cr_expect(v[2].type == DB_FLOAT && v[2].f < -1e308);
    cr_expect(v[3].type == DB_FLOAT && v[3].f == 1e30);
    cr_expect(v[4].type == DB_FLOAT && v[4].f == 18446744073709551615.0);
    cr_expect_str_eq(v[5].text, "2026-01-02 03:04:05.5");
    cr_expect_str_eq(v[6].text, "1 day 02:00:00");
    cr_expect_str_eq(v[7].text, "{1,2}");
    cr_expect(v[8].type == DB_TEXT && v[8].len == 0);
    cr_expect_str_eq(v[9].text, "2026-01-02 01:04:05+00");
}

Test(postgres, parameters_are_bound, .init = begin, .fini = end)
{
    struct db_value params[] = {{.type = DB_INT, .i = 2},
                                {.type = DB_TEXT, .text = "x'; DROP TABLE t", .len = 16},
                                {.type = DB_FLOAT, .f = 1.5},
                                {.type = DB_BLOB, .text = "\0\377A", .len = 3},
                                {.type = DB_NULL}};
    const char *sql = "SELECT id, $2::text, $3 + 1, (SELECT name FROM t WHERE raw = $4), $5::text FROM t WHERE id = $1";
    struct db_result r;
    struct err err = {0};
    cr_assert_eq(db_query(server.db, &server.arena, sql, strlen(sql), params, 5, 0, &r, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(r.n_rows, 1);
    cr_expect_eq(r.values[0].i, 2);
    cr_expect_str_eq(r.values[1].text, "x'; DROP TABLE t");
    cr_expect_eq(r.values[2].f, 2.5);
    cr_expect_str_eq(r.values[3].text, "one");
    cr_expect_eq(r.values[4].type, DB_NULL);
    cr_assert_eq(db_query(server.db, &server.arena, sql, strlen(sql), params, 4, 0, &r, &err), ERR_ENGINE);
}

/* --- errors ------------------------------------------------------------------------------------------------------- */

Test(postgres, errors_have_codes_texts_and_offsets, .init = begin, .fini = end)
{
    static const struct {
        const char *sql;
        enum err_code code;
        const char *part; /* part of the text, in which the error is expected */
        const char *at;   /* text at the error's offset, or NULL if it has no offset */
    } cases[] = {
        {"SELECT nam FROM t", ERR_ENGINE, "42703", "nam"},
        {"SELECT 'zwölf € 𝄞', nam FROM t", ERR_ENGINE, "42703", "nam"},
        {"SELECT * FROM tt", ERR_ENGINE, "42P01", "tt"},
        {"SELECT name, count(*) FROM t", ERR_ENGINE, "42803", "name"},
        {"SELECT nosuch(id) FROM t", ERR_REFUSED, "nosuch", NULL},
        {"SELECT lower(1, 2) FROM t", ERR_ENGINE, "42883", "lower"},
        {"SELECT id FROM t WHERE", ERR_ENGINE, "42601", ""},
        {"SELECT FROM WHERE", ERR_ENGINE, "42601", "WHERE"},
        {"SELECT id FROM t GROUP BY name + 1", ERR_ENGINE, "42883", "+"},
        {"SELECT 1 = 'a'", ERR_ENGINE, "22P02", "'a'"},
        {"SELECT id FROM t WHERE name LIKE ANY (SELECT", ERR_ENGINE, "42601", ""},
        {"DELETE FROM t", ERR_REFUSED, "DELETE", NULL},
        {"SELECT 1; SELECT 2", ERR_REFUSED, "statement", NULL},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const char *sql = cases[i].sql;
        struct err err = {0};
        int offset = 0;
        enum err_code code = db_prepare_check(server.db, sql, strlen(sql), &offset, &err);
        cr_expect_eq(code, cases[i].code, "%s: %s %s", sql, err_name(code), err.text);
        cr_expect(strstr(err.text, cases[i].part) != NULL, "%s: %s", sql, err.text);
        const char *at = offset < 0 ? NULL : sql + offset;
        bool right = cases[i].at ? at && g_str_has_prefix(at, cases[i].at) && (*cases[i].at || !*at) : !at;
        cr_expect(right, "%s: at %d", sql, offset);
        code = fail(sql, &err);
        cr_expect_eq(code, cases[i].code, "run: %s: %s %s", sql, err_name(code), err.text);
    }
    struct err err;
    cr_expect_eq(fail("SELECT nam FROM t", &err), ERR_ENGINE);
    cr_expect(strstr(err.text, "name") != NULL, "the server's hint is passed on: %s", err.text);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 3);
}

Test(postgres, check_executes_nothing, .init = begin, .fini = end)
{
    static const char *const sql = "SELECT 1 / (id - id) FROM t";
    struct err err = {0};
    cr_expect_eq(db_prepare_check(server.db, sql, strlen(sql), NULL, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(fail(sql, &err), ERR_ENGINE);
    cr_expect(strstr(err.text, "22012") != NULL, "%s", err.text);
}

Test(postgres, unreadable_table_is_refused, .init = begin, .fini = end)
{
    server_exec(&server, "CREATE TABLE hidden(a int)");
    char *sql = g_strdup_printf("REVOKE ALL ON hidden FROM %s", server.name);
    server_exec(&server, sql);
    g_free(sql);
    struct err err;
    cr_expect_eq(fail("SELECT * FROM hidden", &err), ERR_REFUSED, "%s", err.text);
}

Test(postgres, texts_show_no_secret)
{
    static const char *const dsns[] = {
        "postgresql://me:sesame@127.0.0.1:1/shop",      "host=127.0.0.1 port=1 user=me password=sesame",
        "host=127.0.0.1 port=1 password='sesame",       "postgresql://me:sesame@[127.0.0.1:1/shop",
        "host=127.0.0.1 password=sesame nonsense",      "postgresql://me:sesame@127.0.0.1:sesame/shop",
        "host=127.0.0.1 port=1 passwort=sesame user=x", "postgresql://me:sesame@127.0.0.1:1/shop?sesame=1",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(dsns); i++) {
        struct db *db;
        struct err err = {0};
        enum err_code code = db_open(dsns[i], NULL, &db, &err);
        cr_expect(code == ERR_UNREACHABLE || code == ERR_DB_MISSING, "%s: %s", dsns[i], err_name(code));
        cr_expect(err.text[0] && !strstr(err.text, "sesame"), "%s: %s", dsns[i], err.text);
    }
}

Test(postgres, missing_server_or_database_is_reported)
{
    const char *dsn = getenv("ASSAY_TEST_POSTGRES");
    if (!dsn) cr_skip_test("ASSAY_TEST_POSTGRES names no server");
    struct db *db;
    struct err err = {0};
    char *wrong = g_strdup_printf("%s dbname=assay_nowhere", dsn);
    cr_expect_eq(db_open(wrong, NULL, &db, &err), ERR_DB_MISSING, "%s", err.text);
    g_free(wrong);
    wrong = g_strdup_printf("%s user=assay_nobody", dsn);
    cr_expect_eq(db_open(wrong, NULL, &db, &err), ERR_DB_UNREADABLE, "%s", err.text);
    g_free(wrong);
    server_init(&server, NULL);
    cr_expect_eq(db_open(server.dsn[READER], NULL, &db, &err), ERR_DB_EMPTY, "%s", err.text);
    server_end(&server);
}

/* --- bounds ------------------------------------------------------------------------------------------------------- */

static const char endless[] = "SELECT count(*) FROM generate_series(1, 1000000000000)";

Test(postgres, time_rows_and_bytes_are_bounded, .init = begin, .fini = end)
{
    struct err err;
    db_set_limits(server.db,
                  &(struct db_limits){.time_ms = 200, .max_rows = 100, .max_bytes = 10000, .value_bytes = 500});
    int64_t start = clock_now_ns();
    cr_expect_eq(fail(endless, &err), ERR_LIMIT_TIME, "%s", err.text);
    cr_expect_lt(clock_ms(clock_now_ns() - start), 10000);
    cr_expect_eq(fail("SELECT generate_series(1, 101)", &err), ERR_LIMIT_ROWS, "%s", err.text);
    cr_expect_eq(fail("SELECT repeat('x', 501)", &err), ERR_LIMIT_BYTES, "%s", err.text);
    cr_expect_eq(fail("SELECT repeat('x', 400) FROM generate_series(1, 50)", &err), ERR_LIMIT_BYTES, "%s", err.text);
    db_set_limits(server.db, &(struct db_limits){.time_ms = 20000});
    cr_expect_eq(fail("SELECT repeat('x', 100000000)", &err), ERR_LIMIT_BYTES, "%s", err.text);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 3);
    db_set_deadline(server.db, clock_now_ns() + 50000000);
    cr_expect_eq(fail(endless, &err), ERR_DEADLINE, "%s", err.text);
    cr_expect_eq(fail("SELECT 1", &err), ERR_DEADLINE, "%s", err.text);
    db_set_deadline(server.db, 0);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 3);
}

Test(postgres, statement_may_stop_early, .init = begin, .fini = end)
{
    static const char *const sql = "SELECT generate_series(1, 1000000000) AS x";
    struct db_result r;
    struct err err = {0};
    cr_assert_eq(db_query(server.db, &server.arena, sql, strlen(sql), NULL, 0, 5, &r, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(r.n_rows, 5);
    cr_expect(r.truncated);
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

Test(postgres, another_thread_cancels_statement, .init = begin, .fini = end)
{
    struct err err;
    pthread_t thread;
    db_set_limits(server.db, &(struct db_limits){.time_ms = 60000});
    pthread_create(&thread, NULL, interrupt_until_heard, server.db);
    int64_t start = clock_now_ns();
    cr_expect_eq(fail(endless, &err), ERR_CANCELLED, "%s", err.text);
    atomic_store(&called_off, true);
    cr_expect_lt(clock_ms(clock_now_ns() - start), 30000, "not by its time limit");
    pthread_join(thread, NULL);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 3);
}

static bool nothing_runs(void *unused)
{
    (void)unused;
    char *n = server_ask(&server, "SELECT count(*) FROM pg_stat_activity WHERE usename LIKE 'assay_test%'"
                                  " AND datname = current_database() AND state = 'active'");
    bool none = strcmp(n, "0") == 0;
    g_free(n);
    return none;
}

Test(postgres, stopped_statement_no_longer_runs_in_server, .init = begin, .fini = end)
{
    struct err err;
    db_set_limits(server.db, &(struct db_limits){.time_ms = 150});
    cr_expect_eq(fail(endless, &err), ERR_LIMIT_TIME);
    cr_expect(wait_until(nothing_runs, NULL, 5000));
}

Test(postgres, lost_connection_is_reopened, .init = begin, .fini = end)
{
    cr_expect_eq(server_int(&server, "SELECT 1"), 1);
    g_free(server_ask(&server, "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity"
                               " WHERE datname = current_database() AND pid <> pg_backend_pid()"));
    cr_expect_eq(server_int(&server, "SELECT 2"), 2);
}

Test(postgres, locked_table_is_retryable, .init = begin, .fini = end)
{
    struct err err;
    server_exec(&server, "BEGIN; LOCK TABLE t IN ACCESS EXCLUSIVE MODE");
    enum err_code code = fail("SELECT * FROM t", &err);
    server_exec(&server, "ROLLBACK");
    cr_expect_eq(code, ERR_DB_LOCKED, "%s", err.text);
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 3);
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

static void keep_print(void)
{
    struct err err = {0};
    cr_assert_eq(db_fingerprint(server.db, last_print, &err), ERR_OK, "%s", err.text);
}

Test(postgres, fingerprint_follows_schema_and_data, .init = begin, .fini = end)
{
    static const char *const changes[] = {
        "ALTER TABLE t ADD COLUMN more int",     "INSERT INTO t(id) VALUES (50)",
        "UPDATE t SET name = 'x' WHERE id = 50", "DELETE FROM t WHERE id = 50",
        "CREATE VIEW v AS SELECT id FROM t",     "CREATE OR REPLACE VIEW v AS SELECT id + 1 AS id FROM t",
        "COMMENT ON TABLE t IS 'of all'",        "TRUNCATE t",
        "CREATE UNIQUE INDEX ON t(name)",
    };
    for (size_t i = 0; i < G_N_ELEMENTS(changes); i++) {
        keep_print();
        cr_expect_not(print_has_changed(NULL), "unchanged before: %s", changes[i]);
        server_exec(&server, changes[i]);
        server_exec(&server, "SELECT pg_stat_force_next_flush()");
        cr_expect(wait_until(print_has_changed, NULL, 5000), "%s", changes[i]);
    }
}

Test(postgres, fingerprint_reports_hidden_changes, .init = begin, .fini = end)
{
    static const struct {
        const char *change;
        bool tells;
    } steps[] = {
        {"SELECT 1", true},
        {"CREATE VIEW v AS SELECT id FROM t", true},
        {"CREATE SCHEMA other; CREATE TABLE other.hidden(a int); CREATE VIEW w AS SELECT a FROM other.hidden", false},
        {"DROP VIEW w", true}};
    cr_expect_not(db_tells_changes(server.db), "it has not looked");
    for (size_t i = 0; i < G_N_ELEMENTS(steps); i++) {
        server_exec(&server, steps[i].change);
        keep_print();
        cr_expect_eq(db_tells_changes(server.db), steps[i].tells, "%s", steps[i].change);
    }
}

Test(postgres, late_counters_change_fingerprint, .init = begin, .fini = end)
{
    server_exec(&server, "INSERT INTO t(id) VALUES (50)");
    keep_print(); /* perhaps taken before the insertion is counted */
    server_exec(&server, "INSERT INTO t(id) VALUES (51)");
    print_has_changed(NULL);
    cr_expect(wait_until(print_has_changed, NULL, 15000));
}

Test(postgres, writes_elsewhere_keep_fingerprint, .init = begin, .fini = end)
{
    server_exec(&server, "CREATE SCHEMA other; CREATE TABLE other.t(a int)");
    server_exec(&server, "SELECT pg_stat_force_next_flush()");
    keep_print();
    server_exec(&server, "INSERT INTO other.t VALUES (1)");
    server_exec(&server, "ANALYZE t");
    server_exec(&server, "SELECT pg_stat_force_next_flush()");
    cr_expect_not(print_has_changed(NULL));
}

/* --- servers that do not answer ----------------------------------------------------------------------------------- */

/* Returns the process id of the handle's backend, which the test stops as a debugger would. Returns 0 if this process
 * may not stop it. */
static int backend_of_handle(void)
{
    char *pid =
        server_ask(&server, "SELECT coalesce(max(pid), 0) FROM pg_stat_activity WHERE usename LIKE 'assay_test%'"
                            " AND datname = current_database() AND backend_type = 'client backend'");
    int backend = (int)g_ascii_strtoll(pid, NULL, 10);
    g_free(pid);
    return backend;
}

Test(postgres, hanging_server_is_abandoned, .init = begin, .fini = end)
{
    struct err err;
    db_set_limits(server.db, &(struct db_limits){.time_ms = 300});
    cr_expect_eq(server_int(&server, "SELECT 1"), 1);
    int backend = backend_of_handle();
    cr_assert_gt(backend, 0);
    if (kill(backend, SIGSTOP) != 0) cr_skip_test("the server is another user's");
    int64_t start = clock_now_ns();
    enum err_code code = fail("SELECT count(*) FROM t", &err);
    double ms = clock_ms(clock_now_ns() - start);
    kill(backend, SIGCONT);
    cr_expect_eq(code, ERR_LIMIT_TIME, "%s %s", err_name(code), err.text);
    cr_expect_lt(ms, 300 + 250 + 1000, "with room for a busy machine");
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 3, "by a new connection");
}

/* Returns the least time of several attempts, because a busy machine only adds time. */
static double least_past_limit(const char *sql, int64_t limit_ms)
{
    double least = 1e9;
    struct err err;
    db_set_limits(server.db, &(struct db_limits){.time_ms = limit_ms});
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(server_int(&server, "SELECT 1"), 1);
        int64_t start = clock_now_ns();
        cr_expect_eq(fail(sql, &err), ERR_LIMIT_TIME, "%s", err.text);
        least = MIN(least, clock_ms(clock_now_ns() - start) - (double)limit_ms);
    }
    return least;
}

/* Casts some megabytes to jsonb. During the cast the server checks no clock and ignores cancel requests. */
Test(postgres, unstoppable_statement_returns_thread, .init = begin, .fini = end)
{
    static const char deaf[] = "SELECT count(x::jsonb) + count((x || ' ')::jsonb) + count((x || '  ')::jsonb)"
                               " FROM document";
    server_exec(&server, "CREATE TABLE document AS SELECT '[' || repeat('1,', 3000000) || '1]' AS x");
    double past_ms = least_past_limit(deaf, 200);
    cr_expect(wait_until(nothing_runs, NULL, 30000));
    cr_expect_gt(past_ms, 100, "it is not what the server can stop: %.0f ms", past_ms);
    cr_expect_leq(past_ms, 250, "%.0f ms past its limit", past_ms);
    cr_expect_leq(least_past_limit(endless, 200), 250, "what it can stop is no slower");
    cr_expect_eq(server_int(&server, "SELECT count(*) FROM t"), 3, "by a new connection");
}

Test(postgres, silent_peer_is_unreachable)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof at;
    cr_assert(bind(fd, (struct sockaddr *)&at, len) == 0 && listen(fd, 4) == 0);
    cr_assert_eq(getsockname(fd, (struct sockaddr *)&at, &len), 0);
    char *dsn = g_strdup_printf("host=127.0.0.1 port=%d dbname=shop", ntohs(at.sin_port));
    struct db *db;
    struct err err = {0};
    int64_t start = clock_now_ns();
    cr_expect_eq(db_open(dsn, &(struct db_limits){.time_ms = 500}, &db, &err), ERR_UNREACHABLE, "%s", err.text);
    cr_expect_lt(clock_ms(clock_now_ns() - start), 4000);
    g_free(dsn);
    close(fd);
}
