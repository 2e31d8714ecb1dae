/* Tests judging from the DDL of a schema alone, on the complete path. Runs the golden cases of tests/data/schema-only,
 * and checks properties of every verdict. */
#include "tests/support/leak.h"
#include "tests/unit/engine/world.h"
#include "tests/unit/signals/case_file.h"

#include "engine/run.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct world world;
static struct engine *engine;

static void begin(void)
{
    struct engine_config config = {.workers = 2, .models_dir = ASSAY_MODELS};
    struct err err = {0};
    cr_assert(world_make(&world));
    config.databases = (struct worker_databases){.roots = world.roots, .n_roots = 1};
    cr_assert_eq(engine_open(&config, &engine, &err), ERR_OK, "%s", err.text);
}

static void end(void)
{
    engine_close(engine);
    world_remove(&world);
    leak_check();
}
TestSuite(schema_only, .init = begin, .fini = end, .timeout = 120);

static struct msg_verdict *judge(const char *db, const char *schema, const char *question, const char *const *sql,
                                 uint32_t n)
{
    struct msg_candidate candidates[4];
    struct msg_request request = {.id = "q",
                                  .db = db,
                                  .schema = schema,
                                  .question = question,
                                  .candidates = candidates,
                                  .n_candidates = n,
                                  .options = {.expose = MSG_EXPOSE_ROWS}};
    struct msg_verdict *verdict;
    struct err err = {0};
    for (uint32_t i = 0; i < n; i++)
        candidates[i] = (struct msg_candidate){.sql = {sql[i], (uint32_t)strlen(sql[i])}, .score = NAN};
    cr_assert_eq(engine_submit(engine, &request, -1, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(engine_next(engine, 60000, &verdict, &err), ERR_OK, "%s", err.text);
    return verdict;
}

static bool needs_data(uint32_t id)
{
    const struct vsig_def *def = vsig_by_id((enum vsig_id)id);
    return def->family == VSIG_EXECUTION || def->needs & (VSIG_NEEDS_DB | VSIG_NEEDS_RESULT | VSIG_NEEDS_DATA);
}

/* True if the fact was read from data, which its key shows. */
static bool is_from_data(const struct msg_fact *fact)
{
    static const char *const keys[] = {"nearest", "stored_like", "the data says", "difference", "found in", "rows"};
    for (unsigned i = 0; i < G_N_ELEMENTS(keys); i++)
        if (g_str_has_prefix(fact->key, keys[i])) return true;
    return false;
}

/* Checks the properties that hold for every candidate. */
static void check_unseen(const struct msg_judged *judged, const char *where)
{
    for (uint32_t i = 0; i < judged->n_signals; i++) {
        const struct msg_signal *signal = &judged->signals[i];
        bool unavailable = signal->state == MSG_UNAVAILABLE;
        cr_expect_eq(unavailable, needs_data(signal->id), "%s: %s", where, signal->name);
        if (unavailable) cr_expect_str_eq(signal->reason, "no_data", "%s: %s", where, signal->name);
    }
    for (uint32_t i = 0; i < judged->n_findings; i++)
        for (uint32_t f = 0; f < judged->findings[i].n_facts; f++)
            cr_expect_not(is_from_data(&judged->findings[i].facts[f]), "%s: %s", where,
                          judged->findings[i].facts[f].key);
    const struct msg_execution *ran = judged->execution;
    if (!ran) return; /* the candidate was not parsed */
    cr_expect(strcmp(ran->code, "ok") != 0 && !ran->rows && !ran->columns && !ran->n_sample && !ran->digest[0], "%s",
              where);
    cr_expect_eq(strcmp(ran->code, "no_data") == 0, !judged->invalid, "%s: %s", where, ran->code);
    cr_expect(!judged->explanation || !strstr(judged->explanation, "result has"), "%s", judged->explanation);
}

/* --- golden cases ------------------------------------------------------------------------------------------------- */

/* The position in the case file, and the messages about the current query. */
struct stage {
    const char *path, *schema, *question;
    const struct case_line *sql; /* line of the current query; NULL if there is none */
    GString *fires;
    const char *invalid;
    unsigned judged;
};

static GString *fired_of(const struct msg_judged *judged)
{
    GString *out = g_string_new(NULL);
    for (uint32_t i = 0; i < judged->n_signals; i++)
        if (judged->signals[i].state == MSG_FIRED) g_string_append_printf(out, "%s\n", judged->signals[i].name);
    return out;
}

static void check_waiting(struct stage *stage)
{
    if (!stage->sql) return;
    char *where = g_strdup_printf("%s:%u", stage->path, stage->sql->number);
    struct msg_verdict *verdict = judge("case", stage->schema, stage->question, (const char *[]){stage->sql->value}, 1);
    const struct msg_judged *judged = &verdict->candidates[0];
    cr_expect_neq(verdict->status, MSG_STATUS_FAILED, "%s: %s", where, verdict->message);
    const char *said = judged->invalid && judged->n_findings ? judged->findings[0].message : "";
    GString *fired = fired_of(judged);
    cr_expect_eq(judged->invalid, stage->invalid != NULL, "%s: %s", where, said);
    if (stage->invalid) cr_expect(g_str_has_prefix(said, stage->invalid), "%s: %s", where, said);
    cr_expect_str_eq(fired->str, stage->fires->str, "%s: fired %s", where, fired->str);
    check_unseen(judged, where);
    g_string_free(fired, TRUE);
    msg_verdict_free(verdict);
    g_free(where);
    g_string_truncate(stage->fires, 0);
    stage->sql = NULL;
    stage->invalid = NULL;
    stage->judged++;
}

static void take_line(struct stage *stage, const struct case_line *line)
{
    bool about_sql = strcmp(line->key, "fires") == 0 || strcmp(line->key, "invalid") == 0;
    if (!about_sql) check_waiting(stage);
    if (strcmp(line->key, "schema") == 0) stage->schema = line->value;
    if (strcmp(line->key, "question") == 0) stage->question = line->value;
    if (strcmp(line->key, "sql") == 0) stage->sql = line;
    if (strcmp(line->key, "fires") == 0) g_string_append_printf(stage->fires, "%s\n", line->value);
    if (strcmp(line->key, "invalid") == 0) stage->invalid = line->value;
}

static unsigned check_file(const char *path)
{
    char *why = NULL;
    struct case_file *file = case_file_read(path, &why);
    cr_assert_not_null(file, "%s: %s", path, why);
    struct stage stage = {.path = path, .fires = g_string_new(NULL)};
    for (guint i = 0; i < file->lines->len; i++) take_line(&stage, file->lines->pdata[i]);
    check_waiting(&stage);
    g_string_free(stage.fires, TRUE);
    case_file_free(file);
    return stage.judged;
}

Test(schema_only, golden_cases_are_judged)
{
    cr_expect_geq(check_file(TEST_DATA "/schema-only/ferries.case"), 13);
    cr_expect_geq(check_file(TEST_DATA "/schema-only/postgres.case"), 3);
}

/* --- labels, and failures --- */

static const char ANIMALS[] = "CREATE TABLE animal (id INTEGER PRIMARY KEY, kind TEXT, age INTEGER);";

/* zoo is also a database of the catalogue, with rows. The verdict must depend on the schema only. */
Test(schema_only, database_with_same_name_is_ignored)
{
    static const char *const sql[] = {"SELECT count(*) FROM animal WHERE kind = 'unicorn'", "SELECT legs FROM animal"};
    struct msg_verdict *label = judge("zoo", ANIMALS, "How many unicorns?", sql, 2);
    struct msg_verdict *other = judge("nowhere", ANIMALS, "How many unicorns?", sql, 2);
    struct msg_verdict *real = judge("zoo", NULL, "How many unicorns?", sql, 1);
    cr_expect_str_eq(label->db, "zoo");
    cr_expect_eq(label->status, other->status);
    cr_expect_eq(label->chosen, other->chosen);
    for (uint32_t i = 0; i < 2; i++) {
        check_unseen(&label->candidates[i], label->db);
        cr_expect(label->candidates[i].p_correct == other->candidates[i].p_correct);
        cr_expect_eq(label->candidates[i].n_findings, other->candidates[i].n_findings);
    }
    cr_expect_str_eq(real->candidates[0].execution->code, "ok", "and it is found where there is no schema");
    msg_verdict_free(label);
    msg_verdict_free(other);
    msg_verdict_free(real);
}

Test(schema_only, unreadable_schema_fails_only_its_request)
{
    static const char *const sql[] = {"SELECT count(*) FROM animal"};
    struct msg_verdict *verdict = judge("zoo", "CREATE TABLE animal (", "How many animals?", sql, 1);
    cr_expect_eq(verdict->status, MSG_STATUS_FAILED);
    cr_expect_str_eq(verdict->reason, "schema");
    cr_expect(strstr(verdict->message, "line 1, column 22"), "%s", verdict->message);
    msg_verdict_free(verdict);
    verdict = judge("zoo", NULL, "How many animals?", sql, 1);
    cr_expect_neq(verdict->status, MSG_STATUS_FAILED, "the database of that name is not left alone for it");
    msg_verdict_free(verdict);
}

/* Each view reads the previous view twice. Such a schema can be created, but not listed. */
Test(schema_only, exponential_view_fails_its_request)
{
    static const char *const sql[] = {"SELECT count(*) FROM t"};
    GString *ddl = g_string_new("CREATE TABLE t (a int); CREATE VIEW v AS WITH a0 AS (SELECT a FROM t)");
    for (int i = 1; i <= 30; i++)
        g_string_append_printf(ddl, ", a%d AS (SELECT x.a FROM a%d x, a%d y)", i, i - 1, i - 1);
    g_string_append(ddl, " SELECT a FROM a30");
    struct msg_verdict *verdict = judge("x", ddl->str, "How many?", sql, 1);
    cr_expect_eq(verdict->status, MSG_STATUS_FAILED);
    cr_expect_str_eq(verdict->reason, "schema");
    msg_verdict_free(verdict);
    g_string_free(ddl, TRUE);
}

/* Without data, P(correct) does not exceed the models' estimate. A candidate with an unbound name does not win. */
Test(schema_only, notes_list_unavailable_checks)
{
    static const char *const sql[] = {"SELECT count(*) FROM animal WHERE age > 3"};
    struct msg_verdict *verdict = judge("x", ANIMALS, "How many animals are older than 3?", sql, 1);
    bool said = false;
    for (uint32_t i = 0; i < verdict->n_notes; i++) said |= strstr(verdict->notes[i], "only a schema") != NULL;
    cr_expect(said, "the verdict says what was not looked at");
    cr_expect(verdict->p_correct > 0 && verdict->p_correct < 1);
    msg_verdict_free(verdict);
}
