/* Runs the hostile statements of tests/data/hostile/sqlite.sql, and some generated ones. After each one the database
 * file has the same bytes, its folder has no new file, and the handle still answers. */
#include "lib/base/clock.h"
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TIME_MS = 300, WALL_MS = 4000 }; /* the wall-clock limit allows for a busy machine under sanitizers */

#define SCHEMA                                                                                                         \
    "CREATE TABLE t(id INTEGER PRIMARY KEY, name TEXT, body TEXT);"                                                    \
    "INSERT INTO t VALUES (1, 'one', 'I'), (2, 'two', 'II'), (3, 'three', 'III');"                                     \
    "CREATE TABLE big(n INTEGER);"                                                                                     \
    "INSERT INTO big WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c LIMIT 20000) SELECT x FROM c;"       \
    "CREATE VIEW peek AS SELECT sql FROM sqlite_master;"                                                               \
    "CREATE VIEW endless AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c) SELECT count(*) FROM c;"     \
    "CREATE VIEW caller AS SELECT load_extension('evil') FROM t;"

static const struct db_limits LIMITS = {.time_ms = TIME_MS};

static bool is_limit(enum err_code code)
{
    return code >= ERR_LIMIT_BYTES && code <= ERR_LIMIT_COUNT;
}

static bool fits(const char *class, enum err_code code)
{
    if (strcmp(class, "limit") == 0) return is_limit(code);
    if (strcmp(class, "bounded") == 0) return code == ERR_OK || is_limit(code);
    return strcmp(class, err_name(code)) == 0;
}

static char *digest_of(const char *path)
{
    size_t len;
    char *bytes = fixture_bytes(path, &len);
    cr_assert_not_null(bytes);
    char *hex = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)bytes, len);
    g_free(bytes);
    return hex;
}

struct suite {
    struct fixture f;
    char *digest;
    unsigned n, failures;
    double slowest;
};

static void suite_begin(struct suite *suite)
{
    *suite = (struct suite){0};
    fixture_init(&suite->f, SCHEMA);
    suite->digest = digest_of(suite->f.path);
    fixture_open(&suite->f, &LIMITS);
}

static void suite_end(struct suite *suite)
{
    char *now = digest_of(suite->f.path);
    cr_assert_str_eq(now, suite->digest);
    printf("%u hostile statements, the slowest took %.0f ms\n", suite->n, suite->slowest);
    cr_assert_eq(suite->failures, 0);
    g_free(now);
    g_free(suite->digest);
    fixture_end(&suite->f);
}

static void complain(struct suite *suite, const char *name, const char *what, const char *detail)
{
    fprintf(stderr, "%s: %s %s\n", name, what, detail);
    suite->failures++;
}

/* Runs one statement and checks its error class, its duration and its side effects. */
static void attack(struct suite *suite, const char *name, const char *class, const char *sql, size_t len)
{
    struct db_result result;
    struct err err = {0};
    char *before = digest_of(suite->f.path);
    int64_t start = clock_now_ns();
    enum err_code code = db_query(suite->f.db, &suite->f.arena, sql, len, NULL, 0, 0, &result, &err);
    double ms = clock_ms(clock_now_ns() - start);
    if (!fits(class, code)) complain(suite, name, err_name(code), err.text);
    if (code && !err.text[0]) complain(suite, name, "no text with", err_name(code));
    if (ms > WALL_MS) complain(suite, name, "took too long", "");
    if (fixture_files_in(suite->f.dir) != 1) complain(suite, name, "left a file in", suite->f.dir);
    char *after = digest_of(suite->f.path);
    if (strcmp(before, after) != 0) complain(suite, name, "changed", suite->f.path);
    cr_assert_eq(fixture_int(&suite->f, "SELECT 1"), 1, "%s: the handle is dead", name);
    cr_assert_eq(fixture_int(&suite->f, "SELECT count(*) FROM t"), 3);
    arena_reset(&suite->f.arena);
    if (ms > suite->slowest) suite->slowest = ms;
    if (getenv("ASSAY_TEST_VERBOSE")) fprintf(stderr, "%8.1f ms %-12s %s: %s\n", ms, err_name(code), name, err.text);
    suite->n++;
    g_free(before);
    g_free(after);
}

/* Replaces each "\0" by a NUL byte. Returns the new length. */
static size_t put_nuls(char *sql, size_t len)
{
    char *at = sql;
    while ((at = strstr(at, "\\0")) != NULL) {
        memmove(at + 1, at + 2, (size_t)(sql + len - at - 1));
        *at++ = '\0';
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

Test(hostile, listed_statements_have_no_effect, .timeout = 600)
{
    struct suite suite;
    suite_begin(&suite);
    size_t len;
    char *text = fixture_bytes(TEST_DATA "/hostile/sqlite.sql", &len);
    cr_assert_not_null(text);
    char **blocks = g_strsplit(text, "\n\n", 0);
    for (char **block = blocks; *block; block++)
        if (g_str_has_prefix(*block, "### ")) attack_block(&suite, *block);
    cr_assert_geq(suite.n, 60);
    g_strfreev(blocks);
    g_free(text);
    cr_assert_not(g_file_test("/tmp/assay-hostile-file", G_FILE_TEST_EXISTS));
    cr_assert_not(g_file_test("/tmp/assay-hostile-copy.sqlite", G_FILE_TEST_EXISTS));
    suite_end(&suite);
}

/* Attacks with a statement: `before`, then `part` n times, then `after`. */
static void attack_repeated(struct suite *suite, const char *class, const char *before, const char *part, unsigned n,
                            const char *after)
{
    GString *sql = g_string_new(before);
    for (unsigned i = 0; i < n; i++) g_string_append(sql, part);
    g_string_append(sql, after);
    attack(suite, part, class, sql->str, sql->len);
    g_string_free(sql, TRUE);
}

Test(hostile, long_and_deep_statements_are_bounded, .timeout = 600)
{
    struct suite suite;
    suite_begin(&suite);
    attack_repeated(&suite, "limit", "SELECT 1", " + 1", 20000, ""); /* exceeds the maximum length of a statement */
    struct db_limits wide = LIMITS;
    wide.sql_bytes = 4U << 20;
    db_set_limits(suite.f.db, &wide);
    attack_repeated(&suite, "limit", "SELECT ", "(", 100000, "1");
    attack_repeated(&suite, "limit", "SELECT 1", " + 1", 100000, "");
    attack_repeated(&suite, "limit", "SELECT id FROM t WHERE id = 1", " OR id = 2", 5000, "");
    attack_repeated(&suite, "limit", "SELECT ", "NOT ", 100000, "1");
    attack_repeated(&suite, "limit", "SELECT ", "- ", 100000, "1");
    attack_repeated(&suite, "limit", "SELECT 1", " UNION ALL SELECT 1", 100, "");
    attack_repeated(&suite, "limit", "SELECT 1", " UNION SELECT 1", 10000, "");
    attack_repeated(&suite, "limit", "SELECT ", "(SELECT ", 5000, "1");
    attack_repeated(&suite, "limit", "SELECT * FROM ", "(SELECT * FROM ", 5000, "t");
    attack_repeated(&suite, "limit", "SELECT 1", ", 1", 10000, "");
    attack_repeated(&suite, "limit", "SELECT max(1", ", 1", 10000, ")");
    attack_repeated(&suite, "bounded", "SELECT 1 FROM t WHERE id IN (1", ", 1", 100000, ")");
    attack_repeated(&suite, "bounded", "VALUES (1)", ", (1)", 100000, "");
    attack_repeated(&suite, "bounded", "SELECT 1 FROM t ORDER BY 1", ", 1", 10000, "");
    attack_repeated(&suite, "limit", "SELECT CASE 1", " WHEN 1 THEN 1", 100000, " END");
    attack_repeated(&suite, "engine", "WITH a AS (SELECT 1)", ", a AS (SELECT 1)", 10, " SELECT * FROM b");
    suite_end(&suite);
}
