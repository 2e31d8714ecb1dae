/* Tests the words that a log suggests for words.yaml of a database. */
#include "tests/unit/db/fixture.h"
#include "train/suggest.h"

#include <criterion/criterion.h>
#include <string.h>

static const char SCHEMA_SQL[] =
    "CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, status TEXT, town TEXT);"
    "INSERT INTO customer VALUES (1, 'Ann', 'C', 'Oslo'), (2, 'Bo', 'A', 'Lima'), (3, 'Cy', 'C', 'Rome');";

static char *suggested(const char *const lines[][2], size_t n)
{
    struct fixture fixture;
    struct schema_index *schema;
    fixture_init_as(&fixture, "s", SCHEMA_SQL);
    fixture_open(&fixture, NULL);
    cr_assert_eq(schema_build(fixture.db, "s", fixture.path, NULL, &schema, NULL), ERR_OK);
    struct suggest *suggest = suggest_new();
    for (size_t i = 0; i < n; i++) suggest_add(suggest, "s", schema, lines[i][0], NULL, lines[i][1]);
    char *text = NULL;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    unsigned words = suggest_print(suggest, out);
    fclose(out);
    cr_expect_eq(words > 0, len > 0);
    suggest_free(suggest);
    schema_unref(schema);
    fixture_end(&fixture);
    return text;
}

#define OTHERS                                                                                                         \
    {"List all names.", "SELECT name FROM customer"}, {"How many ids?", "SELECT count(id) FROM customer"},             \
        {"All towns?", "SELECT town FROM customer"}, {"All ids?", "SELECT id FROM customer"},                          \
        {"All distinct towns?", "SELECT DISTINCT town FROM customer"},                                                 \
        {"Sorted names?", "SELECT name FROM customer ORDER BY name"},                                                  \
    {                                                                                                                  \
        "Ids and towns?", "SELECT id, town FROM customer"                                                              \
    }

Test(suggest, word_and_value_are_suggested)
{
    static const char *const LINES[][2] = {
        {"Names of churned customers", "SELECT name FROM customer WHERE status = 'C'"},
        {"Towns of churned customers", "SELECT town FROM customer WHERE status = 'C'"},
        {"How many customers churned?", "SELECT count(*) FROM customer WHERE status = 'C'"},
        {"Not SQL, churned", "SELEC"},
        OTHERS,
    };
    char *text = suggested(LINES, sizeof LINES / sizeof *LINES);
    cr_expect(strstr(text, "# s\nwords:\n"), "%s", text);
    cr_expect(strstr(text, "\"churned\": {column: \"customer.status\", value: \"C\"} # 3 of 3 queries"), "%s", text);
    cr_expect_null(strstr(text, "names"), "%s", text);
    free(text);
}

/* Equal queries count once, even if their questions differ. */
Test(suggest, rephrased_questions_count_once)
{
    static const char *const LINES[][2] = {
        {"Names of churned customers", "SELECT name FROM customer WHERE status = 'C'"},
        {"Which churned customers are there?", "SELECT name FROM customer WHERE status = 'C'"},
        {"List the churned ones", "SELECT name FROM customer WHERE status = 'C'"},
        OTHERS,
    };
    char *text = suggested(LINES, sizeof LINES / sizeof *LINES);
    cr_expect_str_eq(text, "");
    free(text);
}

/* A word must not become a name for a column or value that most queries use. */
Test(suggest, common_parts_give_no_suggestion)
{
    static const char *const LINES[][2] = {
        {"Frobbed names?", "SELECT name FROM customer"},
        {"Frobbed names by town?", "SELECT name, town FROM customer"},
        {"Frobbed names, sorted?", "SELECT name FROM customer ORDER BY name"},
        {"Distinct names?", "SELECT DISTINCT name FROM customer"},
    };
    char *text = suggested(LINES, sizeof LINES / sizeof *LINES);
    cr_expect_str_eq(text, "");
    free(text);
}
