/* Hostile statements: tests/data/hostile/mariadb.sql, as an account that may do all, as a writer and as a reader. After
 * each the server lives, the data are the same, nothing was made, and the same handle answers. */
#include "lib/base/clock.h"
#include "tests/live/mariadb/server.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIME_MS = 400, WALL_MS = 5000 }; /* the second is for a busy machine under sanitizers */

#define SCHEMA                                                                                                         \
    "CREATE TABLE t(id integer PRIMARY KEY, name varchar(40), body text);"                                             \
    "INSERT INTO t VALUES (1, 'one', 'I'), (2, 'two', 'II'), (3, 'three', 'III');"                                     \
    "CREATE TABLE big(n integer); INSERT INTO big SELECT seq FROM seq_1_to_20000; CREATE SEQUENCE s;"                  \
    "CREATE TABLE kept(n int) ENGINE = MyISAM;"                                                                        \
    "CREATE FUNCTION evil() RETURNS int MODIFIES SQL DATA BEGIN INSERT INTO kept VALUES (1); RETURN 1; END;"           \
    "CREATE FUNCTION `sum`(x int) RETURNS int MODIFIES SQL DATA BEGIN INSERT INTO kept VALUES (2); RETURN 1; END;"     \
    "CREATE VIEW writes AS SELECT evil() AS x;"

/* Everything that a statement could have left behind, as one text. */
static const char traces[] =
    "SELECT CONCAT_WS(' ', (SELECT GROUP_CONCAT(id, name, body ORDER BY id) FROM t), (SELECT COUNT(*) FROM big),"
    " (SELECT COUNT(*) FROM kept), (SELECT next_not_cached_value FROM s), (SELECT COUNT(*) FROM "
    "information_schema.tables"
    " WHERE table_schema = DATABASE()), (SELECT COUNT(*) FROM information_schema.routines WHERE routine_schema ="
    " DATABASE()), (SELECT COUNT(*) FROM mysql.plugin), IS_FREE_LOCK('x'))";

static const struct db_limits LIMITS = {.time_ms = TIME_MS};

static bool fits(const char *class, enum err_code code)
{
    bool limit = code >= ERR_LIMIT_BYTES && code <= ERR_LIMIT_COUNT;
    if (strcmp(class, "limit") == 0) return limit;
    if (strcmp(class, "bounded") == 0) return code == ERR_OK || limit;
    if (strcmp(class, "said no") == 0) return code == ERR_REFUSED || code == ERR_ENGINE;
    return strcmp(class, err_name(code)) == 0;
}

struct suite {
    struct server server;
    char *before;
    unsigned n, failures;
    double slowest;
};

static void complain(struct suite *suite, const char *name, const char *what, const char *detail)
{
    fprintf(stderr, "%s: %s %s\n", name, what, detail);
    suite->failures++;
}

/* Does the session still have anything that a candidate could have set? */
static bool session_is_clean(struct suite *suite)
{
    return server_int(&suite->server, "SELECT count(*) FROM t") == 3;
}

static void attack(struct suite *suite, const char *name, const char *class, const char *sql, size_t len)
{
    struct db_result result;
    struct err err = {0};
    int64_t start = clock_now_ns();
    enum err_code code = db_query(suite->server.db, &suite->server.arena, sql, len, NULL, 0, 0, &result, &err);
    double ms = clock_ms(clock_now_ns() - start);
    if (!fits(class, code)) complain(suite, name, err_name(code), err.text);
    if (code && !err.text[0]) complain(suite, name, "no text with", err_name(code));
    if (ms > WALL_MS) complain(suite, name, "took too long", "");
    char *after = server_ask(&suite->server, traces);
    if (strcmp(after, suite->before) != 0) complain(suite, name, "left a trace:", after);
    if (!session_is_clean(suite)) complain(suite, name, "spoilt", "the handle");
    arena_reset(&suite->server.arena);
    if (ms > suite->slowest) suite->slowest = ms;
    if (getenv("ASSAY_TEST_VERBOSE")) fprintf(stderr, "%8.1f ms %-12s %s: %s\n", ms, err_name(code), name, err.text);
    suite->n++;
    g_free(after);
}

static bool take_any(void *unused, const struct db_value *row, uint32_t n)
{
    (void)unused, (void)row, (void)n;
    return true;
}

/* "\0" in the file is a NUL byte. Returns the new length. */
static size_t put_nuls(char *sql, size_t len)
{
    char *at = sql;
    while ((at = strstr(at, "\\0")) != NULL) {
        if (at[2]) { /* \005f is the statement's own */
            at += 2;
            continue;
        }
        *at++ = '\0';
        *at = '\0';
        len--;
    }
    return len;
}

static void attack_block(struct suite *suite, char *block)
{
    char *line_end = strchr(block, '\n'), *colon = g_strrstr_len(block, line_end - block, ": ");
    cr_assert_not_null(colon, "a case without a class: %s", block);
    *line_end = *colon = '\0';
    char *sql = line_end + 1;
    size_t len = put_nuls(sql, strlen(g_strchomp(sql)));
    attack(suite, block + 4, colon + 2, sql, len);
}

static void run_list(enum account account)
{
    struct suite suite = {0};
    server_init(&suite.server, SCHEMA);
    suite.before = server_ask(&suite.server, traces);
    server_open(&suite.server, account, &LIMITS);
    char *text;
    cr_assert(g_file_get_contents(TEST_DATA "/hostile/mariadb.sql", &text, NULL, NULL));
    char **blocks = g_strsplit(text, "\n\n", 0);
    for (char **block = blocks; *block; block++)
        if (g_str_has_prefix(*block, "### ")) attack_block(&suite, *block);
    g_strfreev(blocks);
    g_free(text);
    printf("%u hostile statements, the slowest took %.0f ms\n", suite.n, suite.slowest);
    cr_assert_geq(suite.n, 40);
    cr_assert_eq(suite.failures, 0);
    for (const char *const *path = (const char *const[]){"outfile", "dumpfile", NULL}; *path; path++) {
        char *file = g_strconcat("/tmp/assay-hostile-", *path, NULL);
        cr_assert_not(g_file_test(file, G_FILE_TEST_EXISTS), "%s", file);
        g_free(file);
    }
    g_free(suite.before);
    server_end(&suite.server);
}

Test(hostile, as_one_who_may_do_all, .timeout = 600)
{
    run_list(ALMIGHTY);
}

Test(hostile, as_writer, .timeout = 600)
{
    run_list(WRITER);
}

Test(hostile, as_reader, .timeout = 600)
{
    run_list(READER);
}

/* READ ONLY by itself, without the gate: what the program's own statements would be held back by. */
Test(hostile, nothing_is_written_past_the_gate_either, .timeout = 600)
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
    struct suite suite = {0};
    server_init(&suite.server, SCHEMA);
    suite.before = server_ask(&suite.server, traces);
    server_open(&suite.server, WRITER, &LIMITS);
    for (size_t i = 0; i < G_N_ELEMENTS(statements); i++) {
        struct err err = {0};
        enum err_code code = db_scan(suite.server.db, statements[i], take_any, NULL, &err);
        cr_expect(code == ERR_REFUSED || code == ERR_ENGINE, "%s: %s %s", statements[i], err_name(code), err.text);
        char *after = server_ask(&suite.server, traces);
        cr_expect_str_eq(after, suite.before, "%s", statements[i]);
        g_free(after);
    }
    cr_expect(session_is_clean(&suite));
    g_free(suite.before);
    server_end(&suite.server);
}

/* before, `part` n times, after */
static void attack_repeated(struct suite *suite, const char *class, const char *before, const char *part, unsigned n,
                            const char *after)
{
    GString *sql = g_string_new(before);
    for (unsigned i = 0; i < n; i++) g_string_append(sql, part);
    g_string_append(sql, after);
    attack(suite, part, class, sql->str, sql->len);
    g_string_free(sql, TRUE);
}

Test(hostile, long_and_deep_ones, .timeout = 600)
{
    struct suite suite = {0};
    server_init(&suite.server, SCHEMA);
    suite.before = server_ask(&suite.server, traces);
    server_open(&suite.server, READER, &LIMITS);
    attack_repeated(&suite, "limit", "SELECT 1", " + 1", 20000, "");
    struct db_limits wide = LIMITS;
    wide.sql_bytes = 4U << 20;
    db_set_limits(suite.server.db, &wide);
    attack_repeated(&suite, "limit", "SELECT ", "(", 100000, "1");
    attack_repeated(&suite, "limit", "SELECT 1", " + 1", 100000, "");
    attack_repeated(&suite, "limit", "SELECT ", "NOT ", 100000, "1");
    attack_repeated(&suite, "limit", "SELECT ", "(SELECT ", 5000, "1");
    attack_repeated(&suite, "limit", "SELECT 1 FROM t WHERE id IN (1", ", 1", 100000, ")");
    attack_repeated(&suite, "bounded", "SELECT 1", ", 1", 5000, "");
    cr_assert_eq(suite.failures, 0);
    g_free(suite.before);
    server_end(&suite.server);
}
