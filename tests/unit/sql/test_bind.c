/* Tests binding: golden cases, blocks and their spans, columns that a star leaves out, hostile sizes, and agreement
 * with SQLite on the query logs. */
#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/clock.h"
#include "tests/support/leak.h"
#include "tests/support/querylog.h"
#include "tests/unit/sql/cases.h"

TestSuite(bind, .timeout = 600);

/* ---- golden cases ---- */

static void put_meaning(GString *out, const struct sql_bound *bound, const struct sql_ref *ref)
{
    const struct sql_catalog *c = bound->catalog;
    const char *table = ref->table >= 0 ? c->table_name(c->self, ref->table) : "";
    switch (ref->kind) {
    case SQL_REF_ALIAS: g_string_append(out, "alias"); break;
    case SQL_REF_STRING: g_string_append(out, "string"); break;
    case SQL_REF_UNKNOWN: g_string_append(out, "?"); break;
    case SQL_REF_AMBIGUOUS: g_string_append(out, "!"); break;
    case SQL_REF_ROWID: g_string_append_printf(out, "%s.rowid", table); break;
    default:
        if (ref->column >= 0)
            g_string_append_printf(out, "%s.%s", table, c->column_name(c->self, ref->table, ref->column));
        else
            g_string_append(out, "-");
    }
    g_string_append_printf(out, "@%s", sql_clause_name(ref->clause));
    if (ref->levels) g_string_append_printf(out, "^%u", ref->levels);
}

static char *refs_text(const struct sql_bound *bound)
{
    GString *out = g_string_new(NULL);
    for (uint32_t i = 0; i < bound->n_refs; i++) {
        const struct sql_ref *ref = bound->refs[i];
        const struct sql_node *n = ref->node;
        cr_assert(n->ref == ref);
        if (n->kind != SQL_COLUMN) continue;
        cr_expect_eq(sql_clause_of(n), ref->clause, "%s", bound->stmt->text);
        if (out->len) g_string_append(out, "; ");
        if (n->text3) g_string_append_printf(out, "%.*s.", (int)n->text3_len, n->text3);
        if (n->text2) g_string_append_printf(out, "%.*s.", (int)n->text2_len, n->text2);
        g_string_append_printf(out, "%.*s=", (int)n->text_len, n->text);
        put_meaning(out, bound, ref);
    }
    return g_string_free(out, FALSE);
}

static char *joins_text(struct arena *arena, const struct sql_bound *bound)
{
    const struct sql_catalog *c = bound->catalog;
    struct sql_join_pair *pairs;
    int n = sql_join_pairs(arena, bound, &pairs);
    GString *out = g_string_new(NULL);
    cr_assert_geq(n, 0);
    for (int i = 0; i < n; i++) {
        const struct sql_ref *l = pairs[i].left, *r = pairs[i].right;
        g_string_append_printf(out, "%s%s%s%s", i ? "; " : "", pairs[i].conjunct ? "" : "~",
                               pairs[i].negated ? "not " : "", pairs[i].is_in ? "in " : "");
        g_string_append_printf(out, "%s.%s=%s.%s", c->table_name(c->self, l->table),
                               c->column_name(c->self, l->table, l->column), c->table_name(c->self, r->table),
                               c->column_name(c->self, r->table, r->column));
    }
    return g_string_free(out, FALSE);
}

static char *diag_text(const struct sql_stmt *stmt, const struct sql_diag *d)
{
    GString *out = g_string_new(d->code == ERR_AMBIGUOUS_NAME ? "ambiguous " : "unknown ");
    g_string_append_len(out, stmt->text + d->start, d->end - d->start);
    for (uint32_t i = 0; i < d->n_expected; i++)
        g_string_append_printf(out, "%s%s", i ? ", " : " near ", d->expected[i]);
    return g_string_free(out, FALSE);
}

static void check_text(const struct golden_case *c, const char *key, char *actual)
{
    const char *expected = case_get(c, key);
    if (expected)
        cr_expect_str_eq(actual, expected, "%s:%d %s\n  %s is   %s\n  expected %s", c->file, c->line, c->name, key,
                         actual, expected);
    g_free(actual);
}

/* Checks the diagnostics. A diag line without "near" accepts any list of similar names. */
static void check_diags(const struct golden_case *c, const struct sql_stmt *stmt, const struct sql_diag *d)
{
    for (size_t i = 0; i < c->n_fields; i++) {
        if (strcmp(c->fields[i].key, "diag") != 0) continue;
        cr_expect(d != NULL, "%s:%d %s: no diagnostic \"%s\"", c->file, c->line, c->name, c->fields[i].value);
        if (!d) return;
        char *actual = diag_text(stmt, d);
        if (!strstr(c->fields[i].value, " near ") && strstr(actual, " near ")) *strstr(actual, " near ") = '\0';
        cr_expect_str_eq(actual, c->fields[i].value, "%s:%d %s\n  says     %s\n  expected %s", c->file, c->line,
                         c->name, actual, c->fields[i].value);
        g_free(actual);
        d = d->next;
    }
    cr_expect(d == NULL, "%s:%d %s: unexpected: %s", c->file, c->line, c->name, d ? d->message : "");
}

static void check_case(const struct golden_case *c, void *self)
{
    (void)self;
    struct catalog_sqlite *catalog = catalog_sqlite_script(c->schema);
    cr_assert(catalog, "%s: the schema is no SQL", c->file);
    struct arena arena;
    arena_init(&arena, 0);
    const char *sql = case_get(c, "sql");
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    cr_assert_eq(sql_parse(&arena, sql, strlen(sql), NULL, &stmt), ERR_OK, "%s:%d does not parse", c->file, c->line);
    enum err_code code = sql_bind(&arena, stmt, &catalog->catalog, &bound);
    cr_assert(bound, "%s:%d: %s", c->file, c->line, err_name(code));
    cr_expect_eq(code, bound->diags ? bound->diags->code : ERR_OK);
    check_text(c, "refs", refs_text(bound));
    if (case_get(c, "joins")) check_text(c, "joins", joins_text(&arena, bound));
    check_diags(c, stmt, bound->diags);
    arena_free(&arena);
    catalog_sqlite_free(catalog);
}

Test(bind, golden_cases_match)
{
    cr_assert_geq(cases_each("bind.case", check_case, NULL), 50);
    leak_check();
}

/* ---- blocks ---- */

static struct sql_bound *bind_text(struct arena *arena, struct catalog_sqlite *catalog, const char *sql)
{
    struct sql_stmt *stmt;
    struct sql_bound *bound = NULL;
    cr_assert_eq(sql_parse(arena, sql, strlen(sql), NULL, &stmt), ERR_OK, "%s", sql);
    sql_bind(arena, stmt, &catalog->catalog, &bound);
    return bound;
}

Test(bind, blocks_have_places)
{
    struct catalog_sqlite *catalog = catalog_sqlite_script("CREATE TABLE t(a, b); CREATE TABLE u(a, c);");
    struct arena arena;
    arena_init(&arena, 0);
    const char *sql = "SELECT max(a), (SELECT c FROM u WHERE u.a = t.a) FROM t LEFT JOIN (SELECT 1 AS q) AS d ON 1 "
                      "GROUP BY b EXCEPT SELECT a, c FROM u WHERE a IN (SELECT a FROM t)";
    struct sql_bound *bound = bind_text(&arena, catalog, sql);
    cr_assert_null(bound->diags);
    cr_assert_eq(bound->n_blocks, 5);
    static const enum sql_block_role roles[] = {SQL_BLOCK_TOP, SQL_BLOCK_DERIVED, SQL_BLOCK_SCALAR, SQL_BLOCK_TOP,
                                                SQL_BLOCK_IN};
    for (uint32_t i = 0; i < 5; i++) {
        const struct sql_block *b = bound->blocks[i];
        cr_expect_eq(b->role, roles[i], "block %u", i);
        cr_expect_eq(b->index, i);
        cr_expect(!b->parent || b->parent->index < i, "outer before inner");
        cr_expect_eq(sql_block_of(bound, b->node), b);
    }
    cr_expect(bound->blocks[0]->aggregate && bound->blocks[0]->grouped && bound->blocks[0]->arm);
    cr_expect(bound->blocks[2]->correlated && !bound->blocks[0]->correlated);
    cr_expect(bound->blocks[3]->right_arm_of_except && !bound->blocks[0]->right_arm_of_except);
    cr_expect(bound->blocks[0]->sources[1].nullable && !bound->blocks[0]->sources[0].nullable);
    arena_free(&arena);
    catalog_sqlite_free(catalog);
    leak_check();
}

/* ---- columns that a star leaves out ---- */

static enum sql_hidden find_hidden(const void *self, int table, const char *name, size_t len)
{
    (void)self, (void)table;
    if (sql_name_is(name, len, "xmin", 4)) return SQL_HIDDEN_SYSTEM;
    return sql_name_is(name, len, "t", 1) ? SQL_HIDDEN_ROW : SQL_HIDDEN_NONE;
}

/* Returns COLUMN node number n of a statement. */
static const struct sql_ref *nth_column(const struct sql_bound *bound, unsigned n)
{
    for (uint32_t i = 0; i < bound->n_refs; i++)
        if (bound->refs[i]->node->kind == SQL_COLUMN && n-- == 0) return bound->refs[i];
    return NULL;
}

Test(bind, row_and_hidden_columns_bind)
{
    static const struct {
        const char *sql;
        bool server, hides;
        enum sql_ref_kind first;
    } cases[] = {
        {"SELECT x FROM t AS x", true, false, SQL_REF_ROW},
        {"SELECT x FROM t AS x", false, false, SQL_REF_UNKNOWN},
        {"SELECT a FROM t AS a", true, false, SQL_REF_COLUMN}, /* a name that may be a column or a row is a column */
        {"SELECT c FROM t AS c, u", true, false, SQL_REF_COLUMN},
        {"SELECT x::text FROM t AS x, generate_series(1, 2) AS g", true, false, SQL_REF_ROW},
        {"SELECT g FROM t AS x, generate_series(1, 2) AS g", true, false, SQL_REF_ROW},
        {"SELECT 1 FROM u WHERE EXISTS (SELECT 1 FROM t WHERE u IS NOT NULL)", true, false, SQL_REF_ROW},
        {"SELECT y FROM (SELECT a FROM t) AS y", true, false, SQL_REF_ROW},
        /* a column of a source whose columns are unknown */
        {"SELECT k.x FROM t AS x, json_each('{}') AS k", true, false, SQL_REF_COLUMN},
        {"SELECT t.xmin FROM t", true, true, SQL_REF_SYSTEM},
        {"SELECT xmin FROM (SELECT a FROM t) AS y", true, true, SQL_REF_UNKNOWN},
        {"SELECT a FROM t WHERE t MATCH 'x'", false, true, SQL_REF_COLUMN},
        {"SELECT snippet(t) FROM t", false, true, SQL_REF_ROW},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct catalog_sqlite *catalog = catalog_sqlite_script("CREATE TABLE t(a, b); CREATE TABLE u(a, c);");
        struct arena arena;
        arena_init(&arena, 0);
        catalog->catalog.alias_is_row = cases[i].server;
        if (cases[i].hides) catalog->catalog.find_hidden = find_hidden;
        struct sql_bound *bound = bind_text(&arena, catalog, cases[i].sql);
        const struct sql_ref *ref = nth_column(bound, 0);
        cr_assert(ref, "%s", cases[i].sql);
        cr_expect_eq(ref->kind, cases[i].first, "%s is %d", cases[i].sql, (int)ref->kind);
        cr_expect_eq(ref->kind == SQL_REF_UNKNOWN, bound->diags != NULL, "%s", cases[i].sql);
        if (ref->kind == SQL_REF_ROW || ref->kind == SQL_REF_SYSTEM)
            cr_expect(ref->source && ref->output == -1, "%s", cases[i].sql);
        arena_free(&arena);
        catalog_sqlite_free(catalog);
    }
    leak_check();
}

Test(bind, conjuncts_literals_and_aggregates_are_found)
{
    struct catalog_sqlite *catalog = catalog_sqlite_script("CREATE TABLE t(a, b);");
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_bound *bound = bind_text(
        &arena, catalog, "SELECT count(*), max(a, b) FROM t WHERE a = -1 AND (b = \"x\" AND +a > 2) AND (a OR b)");
    const struct sql_node *select = bound->blocks[0]->node, **list;
    cr_assert_eq(sql_conjuncts(&arena, sql_kid(select, SELECT_WHERE), &list), 4);
    cr_expect_eq(sql_plain_literal(sql_kid(list[0], 1))->kind, SQL_LITERAL);
    cr_expect_eq(sql_plain_literal(sql_kid(list[1], 1))->kind, SQL_COLUMN);
    cr_expect_eq(sql_plain_column(sql_kid(list[2], 0))->column, 0);
    cr_expect_null(sql_plain_column(list[3]));
    const struct sql_node *items = sql_kid(select, SELECT_ITEMS);
    cr_expect(sql_is_aggregate(sql_kid(items->kids[0], 0)));
    cr_expect(!sql_is_aggregate(sql_kid(items->kids[1], 0)));
    arena_free(&arena);
    catalog_sqlite_free(catalog);
}

Test(bind, aggregate_around_column_is_found)
{
    struct catalog_sqlite *catalog = catalog_sqlite_script("CREATE TABLE t(a, b);");
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_bound *bound = bind_text(&arena, catalog,
                                        "SELECT a, sum(1 + abs(a)), sum(a) FILTER (WHERE b > 1), sum((SELECT a FROM t "
                                        "AS u ORDER BY b)), sum(a) OVER () "
                                        "FROM t GROUP BY a HAVING max(b) > 2 ORDER BY count(a)");
    static const char *const around[] = {"", "sum", "sum", "sum", "", "", "", "", "max", "count"};
    for (unsigned i = 0; i < sizeof around / sizeof *around; i++) {
        const struct sql_ref *ref = nth_column(bound, i);
        const struct sql_node *call = ref ? ref->aggregate : NULL;
        cr_assert(ref && (call != NULL) == (*around[i] != '\0'), "column %u", i);
        cr_expect(!call || sql_name_is(call->text, call->text_len, around[i], strlen(around[i])), "column %u", i);
    }
    cr_expect_null(nth_column(bound, sizeof around / sizeof *around));
    arena_free(&arena);
    catalog_sqlite_free(catalog);
}

/* ---- hostile statements ---- */

static enum err_code bind_hostile(struct catalog_sqlite *catalog, GString *sql, size_t cap)
{
    struct arena arena;
    arena_init(&arena, cap);
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound;
    enum err_code code = sql_parse(&arena, sql->str, sql->len, NULL, &stmt);
    if (code == ERR_OK) code = sql_bind(&arena, stmt, &catalog->catalog, &bound);
    arena_free(&arena);
    g_string_free(sql, TRUE);
    return code;
}

Test(bind, hostile_sizes_are_bounded)
{
    struct catalog_sqlite *catalog = catalog_sqlite_script("CREATE TABLE t(a, b);");
    int64_t start = clock_now_ns();
    GString *many = g_string_new("SELECT 1 FROM t");
    for (int i = 0; i < 3000; i++) g_string_append(many, ", t");
    cr_expect_eq(bind_hostile(catalog, many, 0), ERR_LIMIT_COUNT);

    GString *doubling = g_string_new("WITH c0 AS (SELECT * FROM t)");
    for (int i = 1; i < 600; i++)
        g_string_append_printf(doubling, ", c%d AS (SELECT * FROM c%d, c%d)", i, i - 1, i - 1);
    g_string_append(doubling, " SELECT * FROM c599");
    enum err_code code = bind_hostile(catalog, doubling, 0);
    cr_expect(code == ERR_OK || code == ERR_LIMIT_MEMORY || code == ERR_LIMIT_COUNT, "%s", err_name(code));

    GString *forward = g_string_new("WITH x AS (SELECT 1)");
    for (int i = 0; i < 300; i++) g_string_append_printf(forward, ", c%d AS (SELECT * FROM c%d)", i, i + 1);
    g_string_append(forward, ", c300 AS (SELECT 1) SELECT * FROM c0");
    cr_expect_eq(bind_hostile(catalog, forward, 0), ERR_LIMIT_COUNT);

    GString *names = g_string_new("SELECT x0");
    for (int i = 1; i < 4000; i++) g_string_append_printf(names, ", x%d", i);
    g_string_append(names, " FROM t");
    for (int i = 0; i < 400; i++) g_string_append(names, ", t");
    code = bind_hostile(catalog, names, 0);
    cr_expect(code == ERR_UNKNOWN_NAME || code == ERR_LIMIT_COUNT, "%s", err_name(code));

    GString *deep = g_string_new("SELECT a FROM t");
    for (int i = 0; i < 80; i++) g_string_append(deep, " WHERE a IN (SELECT b FROM t");
    for (int i = 0; i < 80; i++) g_string_append(deep, ")");
    code = bind_hostile(catalog, deep, 0);
    cr_expect(code == ERR_OK || code == ERR_LIMIT_DEPTH, "%s", err_name(code));
    cr_expect_lt(clock_ms(clock_now_ns() - start), 20000);
    catalog_sqlite_free(catalog);
    leak_check();
}

Test(bind, full_arena_is_error)
{
    struct catalog_sqlite *catalog = catalog_sqlite_script("CREATE TABLE t(a, b);");
    bool bound_once = false;
    for (size_t cap = 512; cap < 256 * 1024 && !bound_once; cap += 512) {
        enum err_code code =
            bind_hostile(catalog,
                         g_string_new("WITH c AS (SELECT a, b FROM t) SELECT x.a, nope FROM c AS x JOIN t USING (a) "
                                      "WHERE b IN (SELECT b FROM t) GROUP BY 1 ORDER BY a"),
                         cap);
        cr_assert(code == ERR_LIMIT_MEMORY || code == ERR_UNKNOWN_NAME || code == ERR_AMBIGUOUS_NAME, "%s",
                  err_name(code));
        bound_once = code != ERR_LIMIT_MEMORY;
    }
    cr_assert(bound_once);
    catalog_sqlite_free(catalog);
    leak_check();
}

/* ---- agreement with SQLite ---- */

struct agreement {
    GHashTable *seen;
    size_t judged, agree, accepted, names_wrong, same_token, with_offset, shown;
    int64_t bind_ns;
};

/* Returns how SQLite judges the names: 0 accepted, 1 unknown or ambiguous name, -1 another error, which is not
 * compared. */
static int sqlite_verdict(sqlite3 *db, const char *sql, int *offset)
{
    sqlite3_stmt *stmt = NULL;
    int rc = sqlite3_prepare_v2(db, sql, -1, &stmt, NULL);
    sqlite3_finalize(stmt);
    if (rc == SQLITE_OK) return 0;
    const char *message = sqlite3_errmsg(db);
    *offset = sqlite3_error_offset(db);
    bool name = g_str_has_prefix(message, "no such column") || g_str_has_prefix(message, "no such table") ||
                g_str_has_prefix(message, "ambiguous column name");
    return name ? 1 : -1;
}

static bool marks(const struct sql_diag *d, int offset)
{
    for (; d; d = d->next)
        if ((int)d->start == offset) return true;
    return false;
}

static void compare_one(struct agreement *a, const struct querylog_line *line, const char *sql)
{
    char *key = g_strdup_printf("%s\n%s", line->db, sql);
    if (!g_hash_table_add(a->seen, key)) return;
    struct arena arena;
    arena_init(&arena, 0);
    struct sql_stmt *stmt;
    struct sql_bound *bound = NULL;
    int offset = -1, verdict = sqlite_verdict(line->catalog->db, sql, &offset);
    if (verdict >= 0 && sql_parse(&arena, sql, strlen(sql), NULL, &stmt) == ERR_OK) {
        int64_t start = clock_now_ns();
        enum err_code code = sql_bind(&arena, stmt, &line->catalog->catalog, &bound);
        a->bind_ns += clock_now_ns() - start;
        cr_assert(bound, "%s: %s", err_name(code), sql);
        bool same = (bound->diags != NULL) == (verdict == 1);
        a->judged++;
        a->accepted += verdict == 0;
        a->names_wrong += verdict == 1;
        if (verdict == 1 && offset >= 0) {
            a->with_offset++;
            a->same_token += marks(bound->diags, offset);
            same = same && marks(bound->diags, offset);
        }
        a->agree += same;
        if (!same && a->shown++ < 25)
            fprintf(stderr, "disagree (%s): SQLite %s at %d; we: %s\n  %s\n", line->db,
                    verdict ? sqlite3_errmsg(line->catalog->db) : "accepts", offset,
                    bound->diags ? bound->diags->message : "fine", sql);
    }
    arena_free(&arena);
}

static void compare_line(const struct querylog_line *line, void *self)
{
    for (size_t i = 0; i < line->n_candidates; i++) compare_one(self, line, line->candidates[i]);
    if (line->gold) compare_one(self, line, line->gold);
}

Test(bind, binding_agrees_with_sqlite_on_logs)
{
    struct agreement a = {.seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
    if (querylog_each(NULL, compare_line, &a) == 0) cr_skip_test("no query logs under " SHARED_DATA);
    fprintf(stderr,
            "binding against SQLite: %zu statements, %.3f %% agree (%zu accepted, %zu with a wrong name); "
            "same token %zu of %zu; %.2f us each\n",
            a.judged, 100.0 * (double)a.agree / (double)a.judged, a.accepted, a.names_wrong, a.same_token,
            a.with_offset, (double)a.bind_ns / 1e3 / (double)a.judged);
    cr_expect_geq((double)a.agree, 0.995 * (double)a.judged);
    g_hash_table_destroy(a.seen);
    leak_check();
}
