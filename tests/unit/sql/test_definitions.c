/* Tests the reading of DDL: the accepted parts, as tests/data/sql/definitions.case lists them, and the bounds. */
#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

#include "lib/sql/definitions.h"
#include "tests/support/leak.h"
#include "tests/unit/sql/cases.h"

TestSuite(definitions, .timeout = 60);

/* --- golden ------------------------------------------------------------------------------------------------------- */

static void put_names(GString *out, const struct sql_defined_name *names)
{
    for (; names; names = names->next) g_string_append_printf(out, "%s%s", names->name, names->next ? ", " : "");
}

static void put_key(GString *out, const struct sql_defined_key *key)
{
    static const char *const kinds[] = {[SQL_DEFINED_PRIMARY] = "primary ", [SQL_DEFINED_UNIQUE] = "unique "};
    g_string_append_printf(out, "; %s", key->kind == SQL_DEFINED_REFERENCE ? "" : kinds[key->kind]);
    put_names(out, key->columns);
    if (key->kind != SQL_DEFINED_REFERENCE) return;
    g_string_append_printf(out, " to %s%s", key->table, key->to ? "." : "");
    put_names(out, key->to);
}

static void put_table(GString *out, const struct sql_defined_table *table)
{
    g_string_append_printf(out, "%s%s%s(", table->schema ? table->schema : "", table->schema ? "." : "", table->name);
    for (const struct sql_defined_column *c = table->columns; c; c = c->next)
        g_string_append_printf(out, "%s%s%s%s%s", c->name, *c->type ? " " : "", c->type, c->not_null ? "!" : "",
                               c->next ? ", " : ")");
    for (const struct sql_defined_key *key = table->keys; key; key = key->next) put_key(out, key);
    g_string_append_c(out, '\n');
}

static void put_all(GString *out, const struct sql_definitions *definitions)
{
    for (const struct sql_defined_table *t = definitions->tables; t; t = t->next) put_table(out, t);
    for (const struct sql_defined_view *v = definitions->views; v; v = v->next)
        g_string_append_printf(out, "%s%s%s as %s\n", v->schema ? v->schema : "", v->schema ? "." : "", v->name,
                               v->query);
}

static GString *joined(const struct golden_case *c, const char *key)
{
    GString *out = g_string_new(NULL);
    for (size_t i = 0; i < c->n_fields; i++)
        if (strcmp(c->fields[i].key, key) == 0) g_string_append_printf(out, "%s\n", c->fields[i].value);
    return out;
}

static void check_case(const struct golden_case *c, void *self)
{
    struct arena *arena = self;
    struct sql_definitions *definitions;
    struct err err = {0};
    GString *ddl = joined(c, "ddl"), *want = joined(c, "reads"), *got = g_string_new(NULL);
    const char *fails = case_get(c, "fails"), *sqlite = case_get(c, "sqlite");
    arena_reset(arena);
    enum err_code code = sql_read_definitions(arena, ddl->str, ddl->len, &definitions, &err);
    if (fails) {
        g_string_printf(got, "%s: %s", err_name(code), err.text);
        cr_expect(g_str_has_prefix(got->str, fails), "%s:%d %s\n got %s\nwant %s", c->file, c->line, c->name, got->str,
                  fails);
        cr_expect(!definitions);
    } else {
        cr_expect_eq(code, ERR_OK, "%s:%d %s: %s", c->file, c->line, c->name, err.text);
        if (!code) put_all(got, definitions);
        cr_expect_str_eq(got->str, want->str, "%s:%d %s\n got %swant %s", c->file, c->line, c->name, got->str,
                         want->str);
        cr_expect(code || definitions->is_sqlite == !sqlite, "%s:%d %s: whose spelling?", c->file, c->line, c->name);
    }
    g_string_free(ddl, TRUE);
    g_string_free(want, TRUE);
    g_string_free(got, TRUE);
}

Test(definitions, golden_cases_match)
{
    struct arena arena;
    arena_init(&arena, 0);
    cr_assert_geq(cases_each("definitions.case", check_case, &arena), 35);
    arena_free(&arena);
    leak_check();
}

/* --- bounds ------------------------------------------------------------------------------------------------------- */

static enum err_code code_of(const char *text, size_t len)
{
    struct arena arena;
    struct sql_definitions *definitions;
    struct err err = {0};
    arena_init(&arena, 64U << 20);
    enum err_code code = sql_read_definitions(&arena, text, len, &definitions, &err);
    cr_assert((code != ERR_OK) == (definitions == NULL));
    cr_assert((code != ERR_OK) == (err.text[0] != '\0'));
    arena_free(&arena);
    return code;
}

/* Reads `head`, then `each` n times with its number, then `tail`. Returns the error code. */
static enum err_code code_of_many(const char *head, const char *each, unsigned n, const char *tail)
{
    GString *text = g_string_new(head);
    gchar **halves = g_strsplit(each, "#", -1);
    for (unsigned i = 0; i < n; i++)
        for (gchar **half = halves; *half; half++) {
            g_string_append(text, *half);
            if (half[1]) g_string_append_printf(text, "%u", i);
        }
    g_string_append(text, tail);
    cr_assert_leq(text->len, SQL_MAX_DEFINITIONS_BYTES, "the bound that is tested is another one");
    enum err_code code = code_of(text->str, text->len);
    g_strfreev(halves);
    g_string_free(text, TRUE);
    return code;
}

Test(definitions, bounds_are_reachable_and_kept)
{
    cr_expect_eq(code_of_many("CREATE TABLE a (", "c# int,", SQL_MAX_DEFINED_COLUMNS, "PRIMARY KEY (c1))"), ERR_OK);
    cr_expect_eq(code_of_many("CREATE TABLE a (", "c# int,", SQL_MAX_DEFINED_COLUMNS + 1, ")"), ERR_LIMIT_COUNT);
    cr_expect_eq(code_of_many("", "CREATE TABLE a# (id int);", SQL_MAX_DEFINED_TABLES, ""), ERR_OK);
    cr_expect_eq(code_of_many("", "CREATE TABLE a# (id int);", SQL_MAX_DEFINED_TABLES + 1, ""), ERR_LIMIT_COUNT);
    cr_expect_eq(code_of_many("CREATE TABLE a (id int", ",UNIQUE (id)", SQL_MAX_DEFINED_KEYS, ")"), ERR_OK);
    cr_expect_eq(code_of_many("CREATE TABLE a (id int", ",UNIQUE (id)", SQL_MAX_DEFINED_KEYS + 1, ")"),
                 ERR_LIMIT_COUNT);
    cr_expect_eq(
        code_of_many("CREATE TABLE a (id int);", "CREATE VIEW v# AS SELECT id FROM a;", SQL_MAX_DEFINED_VIEWS + 1, ""),
        ERR_LIMIT_COUNT);
}

/* Each view reads the previous view twice. So ten views have the size of a thousand tables. */
Test(definitions, doubling_views_are_bounded)
{
    GString *text = g_string_new("CREATE TABLE v (id int); CREATE VIEW v0 AS SELECT a.id FROM v a, v b;");
    enum err_code code = ERR_OK;
    unsigned n = 0;
    for (; !code && n < 40; n++) {
        g_string_append_printf(text, "CREATE VIEW v%u AS SELECT a.id FROM v%u a, v%u b;", n + 1, n, n);
        code = code_of(text->str, text->len);
    }
    cr_expect_eq(code, ERR_LIMIT_COUNT);
    cr_expect(n > 4 && n < 12, "%u", n);
    g_string_free(text, TRUE);
}

/* Parentheses are counted without recursion. A text that is too long is refused before it is read. */
Test(definitions, depth_and_length_are_bounded)
{
    enum { DEEP = 100000 };
    GString *text = g_string_new("CREATE TABLE a (id int CHECK ");
    for (int i = 0; i < DEEP; i++) g_string_append_c(text, '(');
    cr_expect_eq(code_of(text->str, text->len), ERR_SYNTAX);
    for (int i = 0; i < DEEP; i++) g_string_append_c(text, ')');
    g_string_append_c(text, ')');
    cr_expect_eq(code_of(text->str, text->len), ERR_OK);
    while (text->len <= SQL_MAX_DEFINITIONS_BYTES) g_string_append_c(text, ' ');
    cr_expect_eq(code_of(text->str, text->len), ERR_LIMIT_BYTES);
    g_string_free(text, TRUE);
}

Test(definitions, binary_input_is_refused)
{
    static const char nul[] = "CREATE TABLE \"a\0b\" (id int)", broken[] = "CREATE TABLE \"\xc3\x28\" (id int)";
    cr_expect_eq(code_of(nul, sizeof nul - 1), ERR_ENCODING);
    cr_expect_eq(code_of(broken, sizeof broken - 1), ERR_ENCODING);
    GString *text = g_string_new("CREATE TABLE \"");
    for (int i = 0; i <= SQL_MAX_DEFINED_NAME; i++) g_string_append_c(text, 'x');
    g_string_append(text, "\" (id int)");
    cr_expect_eq(code_of(text->str, text->len), ERR_LIMIT_BYTES);
    g_string_free(text, TRUE);
}

/* The text is truncated at each place. It must be read or refused. */
Test(definitions, truncated_text_ends_cleanly)
{
    static const char text[] =
        "CREATE TABLE public.a (id int PRIMARY KEY, \"b\"\"c\" varchar(3) REFERENCES d (e) ON DELETE CASCADE, UNIQUE "
        "(id)); ALTER TABLE ONLY a ADD CONSTRAINT f FOREIGN KEY (id) REFERENCES public.a (id); CREATE UNIQUE INDEX i "
        "ON a "
        "USING btree (id) WHERE id > 1; CREATE VIEW v (x) AS SELECT id FROM public.a WITH CHECK OPTION; COMMENT ON x "
        "IS "
        "'y'";
    for (size_t len = 0; len < sizeof text; len++) (void)code_of(text, len);
    leak_check();
}
