/* Runs the hostile statements of tests/data/hostile/mariadb.sql as an account with all rights, as a writer and as a
 * reader. After each one it checks that the server runs, the data are unchanged, no object was created, and the handle
 * still answers. */
#include "tests/live/hostile.h"
#include "tests/live/mariadb/server.h"

#include <criterion/criterion.h>
#include <glib.h>

#define SCHEMA                                                                                                         \
    "CREATE TABLE t(id integer PRIMARY KEY, name varchar(40), body text);"                                             \
    "INSERT INTO t VALUES (1, 'one', 'I'), (2, 'two', 'II'), (3, 'three', 'III');"                                     \
    "CREATE TABLE big(n integer); INSERT INTO big SELECT seq FROM seq_1_to_20000; CREATE SEQUENCE s;"                  \
    "CREATE TABLE kept(n int) ENGINE = MyISAM;"                                                                        \
    "CREATE FUNCTION evil() RETURNS int MODIFIES SQL DATA BEGIN INSERT INTO kept VALUES (1); RETURN 1; END;"           \
    "CREATE FUNCTION `sum`(x int) RETURNS int MODIFIES SQL DATA BEGIN INSERT INTO kept VALUES (2); RETURN 1; END;"     \
    "CREATE VIEW writes AS SELECT evil() AS x;"

/* The query that returns the state of the server that a statement could change, as one text. */
static const char traces[] =
    "SELECT CONCAT_WS(' ', (SELECT GROUP_CONCAT(id, name, body ORDER BY id) FROM t), (SELECT COUNT(*) FROM big),"
    " (SELECT COUNT(*) FROM kept), (SELECT next_not_cached_value FROM s), (SELECT COUNT(*) FROM "
    "information_schema.tables"
    " WHERE table_schema = DATABASE()), (SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema ="
    " DATABASE()), (SELECT COUNT(*) FROM mysql.plugin), IS_FREE_LOCK('x'))";

static struct server server;

static char *what_is_left(void *unused)
{
    (void)unused;
    return server_ask(&server, traces);
}

static struct hostile begin(enum account account)
{
    server_init(&server, SCHEMA);
    server_open(&server, account, &HOSTILE_LIMITS);
    struct hostile suite = {.db = server.db, .arena = &server.arena, .traces = what_is_left};
    hostile_begin(&suite);
    return suite;
}

static void end(struct hostile *suite)
{
    hostile_end(suite);
    server_end(&server);
}

static void run_list(enum account account)
{
    struct hostile suite = begin(account);
    hostile_attack_list(&suite, "mariadb.sql");
    for (const char *const *path = (const char *const[]){"outfile", "dumpfile", NULL}; *path; path++) {
        char *file = g_strconcat("/tmp/assay-hostile-", *path, NULL);
        cr_assert_not(g_file_test(file, G_FILE_TEST_EXISTS), "%s", file);
        g_free(file);
    }
    end(&suite);
}

Test(hostile, statements_as_account_with_all_rights, .timeout = 600)
{
    run_list(ALMIGHTY);
}

Test(hostile, statements_as_writer, .timeout = 600)
{
    run_list(WRITER);
}

Test(hostile, statements_as_reader, .timeout = 600)
{
    run_list(READER);
}

static bool take_any(void *unused, const struct db_value *row, uint32_t n)
{
    (void)unused, (void)row, (void)n;
    return true;
}

/* Tests READ ONLY alone, without the gate. It must stop writes by the program's own statements too. */
Test(hostile, read_only_transaction_prevents_writes, .timeout = 600)
{
    static const char *const statements[] = {
        "INSERT INTO t VALUES (99, 'x', 'y')",
        "UPDATE t SET name = 'x'",
        "DELETE FROM t",
        "CREATE TABLE evil(a int)",
        "DROP TABLE t",
        "TRUNCATE t",
        "SELECT evil()",
        "SELECT * FROM writes",
        "SELECT NEXT VALUE FOR s",
        "ALTER TABLE t ADD COLUMN x int",
        "SELECT 1; DROP TABLE t",
        "LOAD DATA LOCAL INFILE '/etc/passwd' INTO TABLE t",
    };
    struct hostile suite = begin(WRITER);
    for (size_t i = 0; i < G_N_ELEMENTS(statements); i++) {
        struct err err = {0};
        enum err_code code = db_scan(server.db, statements[i], take_any, NULL, &err);
        cr_expect(code == ERR_REFUSED || code == ERR_ENGINE, "%s: %s %s", statements[i], err_name(code), err.text);
        char *after = what_is_left(NULL);
        cr_expect_str_eq(after, suite.before, "%s", statements[i]);
        g_free(after);
    }
    cr_expect(hostile_session_is_clean(&suite));
    end(&suite);
}

Test(hostile, long_and_deep_statements_are_bounded, .timeout = 600)
{
    struct hostile suite = begin(READER);
    hostile_attack_repeated(&suite, "limit", "SELECT 1", " + 1", 20000, "");
    struct db_limits wide = HOSTILE_LIMITS;
    wide.sql_bytes = 4U << 20;
    db_set_limits(server.db, &wide);
    hostile_attack_repeated(&suite, "limit", "SELECT ", "(", 100000, "1");
    hostile_attack_repeated(&suite, "limit", "SELECT 1", " + 1", 100000, "");
    hostile_attack_repeated(&suite, "limit", "SELECT ", "NOT ", 100000, "1");
    hostile_attack_repeated(&suite, "limit", "SELECT ", "(SELECT ", 5000, "1");
    hostile_attack_repeated(&suite, "limit", "SELECT 1 FROM t WHERE id IN (1", ", 1", 100000, ")");
    hostile_attack_repeated(&suite, "bounded", "SELECT 1", ", 1", 5000, "");
    end(&suite);
}
