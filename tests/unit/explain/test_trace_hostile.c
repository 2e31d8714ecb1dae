/* Hostile statements and data must not make provenance fail, hang, or use unbounded memory. */
#include "lib/base/clock.h"
#include "lib/explain/provenance.h"
#include "tests/support/leak.h"
#include "tests/unit/schema/school.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

TestSuite(trace_hostile, .timeout = 120);

static const char *const SCHEMA = "CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c);"
                                  "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE"
                                  " i < 2000) SELECT i, 'v' || (i % 7), NULL FROM n;";

struct subject {
    struct school school;
    struct explain_source source;
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    struct db_result result;
    struct provenance p;
    struct whynot why;
};

static void open_subject(struct subject *s, const char *schema)
{
    *s = (struct subject){0};
    school_open(&s->school, schema, NULL);
}

/* Parses, binds and runs a query; `stop_rows` as in db_query. */
static void put(struct subject *s, const char *sql, uint32_t stop_rows)
{
    struct arena *arena = &s->school.f.arena;
    struct err err = {0};
    arena_reset(arena);
    cr_assert_eq(sql_parse(arena, sql, strlen(sql), NULL, &s->stmt), ERR_OK, "%.200s", sql);
    cr_assert_eq(sql_bind(arena, s->stmt, &s->school.index->catalog, &s->bound), ERR_OK, "%.200s", sql);
    enum err_code code = db_query(s->school.f.db, arena, sql, strlen(sql), NULL, 0, stop_rows, &s->result, &err);
    cr_assert_eq(code, ERR_OK, "%s: %.200s", err.text, sql);
    s->source = (struct explain_source){.sql = sql,
                                        .sql_len = strlen(sql),
                                        .stmt = s->stmt,
                                        .bound = s->bound,
                                        .index = s->school.index,
                                        .db = s->school.f.db,
                                        .result = &s->result};
}

static void trace(struct subject *s, const char *sql, const struct prov_options *options)
{
    put(s, sql, 0);
    cr_assert_eq(prov_trace(&s->school.f.arena, &s->source, options, &s->p), ERR_OK);
}

static void close_subject(struct subject *s)
{
    school_end(&s->school);
    leak_check();
}

Test(trace_hostile, forty_tables_are_traced)
{
    struct subject s;
    open_subject(&s, SCHEMA);
    GString *sql = g_string_new("SELECT count(*) FROM t AS t0");
    for (int i = 1; i < 40; i++) g_string_append_printf(sql, " JOIN t AS t%d ON t%d.a = t%d.a", i, i, i - 1);
    trace(&s, sql->str, NULL);
    cr_expect_eq(s.p.status, PROV_ROWS, "%s", s.p.reason);
    cr_expect_eq(s.p.arms[0].n_columns, 40);
    cr_expect_eq(s.p.arms[0].total, 2000);
    g_string_append(sql, " WHERE t39.b = 'v9'");
    put(&s, sql->str, 0);
    cr_assert_eq(prov_whynot(&s.school.f.arena, &s.source, NULL, &s.why), ERR_OK);
    cr_expect_eq(s.why.status, WHYNOT_FOUND);
    cr_expect_eq(s.why.culprits[0].kind, WHYNOT_WHERE);
    cr_expect_eq(s.why.probes, 2, "the result of count(*) has a row, so emptiness is probed; then the literal");
    g_string_free(sql, TRUE);
    close_subject(&s);
}

Test(trace_hostile, ten_million_rows_are_cut)
{
    struct subject s;
    open_subject(&s, SCHEMA);
    put(&s, "SELECT x.a, y.b FROM t x, t y, t z", 500);
    cr_assert_eq(prov_trace(&s.school.f.arena, &s.source, NULL, &s.p), ERR_OK);
    cr_expect_eq(s.p.status, PROV_ROWS, "%s", s.p.reason);
    cr_expect(s.p.result_cut);
    cr_expect(s.p.arms[0].more);
    cr_expect_eq(s.p.arms[0].n_rows, 8);
    cr_expect_eq(s.p.arms[0].total, -1, "not counted");
    close_subject(&s);
}

Test(trace_hostile, columns_past_the_limit_are_cut)
{
    struct subject s;
    open_subject(&s, SCHEMA);
    GString *sql = g_string_new("SELECT * FROM t AS t0");
    for (int i = 1; i < 40; i++) g_string_append_printf(sql, " JOIN t AS t%d ON t%d.a = t%d.a", i, i, i - 1);
    trace(&s, sql->str, NULL);
    cr_expect_eq(s.p.status, PROV_ROWS, "%s", s.p.reason);
    cr_expect_eq(s.p.arms[0].n_columns, 64);
    cr_expect(s.p.arms[0].columns_cut);
    cr_expect_eq(s.p.arms[0].n_rows, 1);
    g_string_free(sql, TRUE);
    close_subject(&s);
}

Test(trace_hostile, arms_past_the_limit_are_left_out)
{
    struct subject s;
    open_subject(&s, SCHEMA);
    GString *sql = g_string_new("SELECT a FROM t WHERE a = 1");
    for (int i = 2; i < 40; i++) g_string_append_printf(sql, " UNION SELECT a FROM t WHERE a = %d", i);
    trace(&s, sql->str, NULL);
    cr_expect_eq(s.p.status, PROV_ROWS, "%s", s.p.reason);
    cr_expect_eq(s.p.n_arms, 8);
    cr_expect(s.p.arms_cut);
    cr_expect_eq(s.p.statements, 8);
    g_string_free(sql, TRUE);
    close_subject(&s);
}

Test(trace_hostile, long_values_are_bound_as_parameters)
{
    struct subject s;
    open_subject(&s, "CREATE TABLE big (k INTEGER PRIMARY KEY, text TEXT, bytes BLOB);"
                     "INSERT INTO big VALUES (1, printf('%.5000c', 'x'), zeroblob(5000)),"
                     " (2, printf('%.5000c', 'y'), zeroblob(200000)), (3, '', x'');");
    trace(&s, "SELECT text, bytes FROM big WHERE k = 1", NULL);
    cr_expect_eq(s.p.status, PROV_ROWS, "%s", s.p.reason);
    cr_expect_eq(s.p.arms[0].n_params, 2);
    cr_expect_eq(s.p.arms[0].n_rows, 1);
    cr_expect(s.p.arms[0].exact);
    trace(&s, "SELECT bytes FROM big WHERE k > 1", NULL);
    cr_expect_eq(s.p.status, PROV_ROWS, "%s", s.p.reason);
    cr_expect_not(s.p.arms[0].exact, "the value is too long to be compared");
    trace(&s, "SELECT bytes, text FROM big WHERE k > 2", NULL);
    cr_expect_eq(s.p.arms[0].n_rows, 1);
    close_subject(&s);
}

Test(trace_hostile, deep_and_long_conditions_are_bounded)
{
    struct subject s;
    open_subject(&s, SCHEMA);
    GString *sql = g_string_new("SELECT b FROM t WHERE ");
    for (int i = 0; i < 24; i++) g_string_append(sql, "(NOT (");
    g_string_append(sql, "a = 3");
    for (int i = 0; i < 24; i++) g_string_append(sql, "))");
    trace(&s, sql->str, NULL);
    cr_expect_eq(s.p.status, PROV_ROWS, "%s", s.p.reason);
    g_string_assign(sql, "SELECT b FROM t WHERE a > 0");
    for (int i = 0; i < 300; i++) g_string_append_printf(sql, " AND a <> %d", 5000 + i);
    trace(&s, sql->str, NULL);
    cr_expect_eq(s.p.status, PROV_ROWS, "%s", s.p.reason);
    g_string_append(sql, " AND b = 'w'");
    put(&s, sql->str, 0);
    cr_assert_eq(prov_whynot(&s.school.f.arena, &s.source, NULL, &s.why), ERR_OK);
    cr_expect_leq(s.why.probes, 25);
    cr_expect_neq(s.why.status, WHYNOT_NO_DATA, "not all conditions could be taken out");
    g_string_free(sql, TRUE);
    close_subject(&s);
}

Test(trace_hostile, nested_derived_tables_are_traced)
{
    struct subject s;
    open_subject(&s, SCHEMA);
    GString *sql = g_string_new("SELECT a, b FROM t WHERE a < 9");
    for (int i = 0; i < 12; i++) {
        g_string_prepend(sql, "SELECT a, b FROM (");
        g_string_append_printf(sql, ") AS d%d", i);
    }
    trace(&s, sql->str, NULL);
    cr_expect_eq(s.p.status, PROV_ROWS, "%s", s.p.reason);
    cr_expect_eq(s.p.n_arms, 3, "max_depth is 2");
    cr_expect_eq(s.p.arms[2].parent, 1);
    g_string_free(sql, TRUE);
    close_subject(&s);
}

Test(trace_hostile, slow_statements_are_stopped)
{
    struct subject s;
    struct prov_options options = {.time_ms = 30};
    open_subject(&s, SCHEMA);
    const char *slow = "SELECT count(*) FROM t x, t y, t z WHERE x.a * y.a * z.a = -1";
    struct db_value zero = {.type = DB_INT};
    struct db_result made_up = {.n_columns = 1, .n_rows = 1, .values = &zero, .steps = INT32_MAX};
    struct arena *arena = &s.school.f.arena;
    arena_reset(arena);
    cr_assert_eq(sql_parse(arena, slow, strlen(slow), NULL, &s.stmt), ERR_OK);
    cr_assert_eq(sql_bind(arena, s.stmt, &s.school.index->catalog, &s.bound), ERR_OK);
    s.source = (struct explain_source){.sql = slow,
                                       .sql_len = strlen(slow),
                                       .stmt = s.stmt,
                                       .bound = s.bound,
                                       .index = s.school.index,
                                       .db = s.school.f.db,
                                       .result = &made_up};
    int64_t limit = db_get_limits(s.source.db).time_ms, start = clock_now_ns();
    cr_assert_eq(prov_trace(arena, &s.source, &options, &s.p), ERR_OK);
    cr_expect_eq(s.p.status, PROV_UNAVAILABLE);
    cr_expect_eq(s.p.code, ERR_LIMIT_TIME);
    cr_expect_neq(*s.p.reason, '\0');
    cr_assert_eq(prov_whynot(arena, &s.source, &options, &s.why), ERR_OK);
    cr_expect_neq(s.why.status, WHYNOT_NO_DATA, "a probe that was stopped says nothing");
    cr_expect_lt(clock_now_ns() - start, 5000000000, "bounded by time_ms, not by the statement");
    cr_expect_eq(db_get_limits(s.source.db).time_ms, limit, "the handle's limits are as before");
    made_up.steps = 1000; /* so few steps give the trace a small limit */
    cr_assert_eq(prov_trace(arena, &s.source, NULL, &s.p), ERR_OK);
    cr_expect_eq(s.p.status, PROV_UNAVAILABLE);
    cr_expect_eq(s.p.code, ERR_LIMIT_STEPS);
    cr_expect_eq(db_get_limits(s.source.db).max_steps, 0, "the handle's limits are as before");
    close_subject(&s);
}

Test(trace_hostile, many_slow_arms_are_stopped_together)
{
    struct subject s;
    struct prov_options options = {.time_ms = 30};
    open_subject(&s, SCHEMA);
    put(&s, "SELECT 0 FROM t WHERE a = 1", 0);
    struct db_result made_up = s.result;
    made_up.steps = INT32_MAX;
    GString *slow = g_string_new("SELECT 0 FROM t x, t y, t z WHERE x.a * y.a * z.a = -1");
    for (int i = 0; i < 6; i++)
        g_string_append(slow, " UNION ALL SELECT 0 FROM t x, t y, t z WHERE x.a * y.a * z.a = -1");
    struct arena *arena = &s.school.f.arena;
    cr_assert_eq(sql_parse(arena, slow->str, slow->len, NULL, &s.stmt), ERR_OK);
    cr_assert_eq(sql_bind(arena, s.stmt, &s.school.index->catalog, &s.bound), ERR_OK);
    s.source.sql = slow->str;
    s.source.sql_len = slow->len;
    s.source.stmt = s.stmt;
    s.source.bound = s.bound;
    s.source.result = &made_up;
    cr_assert_eq(prov_trace(arena, &s.source, &options, &s.p), ERR_OK);
    cr_expect_eq(s.p.status, PROV_UNAVAILABLE);
    cr_expect_eq(s.p.n_arms, 7);
    cr_expect_leq(s.p.statements, 3, "twice time_ms, and the one that passes it");
    g_string_free(slow, TRUE);
    close_subject(&s);
}

Test(trace_hostile, passed_deadline_makes_provenance_unavailable)
{
    struct subject s;
    open_subject(&s, SCHEMA);
    put(&s, "SELECT b FROM t WHERE a = 7", 0);
    db_set_deadline(s.source.db, 1);
    cr_assert_eq(prov_trace(&s.school.f.arena, &s.source, NULL, &s.p), ERR_OK);
    cr_expect_eq(s.p.status, PROV_UNAVAILABLE);
    cr_expect_eq(s.p.code, ERR_DEADLINE);
    db_set_deadline(s.source.db, 0);
    s.source.db = NULL;
    cr_assert_eq(prov_trace(&s.school.f.arena, &s.source, NULL, &s.p), ERR_OK);
    cr_expect_eq(s.p.status, PROV_UNAVAILABLE);
    cr_assert_eq(prov_whynot(&s.school.f.arena, &s.source, NULL, &s.why), ERR_OK);
    cr_expect_eq(s.why.status, WHYNOT_UNAVAILABLE);
    close_subject(&s);
}

Test(trace_hostile, missing_result_runs_the_statement)
{
    struct subject s;
    open_subject(&s, SCHEMA);
    put(&s, "SELECT b FROM t", 0);
    s.source.result = NULL;
    cr_assert_eq(prov_trace(&s.school.f.arena, &s.source, NULL, &s.p), ERR_OK);
    cr_expect_eq(s.p.status, PROV_ROWS);
    cr_expect_eq(s.p.statements, 2);
    cr_expect(s.p.result_cut);
    close_subject(&s);
}

/* For any size of the arena, the outcome is a trace or ERR_LIMIT_MEMORY. */
Test(trace_hostile, every_arena_size_ends_cleanly)
{
    static const char *const sqls[] = {
        "SELECT b, count(*) FROM t WHERE a > 5 GROUP BY b HAVING count(*) > 1 ORDER BY 2 DESC LIMIT 1",
        "SELECT n FROM (SELECT count(*) AS n FROM t GROUP BY b) WHERE n > 1 INTERSECT SELECT max(a) - 1714 FROM t",
        "SELECT a FROM t WHERE b = 'v8' AND a = -1 AND c = 'x'",
    };
    struct subject s;
    open_subject(&s, SCHEMA);
    for (size_t i = 0; i < G_N_ELEMENTS(sqls); i++) {
        put(&s, sqls[i], 0);
        bool whole = false;
        for (size_t cap = 512; cap <= 1U << 20; cap += cap / 8) {
            struct arena small;
            arena_init(&small, cap);
            enum err_code code = prov_trace(&small, &s.source, NULL, &s.p);
            enum err_code why = prov_whynot(&small, &s.source, NULL, &s.why);
            cr_expect(code == ERR_OK || code == ERR_LIMIT_MEMORY);
            cr_expect(code == ERR_OK || s.p.status == PROV_UNAVAILABLE);
            cr_expect(why == ERR_OK || s.why.status == WHYNOT_UNAVAILABLE);
            whole = code == ERR_OK && why == ERR_OK;
            arena_free(&small);
        }
        cr_expect(whole, "a mebibyte is enough: %s", sqls[i]);
    }
    close_subject(&s);
}

/* Equal seeds choose the same row, by the documented rule. */
Test(trace_hostile, chosen_row_depends_on_seed)
{
    struct subject s;
    open_subject(&s, SCHEMA);
    uint32_t rows[2][16];
    for (int again = 0; again < 2; again++)
        for (uint64_t seed = 0; seed < 16; seed++) {
            struct prov_options options = {.seed = seed};
            trace(&s, "SELECT a FROM t", &options);
            rows[again][seed] = s.p.row;
            cr_expect_eq(s.p.rule, seed ? PROV_RULE_SEEDED : PROV_RULE_FIRST);
            trace(&s, "SELECT a FROM t ORDER BY b", &options);
            cr_expect_eq(s.p.row, 0, "the first of an ordered result");
        }
    cr_expect_eq(memcmp(rows[0], rows[1], sizeof rows[0]), 0);
    unsigned different = 0;
    for (int i = 2; i < 16; i++) different += rows[0][i] != rows[0][1];
    cr_expect_gt(different, 10);
    close_subject(&s);
}
