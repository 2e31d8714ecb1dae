/* Compares the parser with SQLite. It must accept the statements that SQLite accepts, and report an error where SQLite
 * does. A statement in PostgreSQL's own syntax is also accepted; its tree is marked (dialect.h).
 *
 * The statements are every candidate and gold query of the logs, on the real databases. Without these data, they are
 * SQLite's own statements of tests/data/sql/sqlite.sql, with words dropped, doubled and swapped. */
#include <criterion/criterion.h>
#include <glib.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

#include "lib/sql/dialect.h"
#include "lib/sql/sql.h"
#include "tests/support/leak.h"
#include "tests/support/querylog.h"

TestSuite(oracle, .timeout = 600);

struct tally {
    struct arena arena;
    sqlite3 *db;
    unsigned texts, accepted, refused; /* accepted by SQLite; accepted by SQLite, but refused by us */
    /* syntax errors with an offset in SQLite; those that we report too; those that we report at the same byte */
    unsigned errors, also_ours, same_place;
    unsigned foreign, foreign_place; /* statements that we read as PostgreSQL; those with an error at the same byte */
    unsigned slandered;              /* accepted by SQLite, but we report a feature that SQLite does not support */
    unsigned printed, changed;       /* parsed without error; those that are different after printing */
};

static bool is_syntax_error(const char *message)
{
    return strstr(message, "syntax error") || strstr(message, "unrecognized token");
}

/* Returns true if SQLite reads only one statement, followed only by blanks and semicolons. */
static bool is_alone(const char *tail)
{
    return !tail || tail[strspn(tail, " \t\r\n;")] == '\0';
}

static void check_refusal(struct tally *t, const char *sql, const struct sql_stmt *ours, int offset)
{
    const struct sql_diag *diag = ours->diags ? ours->diags : sql_not_sqlite(&t->arena, ours);
    t->errors++;
    t->foreign += !ours->diags && diag;
    t->also_ours += ours->diags != NULL;
    bool same = diag && (int)diag->start == offset;
    t->same_place += same && ours->diags;
    t->foreign_place += same && !ours->diags;
    if (same) return;
    fprintf(stderr, "SQLite at %d, we at %d (%s): %s\n", offset, diag ? (int)diag->start : -1,
            diag ? diag->message : "nothing", sql);
}

static void check_print(struct tally *t, const char *sql, const struct sql_stmt *stmt)
{
    const char *text = sql_print(&t->arena, stmt->root);
    struct sql_stmt *again;
    t->printed++;
    bool same = sql_parse(&t->arena, text, strlen(text), NULL, &again) == ERR_OK &&
                sql_equal(stmt->root, again->root) && sql_hash(stmt->root) == sql_hash(again->root);
    if (same) return;
    t->changed++;
    fprintf(stderr, "printed otherwise: %s\n            from: %s\n", text, sql);
}

static void check_text(struct tally *t, const char *sql)
{
    struct sql_stmt *ours;
    sqlite3_stmt *theirs = NULL;
    const char *tail = NULL;
    arena_reset(&t->arena);
    enum err_code rc = sql_parse(&t->arena, sql, strlen(sql), NULL, &ours);
    int theirs_rc = sqlite3_prepare_v2(t->db, sql, -1, &theirs, &tail);
    int offset = sqlite3_error_offset(t->db);
    t->texts++;
    cr_assert_null(sql_check_tree(ours), "%s: %s", sql_check_tree(ours), sql);
    if (theirs_rc == SQLITE_OK && theirs && is_alone(tail)) {
        t->accepted++;
        const struct sql_diag *lacks = rc == ERR_OK ? sql_not_sqlite(&t->arena, ours) : NULL;
        if (rc != ERR_OK) t->refused++, fprintf(stderr, "SQLite accepts (%s): %s\n", ours->diags->message, sql);
        if (lacks) t->slandered++, fprintf(stderr, "SQLite has it (%s): %s\n", lacks->message, sql);
    } else if (theirs_rc != SQLITE_OK && offset >= 0 && is_syntax_error(sqlite3_errmsg(t->db))) {
        check_refusal(t, sql, ours, offset);
    }
    if (rc == ERR_OK) check_print(t, sql, ours);
    sqlite3_finalize(theirs);
}

static void report(const struct tally *t)
{
    fprintf(
        stderr,
        "%u texts; SQLite accepts %u, of which we refuse %u; it places %u syntax errors, of which we see %u, %u at the "
        "same byte; %u more read as PostgreSQL, %u placed at the same byte; %u called PostgreSQL's that SQLite "
        "accepts; %u "
        "printed, %u changed by that\n",
        t->texts, t->accepted, t->refused, t->errors, t->also_ours, t->same_place, t->foreign, t->foreign_place,
        t->slandered, t->printed, t->changed);
}

/* ---- the logs ---- */

static void check_line(const struct querylog_line *line, void *self)
{
    struct tally *t = self;
    t->db = line->catalog->db;
    for (size_t i = 0; i < line->n_candidates; i++) check_text(t, line->candidates[i]);
    if (line->gold) check_text(t, line->gold);
}

Test(oracle, log_queries_agree_with_sqlite)
{
    struct tally t = {0};
    arena_init(&t.arena, 0);
    size_t lines = querylog_each(NULL, check_line, &t);
    arena_free(&t.arena);
    if (lines == 0) cr_skip("no query logs under ../shared/data");
    report(&t);
    cr_expect_leq(t.refused * 1000, t.accepted, "more than 0.1 %% of what SQLite accepts is refused");
    cr_expect_eq(t.slandered, 0);
    cr_expect_geq((t.same_place + t.foreign_place) * 100, t.errors * 99,
                  "fewer than 99 %% of the errors are placed as SQLite does");
    cr_expect_eq(t.changed, 0);
    leak_check();
}

/* ---- mangled statements ---- */

enum mangle { DROP, DOUBLE, SWAP, N_MANGLES };

static char *mangled(char **words, guint n, guint at, enum mangle how)
{
    GString *out = g_string_new(NULL);
    for (guint i = 0; i < n; i++) {
        guint from = how != SWAP || n < 2 ? i : i == at ? (at + 1) % n : i == (at + 1) % n ? at : i;
        if (how == DROP && i == at) continue;
        g_string_append_printf(out, "%s ", words[from]);
        if (how == DOUBLE && i == at) g_string_append_printf(out, "%s ", words[from]);
    }
    return g_string_free(out, FALSE);
}

/* True unless SQLite refuses the unchanged statement with a syntax error. Such a statement would put every error at the
 * same place. */
static bool is_sqlite(sqlite3 *db, const char *sql)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    sqlite3_finalize(stmt);
    return rc == SQLITE_OK || !is_syntax_error(sqlite3_errmsg(db));
}

static void check_mangled(struct tally *t, const char *line)
{
    if (!is_sqlite(t->db, line)) return;
    char **words = g_strsplit(line, " ", -1);
    guint n = g_strv_length(words);
    for (guint at = 0; at < n; at++) {
        for (enum mangle how = 0; how < N_MANGLES; how++) {
            char *sql = mangled(words, n, at, how);
            check_text(t, sql);
            g_free(sql);
        }
    }
    g_strfreev(words);
}

/* Some of these statements are PostgreSQL, or would be with one more word. There both grammars continue where SQLite
 * stops. */
Test(oracle, mangled_statements_agree_with_sqlite)
{
    struct tally t = {0};
    char *text = NULL;
    arena_init(&t.arena, 0);
    cr_assert_eq(sqlite3_open(":memory:", &t.db), SQLITE_OK);
    cr_assert(g_file_get_contents(TEST_DATA "/sql/sqlite.sql", &text, NULL, NULL));
    char **lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++)
        if (**line && !g_str_has_prefix(*line, "--")) check_mangled(&t, *line);
    g_strfreev(lines);
    g_free(text);
    sqlite3_close(t.db);
    arena_free(&t.arena);
    report(&t);
    cr_expect_gt(t.errors, 1000);
    cr_expect_eq(t.refused, 0);
    cr_expect_eq(t.slandered, 0);
    cr_expect_geq(t.same_place * 1000, t.also_ours * 985);
    cr_expect_eq(t.changed, 0);
    leak_check();
}

/* ---- PostgreSQL's statements ---- */

/* SELECTs of PostgreSQL that SQLite's parser refuses must be refused at the same byte, with the reason. If SQLite reads
 * a PostgreSQL keyword as a name or alias, it stops later; our position may then differ. Features of newer SQLite
 * versions (ORDER BY in aggregates, RIGHT as a function) are not reported as missing. */
Test(oracle, postgres_statements_are_placed_like_sqlite)
{
    struct tally t = {0};
    char *text = NULL;
    arena_init(&t.arena, 0);
    cr_assert_eq(sqlite3_open(":memory:", &t.db), SQLITE_OK);
    cr_assert(g_file_get_contents(TEST_DATA "/sql/postgres.sql", &text, NULL, NULL));
    char **lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++)
        if (**line && !g_str_has_prefix(*line, "--")) check_text(&t, *line);
    g_strfreev(lines);
    g_free(text);
    sqlite3_close(t.db);
    arena_free(&t.arena);
    report(&t);
    cr_expect_eq(t.also_ours, 0);
    cr_expect_eq(t.slandered, 0);
    cr_expect_gt(t.errors, 100);
    cr_expect_geq(t.foreign * 100, t.errors * 90);
    cr_expect_geq(t.foreign_place * 100, t.errors * 80);
    leak_check();
}
