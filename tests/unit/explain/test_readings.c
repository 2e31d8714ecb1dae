/* Compares clarification questions with the golden cases of tests/data/explain/readings.case. */
#include "lib/explain/readings.h"
#include "tests/support/leak.h"
#include "tests/unit/explain/ground.h"
#include "tests/unit/signals/case_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct told {
    const struct case_file *file;
    const char *name;
    struct ground ground;
    struct explain_statement readings[EXPLAIN_MAX_READINGS + 1];
    uint32_t n;
    unsigned asked, failures;
};

static bool is(const struct case_line *line, const char *key)
{
    return strcmp(line->key, key) == 0;
}

static char *as_lines(enum err_code code, const struct explain_readings *out, const struct err *err)
{
    GString *text = g_string_new(NULL);
    if (code) g_string_append_printf(text, "refused: %s\n", err->text);
    if (!code) g_string_append_printf(text, "ask: %s\n", out->question);
    for (uint32_t i = 0; !code && i < out->n; i++) g_string_append_printf(text, "choice: %s\n", out->choices[i]);
    return g_string_free(text, FALSE);
}

static bool is_expected(const struct case_line *line)
{
    return is(line, "ask") || is(line, "choice") || is(line, "refused");
}

/* Prints the readings of a case and compares them with the expected lines from `at` on. Returns the index of the line
 * after these. */
static guint check(struct told *told, guint at)
{
    struct explain_readings out;
    struct err err = {0};
    struct arena arena;
    GString *wanted = g_string_new(NULL);
    for (; at < told->file->lines->len && is_expected(told->file->lines->pdata[at]); at++) {
        const struct case_line *line = told->file->lines->pdata[at];
        g_string_append_printf(wanted, "%s: %s\n", line->key, line->value);
    }
    arena_init(&arena, 0);
    enum err_code code = explain_readings(&arena, told->ground.schema, told->readings, told->n, &out, &err);
    char *got = as_lines(code, &out, &err);
    if (strcmp(got, wanted->str) != 0) {
        fprintf(stderr, "[%s] is asked like this:\n%s", told->name, got);
        told->failures++;
    }
    told->asked++;
    told->n = 0;
    arena_free(&arena);
    g_free(got);
    g_string_free(wanted, TRUE);
    return at;
}

Test(readings, golden_readings_match)
{
    char *why = NULL, *sql = NULL;
    struct case_file *file = case_file_read(TEST_DATA "/explain/readings.case", &why);
    cr_assert_not_null(file, "%s", why);
    cr_assert(g_file_get_contents(SOURCE_ROOT "/deploy/samples/ferries.sql", &sql, NULL, NULL));
    struct told told = {.file = file};
    why = ground_open(&told.ground, sql, NULL, NULL);
    cr_assert_null(why, "%s", why);
    for (guint i = 0; i < file->lines->len;) {
        const struct case_line *line = file->lines->pdata[i];
        if (is(line, "case")) told.name = line->value;
        if (is(line, "reading")) told.readings[told.n++] = (struct explain_statement){line->value, strlen(line->value)};
        i = is_expected(line) ? check(&told, i) : i + 1;
    }
    cr_expect(told.failures == 0, "%u of %u are not as they should be", told.failures, told.asked);
    cr_expect(told.asked >= 14, "only %u cases", told.asked);
    ground_close(&told.ground);
    case_file_free(file);
    g_free(sql);
    leak_check();
}

/* Hostile names in a database must be printed as valid text of bounded length. */
Test(readings, hostile_names_are_bounded)
{
    struct ground ground;
    GString *sql = g_string_new("CREATE TABLE t (a INTEGER, \"");
    for (int i = 0; i < 3000; i++) g_string_append(sql, "wide\t ");
    g_string_append(sql, "\" INTEGER);");
    char *why = ground_open(&ground, sql->str, NULL, NULL);
    cr_assert_null(why, "%s", why);
    static const char all[] = "SELECT * FROM t", one[] = "SELECT a FROM t",
                      both[] = "SELECT *, *, *, *, *, *, *, *, *, *, * FROM t";
    const struct explain_statement readings[] = {{all, sizeof all - 1}, {one, sizeof one - 1}, {both, sizeof both - 1}};
    struct explain_readings out;
    struct err err = {0};
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert_eq(explain_readings(&arena, ground.schema, readings, 3, &out, &err), ERR_OK, "%s", err.text);
    for (uint32_t i = 0; i < out.n; i++) {
        cr_expect(strlen(out.choices[i]) <= 1024);
        cr_expect(g_utf8_validate(out.choices[i], -1, NULL));
        cr_expect_null(strpbrk(out.choices[i], "\t\n"));
    }
    arena_free(&arena);
    arena_init(&arena, 4096); /* an arena that is too small must not cause a crash */
    cr_expect_eq(explain_readings(&arena, ground.schema, readings, 3, &out, &err), ERR_LIMIT_MEMORY);
    arena_free(&arena);
    ground_close(&ground);
    g_string_free(sql, TRUE);
    leak_check();
}
