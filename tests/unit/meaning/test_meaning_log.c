/* Checks that statements with equal meanings return equal rows. Compares all candidates and gold queries of the logs,
 * on their databases. */
#include "lib/meaning/meaning.h"
#include "tests/support/leak.h"
#include "tests/support/querylog.h"
#include "tests/support/row_digest.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

TestSuite(meaning_log, .timeout = 900);

struct totals {
    GHashTable *first; /* "db hash" → the first statement with that meaning */
    GHashTable *forms; /* "db normal form" */
    GHashTable *texts; /* "db sql" of statements seen before */
    size_t statements, unknown, meanings, compared, wrong;
};

/* Returns the meaning of a statement as "db hash". Returns NULL if it does not bind or a part of its meaning is
 * unknown. Free with g_free. */
static char *meaning_key(struct totals *t, struct arena *arena, const struct querylog_line *line, const char *sql)
{
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    struct meaning *m;
    if (sql_parse(arena, sql, strlen(sql), NULL, &stmt) != ERR_OK) return NULL;
    if (sql_bind(arena, stmt, &line->catalog->catalog, &bound) != ERR_OK) return NULL;
    cr_assert_eq(meaning_read(arena, bound, &m), ERR_OK);
    if (!m) return NULL;
    cr_assert_not_null(meaning_print(arena, m));
    t->statements++;
    t->unknown += m->n_unknown > 0;
    const char *form = sql_normal_form(arena, stmt->root);
    if (form) g_hash_table_add(t->forms, g_strdup_printf("%s\n%s", line->db, form));
    return m->n_unknown ? NULL : g_strdup_printf("%s %016" G_GINT64_MODIFIER "x", line->db, m->hash);
}

static void compare_rows(struct totals *t, const struct querylog_line *line, const char *first, const char *sql)
{
    char *a = row_digest(line->catalog->db, first), *b = row_digest(line->catalog->db, sql);
    if (a && b) {
        t->compared++;
        if (strcmp(a, b) != 0 && t->wrong++ < 20)
            fprintf(stderr, "equal meaning, other rows (%s):\n  %s\n  %s\n", line->db, first, sql);
    }
    g_free(a);
    g_free(b);
}

static void check_statement(struct totals *t, const struct querylog_line *line, const char *sql)
{
    if (!g_hash_table_add(t->texts, g_strdup_printf("%s\n%s", line->db, sql))) return;
    struct arena arena;
    arena_init(&arena, 0);
    char *key = meaning_key(t, &arena, line, sql);
    const char *first = key ? g_hash_table_lookup(t->first, key) : NULL;
    if (first) compare_rows(t, line, first, sql);
    if (key && !first)
        g_hash_table_insert(t->first, key, g_strdup(sql));
    else
        g_free(key);
    arena_free(&arena);
}

static void check_line(const struct querylog_line *line, void *self)
{
    for (size_t i = 0; i < line->n_candidates; i++) check_statement(self, line, line->candidates[i]);
    if (line->gold) check_statement(self, line, line->gold);
}

Test(meaning_log, equal_meanings_give_equal_rows)
{
    struct totals t = {.first = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free),
                       .forms = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL),
                       .texts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    size_t lines = querylog_each(NULL, check_line, &t);
    if (lines == 0) cr_skip_test("no query logs under the shared data folder");
    fprintf(stderr,
            "meanings: %zu statements, %u normal forms, %u meanings, %zu with unknown parts, %zu compared with the "
            "first of their meaning, %zu differ\n",
            t.statements, g_hash_table_size(t.forms), g_hash_table_size(t.first), t.unknown, t.compared, t.wrong);
    cr_expect_eq(t.wrong, 0);
    g_hash_table_destroy(t.first);
    g_hash_table_destroy(t.forms);
    g_hash_table_destroy(t.texts);
    leak_check();
}
