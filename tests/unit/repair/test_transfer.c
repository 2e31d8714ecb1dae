/* What set one query right, done to another on another schema. */
#include "repair/transfer.h"
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

/* Where the examples are from. */
static const char MUSIC[] =
    "CREATE TABLE singer (singer_id INTEGER PRIMARY KEY, name TEXT, country TEXT, age INTEGER, birth_date DATE);"
    "CREATE TABLE song (song_id INTEGER PRIMARY KEY, title TEXT, singer_id INTEGER REFERENCES singer(singer_id), sales "
    "REAL);"
    "INSERT INTO singer VALUES (1, 'Ann', 'France', 30, '1990-01-01'), (2, 'Bo', 'Peru', 40, '1980-01-01');"
    "INSERT INTO song VALUES (1, 'One', 1, 10), (2, 'Two', 1, 20), (3, 'Three', 2, 30);";

/* Where they are to help. */
static const char SCHOOL[] =
    "CREATE TABLE teacher (id INTEGER PRIMARY KEY, full_name TEXT, town TEXT, salary INTEGER, hired DATE);"
    "CREATE TABLE course (code INTEGER PRIMARY KEY, label TEXT, teacher INTEGER REFERENCES teacher(id), hours REAL);"
    "INSERT INTO teacher VALUES (1, 'Eve', 'Lyon', 300, '2001-01-01'), (2, 'Max', 'Nice', 400, '2002-01-01');"
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

/* The first proposal, as a normal form. */
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

Test(transfer, the_same_edit_is_made_on_another_schema)
{
    static const struct {
        const char *wrong, *right, *question, *sql, *meant;
    } rows[] = {
        /* an operator, an aggregate, a number, an order */
        {"SELECT name FROM singer WHERE age > 30", "SELECT name FROM singer WHERE age >= 30", NULL,
         "SELECT label FROM course WHERE hours > 2", "SELECT label FROM course WHERE hours >= 2"},
        {"SELECT sum(age) FROM singer", "SELECT avg(age) FROM singer", NULL, "SELECT sum(salary) FROM teacher",
         "SELECT avg(salary) FROM teacher"},
        {"SELECT name FROM singer ORDER BY age LIMIT 1", "SELECT name FROM singer ORDER BY age DESC LIMIT 1", NULL,
         "SELECT label FROM course ORDER BY hours LIMIT 1", "SELECT label FROM course ORDER BY hours DESC LIMIT 1"},
        /* a column that was not asked for, whatever stands beside it */
        {"SELECT name, age FROM singer ORDER BY age", "SELECT name FROM singer ORDER BY age", NULL,
         "SELECT t.full_name, t.salary FROM teacher AS t WHERE t.town = 'Lyon' ORDER BY t.salary",
         "SELECT full_name FROM teacher WHERE town = 'Lyon' ORDER BY salary"},
        /* a column of the same kind, chosen by the question */
        {"SELECT name FROM singer", "SELECT name, country FROM singer", "full names and towns of the teachers",
         "SELECT full_name FROM teacher", "SELECT full_name, town FROM teacher"},
        /* a table less, by what joined it */
        {"SELECT singer.name FROM singer JOIN song ON singer.singer_id = song.singer_id", "SELECT name FROM singer",
         NULL, "SELECT teacher.town FROM teacher JOIN course ON teacher.id = course.teacher",
         "SELECT town FROM teacher"},
        /* a table more, where the keys lead */
        {"SELECT title FROM song",
         "SELECT song.title, singer.name FROM song JOIN singer ON song.singer_id = singer.singer_id",
         "label of each course and the full name of its teacher", "SELECT label FROM course",
         "SELECT course.label, teacher.full_name FROM course JOIN teacher ON course.teacher = teacher.id"},
        /* a name that does not bind */
        {"SELECT nam FROM singer", "SELECT name FROM singer", NULL, "SELECT fullname FROM teacher",
         "SELECT full_name FROM teacher"},
        /* a value as the column has it; one of the question */
        {"SELECT name FROM singer WHERE country = 'france'", "SELECT name FROM singer WHERE country = 'France'", NULL,
         "SELECT full_name FROM teacher WHERE town = 'lyon'", "SELECT full_name FROM teacher WHERE town = 'Lyon'"},
        {"SELECT name FROM singer", "SELECT name FROM singer WHERE country = 'Peru'", "teachers of the town Nice",
         "SELECT full_name FROM teacher", "SELECT full_name FROM teacher WHERE town = 'Nice'"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        expect_first(rows[i].wrong, rows[i].right, rows[i].question, rows[i].sql, rows[i].meant);
}
