/* Tests assay examples, from a log with gold queries to the examples that a corrector receives. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <string.h>

TestSuite(examples_program, .init = scratch_begin, .fini = scratch_end);

#define LINE(id, question, gold, wrong)                                                                                \
    "{\"id\":\"" id "\",\"db\":\"shop\",\"question\":\"" question "\",\"gold\":\"" gold "\",\"candidates\":[\"" gold   \
    "\",\"" wrong "\"]}\n"

static const char log_text[] = LINE("a", "How many customers are there?", "SELECT count(*) FROM customer",
                                    "SELECT max(id) FROM customer WHERE 1 = 0")
    LINE("b", "Who are they?", "SELECT name FROM customer", "SELECT nam FROM customer");

static void build(void)
{
    write_file("log.jsonl", log_text);
    struct run run = assay("examples", "build", "log.jsonl", "--db-root", ".", "--out", "examples.db");
    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.out, "2 examples added to examples.db"), "%s", run.out);
    run_free(&run);
}

static json_t *rows(struct run run)
{
    json_t *json = json_loads(run.out, 0, NULL);
    cr_assert(json, "%s%s", run.out, run.err);
    run_free(&run);
    return json;
}

static const char *text_of(const json_t *list, size_t at, const char *key)
{
    return json_string_value(json_object_get(json_array_get(list, at), key));
}

Test(examples_program, wrong_candidates_of_log_are_found)
{
    build();
    json_t *all = rows(assay("examples", "show", "examples.db", "--format=json"));
    cr_assert_eq(json_array_size(all), 2);
    cr_expect_str_eq(text_of(all, 0, "source"), "a");
    cr_expect(strstr(text_of(all, 0, "steps"), "WHERE"), "%s", text_of(all, 0, "steps"));
    cr_expect(strstr(text_of(all, 1, "error"), "nam"), "the engine's words: %s", text_of(all, 1, "error"));
    json_decref(all);
    json_t *found =
        rows(assay("examples", "search", "examples.db", "--question", "how many clients", "-k", "1", "--format=json"));
    cr_expect_str_eq(text_of(found, 0, "source"), "a");
    json_decref(found);
    found = rows(assay("examples", "search", "examples.db", "--question", "who are THEY?", "-k", "5", "--format=json"));
    cr_expect_eq(json_array_size(found), 1, "nothing of the same question");
    json_decref(found);
    struct run text = assay("examples", "search", "examples.db", "--sql", "SELECT nam FROM customers", "--key=sql",
                            "-k", "1", "--format=text");
    cr_expect(strstr(text.out, "- SELECT nam FROM customer\n+ SELECT name FROM customer"), "%s", text.out);
    run_free(&text);
}

/* Adds the same log again, with one more line and with feedback on a request without gold. */
Test(examples_program, gold_and_feedback_add_each_example_once)
{
    static const char more[] =
        LINE("c", "How many are from France?", "SELECT count(*) FROM customer WHERE country = 'France'",
             "SELECT count(*) FROM customer") "{\"id\":\"d\",\"db\":\"shop\",\"question\":\"Names of "
                                              "all?\",\"candidates\":[\"SELECT name FROM customer\",\"SELECT id FROM "
                                              "customer\"]}\n"
                                              "{\"feedback_version\":1,\"id\":\"d\",\"candidate\":0,\"right\":true}\n";
    build();
    char *text = g_strconcat(log_text, more, NULL);
    write_file("more.jsonl", text);
    g_free(text);
    static const char *const says[] = {"2 examples added to examples.db; 2 left out",
                                       "0 examples added to examples.db; 4 left out"};
    for (unsigned i = 0; i < 2; i++) {
        struct run run = assay("examples", "add", "more.jsonl", "--db-root", ".", "--out", "examples.db");
        cr_assert_eq(run.status, 0, "%s", run.err);
        cr_expect(strstr(run.out, says[i]), "%s", run.out);
        run_free(&run);
    }
    json_t *all = rows(assay("examples", "show", "examples.db", "--format=json"));
    cr_expect_eq(json_array_size(all), 4);
    cr_expect_str_eq(text_of(all, 3, "right"), "SELECT name FROM customer");
    json_decref(all);
}

Test(examples_program, denied_columns_are_not_written)
{
    write_file("log.jsonl", log_text);
    struct run run = assay("examples", "build", "log.jsonl", "--db-root", ".", "--out", "examples.db", "--deny-column",
                           "customer.name");
    cr_assert_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.out, "1 examples added to"), "%s", run.out);
    run_free(&run);
}

Test(examples_program, errors_are_reported)
{
    static const struct {
        const char *args[8], *says;
    } cases[] = {
        {{"examples", "build", "log.jsonl", "--db-root", "."}, "--out"},
        {{"examples", "show", "log.jsonl"}, "log.jsonl"},
        {{"examples", "show", "nowhere.db"}, "nowhere.db"},
        {{"examples", "merge", "examples.db"}, "build, add, show, search or prune"},
        {{"examples", "add", "log.jsonl", "--db-root", ".", "--out=nowhere.db"}, "nowhere.db"},
    };
    build();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct run run = assay_with(NULL, cases[i].args);
        cr_expect_eq(run.status, 2, "%s %s", cases[i].args[0], cases[i].args[1]);
        cr_expect(strstr(run.err, cases[i].says), "%s: %s", cases[i].says, run.err);
        run_free(&run);
    }
    struct run run =
        assay("check", "--db", "shop/shop.sqlite", "--question=q", "--corrector-endpoint=http://127.0.0.1:1/v1",
              "--corrector-model=m", "--examples=log.jsonl", "SELECT 1");
    cr_expect_eq(run.status, 2);
    cr_expect(strstr(run.err, "log.jsonl"), "%s", run.err);
    run_free(&run);
}
