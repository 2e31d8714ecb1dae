/* Tests --schema, and requests with a schema, through the program. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <string.h>

TestSuite(schema_only, .init = scratch_begin, .fini = scratch_end);

static const char DDL[] =
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT);\n"
    "CREATE TABLE orders (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer (id));\n";
static const char QUESTION[] = "How many customers are there?", SQL[] = "SELECT count(*) FROM customer";

static json_t *json_of(const char *text)
{
    json_t *json = json_loads(text, 0, NULL);
    cr_assert_not_null(json, "%s", text);
    return json;
}

Test(schema_only, check_judges_by_ddl_file)
{
    write_file("shop.sql", DDL);
    struct run run = assay("check", "--schema", "shop.sql", "--question", QUESTION, "--format", "json", SQL,
                           "SELECT x FROM customer");
    cr_expect(run.status == 0 || run.status == 1, "%d %s", run.status, run.err);
    json_t *verdict = json_of(run.out), *candidates = json_object_get(verdict, "candidates");
    const char *error =
        json_string_value(json_object_get(json_object_get(json_array_get(candidates, 0), "execution"), "error"));
    cr_expect_str_eq(error, "no_data");
    cr_expect_str_eq(json_string_value(json_object_get(verdict, "db")), "shop");
    cr_expect_eq(json_real_value(json_object_get(json_array_get(candidates, 1), "p_correct")), 0,
                 "a name that is not there");
    json_decref(verdict);
    run_free(&run);
}

Test(schema_only, unreadable_ddl_is_reported_with_location)
{
    write_file("bad.sql", "CREATE TABLE a (id int);\nINSERT INTO a VALUES (1);\n");
    struct run run = assay("check", "--schema", "bad.sql", "--question", QUESTION, SQL);
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.out, "line 2, column 1") && strstr(run.out, "INSERT"), "%s%s", run.out, run.err);
    run_free(&run);
    run = assay("check", "--schema", "none.sql", "--question", QUESTION, SQL);
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "none.sql"), "%s", run.err);
    run_free(&run);
    run = assay("check", "--question", QUESTION, SQL);
    cr_expect(run.status == 2 && strstr(run.err, "--schema"), "%s", run.err);
    run_free(&run);
}

static json_t *replayed(const char *schema, const char *db)
{
    json_t *line = json_pack("{s:s, s:s*, s:s*, s:s, s:[s, s]}", "id", "q", "db", db, "schema", schema, "question",
                             QUESTION, "candidates", SQL, "SELECT count(*) FROM customer WHERE city = 'Nowhere'");
    char *text = json_dumps(line, JSON_COMPACT);
    write_file("log.jsonl", text);
    free(text);
    json_decref(line);
    struct run run = assay("replay", "log.jsonl", "--db-root", ".", "--format", "jsonl");
    cr_assert_eq(run.status, 0, "%s", run.err);
    json_t *verdict = json_of(run.out);
    run_free(&run);
    static const char *const own[] = {"db", "request_digest", "timings", "versions", "line"};
    for (unsigned i = 0; i < G_N_ELEMENTS(own); i++) json_object_del(verdict, own[i]);
    json_t *candidate;
    size_t at;
    json_array_foreach(json_object_get(verdict, "candidates"), at, candidate)
        json_object_del(json_object_get(candidate, "execution"), "ms");
    return verdict;
}

/* The database shop exists and has rows. A line with a schema gets the same verdict with and without `db`, in every
 * finding. With the database instead of the schema the verdict differs. */
Test(schema_only, line_with_schema_uses_no_database)
{
    json_t *label = replayed(DDL, "shop"), *none = replayed(DDL, NULL), *other = replayed(DDL, "no/such"),
           *real = replayed(NULL, "shop");
    cr_expect(json_equal(label, none) && json_equal(label, other));
    cr_expect_not(json_equal(label, real));
    json_decref(label);
    json_decref(none);
    json_decref(other);
    json_decref(real);
}

Test(schema_only, eval_uses_definitions_of_databases)
{
    write_file("log.jsonl",
               "{\"id\":\"q\",\"db\":\"shop\",\"question\":\"How many customers are there?\","
               "\"gold\":\"SELECT count(*) FROM customer\",\"candidates\":[\"SELECT count(*) FROM customer\"]}\n");
    struct run run = assay("eval", "log.jsonl", "--db-root", ".", "--schema-only", "--format", "json");
    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.out, "\"selection\""), "%s", run.out);
    run_free(&run);
}
