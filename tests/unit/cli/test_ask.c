/* Tests policy ask through the program: a clarification question, its answer, and answers that are refused. */
#include "tests/unit/cli/spawn.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <jansson.h>
#include <string.h>

TestSuite(ask_program, .init = scratch_begin, .fini = scratch_end);

#define INNER "SELECT c.name, count(*) FROM customer c JOIN orders o ON o.customer_id = c.id GROUP BY c.id"
#define OUTER "SELECT c.name, count(o.id) FROM customer c LEFT JOIN orders o ON o.customer_id = c.id GROUP BY c.id"
#define ASK                                                                                                            \
    "check", "--db", "shop/shop.sqlite", "--question", "How many orders does each customer have?", "--policy=ask",     \
        "--ask-gain=0.01", "--format=json"

static json_t *parse(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    cr_assert(json, "line %d: %s\n%.500s", error.line, error.text, text);
    return json;
}

static const char *text_at(const json_t *json, const char *key)
{
    const char *text = json_string_value(json_object_get(json, key));
    return text ? text : "";
}

/* Returns the verdict with the clarification question. Fills `answers` with "--answer=..." for each choice. */
static json_t *asked(char *answers[3])
{
    struct run run = assay(ASK, INNER, OUTER);
    json_t *verdict = parse(run.out), *question = json_object_get(verdict, "clarification"), *choice;
    size_t i;
    cr_expect_eq(run.status, 1, "%s", run.err);
    cr_assert_str_eq(text_at(verdict, "status"), "ask", "%s", run.out);
    cr_assert_eq(json_array_size(json_object_get(question, "choices")), 3);
    json_array_foreach(json_object_get(question, "choices"), i, choice) answers[i] =
        g_strdup_printf("--answer=%s=%s", text_at(question, "id"), text_at(choice, "id"));
    run_free(&run);
    return verdict;
}

static void forget(json_t *verdict, char *answers[3])
{
    json_decref(verdict);
    for (size_t i = 0; i < 3; i++) g_free(answers[i]);
}

Test(ask_program, answer_selects_reading)
{
    char *answers[3];
    json_t *verdict = asked(answers), *question = json_object_get(verdict, "clarification");
    const json_t *choices = json_object_get(question, "choices");
    cr_expect_str_eq(text_at(question, "question"), "Do you also want customers that have no order?");
    for (size_t i = 0; i < 2; i++) {
        const json_t *choice = json_array_get(choices, i);
        const char *sql = json_integer_value(json_object_get(choice, "candidate")) ? OUTER : INNER;
        struct run run = assay(ASK, answers[i], INNER, OUTER);
        json_t *second = parse(run.out);
        cr_expect_eq(run.status, 0, "%s", run.err);
        cr_expect_str_eq(text_at(second, "status"), "validated");
        cr_expect_str_eq(text_at(second, "sql"), sql, "what was chosen is the answer");
        cr_expect_str_eq(text_at(json_array_get(json_object_get(second, "answers"), 0), "question"),
                         text_at(question, "id"));
        json_decref(second);
        run_free(&run);
    }
    forget(verdict, answers);
}

/* Returns the choices of a run as text. Free with g_free. */
static char *choices_of(const struct run *run)
{
    json_t *verdict = parse(run->out);
    char *text = json_dumps(json_object_get(json_object_get(verdict, "clarification"), "choices"), JSON_COMPACT);
    json_decref(verdict);
    return text;
}

Test(ask_program, question_shows_values_only_if_exposed)
{
    struct run plain = assay(ASK, INNER, OUTER), rows = assay(ASK, "--expose=rows", INNER, OUTER),
               hidden = assay(ASK, "--expose=rows", "--deny-column=customer.name", "--deny-mode=hide", INNER, OUTER),
               denied = assay(ASK, "--expose=rows", "--deny-column=customer.name", INNER, OUTER);
    char *said = choices_of(&plain), *shown = choices_of(&rows), *withheld = choices_of(&hidden);
    cr_expect(strstr(said, "\"rows\":3") && !strstr(said, "Ada"), "%s", said);
    cr_expect(strstr(shown, "\"rows\":[[\"Ada\",\"2\"]"), "%s", shown);
    cr_expect(strstr(withheld, "\"rows\":3") && !strstr(withheld, "Ada"), "%s", withheld);
    cr_expect(strstr(denied.out, "\"denied\"") && !strstr(denied.out, "\"choices\"") && !strstr(denied.out, "Ada"),
              "statements that do not run have no readings to choose from: %s", denied.out);
    g_free(said);
    g_free(shown);
    g_free(withheld);
    run_free(&plain);
    run_free(&rows);
    run_free(&hidden);
    run_free(&denied);
}

Test(ask_program, invalid_answer_is_reported)
{
    char *answers[3];
    json_t *verdict = asked(answers);
    struct run never = assay(ASK, "--answer=0123=none", INNER, OUTER),
               twice = assay(ASK, answers[0], answers[0], INNER, OUTER), other = assay(ASK, answers[0], OUTER),
               odd = assay(ASK, "--answer=none", INNER, OUTER);
    cr_expect_eq(never.status, 2);
    cr_expect(strstr(never.out, "was not asked"), "%s", never.out);
    cr_expect(strstr(twice.out, "answered twice"), "%s", twice.out);
    cr_expect(strstr(other.out, "was not asked"), "of other candidates: %s", other.out);
    cr_expect_eq(odd.status, 2);
    cr_expect(strstr(odd.err, "QUESTION=CHOICE"), "%s", odd.err);
    run_free(&never);
    run_free(&twice);
    run_free(&other);
    run_free(&odd);
    forget(verdict, answers);
}
