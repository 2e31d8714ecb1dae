#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/leak.h"
#include "tests/support/querylog.h"
#include "tests/support/row_digest.h"
#include "tests/unit/sql/cases.h"

TestSuite(normal, .timeout = 900);

/* Returns the normal form of a statement, or NULL if it does not bind. */
static char *form_of(struct arena *arena, struct catalog_sqlite *catalog, const char *sql)
{
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    if (sql_parse(arena, sql, strlen(sql), NULL, &stmt) != ERR_OK) return NULL;
    if (sql_bind(arena, stmt, &catalog->catalog, &bound) != ERR_OK) return NULL;
    return sql_normal_form(arena, stmt->root);
}

static void check_case(const struct golden_case *c, void *self)
{
    (void)self;
    struct catalog_sqlite *catalog = catalog_sqlite_script(c->schema);
    struct arena arena;
    arena_init(&arena, 0);
    const char *form = form_of(&arena, catalog, case_get(c, "sql"));
    cr_assert(form, "%s:%d: no normal form", c->file, c->line);
    const char *again = form_of(&arena, catalog, form);
    cr_expect(again && strcmp(form, again) == 0, "%s:%d %s: not a fixed point\n  %s\n  %s", c->file, c->line, c->name,
              form, again ? again : "-");
    for (size_t i = 0; i < c->n_fields; i++) {
        const char *key = c->fields[i].key, *value = c->fields[i].value;
        if (strcmp(key, "sql") == 0) continue;
        const char *other = strcmp(key, "form") == 0 ? value : form_of(&arena, catalog, value);
        cr_assert(other, "%s:%d: no normal form: %s", c->file, c->line, value);
        bool expected = strcmp(key, "other") != 0;
        cr_expect_eq(strcmp(form, other) == 0, expected, "%s:%d %s\n  %s: %s\n  %s\n  %s", c->file, c->line, c->name,
                     key, value, form, other);
    }
    arena_free(&arena);
    catalog_sqlite_free(catalog);
}

Test(normal, golden_cases_match)
{
    cr_assert_geq(cases_each("normal.case", check_case, NULL), 15);
    leak_check();
}

static void expect_partly(struct catalog_sqlite *catalog, const char *sql, const char *expected)
{
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    cr_assert_eq(sql_parse(&arena, sql, strlen(sql), NULL, &stmt), ERR_OK);
    sql_bind(&arena, stmt, &catalog->catalog, &bound);
    const struct sql_node *tree = sql_partly_normal_tree(&arena, stmt->root);
    const char *form = tree ? sql_print(&arena, tree) : NULL;
    cr_expect(form && strcmp(form, expected) == 0, "%s\n  is      %s\n  and not %s", sql, form ? form : "-", expected);
    arena_free(&arena);
}

Test(normal, unbound_names_leave_others_normalised)
{
    struct catalog_sqlite *catalog = catalog_sqlite_script("CREATE TABLE t (a, b); CREATE TABLE u (a, c);");
    expect_partly(catalog, "SELECT X.A FROM t AS X WHERE X.b > 1", "SELECT t.a FROM t WHERE t.b > 1");
    expect_partly(catalog, "SELECT X.A, X.z FROM t AS X WHERE 1 < B", "SELECT t.a, t.z FROM t WHERE t.b > 1");
    expect_partly(catalog, "SELECT a, x.b FROM t AS x JOIN u AS y ON x.a = y.a",
                  "SELECT a, t.b FROM t JOIN u ON t.a = u.a"); /* `a` in the select list is ambiguous */
    expect_partly(catalog, "SELECT Z.q FROM Nowhere AS Z", "SELECT nowhere.q FROM nowhere");
    catalog_sqlite_free(catalog);
    leak_check();
}

/* ---- equal forms, equal results ---- */

struct totals {
    GHashTable *results; /* "db\nform" → the first statement with that form */
    GHashTable *texts;   /* "db\nsql" of statements seen before */
    size_t lines, statements, forms, compared, wrong, not_fixed, slow;
};

/* Compares the rows of a statement with those of the first statement of its form. If it is the first, compares them
 * with the rows of the form itself. */
static void check_one(struct totals *t, const struct querylog_line *line, const char *sql)
{
    if (!g_hash_table_add(t->texts, g_strdup_printf("%s\n%s", line->db, sql))) return;
    struct arena arena;
    arena_init(&arena, 0);
    char *form = form_of(&arena, line->catalog, sql), *again = form ? form_of(&arena, line->catalog, form) : NULL;
    if (form) {
        t->statements++;
        bool fixed = again && strcmp(form, again) == 0;
        if (!fixed && t->not_fixed++ < 10)
            fprintf(stderr, "not a fixed point:\n  %s\n  %s\n  %s\n", sql, form, again ? again : "-");
        char *key = g_strdup_printf("%s\n%s", line->db, form);
        const char *first = g_hash_table_lookup(t->results, key);
        char *mine = row_digest(line->catalog->db, sql), *theirs = row_digest(line->catalog->db, first ? first : form);
        if (!first) t->forms++;
        t->slow += mine == NULL || theirs == NULL;
        if (mine && theirs) {
            t->compared++;
            if (strcmp(mine, theirs) != 0 && t->wrong++ < 10)
                fprintf(stderr, "same form, other rows (%s):\n  %s\n  %s\n  %s\n", line->db, sql,
                        first ? first : "(the form itself)", form);
        } else if (mine && !theirs) {
            t->wrong++;
            fprintf(stderr, "does not run (%s): %s\n", line->db, first ? first : form);
        }
        if (first)
            g_free(key);
        else
            g_hash_table_insert(t->results, key, g_strdup(sql));
        g_free(mine);
        g_free(theirs);
    }
    arena_free(&arena);
}

/* Checks every fifth line of the log without candidates, because spellings differ mostly among candidates. */
static void check_line(const struct querylog_line *line, void *self)
{
    struct totals *t = self;
    if (t->lines++ % 5 && line->n_candidates == 0) return;
    for (size_t i = 0; i < line->n_candidates; i++) check_one(self, line, line->candidates[i]);
    if (line->gold) check_one(self, line, line->gold);
}

Test(normal, equal_forms_give_equal_rows)
{
    struct totals t = {.results = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                       .texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    size_t lines = querylog_each(NULL, check_line, &t);
    if (lines == 0) cr_skip_test("no query logs under the shared data folder");
    fprintf(stderr,
            "normal form: %zu statements in %zu forms, %zu compared with their form or their twin, %zu differ, %zu not "
            "fixed, %zu too slow to run\n",
            t.statements, t.forms, t.compared, t.wrong, t.not_fixed, t.slow);
    cr_expect_eq(t.wrong, 0);
    cr_expect_eq(t.not_fixed, 0);
    g_hash_table_destroy(t.results);
    g_hash_table_destroy(t.texts);
    leak_check();
}
