/* Applies the edit that corrected one query to another query, on another schema. */
#include "lib/schema/edits.h"
#include "repair/transfer.h"
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

/* The schema of the examples. */
static const char MUSIC[] =
    "CREATE TABLE singer (singer_id INTEGER PRIMARY KEY, name TEXT, country TEXT, age INTEGER, birth_date DATE);"
    "CREATE TABLE song (song_id INTEGER PRIMARY KEY, title TEXT, singer_id INTEGER REFERENCES singer(singer_id), sales "
    "REAL);"
    "INSERT INTO singer VALUES (1, 'Ann', 'France', 30, '1990-01-01'), (2, 'Bo', 'Peru', 40, '1980-01-01');"
    "INSERT INTO song VALUES (1, 'One', 1, 10), (2, 'Two', 1, 20), (3, 'Three', 2, 30);";

/* The schema of the query to repair. */
static const char SCHOOL[] =
    "CREATE TABLE teacher (id INTEGER PRIMARY KEY, full_name TEXT, subject TEXT, town TEXT, birth_country "
    "TEXT, salary INTEGER, hired DATE);"
    "CREATE TABLE course (code INTEGER PRIMARY KEY, label TEXT, teacher INTEGER REFERENCES teacher(id), hours REAL);"
    "INSERT INTO teacher VALUES (1, 'Eve', 'art', 'Lyon', 'Italy', 300, '2001-01-01'), (2, 'Max', 'art', 'Nice', "
    "'Spain', "
    "400, '2002-01-01');"
    "INSERT INTO course VALUES (1, 'Latin', 1, 2.5), (2, 'Greek', 2, 1.5), (3, 'Music', 2, 3);";

static struct fixture music, school;
static struct schema_index *music_schema, *school_schema;

static struct schema_index *build(struct fixture *fixture, const char *name, const char *sql)
{
    const struct schema_options options = {0};
    struct schema_index *schema = NULL;
    struct err err = {0};
    fixture_init_as(fixture, name, sql);
    fixture_open(fixture, NULL);
    cr_assert(schema_build(fixture->db, name, fixture->path, &options, &schema, &err) == ERR_OK, "%s", err.text);
    return schema;
}

static void setup(void)
{
    music_schema = build(&music, "music", MUSIC);
    school_schema = build(&school, "school", SCHOOL);
}

static void teardown(void)
{
    schema_unref(music_schema);
    schema_unref(school_schema);
    fixture_end(&music);
    fixture_end(&school);
}

TestSuite(transfer, .init = setup, .fini = teardown);

static struct repair_example example_of(const char *wrong, const char *right)
{
    struct repair_example example = {.wrong = wrong, .right = right};
    int n = repair_example_columns(&music.arena, music_schema, wrong, right, &example.columns);
    cr_assert_geq(n, 0);
    example.n_columns = (uint32_t)n;
    return example;
}

static int transfer(const struct schema_index *schema, const struct repair_example *example, const char *question,
                    const char *sql, struct repair_proposal **out)
{
    const struct repair_query query = {.sql = sql, .len = strlen(sql), .question = question, .values = true};
    struct err err = {0};
    int n = repair_transfer(&music.arena, schema, &query, example, out, &err);
    cr_assert_geq(n, 0, "%s: %s", sql, err.text);
    cr_assert_leq(n, REPAIR_MAX_TRANSFERS);
    return n;
}

static const char *normal_form(const struct schema_index *schema, const char *sql)
{
    struct sql_stmt *stmt = NULL;
    struct sql_bound *bound = NULL;
    cr_assert_eq(sql_parse(&music.arena, sql, strlen(sql), NULL, &stmt), ERR_OK, "%s", sql);
    cr_assert_eq(sql_bind(&music.arena, stmt, &schema->catalog, &bound), ERR_OK, "%s", sql);
    return sql_normal_form(&music.arena, stmt->root);
}

/* Compares the first proposal with the expected query, in normal form. */
static void expect_first(const char *wrong, const char *right, const char *question, const char *sql, const char *meant)
{
    struct repair_example example = example_of(wrong, right);
    struct repair_proposal *list;
    int n = transfer(school_schema, &example, question, sql, &list);
    cr_expect_gt(n, 0, "nothing becomes of %s", sql);
    if (n < 1) return;
    const char *first = normal_form(school_schema, list[0].sql), *expected = normal_form(school_schema, meant);
    cr_expect_str_eq(first, expected, "%s becomes\n%s, not\n%s", sql, first, expected);
    cr_expect(g_str_has_prefix(list[0].reason, "as in: "), "%s", list[0].reason);
}

Test(transfer, edit_is_transferred_to_other_schema)
{
    static const struct {
        const char *wrong, *right, *question, *sql, *meant;
    } rows[] = {
        /* edits of an operator, an aggregate, a number, an order */
        {"SELECT name FROM singer WHERE age > 30", "SELECT name FROM singer WHERE age >= 30", NULL,
         "SELECT label FROM course WHERE hours > 2", "SELECT label FROM course WHERE hours >= 2"},
        {"SELECT sum(age) FROM singer", "SELECT avg(age) FROM singer", NULL, "SELECT sum(salary) FROM teacher",
         "SELECT avg(salary) FROM teacher"},
        {"SELECT name FROM singer ORDER BY age LIMIT 1", "SELECT name FROM singer ORDER BY age DESC LIMIT 1", NULL,
         "SELECT label FROM course ORDER BY hours LIMIT 1", "SELECT label FROM course ORDER BY hours DESC LIMIT 1"},
        /* removes a superfluous column, at any position */
        {"SELECT name, age FROM singer ORDER BY age", "SELECT name FROM singer ORDER BY age", NULL,
         "SELECT t.full_name, t.salary FROM teacher AS t WHERE t.town = 'Lyon' ORDER BY t.salary",
         "SELECT full_name FROM teacher WHERE town = 'Lyon' ORDER BY salary"},
        /* adds a column of the same kind, chosen by the question */
        {"SELECT name FROM singer", "SELECT name, country FROM singer", "full names and towns of the teachers",
         "SELECT full_name FROM teacher", "SELECT full_name, town FROM teacher"},
        /* without a question, the words of the name choose the column; it is added at the end, as in the example */
        {"SELECT name FROM singer", "SELECT name, country FROM singer", NULL, "SELECT full_name, salary FROM teacher",
         "SELECT full_name, salary, birth_country FROM teacher"},
        /* removes a table, identified by its join */
        {"SELECT singer.name FROM singer JOIN song ON singer.singer_id = song.singer_id", "SELECT name FROM singer",
         NULL, "SELECT teacher.town FROM teacher JOIN course ON teacher.id = course.teacher",
         "SELECT town FROM teacher"},
        /* adds a table, along the keys */
        {"SELECT title FROM song",
         "SELECT song.title, singer.name FROM song JOIN singer ON song.singer_id = singer.singer_id",
         "label of each course and the full name of its teacher", "SELECT label FROM course",
         "SELECT course.label, teacher.full_name FROM course JOIN teacher ON course.teacher = teacher.id"},
        /* replaces an unbound name */
        {"SELECT nam FROM singer", "SELECT name FROM singer", NULL, "SELECT fullname FROM teacher",
         "SELECT full_name FROM teacher"},
        /* replaces a value by its form in the column, or by a value of the question */
        {"SELECT name FROM singer WHERE country = 'france'", "SELECT name FROM singer WHERE country = 'France'", NULL,
         "SELECT full_name FROM teacher WHERE town = 'lyon'", "SELECT full_name FROM teacher WHERE town = 'Lyon'"},
        {"SELECT name FROM singer", "SELECT name FROM singer WHERE country = 'Peru'", "teachers of the town Nice",
         "SELECT full_name FROM teacher", "SELECT full_name FROM teacher WHERE town = 'Nice'"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        expect_first(rows[i].wrong, rows[i].right, rows[i].question, rows[i].sql, rows[i].meant);
}

/* ---- an example's own query ---- */

static const char *const GOLD[] = {
    "SELECT name, age FROM singer WHERE country = 'France' AND age > 30 ORDER BY age DESC LIMIT 3",
    "SELECT country, count(*) FROM singer GROUP BY country HAVING count(*) > 1",
    "SELECT T1.name, T2.title FROM singer AS T1 JOIN song AS T2 ON T1.singer_id = T2.singer_id WHERE T2.sales > 10",
    "SELECT DISTINCT country FROM singer WHERE birth_date > '1985-01-01' OR age BETWEEN 20 AND 30",
    "SELECT name FROM singer WHERE singer_id NOT IN (SELECT singer_id FROM song WHERE sales > 10)",
    "SELECT name FROM singer WHERE age > (SELECT avg(age) FROM singer)",
    "SELECT country FROM singer WHERE age > 30 INTERSECT SELECT country FROM singer WHERE age < 25",
    "SELECT sum(sales), max(title) FROM song WHERE title LIKE '%o%'",
    "SELECT T1.country FROM singer AS T1 JOIN song AS T2 ON T1.singer_id = T2.singer_id GROUP BY T1.country ORDER BY "
    "count(*) DESC LIMIT 1",
    "SELECT a.name FROM singer AS a JOIN singer AS b ON a.country = b.country WHERE a.age > b.age",
    "SELECT name FROM (SELECT name, age FROM singer WHERE country = 'Peru') AS d WHERE d.age > 30",
};

static void expect_own(const char *wrong, const char *right)
{
    const char *meant = normal_form(music_schema, right);
    if (strcmp(normal_form(music_schema, wrong), meant) == 0) return;
    struct repair_example example = example_of(wrong, right);
    struct repair_proposal *list;
    int n = transfer(music_schema, &example, NULL, wrong, &list);
    cr_expect(n > 0 && strcmp(normal_form(music_schema, list[0].sql), meant) == 0, "%s\n-> %s\nbecomes %s", wrong,
              right, n > 0 ? list[0].sql : "nothing");
}

Test(transfer, script_corrects_its_own_query)
{
    const struct schema_edits_options options = {.values = true, .seed = 1};
    int pairs = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(GOLD); i++) {
        struct sql_mutation *slips;
        struct err err = {0};
        int n = schema_edits(&music.arena, music_schema, &options, GOLD[i], strlen(GOLD[i]), &slips, &err);
        cr_assert_gt(n, 0, "%s", err.text);
        for (int k = 0; k < n; k++, pairs++) {
            expect_own(slips[k].sql, GOLD[i]);
            expect_own(GOLD[i], slips[k].sql);
        }
    }
    cr_expect_gt(pairs, 200);
}

Test(transfer, transferred_query_always_binds)
{
    static const char *const targets[] = {
        "SELECT * FROM course",
        "SELECT count(*) FROM teacher WHERE no_such_column > 3",
        "SELECT t.town FROM teacher t JOIN course c ON t.id = c.teacher WHERE c.hours > 1 OR t.salary IN (1, 2)",
        "WITH x AS (SELECT town FROM teacher) SELECT * FROM x UNION SELECT label FROM course ORDER BY 1",
        "SELECT CASE WHEN salary > 3 THEN 'a' ELSE 'b' END, row_number() OVER (ORDER BY hired) FROM teacher",
        "SELECT 1",
        "VALUES (1, 2)",
    };
    int given = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(GOLD); i++)
        for (size_t k = 0; k < G_N_ELEMENTS(GOLD); k++)
            for (size_t m = 0; m < G_N_ELEMENTS(targets); m++) {
                struct repair_example example = example_of(GOLD[i], GOLD[k]);
                struct repair_proposal *list;
                int n = transfer(school_schema, &example, "towns of teachers who teach Latin", targets[m], &list);
                for (int p = 0; p < n; p++) normal_form(school_schema, list[p].sql);
                given += n;
            }
    cr_expect_gt(given, 10);
}

/* ---- limits ---- */

Test(transfer, denied_values_are_not_proposed)
{
    struct repair_example example = example_of("SELECT name FROM singer WHERE country = 'france'",
                                               "SELECT name FROM singer WHERE country = 'France'");
    static const char sql[] = "SELECT full_name FROM teacher WHERE town = 'lyon'";
    const char *const denied[] = {"teacher.town"};
    struct repair_query query = {.sql = sql, .len = strlen(sql), .question = "in Lyon", .values = true};
    struct repair_proposal *list;
    struct err err = {0};
    cr_expect_gt(repair_transfer(&music.arena, school_schema, &query, &example, &list, &err), 0);
    cr_expect_str_eq(list[0].reason, "as in: WHERE: 'france' becomes 'France'");
    query.deny_columns = denied;
    query.n_deny_columns = 1;
    cr_expect_eq(repair_transfer(&music.arena, school_schema, &query, &example, &list, &err), 0);
    query.n_deny_columns = 0;
    query.values = false;
    cr_expect_eq(repair_transfer(&music.arena, school_schema, &query, &example, &list, &err), 0);
}

Test(transfer, reason_shows_only_exposed_values)
{
    struct repair_example example = example_of("SELECT name FROM singer WHERE country = 'secret' AND age > 30",
                                               "SELECT name FROM singer WHERE country <> 'secret'");
    static const char sql[] = "SELECT full_name FROM teacher WHERE town = 'Nice' AND salary > 300";
    struct repair_query query = {.sql = sql, .len = strlen(sql)};
    struct repair_proposal *list;
    struct err err = {0};
    int n = repair_transfer(&music.arena, school_schema, &query, &example, &list, &err);
    cr_assert_gt(n, 0);
    for (int i = 0; i < n; i++) cr_expect_null(strstr(list[i].reason, "secret"), "%s", list[i].reason);
}

Test(transfer, empty_example_gives_no_proposal)
{
    static const char *const pairs[][2] = {
        {"SELECT", "SELECT name FROM singer"},
        {"SELECT name FROM singer", "DROP TABLE singer"},
        {"SELECT name FROM singer", "SELECT name FROM singer"},
        {"SELECT name FROM singer", "SELECT x FROM y"}, /* tables and columns that the index does not have */
        {"", ""},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(pairs); i++) {
        struct repair_example example = example_of(pairs[i][0], pairs[i][1]);
        struct repair_proposal *list;
        cr_expect_eq(transfer(school_schema, &example, NULL, "SELECT label FROM course", &list), 0, "%s", pairs[i][1]);
    }
}

/* A store may contain any example. */
Test(transfer, huge_example_is_skipped)
{
    GString *wrong = g_string_new("SELECT name FROM singer WHERE age = 0");
    for (int i = 1; i < 4000; i++) g_string_append_printf(wrong, " OR age = %d", i);
    struct repair_example example = example_of(wrong->str, "SELECT name FROM singer");
    struct repair_proposal *list;
    cr_expect_eq(transfer(school_schema, &example, NULL, "SELECT label FROM course WHERE hours = 1", &list), 0);
    g_string_free(wrong, TRUE);
}

Test(transfer, proposals_include_those_of_examples)
{
    static const char sql[] = "SELECT full_name, salary FROM teacher ORDER BY salary";
    const struct repair_example examples[] = {
        example_of("SELECT name FROM singer ORDER BY age", "SELECT name FROM singer ORDER BY age DESC"),
        example_of("SELECT name, age FROM singer ORDER BY age", "SELECT name FROM singer ORDER BY age"),
    };
    struct repair_query query = {
        .sql = sql, .len = strlen(sql), .examples = examples, .n_examples = G_N_ELEMENTS(examples)};
    struct repair_proposal *list;
    struct err err = {0};
    int n = repair_propose(&music.arena, school_schema, &query, &list, &err), transferred = 0;
    cr_assert_gt(n, 2, "%s", err.text);
    cr_expect_str_eq(normal_form(school_schema, list[0].sql),
                     normal_form(school_schema, "SELECT full_name, salary FROM teacher ORDER BY salary DESC"));
    cr_expect_str_eq(normal_form(school_schema, list[1].sql),
                     normal_form(school_schema, "SELECT full_name FROM teacher ORDER BY salary"));
    for (int i = 0; i < n; i++) transferred += list[i].reason && g_str_has_prefix(list[i].reason, "as in: ");
    cr_expect_leq(transferred, REPAIR_MAX_TRANSFERRED);
    cr_expect_lt(transferred, n, "single edits come behind");
    query.sql = "SELECT fullname FROM teacher";
    query.len = strlen(query.sql);
    cr_expect_gt(repair_propose(&music.arena, school_schema, &query, &list, &err), 0, "names that do not bind");
}
