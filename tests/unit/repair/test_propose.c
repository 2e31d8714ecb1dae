/* Tests the proposals for a query that may be wrong. The intended query must be among them, with its reason. */
#include "repair/propose.h"
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <math.h>
#include <string.h>

static const char SCHEMA[] =
    "CREATE TABLE singer (singer_id INTEGER PRIMARY KEY, name TEXT, country TEXT, age INTEGER);"
    "CREATE TABLE song (song_id INTEGER PRIMARY KEY, title TEXT, singer_id INTEGER REFERENCES singer(singer_id), sales "
    "REAL);"
    "INSERT INTO singer VALUES (1, 'Ann', 'France', 30), (2, 'Bo', 'Peru', 40), (3, 'Cy', 'France', 50);"
    "INSERT INTO song VALUES (1, 'One', 1, 10), (2, 'Two', 1, 20), (3, 'Three', 2, 30);";

static struct fixture fixture;
static struct schema_index *schema;

static void setup(void)
{
    const struct schema_options options = {0};
    struct err err = {0};
    fixture_init_as(&fixture, "s", SCHEMA);
    fixture_open(&fixture, NULL);
    cr_assert(schema_build(fixture.db, "s", fixture.path, &options, &schema, &err) == ERR_OK, "%s", err.text);
}

static void teardown(void)
{
    schema_unref(schema);
    fixture_end(&fixture);
}

TestSuite(propose, .init = setup, .fini = teardown);

static int propose(bool values, const char *sql, const struct repair_suspect *suspects, uint32_t n,
                   struct repair_proposal **out)
{
    struct err err = {0};
    const struct repair_query query = {
        .sql = sql, .len = strlen(sql), .suspects = suspects, .n_suspects = n, .values = values};
    int found = repair_propose(&fixture.arena, schema, &query, out, &err);
    cr_assert_geq(found, 0, "%s: %s", sql, err.text);
    cr_assert_leq(found, REPAIR_MAX_PROPOSALS);
    return found;
}

static const struct repair_proposal *find(const struct repair_proposal *list, int n, const char *sql)
{
    for (int i = 0; i < n; i++)
        if (strcmp(list[i].sql, sql) == 0) return &list[i];
    return NULL;
}

Test(propose, intended_query_is_proposed)
{
    static const struct {
        const char *wrong, *meant;
    } rows[] = {
        {"SELECT name FROM singer WHERE country = 'Frence'", "SELECT name FROM singer WHERE country = 'France'"},
        {"SELECT name FROM singer WHERE age >= 30", "SELECT name FROM singer WHERE age > 30"},
        {"SELECT name FROM singer ORDER BY age LIMIT 1", "SELECT name FROM singer ORDER BY age DESC LIMIT 1"},
        {"SELECT DISTINCT country FROM singer", "SELECT country FROM singer"},
        {"SELECT avg(sales) FROM song", "SELECT SUM(sales) FROM song"},
        {"SELECT name FROM singer WHERE age = 30 AND age = 40", "SELECT name FROM singer WHERE age = 30 OR age = 40"},
        {"SELECT name FROM singer WHERE country = 'France' AND age > 30", "SELECT name FROM singer WHERE age > 30"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct repair_proposal *list;
        int n = propose(true, rows[i].wrong, NULL, 0, &list);
        const struct repair_proposal *meant = find(list, n, rows[i].meant);
        cr_expect(meant, "%s is not among %d for %s", rows[i].meant, n, rows[i].wrong);
        if (meant) cr_expect_null(meant->reason, "no finding was told");
        for (int k = 0; k < n; k++) cr_expect_str_neq(list[k].sql, rows[i].wrong, "the query itself is none");
    }
}

Test(propose, marked_clause_is_repaired_first_with_reason)
{
    static const char sql[] = "SELECT name FROM singer WHERE country = 'France' ORDER BY age LIMIT 1";
    uint32_t at = (uint32_t)(strstr(sql, "age") - sql);
    const struct repair_suspect suspects[] = {{at, at + 3, "the question asks for the oldest"}};
    struct repair_proposal *list;
    int n = propose(true, sql, suspects, 1, &list), reasons = 0;
    cr_assert_gt(n, 3);
    cr_expect_str_eq(list[0].reason, suspects[0].message);
    for (int i = 0; i < n; i++) {
        if (list[i].reason) cr_expect_eq(reasons++, i, "%s comes after one without a reason", list[i].sql);
        for (int k = 0; k < i; k++) cr_expect_str_neq(list[i].sql, list[k].sql);
    }
    cr_expect_lt(reasons, n);
    struct repair_proposal *again;
    cr_assert_eq(propose(true, sql, suspects, 1, &again), n);
    for (int i = 0; i < n; i++) cr_expect_str_eq(list[i].sql, again[i].sql, "the same arguments, the same proposals");
}

/* Names that generators invented. */
Test(propose, unbound_name_is_replaced)
{
    static const struct {
        const char *wrong, *meant;
    } rows[] = {
        {"SELECT nme FROM singer", "SELECT name FROM singer"},
        {"SELECT singer_id FROM singer JOIN song ON singer.singer_id = song.singer_id",
         "SELECT singer.singer_id FROM singer JOIN song ON singer.singer_id = song.singer_id"},
        {"SELECT song.name FROM singer JOIN song ON singer.singer_id = song.singer_id",
         "SELECT singer.name FROM singer JOIN song ON singer.singer_id = song.singer_id"},
        {"SELECT country, count(*) FROM singer GROUP BY country ORDER BY num DESC LIMIT 1",
         "SELECT country, count(*) FROM singer GROUP BY country ORDER BY COUNT(*) DESC LIMIT 1"},
        {"SELECT title FROM song WHERE country = 'Peru'",
         "SELECT title FROM song JOIN singer ON song.singer_id = singer.singer_id WHERE singer.country = 'Peru'"},
        {"SELECT singer.name FROM song WHERE sales > 10",
         "SELECT singer.name FROM song JOIN singer ON song.singer_id = singer.singer_id WHERE sales > 10"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct repair_proposal *list;
        int n = propose(true, rows[i].wrong, NULL, 0, &list);
        const struct repair_proposal *meant = find(list, n, rows[i].meant);
        cr_expect(meant, "%s is not among %d for %s", rows[i].meant, n, rows[i].wrong);
        if (meant) cr_expect(meant->reason && *meant->reason, "the name that does not bind is the reason");
    }
}

Test(propose, denied_values_are_not_proposed)
{
    struct repair_proposal *list;
    int n = propose(false, "SELECT name FROM singer WHERE country = 'Frence'", NULL, 0, &list);
    for (int i = 0; i < n; i++) cr_expect_null(strstr(list[i].sql, "France"), "%s", list[i].sql);
}

/* --- with the question --- */

static int propose_asked(const char *asked, const char *sql, struct repair_query query, struct repair_proposal **out)
{
    struct err err = {0};
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    struct sql_join_pair *pairs;
    const struct question *question = question_read(&fixture.arena, schema, asked, NULL);
    cr_assert(question);
    cr_assert_eq(sql_parse(&fixture.arena, sql, strlen(sql), NULL, &stmt), ERR_OK);
    cr_assert_eq(sql_bind(&fixture.arena, stmt, &schema->catalog, &bound), ERR_OK);
    int n_pairs = sql_join_pairs(&fixture.arena, bound, &pairs);
    query.links = link_make(&fixture.arena, question->links, bound, pairs, (uint32_t)n_pairs);
    query.sql = sql;
    query.len = strlen(sql);
    int n = repair_propose(&fixture.arena, schema, &query, out, &err);
    cr_assert_geq(n, 0, "%s: %s", sql, err.text);
    return n;
}

Test(propose, missing_phrase_is_proposed_with_reason)
{
    static const struct {
        const char *asked, *wrong, *meant, *reason;
    } rows[] = {
        {"Which singers from Peru are older than 30?", "SELECT name FROM singer WHERE age > 30",
         "SELECT name FROM singer WHERE age > 30 AND singer.country = 'Peru'",
         "the question says 'Peru', which is a value of singer.country"},
        {"How many singers come from Peru?", "SELECT count(*) FROM singer",
         "SELECT count(*) FROM singer WHERE singer.country = 'Peru'", "'Peru'"},
        {"Singers from Peru, or of age 30", "SELECT name FROM singer WHERE age = 30 OR age = 50",
         "SELECT name FROM singer WHERE (age = 30 OR age = 50) AND singer.country = 'Peru'", "'Peru'"},
        {"Who comes from Peru?", "SELECT name FROM singer WHERE country = 'France'",
         "SELECT name FROM singer WHERE country = 'Peru'", "'Peru'"},
        {"titles of the songs by Ann", "SELECT title FROM song",
         "SELECT title FROM song JOIN singer ON song.singer_id = singer.singer_id WHERE singer.name = 'Ann'", "'Ann'"},
        {"How many singers of each age are there?", "SELECT country, count(*) FROM singer GROUP BY country",
         "SELECT age, count(*) FROM singer GROUP BY age", "mentions singer.age rather than singer.country"},
        {"Show the title of each song", "SELECT T1.song_id FROM song AS T1", "SELECT T1.title FROM song AS T1",
         "mentions song.title"},
        {"Show the name and age of each singer", "SELECT name FROM singer", "SELECT name, singer.age FROM singer",
         "asks for singer.age, which the query does not return"},
        {"Show the name and age of each singer", "SELECT T1.name FROM singer AS T1",
         "SELECT T1.name, T1.age FROM singer AS T1", "asks for singer.age"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct repair_proposal *list;
        int n = propose_asked(rows[i].asked, rows[i].wrong, (struct repair_query){.values = true}, &list);
        const struct repair_proposal *meant = find(list, n, rows[i].meant);
        cr_expect(meant, "%s is not among %d for %s", rows[i].meant, n, rows[i].wrong);
        if (meant)
            cr_expect(meant->reason && strstr(meant->reason, rows[i].reason), "%s: %s", rows[i].meant, meant->reason);
    }
}

/* A column is added only for a phrase that no returned column answers. */
Test(propose, present_column_is_not_added_again)
{
    static const char *const asked[] = {"Show the name of each singer", "How many singers of each country are there?",
                                        "Give the singers"};
    for (size_t i = 0; i < G_N_ELEMENTS(asked); i++) {
        struct repair_proposal *list;
        int n = propose_asked(asked[i], "SELECT name FROM singer", (struct repair_query){.values = true}, &list);
        for (int k = 0; k < n; k++)
            cr_expect(!list[k].reason || !strstr(list[k].reason, "does not return") || strstr(asked[i], "country"),
                      "%s: %s", asked[i], list[k].sql);
    }
}

Test(propose, edits_keep_texts_of_question)
{
    static const char sql[] = "SELECT name FROM singer WHERE country = 'France' AND age > 30";
    static const char without[] = "SELECT name FROM singer WHERE age > 30";
    struct repair_proposal *list;
    int n = propose_asked("names of singers in France over 30", sql, (struct repair_query){.values = true}, &list);
    cr_expect_not(find(list, n, without));
    cr_expect(find(list, n, "SELECT name FROM singer WHERE country = 'France'"), "a number may go");
    n = propose_asked("names of singers over 30", sql, (struct repair_query){.values = true}, &list);
    cr_expect(find(list, n, without), "nobody asked for France");
}

Test(propose, values_of_denied_columns_are_not_searched)
{
    static const char *const denied[] = {"singer.country"};
    const struct repair_query queries[] = {{.values = false},
                                           {.values = true, .deny_columns = denied, .n_deny_columns = 1}};
    for (size_t q = 0; q < G_N_ELEMENTS(queries); q++) {
        struct repair_proposal *list;
        int n = propose_asked("How many singers come from Peru?", "SELECT count(*) FROM singer", queries[q], &list);
        for (int i = 0; i < n; i++) cr_expect_null(strstr(list[i].sql, "Peru"), "%s", list[i].sql);
    }
}

/* For a hostile statement, memory and time stay within the limits of a worker. */
Test(propose, large_query_is_bounded)
{
    GString *sql = g_string_new("SELECT name FROM singer WHERE name <> 'x'");
    for (int i = 0; i < 300; i++) g_string_append_printf(sql, " AND name <> 'x%d'", i);
    struct repair_suspect suspects[] = {{30, 34, "a reason"}};
    const struct repair_query query = {
        .sql = sql->str, .len = sql->len, .suspects = suspects, .n_suspects = 1, .values = true};
    struct repair_proposal *list;
    struct arena small;
    struct err err = {0};
    arena_init(&small, 8 << 20);
    int n = repair_propose(&small, schema, &query, &list, &err);
    cr_expect_eq(n, REPAIR_MAX_PROPOSALS, "%d: %s", n, err.text);
    arena_free(&small);
    g_string_free(sql, TRUE);
}

Test(propose, unparsable_or_unbound_query_is_refused)
{
    static const char *const bad[] = {"SELECT FROM WHERE", "DROP TABLE singer", ""};
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        struct repair_proposal *list = NULL;
        struct err err = {0};
        const struct repair_query query = {.sql = bad[i], .len = strlen(bad[i]), .values = true};
        int n = repair_propose(&fixture.arena, schema, &query, &list, &err);
        cr_expect_eq(n, -1, "%s", bad[i]);
        cr_expect(err.code != ERR_OK && *err.text, "%s", bad[i]);
    }
}

Test(gate, repair_must_exceed_margin_and_validate)
{
    cr_expect(repair_is_better(0.2, 0.9, 0.5, 0.3));
    cr_expect_not(repair_is_better(0.7, 0.9, 0.5, 0.3), "not by so much");
    cr_expect_not(repair_is_better(0.1, 0.45, 0.5, 0.3), "below the threshold");
    cr_expect_not(repair_is_better(0.2, NAN, 0.5, 0.3), "not judged");
    cr_expect(repair_is_better(NAN, 0.9, 0.5, 0.3), "the old one does not run");
    cr_expect_not(repair_is_better(0.2, 0.9, NAN, 0.3), "without a threshold nothing validates");
}

Test(propose, steps_describe_each_change)
{
    struct repair_step steps[REPAIR_MAX_STEPS];
    int n = repair_steps(&fixture.arena, "SELECT name FROM singer WHERE country = 'Frence'",
                         "SELECT name FROM singer WHERE country = 'France'", steps);
    cr_assert_eq(n, 1);
    cr_expect_str_eq(steps[0].clause, "WHERE");
    cr_expect_str_eq(steps[0].was, "'Frence'");
    cr_expect_str_eq(steps[0].now, "'France'");
    n = repair_steps(&fixture.arena, "SELECT name FROM singer", "SELECT name FROM singer LIMIT 1", steps);
    cr_assert_geq(n, 1);
    cr_expect_null(steps[0].was, "nothing was there");
    cr_expect_eq(repair_steps(&fixture.arena, "SELECT", "SELECT 1", steps), -1);
}
