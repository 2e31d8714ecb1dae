/* Tests features of the verifier. Each row compares a correct query with one that has a single fault. */
#include "scoring/features/features.h"
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <math.h>
#include <string.h>

static const char SCHEMA[] =
    "CREATE TABLE port (port_id INTEGER PRIMARY KEY, name TEXT, country TEXT);"
    "CREATE TABLE boat (boat_id INTEGER PRIMARY KEY, title TEXT, length REAL, home_id INTEGER REFERENCES port(port_id),"
    "  built_id INTEGER REFERENCES port(port_id));"
    "INSERT INTO port VALUES (1, 'Ulm', 'Germany'), (2, 'Brest', 'France'), (3, 'Cork', 'Ireland');"
    "INSERT INTO boat VALUES (1, 'Anna', 10, 1, 2), (2, 'Berta', 20, 1, 1), (3, 'Carla', 30, 2, 2), (4, 'Dora', 40, 1, "
    "2);";

static struct fixture fixture;
static struct schema_index *schema;

static void setup(void)
{
    const struct schema_options options = {0};
    struct err err = {0};
    fixture_init_as(&fixture, "b", SCHEMA);
    fixture_open(&fixture, NULL);
    cr_assert(schema_build(fixture.db, "b", fixture.path, &options, &schema, &err) == ERR_OK, "%s", err.text);
}

static void teardown(void)
{
    schema_unref(schema);
    fixture_end(&fixture);
}

TestSuite(features_extract, .init = setup, .fini = teardown);

static void features_of(const char *question, const char *sql, float *out)
{
    struct arena arena;
    struct vsig_subject subject;
    arena_init(&arena, 0);
    vsig_subject_init(&subject, &arena, schema, fixture.db, sql, strlen(sql), question, NULL, NULL);
    cr_expect_eq(features_extract(&subject, NULL, &arena, out), ERR_OK);
    arena_free(&arena);
}

static float with_evidence(const char *question, const char *evidence, const char *sql, enum feature_index index)
{
    float out[FEATURE_COUNT];
    struct arena arena;
    struct vsig_subject subject;
    arena_init(&arena, 0);
    vsig_subject_init(&subject, &arena, schema, fixture.db, sql, strlen(sql), question, evidence, NULL);
    cr_expect_eq(features_extract(&subject, NULL, &arena, out), ERR_OK);
    arena_free(&arena);
    return out[index];
}

static float feature(const char *question, const char *sql, enum feature_index index)
{
    float out[FEATURE_COUNT];
    features_of(question, sql, out);
    return out[index];
}

Test(features_extract, features_distinguish_correct_query)
{
    static const struct {
        enum feature_index feature;
        const char *question, *sound, *other;
        bool less; /* true if the correct query has the lower value */
    } rows[] = {
        {FEATURE_asked_least_met, "What is the title of each boat?", "SELECT title FROM boat",
         "SELECT length FROM boat"},
        {FEATURE_answer_least_score, "What is the length of each boat?", "SELECT length FROM boat",
         "SELECT home_id FROM boat"},
        {FEATURE_outputs_over_asked, "What are the titles of the boats?", "SELECT title FROM boat",
         "SELECT title, length FROM boat", true},
        {FEATURE_values_used_share, "Which ports are in 'France'?", "SELECT name FROM port WHERE country = 'France'",
         "SELECT name FROM port"},
        {FEATURE_literals_absent, "Which ports are in France?", "SELECT name FROM port WHERE country = 'France'",
         "SELECT name FROM port WHERE country = 'french'", true},
        {FEATURE_literals_elsewhere, "Which ports are in France?", "SELECT name FROM port WHERE country = 'France'",
         "SELECT country FROM port WHERE name = 'France'", true},
        {FEATURE_compares_mismatched, "Which boats are longer than 20?", "SELECT title FROM boat WHERE length > 20",
         "SELECT title FROM boat WHERE length < 20", true},
        {FEATURE_direction_match, "Which boat has the greatest length?",
         "SELECT title FROM boat ORDER BY length DESC LIMIT 1", "SELECT title FROM boat ORDER BY length LIMIT 1"},
        {FEATURE_aggregates_unmet, "What is the average length of the boats?", "SELECT avg(length) FROM boat",
         "SELECT length FROM boat", true},
        {FEATURE_same_column_conditions, "Which ports are in Germany or France?",
         "SELECT name FROM port WHERE country = 'Germany' OR country = 'France'",
         "SELECT name FROM port WHERE country = 'Germany' AND country = 'France'", true},
        {FEATURE_tables_named_unread, "Which ports have a boat?",
         "SELECT name FROM port WHERE port_id IN (SELECT home_id FROM boat)", "SELECT name FROM port", true},
        {FEATURE_joins_multiply_shown, "Which ports have a boat?",
         "SELECT name FROM port WHERE port_id IN (SELECT home_id FROM boat)",
         "SELECT name FROM port JOIN boat ON port_id = home_id", true},
        {FEATURE_repeated_rows, "Which ports have a boat?",
         "SELECT DISTINCT name FROM port JOIN boat ON port_id = home_id",
         "SELECT name FROM port JOIN boat ON port_id = home_id", true},
        {FEATURE_joins_choice_gap, "What is the home of each boat?",
         "SELECT title, name FROM boat JOIN port ON home_id = port_id",
         "SELECT title, name FROM boat JOIN port ON built_id = port_id", true},
        {FEATURE_count_equals_one, "Which ports have a boat?", "SELECT home_id FROM boat GROUP BY home_id",
         "SELECT home_id FROM boat GROUP BY home_id HAVING count(*) = 1", true},
        {FEATURE_rows_none, "Which ports are in France?", "SELECT name FROM port WHERE country = 'France'",
         "SELECT name FROM port WHERE country = 'Spain'", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float sound = feature(rows[i].question, rows[i].sound, rows[i].feature);
        float other = feature(rows[i].question, rows[i].other, rows[i].feature);
        cr_expect(rows[i].less ? sound < other : sound > other, "%s: %g for %s, %g for %s",
                  features_name(rows[i].feature), (double)sound, rows[i].sound, (double)other, rows[i].other);
    }
}

/* The evidence states a formula in words or signs. */
Test(features_extract, features_match_formula_of_evidence)
{
    static const struct {
        enum feature_index feature;
        const char *evidence, *sql;
        float value;
    } rows[] = {
        {FEATURE_formula_met, "reach: length minus berth", "SELECT length - home_id FROM boat", 1},
        {FEATURE_formula_missing, "reach: length minus berth", "SELECT length + home_id FROM boat", 1},
        {FEATURE_formula_extra, "reach: length minus berth", "SELECT length + home_id FROM boat", 1},
        {FEATURE_formula_missing, "reach = length - berth", "SELECT length FROM boat", 1},
        {FEATURE_formula_missing, "reach = SUBTRACT(length, berth)", "SELECT length - home_id FROM boat", 0},
        {FEATURE_formula_said, "a well-known boat of 2001-02-03, and/or its twin", "SELECT length FROM boat", 0},
        {FEATURE_formula_met, "share: one divided by all, times 100", "SELECT 100.0 * length / home_id FROM boat", 2},
        {FEATURE_formula_extra, "share: one divided by all", "SELECT 100.0 * length / home_id FROM boat", 0},
        {FEATURE_formula_met, "load: the sum divided by the number of boats", "SELECT avg(length) FROM boat", 1},
        {FEATURE_formula_met, "balance: what came minus what went", "SELECT sum(-length) FROM boat", 1},
        {FEATURE_formula_squared, "index: length over the square of home",
         "SELECT home_id / (length * length) FROM boat", 1},
        {FEATURE_formula_squared, "index: length over the square of home",
         "SELECT home_id / length * home_id FROM boat", -1},
        {FEATURE_formula_different, "per home: all over the distinct homes",
         "SELECT count(*) / count(DISTINCT home_id) FROM boat", 1},
        {FEATURE_formula_different, "per home: all over the distinct homes",
         "SELECT count(*) / count(home_id) FROM boat", -1},
        {FEATURE_formula_unmentioned, "ratio of length to berth", "SELECT length / built_id FROM boat", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float found = with_evidence("What is it for each boat?", rows[i].evidence, rows[i].sql, rows[i].feature);
        cr_expect_float_eq(found, rows[i].value, 0, "%s: %g for %s of %s", features_name(rows[i].feature),
                           (double)found, rows[i].sql, rows[i].evidence);
    }
    cr_expect(isnan(feature("What is length minus home?", "SELECT length FROM boat", FEATURE_formula_said)),
              "no evidence");
}

/* Features compare the requested item with the returned one. Other rows concern NULLs, parts of texts, and the two
 * sides of a formula. */
Test(features_extract, features_match_requested_thing)
{
    static const struct {
        enum feature_index feature;
        const char *question, *evidence, *sound, *other;
        bool less;
    } rows[] = {
        {FEATURE_entity_gap, "Which ports have no boat?", NULL,
         "SELECT name FROM port WHERE port_id NOT IN (SELECT home_id FROM boat)",
         "SELECT title FROM boat WHERE home_id NOT IN (SELECT port_id FROM port)"},
        {FEATURE_entity_gap, "How many boats do the ports have?", NULL, "SELECT count(*) FROM boat",
         "SELECT count(DISTINCT home_id) FROM boat"},
        {FEATURE_entity_met, "Which ports have a boat?", NULL, "SELECT DISTINCT home_id FROM boat",
         "SELECT boat_id FROM boat"},
        {FEATURE_entity_shown, "Which ports are in France?", NULL, "SELECT name FROM port WHERE country = 'France'",
         "SELECT country FROM port WHERE country = 'France'"},
        {FEATURE_filters_unsaid, "Which boats are longer than 20?", NULL, "SELECT title FROM boat WHERE length > 20",
         "SELECT title FROM boat WHERE length > 20 AND home_id IN (SELECT port_id FROM port)", true},
        {FEATURE_pairs_unsaid, "Which pairs of boats have the same length?", NULL,
         "SELECT a.title, b.title FROM boat a JOIN boat b ON a.length = b.length AND a.boat_id < b.boat_id",
         "SELECT a.title, b.title FROM boat a JOIN boat b ON a.title = b.title AND a.boat_id < b.boat_id", true},
        {FEATURE_null_as_asked, "Which boats have a missing length?", NULL,
         "SELECT title FROM boat WHERE length IS NULL", "SELECT title FROM boat WHERE length IS NOT NULL"},
        {FEATURE_null_as_asked, "Boats whose length is filled in", NULL,
         "SELECT title FROM boat WHERE length IS NOT NULL", "SELECT title FROM boat WHERE length IS NULL"},
        {FEATURE_sums_distinct, "What is the total length of the boats?", NULL, "SELECT sum(length) FROM boat",
         "SELECT sum(DISTINCT length) FROM boat", true},
        {FEATURE_equals_part, "Which ports are anywhere in 'Ger'?", NULL,
         "SELECT name FROM port WHERE country LIKE '%Ger%'", "SELECT name FROM port WHERE country = 'Ger'", true},
        {FEATURE_formula_order, "What is the slimness of each boat?", "slimness = length / home",
         "SELECT length / home_id FROM boat", "SELECT home_id / length FROM boat"},
        {FEATURE_quotient_upright, "What share of the ports have a boat?", NULL,
         "SELECT 1.0 * count(DISTINCT home_id) / (SELECT count(*) FROM port) FROM boat",
         "SELECT 1.0 * (SELECT count(*) FROM port) / count(DISTINCT home_id) FROM boat"},
        {FEATURE_directions_right, "Which boat has the greatest length?", NULL,
         "SELECT title FROM boat ORDER BY CAST(length AS INTEGER) DESC LIMIT 1",
         "SELECT title FROM boat ORDER BY CAST(length AS INTEGER) LIMIT 1"},
        {FEATURE_links_unanswered_referred, "How many boats do the ports have?", NULL, "SELECT count(*) FROM boat",
         "SELECT count(*) FROM boat JOIN port ON home_id = port_id"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        float sound = with_evidence(rows[i].question, rows[i].evidence, rows[i].sound, rows[i].feature);
        float other = with_evidence(rows[i].question, rows[i].evidence, rows[i].other, rows[i].feature);
        cr_expect(rows[i].less ? sound < other : sound > other, "%s: %g for %s, %g for %s",
                  features_name(rows[i].feature), (double)sound, rows[i].sound, (double)other, rows[i].other);
    }
    cr_expect_gt(feature("Who is where?", "SELECT name FROM port", FEATURE_entity_shown), 2);
    cr_expect(isnan(feature("Who is where?", "SELECT name FROM port", FEATURE_who_met)), "no table holds persons");
}

/* Date bounds that are the first or last day of a year. */
Test(features_extract, date_bounds_match_year)
{
    static const struct {
        const char *question, *sql;
        bool exact;
    } rows[] = {
        {"Boats launched after 2014", "SELECT title FROM boat WHERE title >= '2015-01-01'", true},
        {"Boats launched after 2014", "SELECT title FROM boat WHERE title > '2014-12-31'", true},
        {"Boats launched after 2014", "SELECT title FROM boat WHERE title >= '2014-01-01'", false},
        {"Boats launched before 2014", "SELECT title FROM boat WHERE title < '2014-01-01'", true},
        {"Boats launched before 2014", "SELECT title FROM boat WHERE title < '2015-01-01'", false},
        {"Boats launched before 2014", "SELECT title FROM boat WHERE title <= '2013-12-31 23:59:59'", false},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
        cr_expect_eq(feature(rows[i].question, rows[i].sql, FEATURE_bounds_exact) > 0, rows[i].exact, "%s | %s",
                     rows[i].question, rows[i].sql);
}

/* Features compare how the conditions are combined. */
Test(features_extract, features_distinguish_correct_logic)
{
    static const struct {
        enum feature_index feature;
        const char *question, *sound, *other;
        bool less; /* true if the correct query has the lower value */
    } rows[] = {
        {FEATURE_or_loose, "Which ports in France or Ireland have an id above 2?",
         "SELECT name FROM port WHERE (country = 'France' OR country = 'Ireland') AND port_id > 2",
         "SELECT name FROM port WHERE country = 'France' OR country = 'Ireland' AND port_id > 2", true},
        {FEATURE_or_over_and, "Which ports in France or Ireland have an id above 2?",
         "SELECT name FROM port WHERE (country = 'France' OR country = 'Ireland') AND port_id > 2",
         "SELECT name FROM port WHERE country = 'France' OR country = 'Ireland' AND port_id > 2", true},
        {FEATURE_and_over_or, "Which ports in France or Ireland have an id above 2?",
         "SELECT name FROM port WHERE (country = 'France' OR country = 'Ireland') AND port_id > 2",
         "SELECT name FROM port WHERE country = 'France' OR country = 'Ireland' AND port_id > 2"},
        {FEATURE_neither_as_asked, "Which ports are neither in France nor called Cork?",
         "SELECT name FROM port WHERE country <> 'France' AND name <> 'Cork'",
         "SELECT name FROM port WHERE NOT (country = 'France' AND name = 'Cork')"},
        {FEATURE_except_as_asked, "All ports except the French one called Brest",
         "SELECT name FROM port WHERE NOT (country = 'France' AND name = 'Brest')",
         "SELECT name FROM port WHERE country <> 'France' AND name <> 'Brest'"},
        {FEATURE_exclusion_as_asked, "Which ports have no boat called Anna?",
         "SELECT name FROM port WHERE port_id NOT IN (SELECT home_id FROM boat WHERE title = 'Anna')",
         "SELECT name FROM port JOIN boat ON port_id = home_id WHERE title <> 'Anna'"},
        {FEATURE_exclusion_as_asked, "Which ports are home to some boat other than Anna?",
         "SELECT name FROM port WHERE port_id IN (SELECT home_id FROM boat WHERE title <> 'Anna')",
         "SELECT name FROM port WHERE port_id NOT IN (SELECT home_id FROM boat WHERE title = 'Anna')"},
        {FEATURE_rows_excluded_joined, "Which ports have no boat called Anna?",
         "SELECT name FROM port WHERE port_id NOT IN (SELECT home_id FROM boat WHERE title = 'Anna')",
         "SELECT name FROM port WHERE port_id IN (SELECT home_id FROM boat WHERE title <> 'Anna')", true},
        {FEATURE_keys_crossed, "Which ports have no boat?",
         "SELECT name FROM port WHERE port_id NOT IN (SELECT home_id FROM boat)",
         "SELECT name FROM port JOIN boat ON port_id <> home_id", true},
        {FEATURE_both_met, "Which ports have Anna as well as Berta?",
         "SELECT name FROM port WHERE port_id IN (SELECT home_id FROM boat WHERE title = 'Anna') AND port_id IN "
         "(SELECT "
         "home_id FROM boat WHERE title = 'Berta')",
         "SELECT name FROM port WHERE port_id IN (SELECT home_id FROM boat WHERE title = 'Anna') OR port_id IN (SELECT "
         "home_id FROM boat WHERE title = 'Berta')"},
        {FEATURE_either_met, "Which ports have Anna or Berta?",
         "SELECT name FROM port JOIN boat ON port_id = home_id WHERE title IN ('Anna', 'Berta')",
         "SELECT name FROM port JOIN boat ON port_id = home_id WHERE title IN ('Anna', 'Berta') GROUP BY port_id "
         "HAVING "
         "count(*) = 2"},
        {FEATURE_asked_against, "Which ports in France or Ireland have an id above 2?",
         "SELECT name FROM port WHERE (country = 'France' OR country = 'Ireland') AND port_id > 2",
         "SELECT name FROM port WHERE country = 'France' OR country = 'Ireland' AND port_id < 2", true},
        {FEATURE_asked_in_favour, "Which boats are longer than 20?", "SELECT title FROM boat WHERE length > 20",
         "SELECT title FROM boat WHERE length < 20"},
        {FEATURE_asked_balance, "Which boats are longer than 20?", "SELECT title FROM boat WHERE length > 20",
         "SELECT title FROM boat WHERE length < 20"},
        {FEATURE_keys_sized, "Which ports have more than 1 boat?",
         "SELECT name FROM port JOIN boat ON port_id = home_id GROUP BY port_id HAVING count(*) > 1",
         "SELECT name FROM port JOIN boat ON port_id = home_id WHERE boat_id > 1 GROUP BY port_id", true},
        {FEATURE_groups_idle, "Which ports have more than 1 boat?",
         "SELECT name FROM port JOIN boat ON port_id = home_id GROUP BY port_id HAVING count(*) > 1",
         "SELECT name FROM port JOIN boat ON port_id = home_id WHERE boat_id > 1 GROUP BY port_id", true},
        {FEATURE_bound_on_computed, "Which homes have boats of an average length above 20?",
         "SELECT home_id FROM boat GROUP BY home_id HAVING avg(length) > 20",
         "SELECT home_id FROM boat WHERE length > 20 GROUP BY home_id"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float sound = feature(rows[i].question, rows[i].sound, rows[i].feature);
        float other = feature(rows[i].question, rows[i].other, rows[i].feature);
        cr_expect(rows[i].less ? sound < other : sound > other, "%s: %g for %s, %g for %s",
                  features_name(rows[i].feature), (double)sound, rows[i].sound, (double)other, rows[i].other);
    }
}

static const char FORMS_SCHEMA[] =
    "CREATE TABLE runner (runner_id INTEGER PRIMARY KEY, name TEXT, sex TEXT, country TEXT, minutes REAL, points TEXT,"
    "  joined TEXT, weight REAL, active TEXT);"
    "INSERT INTO runner VALUES (1, 'Ann', 'F', 'France', 12, '95', '2014-03-05', NULL, 'Y'),"
    " (2, 'Bob', 'M', 'Germany', 70, '150', '2015-04-03', 70, 'N'), (3, 'Cem', 'M', 'Turkey', 80, '1000', "
    "'2016-05-06', 80, 'Y');";

static void setup_forms(void)
{
    const struct schema_options options = {0};
    struct err err = {0};
    fixture_init_as(&fixture, "f", FORMS_SCHEMA);
    fixture_open(&fixture, NULL);
    cr_assert(schema_build(fixture.db, "f", fixture.path, &options, &schema, &err) == ERR_OK, "%s", err.text);
}

Test(features_forms, features_distinguish_correct_query, .init = setup_forms, .fini = teardown)
{
    static const struct {
        enum feature_index feature;
        const char *question, *sound, *other;
        bool less; /* true if the correct query has the lower value */
    } rows[] = {
        {FEATURE_form_least, "How many women run?", "SELECT count(*) FROM runner WHERE sex = 'F'",
         "SELECT count(*) FROM runner WHERE sex = 'M'"},
        {FEATURE_forms_people, "Which French runners are there?", "SELECT name FROM runner WHERE country = 'France'",
         "SELECT name FROM runner WHERE country = 'Turkey'"},
        {FEATURE_contradictions, "Which French runners are there?", "SELECT name FROM runner WHERE country = 'France'",
         "SELECT name FROM runner WHERE country = 'Turkey'", true},
        {FEATURE_forms_stored_otherwise, "Which French runners are there?",
         "SELECT name FROM runner WHERE country = 'France'", "SELECT name FROM runner WHERE country = 'French'", true},
        {FEATURE_values_unmet, "Which runners are from Germany?", "SELECT name FROM runner WHERE country = 'Germany'",
         "SELECT name FROM runner", true},
        {FEATURE_flags_agree, "Which runners are not active?", "SELECT name FROM runner WHERE active = 'N'",
         "SELECT name FROM runner WHERE active = 'Y'"},
        {FEATURE_flags_disagree, "Which runners are active?", "SELECT name FROM runner WHERE active = 'Y'",
         "SELECT name FROM runner WHERE active = 'N'", true},
        {FEATURE_units_met, "Who runs more than 2 hours?", "SELECT name FROM runner WHERE minutes > 120",
         "SELECT name FROM runner WHERE minutes > 2"},
        {FEATURE_units_missed, "Who runs more than 2 hours?", "SELECT name FROM runner WHERE minutes > 120",
         "SELECT name FROM runner WHERE minutes > 2", true},
        {FEATURE_number_gap, "Who runs more than 70 times?", "SELECT name FROM runner WHERE minutes > 70",
         "SELECT name FROM runner WHERE minutes > 7", true},
        {FEATURE_years_met, "Who joined in 2014?", "SELECT name FROM runner WHERE joined LIKE '2014%'",
         "SELECT name FROM runner WHERE weight = 2014"},
        {FEATURE_years_on_others, "Who joined in 2014?", "SELECT name FROM runner WHERE joined LIKE '2014%'",
         "SELECT name FROM runner WHERE weight = 2014", true},
        {FEATURE_month_met, "Who joined in March?", "SELECT name FROM runner WHERE strftime('%m', joined) = '03'",
         "SELECT name FROM runner WHERE strftime('%d', joined) = '03'"},
        {FEATURE_keys_text_number, "Who has the most points?",
         "SELECT name FROM runner ORDER BY CAST(points AS REAL) DESC LIMIT 1",
         "SELECT name FROM runner ORDER BY points DESC LIMIT 1", true},
        {FEATURE_compares_text_number, "Who has more than 100 points?",
         "SELECT name FROM runner WHERE CAST(points AS REAL) > 100", "SELECT name FROM runner WHERE points > 100",
         true},
        {FEATURE_keys_null, "Who is the lightest?",
         "SELECT name FROM runner WHERE weight IS NOT NULL ORDER BY weight LIMIT 1",
         "SELECT name FROM runner ORDER BY weight LIMIT 1", true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float sound = feature(rows[i].question, rows[i].sound, rows[i].feature);
        float other = feature(rows[i].question, rows[i].other, rows[i].feature);
        cr_expect(rows[i].less ? sound < other : sound > other, "%s: %g for %s, %g for %s",
                  features_name(rows[i].feature), (double)sound, rows[i].sound, (double)other, rows[i].other);
    }
}

/* A feature that cannot be computed is NAN: without a question, without a result, or if no name binds. */
Test(features_extract, unknown_features_are_not_a_number)
{
    float out[FEATURE_COUNT];
    features_of(NULL, "SELECT title FROM boat", out);
    cr_expect(isnan(out[FEATURE_asked_least_met]));
    cr_expect_float_eq(out[FEATURE_columns], 1, 0);
    features_of("How many boats are there?", "SELECT count(*) FROM ship", out);
    for (unsigned i = 0; i < FEATURE_COUNT; i++) cr_expect(isnan(out[i]), "%s", features_name(i));
    features_of("How many boats are there?", "SELECT abs(-9223372036854775807 - 1) FROM boat", out);
    cr_expect(isnan(out[FEATURE_rows_log]), "it binds, but does not run");
    cr_expect_float_eq(out[FEATURE_COMPONENTS + SQL_HAS_one_table], 1, 0);
}

Test(features_extract, hostile_questions_give_finite_features)
{
    static const char *const questions[] = {"", "?", "\xff\xfe", "1 1 1 1", "\"", "boat"};
    float out[FEATURE_COUNT];
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        features_of(questions[i], "SELECT title FROM boat WHERE length > '' ORDER BY 1 LIMIT 1", out);
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; i < 20000; i++) g_string_append_printf(text, "boat%u port ", i);
    features_of(text->str, "SELECT title FROM boat", out);
    for (unsigned i = 0; i < FEATURE_COUNT; i++) cr_expect(!isinf(out[i]), "%s", features_name(i));
    g_string_free(text, TRUE);
}

Test(features_extract, feature_ids_map_back_to_names)
{
    for (unsigned i = 0; i < FEATURE_COUNT; i++) {
        cr_expect_eq(features_by_id(features_id(i)), (int)i, "%s", features_name(i));
        cr_expect_eq(features_by_name(features_name(i)), (int)i);
    }
    cr_expect_eq(features_by_id(999), -1);
    cr_expect_eq(features_by_id(5000), -1);
    cr_expect_null(features_name(FEATURE_COUNT));
}

/* Features that are measured on results: rows kept, roles, ratios, counts, groups. */
Test(features_extract, features_measure_results)
{
    static const struct {
        enum feature_index feature;
        const char *question, *sound, *other;
        bool less;
    } rows[] = {
        {FEATURE_keep_unmet, "How many boats has each port, even those without?",
         "SELECT name, count(boat_id) FROM port LEFT JOIN boat ON port_id = home_id GROUP BY port_id",
         "SELECT name, count(boat_id) FROM port JOIN boat ON port_id = home_id GROUP BY port_id", true},
        {FEATURE_keep_lost, "How many boats has each port?",
         "SELECT name, count(boat_id) FROM port LEFT JOIN boat ON port_id = home_id GROUP BY port_id",
         "SELECT name, count(boat_id) FROM port JOIN boat ON port_id = home_id GROUP BY port_id", true},
        {FEATURE_keep_unmet, "Boats of each port; skip ports without",
         "SELECT name, count(boat_id) FROM port JOIN boat ON port_id = home_id GROUP BY port_id",
         "SELECT name, count(boat_id) FROM port LEFT JOIN boat ON port_id = home_id GROUP BY port_id", true},
        {FEATURE_quotient_inverted, "What is the length per boat?", "SELECT sum(length) / count(boat_id) FROM boat",
         "SELECT count(boat_id) / sum(length) FROM boat", true},
        {FEATURE_quotient_whole, "What share of the ports is in France?",
         "SELECT 100.0 * sum(country = 'France') / count(*) FROM port",
         "SELECT 100 * sum(country = 'France') / count(*) FROM port", true},
        {FEATURE_counts_amounts, "How many metres of boats are there?", "SELECT sum(length) FROM boat",
         "SELECT count(length) FROM boat", true},
        {FEATURE_sums_keys, "What is the total length?", "SELECT sum(length) FROM boat",
         "SELECT sum(home_id) FROM boat", true},
        {FEATURE_each_extreme_met, "Which boat is the longest in each port?",
         "SELECT home_id, title FROM boat b WHERE length = (SELECT max(length) FROM boat c WHERE c.home_id = "
         "b.home_id)",
         "SELECT home_id, title FROM boat WHERE length = (SELECT max(length) FROM boat)"},
        {FEATURE_group_split, "How many boats has each home?", "SELECT home_id, count(*) FROM boat GROUP BY home_id",
         "SELECT home_id, count(*) FROM boat GROUP BY home_id, built_id, title", true},
        {FEATURE_distinct_unmet, "How many different homes are there?", "SELECT count(DISTINCT home_id) FROM boat",
         "SELECT count(home_id) FROM boat", true},
        {FEATURE_sums_multiplied, "What is the total number of ports?",
         "SELECT sum(length) FROM port JOIN boat ON port_id = home_id",
         "SELECT sum(port_id) FROM port JOIN boat ON port_id = home_id", true},
        {FEATURE_joins_met_least, "Which port has which boat?",
         "SELECT name, title FROM port JOIN boat ON port_id = home_id",
         "SELECT name, title FROM port JOIN boat ON name = title"},
        {FEATURE_rows_over_each, "What is the name of each port?", "SELECT name FROM port",
         "SELECT name FROM port LIMIT 1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float sound = feature(rows[i].question, rows[i].sound, rows[i].feature);
        float other = feature(rows[i].question, rows[i].other, rows[i].feature);
        cr_expect(rows[i].less ? sound < other : sound > other, "%s: %g for %s, %g for %s",
                  features_name(rows[i].feature), (double)sound, rows[i].sound, (double)other, rows[i].other);
    }
}

/* A cue of the question is compared with the corresponding part of the query. The feature is 1 if they agree, else
 * -1. */
Test(features_extract, cues_are_compared_with_query)
{
    static const struct {
        enum feature_index feature;
        const char *question, *sound, *other;
        bool less; /* true if the correct query has the lower value */
    } rows[] = {
        {FEATURE_bounds_exact, "Which boats are at most 20 long?", "SELECT title FROM boat WHERE length <= 20",
         "SELECT title FROM boat WHERE length < 20"},
        {FEATURE_bounds_exact, "Which ports have at least 2 boats?",
         "SELECT home_id FROM boat GROUP BY home_id HAVING count(*) > 1",
         "SELECT home_id FROM boat GROUP BY home_id HAVING count(*) > 2"},
        {FEATURE_bounds_exact, "Which boats are from 10 on in length?", "SELECT title FROM boat WHERE length >= 10",
         "SELECT title FROM boat WHERE length > 10"},
        {FEATURE_bounds_strictness, "Boats strictly between 10 and 30 in length",
         "SELECT title FROM boat WHERE length > 10 AND length < 30",
         "SELECT title FROM boat WHERE length BETWEEN 10 AND 30", true},
        {FEATURE_bounds_turned, "Which boats are longer than 20?", "SELECT title FROM boat WHERE length > 20",
         "SELECT title FROM boat WHERE length < 20", true},
        {FEATURE_bounds_on_count, "Which ports have more than 2 boats?",
         "SELECT home_id FROM boat GROUP BY home_id HAVING count(*) > 2", "SELECT title FROM boat WHERE length > 2"},
        {FEATURE_limit_as_asked, "Show the top three boats by length",
         "SELECT title FROM boat ORDER BY length DESC LIMIT 3", "SELECT title FROM boat ORDER BY length DESC LIMIT 1"},
        {FEATURE_limit_as_asked, "Which is the longest boat?", "SELECT title FROM boat ORDER BY length DESC LIMIT 1",
         "SELECT title FROM boat ORDER BY length DESC LIMIT 3"},
        {FEATURE_offset_as_asked, "Which is the second longest boat?",
         "SELECT title FROM boat ORDER BY length DESC LIMIT 1 OFFSET 1",
         "SELECT title FROM boat ORDER BY length DESC LIMIT 1"},
        {FEATURE_directions_wrong, "Which is the boat with the least length?",
         "SELECT title FROM boat ORDER BY length LIMIT 1", "SELECT title FROM boat ORDER BY length DESC LIMIT 1", true},
        {FEATURE_never_as_set, "Which ports never had a boat?",
         "SELECT name FROM port WHERE port_id NOT IN (SELECT home_id FROM boat)",
         "SELECT name FROM port JOIN boat ON home_id = port_id WHERE title <> 'Anna'"},
        {FEATURE_not_all_as_rows, "Which ports are not all in France?",
         "SELECT name FROM port WHERE country <> 'France'",
         "SELECT name FROM port WHERE port_id NOT IN (SELECT home_id FROM boat)"},
        {FEATURE_negated_values_out, "Ports in any country other than France",
         "SELECT name FROM port WHERE country <> 'France'", "SELECT name FROM port WHERE country = 'France'"},
        {FEATURE_negated_values_kept, "Ports except for those in France",
         "SELECT name FROM port EXCEPT SELECT name FROM port WHERE country = 'France'",
         "SELECT name FROM port WHERE country = 'France'", true},
        {FEATURE_values_out_unasked, "Ports in France", "SELECT name FROM port WHERE country = 'France'",
         "SELECT name FROM port WHERE country <> 'France'", true},
        {FEATURE_both_as_asked, "Names in both France and Germany",
         "SELECT name FROM port WHERE country = 'France' INTERSECT SELECT name FROM port WHERE country = 'Germany'",
         "SELECT name FROM port WHERE country IN ('France', 'Germany')"},
        {FEATURE_either_as_asked, "Ports in either France or Germany",
         "SELECT name FROM port WHERE country IN ('France', 'Germany')",
         "SELECT name FROM port WHERE country = 'France' INTERSECT SELECT name FROM port WHERE country = 'Germany'"},
        {FEATURE_only_as_asked, "Ports with only one boat",
         "SELECT home_id FROM boat GROUP BY home_id HAVING count(*) = 1", "SELECT home_id FROM boat"},
        {FEATURE_each_as_asked, "How many ports of each country?",
         "SELECT country, count(*) FROM port GROUP BY country", "SELECT count(*) FROM port"},
        {FEATURE_top_of_each, "The longest boat of each port", "SELECT home_id, max(length) FROM boat GROUP BY home_id",
         "SELECT title FROM boat ORDER BY length DESC LIMIT 1"},
        {FEATURE_different_counted, "How many different countries are there?",
         "SELECT count(DISTINCT country) FROM port", "SELECT count(country) FROM port"},
        {FEATURE_aggregates_as_asked, "What is the average length?", "SELECT avg(length) FROM boat",
         "SELECT sum(length) FROM boat"},
        {FEATURE_aggregates_swapped, "What is the total length?", "SELECT sum(length) FROM boat",
         "SELECT avg(length) FROM boat", true},
        {FEATURE_average_of_counts, "The average number of boats of a port",
         "SELECT avg(n) FROM (SELECT count(*) AS n FROM boat GROUP BY home_id)", "SELECT avg(length) FROM boat"},
        {FEATURE_percent_by_hundred, "What percentage of ports is in France?",
         "SELECT sum(country = 'France') * 100.0 / count(*) FROM port",
         "SELECT sum(country = 'France') * 1.0 / count(*) FROM port"},
        {FEATURE_division_real, "What percentage of ports is in France?",
         "SELECT sum(country = 'France') * 100.0 / count(*) FROM port",
         "SELECT sum(country = 'France') * 100 / count(*) FROM port"},
        {FEATURE_ratio_in_order, "The ratio of length to home", "SELECT length / home_id FROM boat",
         "SELECT home_id / length FROM boat"},
        {FEATURE_include_as_asked, "How many boats has each port, including those without boats?",
         "SELECT name, count(boat_id) FROM port LEFT JOIN boat ON home_id = port_id GROUP BY port_id",
         "SELECT name, count(boat_id) FROM port JOIN boat ON home_id = port_id GROUP BY port_id"},
        {FEATURE_outer_join_counts_rows, "How many boats has each port, including those without boats?",
         "SELECT name, count(boat_id) FROM port LEFT JOIN boat ON home_id = port_id GROUP BY port_id",
         "SELECT name, count(*) FROM port LEFT JOIN boat ON home_id = port_id GROUP BY port_id", true},
        {FEATURE_period_as_asked, "Boats of March", "SELECT title FROM boat WHERE title LIKE '%-03-%'",
         "SELECT title FROM boat WHERE title LIKE '%-05-%'"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        float sound = feature(rows[i].question, rows[i].sound, rows[i].feature);
        float other = feature(rows[i].question, rows[i].other, rows[i].feature);
        cr_expect(rows[i].less ? sound < other : sound > other, "%s: %g for %s, %g for %s",
                  features_name(rows[i].feature), (double)sound, rows[i].sound, (double)other, rows[i].other);
    }
}

Test(features_extract, question_in_other_language_has_no_cues)
{
    float out[FEATURE_COUNT];
    features_of("Wie viele Boote sind nicht in der Stadt und haben die Nummer 3?", "SELECT count(*) FROM boat", out);
    cr_expect_float_eq(out[FEATURE_question_foreign], 1, 0);
    cr_expect(isnan(out[FEATURE_negations]) && isnan(out[FEATURE_cue_not]));
    features_of("How many boats are there?", "SELECT count(*) FROM boat", out);
    cr_expect_float_eq(out[FEATURE_question_foreign], 0, 0);
}
