/* Tests assay fix through the program. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <string.h>

TestSuite(fix_program, .init = scratch_begin, .fini = scratch_end);

#define FIX      "fix", "--db", "shop/shop.sqlite"
#define QUESTION "--question", "How many customers are there?"

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    cr_assert(json, "line %d: %s\n%.500s", error.line, error.text, text);
    return json;
}

static const char *text_at(const json_t *json, const char *key)
{
    return json_string_value(json_object_get(json, key));
}

Test(fix_program, wrong_query_is_repaired_and_change_shown)
{
    struct run run = assay(FIX, QUESTION, "--format=json", "SELECT count(*) FROM customer LIMIT 0");
    json_t *json = parse(run.out);
    const json_t *repair = json_object_get(json, "repair"), *step = json_array_get(json_object_get(repair, "steps"), 0);
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect_str_eq(text_at(json, "status"), "repaired", "%s", run.out);
    cr_expect(json_is_null(json_object_get(json, "chosen")), "what is returned is no candidate");
    cr_assert_str_eq(text_at(json, "sql"), text_at(repair, "sql"));
    cr_expect_str_eq(text_at(repair, "old_sql"), "SELECT count(*) FROM customer LIMIT 0");
    cr_expect(json_is_true(json_object_get(repair, "applied")));
    cr_expect_gt(json_number_value(json_object_get(repair, "p_correct")),
                 json_number_value(json_object_get(repair, "p_old")) + 0.3);
    cr_expect(step && text_at(step, "clause"), "%s", run.out);
    struct run text = assay(FIX, QUESTION, "--format=text", "SELECT count(*) FROM customer LIMIT 0");
    cr_expect(strstr(text.out, "repaired") && strstr(text.out, "\n- SELECT") && strstr(text.out, "\n+ SELECT"), "%s",
              text.out);
    struct run sql = assay(FIX, QUESTION, "--apply", "SELECT count(*) FROM customer LIMIT 0");
    cr_expect(strncmp(sql.out, text_at(json, "sql"), strlen(text_at(json, "sql"))) == 0, "%s", sql.out);
    json_decref(json);
    run_free(&run);
    run_free(&text);
    run_free(&sql);
}

Test(fix_program, correct_query_is_unchanged)
{
    static const char sound[] = "SELECT count(*) FROM customer";
    struct run run = assay(FIX, QUESTION, "--format=json", sound), apply = assay(FIX, QUESTION, "--apply", sound);
    json_t *json = parse(run.out);
    cr_expect_eq(run.status, 0, "%s", run.out);
    cr_expect_str_eq(text_at(json, "status"), "validated");
    cr_expect_str_eq(text_at(json, "sql"), sound);
    cr_expect_str_eq(apply.out, "SELECT count(*) FROM customer\n");
    json_decref(json);
    run_free(&run);
    run_free(&apply);
}

Test(fix_program, margin_decides_on_repair)
{
    struct run run = assay(FIX, QUESTION, "--format=json", "--repair-margin=0.95",
                           "SELECT count(*) FROM customer LIMIT 0"),
               less = assay(FIX, QUESTION, "--format=json", "--repair-margin=0.01",
                            "SELECT count(*) FROM customer LIMIT 0");
    json_t *kept = parse(run.out), *repaired = parse(less.out);
    cr_expect_eq(run.status, 1, "%s", run.out);
    cr_expect_str_eq(text_at(kept, "status"), "best_effort");
    cr_expect_str_eq(text_at(repaired, "status"), "repaired");
    json_decref(kept);
    json_decref(repaired);
    run_free(&run);
    run_free(&less);
}

Test(fix_program, errors_are_reported)
{
    struct run broken = assay(FIX, QUESTION, "SELEKT 1"), writes = assay(FIX, QUESTION, "DELETE FROM customer"),
               no_file = assay("fix", "--db", "none.sqlite", QUESTION, "SELECT 1"),
               no_question = assay(FIX, "SELECT 1");
    cr_expect_eq(broken.status, 1, "%s", broken.err);
    cr_expect(strstr(broken.out, "invalid_sql"), "%s", broken.out);
    cr_expect_eq(writes.status, 1, "%s", writes.err);
    cr_expect_eq(no_file.status, 2, "%s", no_file.err);
    cr_expect_eq(no_question.status, 2, "%s", no_question.err);
    run_free(&broken);
    run_free(&writes);
    run_free(&no_file);
    run_free(&no_question);
}

/* A regression: proposals for this query used all memory that a worker has for a result, so the request failed. */
Test(fix_program, long_query_is_repaired_like_others)
{
    GString *sql = g_string_new("SELECT count(*) FROM customer WHERE name <> 'x'");
    for (int i = 0; i < 120; i++) g_string_append_printf(sql, " AND name <> 'x%d'", i);
    struct run run = assay(FIX, QUESTION, "--format=json", sql->str);
    json_t *json = parse(run.out);
    cr_expect(run.status == 0 || run.status == 1, "%d: %s", run.status, run.err);
    cr_expect(json_is_string(json_object_get(json, "sql")), "%s", run.out);
    json_decref(json);
    run_free(&run);
    g_string_free(sql, TRUE);
}
