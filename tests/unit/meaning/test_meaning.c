/* Compares meanings with golden cases (tests/data/meaning/README.md): spellings that mean the same, and similar ones
 * that do not. */
#include "lib/meaning/meaning.h"
#include "tests/support/catalog_sqlite.h"
#include "tests/support/leak.h"
#include "tests/unit/sql/cases.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

TestSuite(meaning, .timeout = 300);

static struct catalog_sqlite *catalog; /* catalog of the current schema */
static const char *catalog_schema;

/* Reads the meaning of a statement. Fails the test if the statement does not bind. */
static struct meaning *read_sql(struct arena *arena, const struct golden_case *c, const char *sql)
{
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    struct meaning *m = NULL;
    cr_assert_eq(sql_parse(arena, sql, strlen(sql), NULL, &stmt), ERR_OK, "%s:%d: %s", c->file, c->line, sql);
    enum err_code code = sql_bind(arena, stmt, &catalog->catalog, &bound);
    cr_assert_eq(code, ERR_OK, "%s:%d: %s: %s", c->file, c->line, sql, code && bound ? bound->diags->message : "");
    cr_assert_eq(meaning_read(arena, bound, &m), ERR_OK);
    cr_assert_not_null(m, "%s:%d: %s", c->file, c->line, sql);
    return m;
}

/* Returns the lines of the case that begin with `is:`. */
static char *expected_text(const struct golden_case *c)
{
    GString *text = g_string_new(NULL);
    for (size_t i = 0; i < c->n_fields; i++)
        if (g_str_equal(c->fields[i].key, "is")) g_string_append_printf(text, "%s\n", c->fields[i].value);
    return g_string_free(text, FALSE);
}

/* Returns the lines without the spaces that align them. */
static char *plain_lines(const char *text)
{
    GString *plain = g_string_new(NULL);
    for (const char *at = text; *at; at++) {
        bool space = *at == ' ' && (plain->len == 0 || strchr(" \n", plain->str[plain->len - 1]));
        if (!space) g_string_append_c(plain, *at);
    }
    return g_string_free(plain, FALSE);
}

static void expect_form(struct arena *arena, const struct golden_case *c, const struct meaning *m, const char *key,
                        const char *sql)
{
    const struct meaning *other = read_sql(arena, c, sql);
    bool same = g_str_equal(key, "same");
    char *a = meaning_print(arena, m), *b = meaning_print(arena, other);
    cr_expect_eq(g_str_equal(a, b), same, "%s:%d %s: %s: %s\n%s%s", c->file, c->line, c->name, key, sql, a, b);
    cr_expect_eq(m->hash == other->hash, same, "%s:%d %s: hash: %s\n%s%s", c->file, c->line, c->name, sql, a, b);
}

static void check_case(const struct golden_case *c, void *self)
{
    struct arena arena;
    if (catalog_schema != c->schema) {
        catalog_sqlite_free(catalog);
        catalog = catalog_sqlite_script(c->schema);
        catalog_schema = c->schema;
    }
    cr_assert_not_null(catalog, "%s:%d: the schema is not valid", c->file, c->line);
    arena_init(&arena, 0);
    const struct meaning *m = read_sql(&arena, c, case_get(c, "sql"));
    char *printed = meaning_print(&arena, m), *expected = expected_text(c), *plain = plain_lines(printed),
         *wanted = plain_lines(expected);
    if (*expected) cr_expect_str_eq(plain, wanted, "%s:%d %s\n%s", c->file, c->line, c->name, printed);
    for (size_t i = 0; i < c->n_fields; i++)
        if (g_str_equal(c->fields[i].key, "same") || g_str_equal(c->fields[i].key, "other"))
            expect_form(&arena, c, m, c->fields[i].key, c->fields[i].value);
    g_free(expected);
    g_free(plain);
    g_free(wanted);
    arena_free(&arena);
    ++*(unsigned *)self;
}

Test(meaning, golden_cases)
{
    unsigned n = 0;
    GDir *folder = g_dir_open(TEST_DATA "/meaning", 0, NULL);
    cr_assert_not_null(folder);
    for (const char *name; (name = g_dir_read_name(folder));) {
        char *path = g_strdup_printf("../meaning/%s", name);
        if (g_str_has_suffix(name, ".case")) cases_each(path, check_case, &n);
        catalog_schema = NULL;
        g_free(path);
    }
    g_dir_close(folder);
    catalog_sqlite_free(catalog);
    catalog = NULL;
    cr_expect_geq(n, 25);
    leak_check();
}

/* --- large statements --- */

static char *repeat_text(const char *before, const char *each, unsigned n, const char *after)
{
    GString *text = g_string_new(before);
    for (unsigned i = 0; i < n; i++) g_string_append(text, each);
    return g_string_free(g_string_append(text, after), FALSE);
}

/* Returns a statement with n CTEs. Each adds the column of the previous one to itself, which makes a term of size
 * 2^n. */
static char *double_ctes(unsigned n)
{
    GString *text = g_string_new("WITH c0 AS (SELECT a FROM t)");
    for (unsigned i = 1; i < n; i++) g_string_append_printf(text, ", c%u AS (SELECT a + a AS a FROM c%u)", i, i - 1);
    g_string_append_printf(text, " SELECT a FROM c%u WHERE a > 1 GROUP BY a HAVING a < 9", n - 1);
    return g_string_free(text, FALSE);
}

/* Returns a statement with n CTEs, each of which reads the previous one `times` times. */
static char *chain_ctes(unsigned n, unsigned times)
{
    GString *text = g_string_new("WITH c0 AS (SELECT a FROM t)");
    for (unsigned i = 1; i < n; i++)
        g_string_append_printf(text,
                               times == 1 ? ", c%u AS (SELECT a + 1 AS a FROM c%u)"
                                          : ", c%u AS (SELECT x.a AS a FROM c%u x JOIN c%u y ON x.a = y.a)",
                               i, i - 1, i - 1);
    g_string_append_printf(text, " SELECT a FROM c%u", n - 1);
    return g_string_free(text, FALSE);
}

static void expect_unknown(struct arena *arena, const struct golden_case *c, const char *sql)
{
    const struct meaning *m = read_sql(arena, c, sql);
    cr_expect_gt(m->n_unknown, 0, "%s", sql);
    cr_expect_eq(m->hash, 0, "%s", sql);
}

Test(meaning, unknown_parts_have_no_hash)
{
    static const struct golden_case none = {.file = "unknown", .name = "unknown"};
    static const char *const statements[] = {
        "SELECT * FROM t x JOIN t y ON x.a = y.b", "SELECT t.a FROM t FULL JOIN u ON t.a = u.a",
        "SELECT a FROM t WHERE a = ? OR b = ?",    "SELECT random() FROM t",
        "SELECT DISTINCT ON (a) a, b FROM t",      "VALUES (1)",
    };
    struct arena arena;
    arena_init(&arena, 0);
    catalog = catalog_sqlite_script("CREATE TABLE t (a INTEGER, b INTEGER); CREATE TABLE u (a INTEGER)");
    for (size_t i = 0; i < G_N_ELEMENTS(statements); i++) expect_unknown(&arena, &none, statements[i]);
    arena_free(&arena);
    catalog_sqlite_free(catalog);
    catalog = NULL;
    leak_check();
}

Test(meaning, large_statements_are_bounded, .timeout = 60)
{
    static const struct golden_case none = {.file = "large", .name = "large"};
    char *statements[] = {
        repeat_text("SELECT a FROM t WHERE b = 0", " AND a <> 1 + b", 900, ""),
        repeat_text("SELECT a FROM t WHERE b = 0", " OR a > b AND b > 1", 900, ""),
        repeat_text("SELECT ", "(SELECT max(a) FROM t WHERE b = ", 40, "1"),
        repeat_text("SELECT a", " + a", 900, " FROM t"),
        chain_ctes(300, 1),
        chain_ctes(60, 2),
        double_ctes(60),
        g_strdup("SELECT \" strftime\"('%Y', a), \"\"(1) FROM t"),
    };
    char *closed = repeat_text(statements[2], ")", 40, "");
    g_free(statements[2]);
    statements[2] = closed;
    catalog = catalog_sqlite_script("CREATE TABLE t (a INTEGER, b INTEGER)");
    for (size_t i = 0; i < G_N_ELEMENTS(statements); i++) {
        struct arena arena;
        arena_init(&arena, 0);
        const struct meaning *m = read_sql(&arena, &none, statements[i]);
        cr_expect_not_null(meaning_print(&arena, m));
        cr_expect_lt(arena.used, 48U << 20, "%zu: %zu bytes", i, arena.used);
        arena_free(&arena);
        g_free(statements[i]);
    }
    catalog_sqlite_free(catalog);
    catalog = NULL;
    leak_check();
}
