/* Compares provenance and why-not with golden cases (tests/data/explain), line by line.
 *
 * A case has `database:` (deploy/samples or tests/data/explain), `sql:`, and perhaps `seed:`. Its other lines are the
 * expected output. For each arm, the test also checks that the source rows give the explained row. */
#include "lib/explain/provenance.h"
#include "tests/support/leak.h"
#include "tests/unit/schema/school.h"
#include "tests/unit/sql/cases.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(explain_cases, .timeout = 120);

struct bench {
    GHashTable *schools; /* database name → struct school */
    struct arena arena;
    GString *said; /* the output, one line for each entry */
    unsigned failures;
};

static void school_gone(gpointer data)
{
    school_end(data);
    g_free(data);
}

static void bench_open(struct bench *b)
{
    *b = (struct bench){.said = g_string_new(NULL)};
    b->schools = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, school_gone);
    arena_init(&b->arena, 0);
}

static void bench_end(struct bench *b)
{
    g_hash_table_destroy(b->schools);
    g_string_free(b->said, TRUE);
    arena_free(&b->arena);
}

static struct school *school_of(struct bench *b, const char *name)
{
    struct school *school = g_hash_table_lookup(b->schools, name);
    if (school) return school;
    char *path = g_strdup_printf("%s/deploy/samples/%s.sql", SOURCE_ROOT, name), *sql = NULL;
    if (!g_file_get_contents(path, &sql, NULL, NULL)) {
        g_free(path);
        path = g_strdup_printf("%s/explain/%s.sql", TEST_DATA, name);
        cr_assert(g_file_get_contents(path, &sql, NULL, NULL), "%s", path);
    }
    school = g_new0(struct school, 1);
    school_open(school, sql, NULL);
    g_hash_table_insert(b->schools, g_strdup(name), school);
    g_free(sql);
    g_free(path);
    return school;
}

/* ---- output ----------------------------------------------------------------------------------------------------- */

static const char *const STATUS[] = {"rows", "no source", "empty", "nothing", "unavailable"};
static const char *const STATE[] = {"rows", "other", "excluded", "no source", "unavailable"};
static const char *const SHAPE[] = {"plain", "whole", "group", "merged"};
static const char *const WHYNOT[] = {"found", "not empty", "no data", "unavailable"};

static void say_value(GString *to, const struct db_value *value)
{
    struct arena arena;
    arena_init(&arena, 0);
    const char *text = value->type == DB_TEXT ? value->text : db_quote_value(&arena, value);
    g_string_append(to, text);
    arena_free(&arena);
}

static void say_rows(GString *to, const struct prov_arm *arm)
{
    g_string_append(to, "rows: ");
    for (uint32_t i = 0; i < arm->n_rows; i++) {
        if (i) g_string_append(to, "; ");
        for (uint32_t c = 0; c < arm->n_columns; c++) {
            if (c) g_string_append(to, " | ");
            say_value(to, &arm->values[(size_t)i * arm->n_columns + c]);
        }
    }
    g_string_append(to, arm->more ? "; more\n" : "\n");
}

static void say_arm(GString *to, const struct prov_arm *arm)
{
    g_string_append_printf(to, "arm: %s %s", STATE[arm->state], SHAPE[arm->shape]);
    if (arm->set_op) g_string_append_printf(to, " %s", sql_op_text(arm->set_op));
    if (arm->parent >= 0) g_string_append_printf(to, " %s %d", arm->inside ? "inside" : "for", arm->parent);
    if (arm->value) g_string_append(to, " value "), say_value(to, arm->value);
    if (!arm->exact) g_string_append(to, " inexact");
    g_string_append_printf(to, "\nsaid: %s\n", arm->sql ? arm->sql : "-");
    if (arm->state == PROV_ARM_ROWS) say_rows(to, arm);
}

static void say_roles(GString *to, const struct provenance *p)
{
    static const char *const names[] = {"selected", "aggregated", "filter", "join",       "group",
                                        "having",   "order",      "window", "correlated", "key"};
    g_string_append(to, "roles:");
    for (uint32_t i = 0; p->n_arms && i < p->arms[0].n_columns; i++) {
        const struct prov_column *column = &p->arms[0].columns[i];
        g_string_append_printf(to, "%s %s", i ? ";" : "", column->label);
        for (unsigned bit = 0; bit < G_N_ELEMENTS(names); bit++)
            if (column->roles & 1U << bit) g_string_append_printf(to, " %s", names[bit]);
    }
    g_string_append(to, "\n");
}

static void say_trace(GString *to, const struct provenance *p, bool roles)
{
    g_string_append_printf(to, "status: %s\n", STATUS[p->status]);
    if (p->rule != PROV_RULE_ONLY) g_string_append_printf(to, "row: %u, %s\n", p->row, prov_rule_text(p->rule));
    if (p->status == PROV_UNAVAILABLE) g_string_append_printf(to, "reason: %s\n", p->reason);
    if (roles) say_roles(to, p);
    for (uint32_t i = 0; i < p->n_arms; i++) say_arm(to, &p->arms[i]);
}

static void say_whynot(GString *to, const struct explain_source *source, const struct whynot *why)
{
    g_string_append_printf(to, "why: %s%s\n", WHYNOT[why->status], why->minimal ? " minimal" : "");
    for (uint32_t i = 0; i < why->n_culprits; i++) {
        const struct whynot_culprit *c = &why->culprits[i];
        g_string_append_printf(to, "culprit: %s: %.*s", whynot_kind_name(c->kind), (int)(c->node->end - c->node->start),
                               source->sql + c->node->start);
        if (c->literal) g_string_append_printf(to, "; %s %s %s", c->column->name, sql_op_text(c->op), c->written);
        if (c->stored >= 0) g_string_append(to, c->stored ? ", stored" : ", not stored");
        for (uint32_t k = 0; k < c->n_nearest; k++)
            g_string_append_printf(to, "%s %s", k ? "," : "; near", c->nearest[k]);
        g_string_append(to, "\n");
    }
}

/* ---- running ---------------------------------------------------------------------------------------------------- */

static void check_arm(struct bench *b, const struct golden_case *c, const struct explain_source *source,
                      const struct provenance *p, const struct prov_arm *arm)
{
    const char *sql = arm->state == PROV_ARM_ROWS && arm->parent < 0 ? prov_check_sql(&b->arena, source, arm) : NULL;
    struct db_result again;
    struct err err = {0};
    if (!sql) return;
    enum err_code code = db_query(source->db, &b->arena, sql, strlen(sql), arm->params, arm->n_params, 1, &again, &err);
    cr_expect_eq(code, ERR_OK, "%s:%d: %s: %s", c->file, c->line, err.text, sql);
    const struct db_value *want = p->result->values + (size_t)p->row * p->result->n_columns;
    for (uint32_t i = 0; !code && i < again.n_columns; i++)
        cr_expect_eq(db_value_compare(&again.values[i], &want[i]), 0, "%s:%d: column %u: %s", c->file, c->line, i, sql);
}

static void explain(struct bench *b, const struct golden_case *c, struct school *school)
{
    const char *sql = case_get(c, "sql"), *seed = case_get(c, "seed");
    struct explain_source source = {.sql = sql, .sql_len = strlen(sql), .index = school->index, .db = school->f.db};
    struct prov_options options = {.max_rows = 4, .seed = seed ? strtoul(seed, NULL, 10) : 0};
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    struct db_result result;
    struct provenance p;
    struct whynot why;
    struct err err = {0};
    cr_assert_eq(sql_parse(&b->arena, sql, strlen(sql), NULL, &stmt), ERR_OK, "%s", sql);
    cr_assert_eq(sql_bind(&b->arena, stmt, &school->index->catalog, &bound), ERR_OK, "%s", sql);
    cr_assert_eq(db_query(school->f.db, &b->arena, sql, strlen(sql), NULL, 0, 0, &result, &err), ERR_OK, "%s: %s", sql,
                 err.text);
    source.stmt = stmt;
    source.bound = bound;
    source.result = &result;
    cr_assert_eq(prov_trace(&b->arena, &source, &options, &p), ERR_OK);
    say_trace(b->said, &p, case_get(c, "roles"));
    for (uint32_t i = 0; i < p.n_arms; i++) check_arm(b, c, &source, &p, &p.arms[i]);
    if (p.status != PROV_EMPTY && p.status != PROV_NOTHING) return;
    cr_assert_eq(prov_whynot(&b->arena, &source, &options, &why), ERR_OK);
    say_whynot(b->said, &source, &why);
}

static void run_case(const struct golden_case *c, void *self)
{
    struct bench *b = self;
    const char *database = case_get(c, "database");
    arena_reset(&b->arena);
    g_string_truncate(b->said, 0);
    explain(b, c, school_of(b, database ? database : "orchard"));
    GString *want = g_string_new(NULL);
    for (size_t i = 0; i < c->n_fields; i++) {
        const struct case_field *f = &c->fields[i];
        if (strcmp(f->key, "sql") != 0 && strcmp(f->key, "database") != 0 && strcmp(f->key, "seed") != 0)
            g_string_append_printf(want, "%s: %s\n", f->key, f->value);
    }
    if (strcmp(want->str, b->said->str) != 0) {
        b->failures++;
        fprintf(stderr, "%s:%d: %s\n%s", c->file, c->line, c->name, b->said->str);
    }
    g_string_free(want, TRUE);
}

static void run_file(const char *file)
{
    struct bench b;
    bench_open(&b);
    size_t n = cases_each(file, run_case, &b);
    cr_expect_gt(n, 10, "%s holds too few cases", file);
    cr_expect_eq(b.failures, 0, "%u cases of %s came out otherwise", b.failures, file);
    bench_end(&b);
    leak_check();
}

Test(explain_cases, golden_provenance_matches)
{
    run_file("../explain/provenance.case");
}

Test(explain_cases, golden_whynot_matches)
{
    run_file("../explain/whynot.case");
}
