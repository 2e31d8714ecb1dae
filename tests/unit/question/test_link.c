/* Tests links from words of the question to parts of a query: unlinked words, and rival parts. */
#include "lib/question/link_int.h"
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <string.h>

static const char SCHEMA[] =
    "CREATE TABLE station (station_id INTEGER PRIMARY KEY, name TEXT, city TEXT);"
    "CREATE TABLE athlete (athlete_id INTEGER PRIMARY KEY, name TEXT, height REAL, weight REAL, age INTEGER, sex TEXT, "
    "country TEXT);"
    "CREATE TABLE trip (trip_id INTEGER PRIMARY KEY, start_station_id INTEGER REFERENCES station, end_station_id "
    "INTEGER "
    "REFERENCES station, price REAL, status TEXT);"
    "INSERT INTO station VALUES (1, 'North', 'Lima'), (2, 'South', 'Quito');"
    "INSERT INTO athlete VALUES (1, 'Ann', 1.8, 70, 30, 'F', 'France'), (2, 'Bo', 1.7, 80, 25, 'M', 'Peru');"
    "INSERT INTO trip VALUES (1, 1, 2, 5, 'open'), (2, 2, 1, 6, 'closed');";

static struct fixture fixture;
static struct schema_index *schema;

static void setup(void)
{
    const struct schema_options options = {0};
    struct err err = {0};
    fixture_init_as(&fixture, "l", SCHEMA);
    fixture_open(&fixture, NULL);
    cr_assert(schema_build(fixture.db, "l", fixture.path, &options, &schema, &err) == ERR_OK, "%s", err.text);
}

static void teardown(void)
{
    schema_unref(schema);
    fixture_end(&fixture);
}

TestSuite(link, .init = setup, .fini = teardown);

static const struct link_query *link_of(const char *text, const char *sql)
{
    struct sql_stmt *stmt;
    struct sql_bound *bound;
    struct sql_join_pair *pairs;
    arena_reset(&fixture.arena);
    const struct question *question = question_read(&fixture.arena, schema, text, NULL);
    cr_assert(question, "%s", text);
    cr_assert_eq(sql_parse(&fixture.arena, sql, strlen(sql), NULL, &stmt), ERR_OK, "%s", sql);
    cr_assert_eq(sql_bind(&fixture.arena, stmt, &schema->catalog, &bound), ERR_OK, "%s", sql);
    int n = sql_join_pairs(&fixture.arena, bound, &pairs);
    const struct link_query *out = link_make(&fixture.arena, question->links, bound, pairs, (uint32_t)n);
    cr_assert(out, "%s", sql);
    return out;
}

/* Returns the target of a word's link: the name of a column or table, or the text of a literal or operation; "" if
 * there is none. */
static const char *meaning(const struct link_query *links, const char *word)
{
    for (uint32_t w = 0; w < links->question->n_words; w++) {
        const struct text_token *token = &links->question->question->tokens.items[links->question->words[w].token];
        if (strcmp(token->norm, word) != 0) continue;
        if (links->places[w].part < 0) return "";
        const struct link_part *part = &links->parts[links->places[w].part];
        if (part->text) return part->text;
        return part->role == LINK_TABLE ? schema->tables[part->table].name : part->column->name;
    }
    return "no such word";
}

static const struct link_part *part_of(const struct link_query *links, enum link_role role, const char *column)
{
    for (uint32_t i = 0; i < links->n_parts; i++)
        if (links->parts[i].role == role && links->parts[i].column && strcmp(links->parts[i].column->name, column) == 0)
            return &links->parts[i];
    cr_assert_fail("no part of %s", column);
    return NULL;
}

Test(link, words_stand_for_names_values_and_operations)
{
    static const struct {
        const char *question, *sql, *word, *meaning;
    } cases[] = {
        {"What is the weight of the athletes?", "SELECT weight FROM athlete", "weight", "weight"},
        {"What is the weight of the athletes?", "SELECT weight FROM athlete", "athletes", "athlete"},
        {"Who is the heaviest athlete?", "SELECT name FROM athlete ORDER BY weight DESC LIMIT 1", "heaviest", "weight"},
        {"How many athletes are there?", "SELECT count(*) FROM athlete", "many", "count"},
        {"Average age of the athletes", "SELECT avg(age) FROM athlete", "average", "avg"},
        {"Stations in Lima", "SELECT name FROM station WHERE city = 'Lima'", "lima", "Lima"},
        {"How many French athletes?", "SELECT count(*) FROM athlete WHERE country = 'France'", "french", "France"},
        {"How many women are athletes?", "SELECT count(*) FROM athlete WHERE sex = 'F'", "women", "F"},
        {"The priciest trip", "SELECT trip_id FROM trip ORDER BY price DESC LIMIT 1", "priciest", "price"},
        {"Where do the athletes hail from?", "SELECT country FROM athlete", "hail", "country"},
        {"Open trips", "SELECT trip_id FROM trip WHERE status = 'open'", "open", "open"},
        {"Open trips", "SELECT trip_id FROM trip", "open", ""},
        {"How many French athletes?", "SELECT count(*) FROM athlete WHERE country = 'French'", "french", ""},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        const struct link_query *links = link_of(cases[i].question, cases[i].sql);
        cr_expect_str_eq(meaning(links, cases[i].word), cases[i].meaning, "%s | %s", cases[i].question, cases[i].sql);
    }
}

Test(link, a_word_is_one_parts_own)
{
    const struct link_query *links =
        link_of("Names of the athletes sorted by age", "SELECT name, age FROM athlete ORDER BY age");
    const struct link_part *shown = part_of(links, LINK_ANSWER, "age"), *order = part_of(links, LINK_ORDER, "age");
    cr_expect_eq(shown->said > 0.9F, order->said < 0.1F, "one of the two has it: %g %g", shown->said, order->said);
    cr_expect_gt(order->said, 0.9F, "the one beside the cue");
    cr_expect_gt(shown->shared, 0.9F);
}

Test(link, conditions_that_no_word_asks_for)
{
    const struct link_query *links =
        link_of("How many trips are there?", "SELECT count(*) FROM trip WHERE status = 'closed' AND price IS NOT NULL");
    const struct link_part *status = part_of(links, LINK_CONDITION, "status");
    cr_expect_lt(status->said + status->shared, 0.1F);
    cr_expect_not(status->implied);
    for (uint32_t i = 0; i < links->n_parts; i++)
        cr_expect(!links->parts[i].column || strcmp(links->parts[i].column->name, "price") != 0,
                  "a test for NULL asks for nothing");
    links = link_of("How many closed trips are there?", "SELECT count(*) FROM trip WHERE status = 'closed'");
    cr_expect(part_of(links, LINK_CONDITION, "status")->implied);
}

Test(link, a_rival_is_what_the_place_names)
{
    const struct link_query *links =
        link_of("Name the heaviest athlete", "SELECT name FROM athlete ORDER BY height DESC LIMIT 1");
    const struct link_part *order = part_of(links, LINK_ORDER, "height");
    cr_assert(order->same.column);
    cr_expect_str_eq(order->same.column->name, "weight");
    cr_expect_gt(order->same.score, order->score + 0.3F);
    links = link_of("Name the heaviest athlete", "SELECT name FROM athlete ORDER BY weight DESC LIMIT 1");
    order = part_of(links, LINK_ORDER, "weight");
    cr_expect_lt(order->same.score, order->score);
}

Test(link, of_two_keys_the_words_mean_one)
{
    const char *question = "How many trips end at a station in Lima?";
    const struct link_query *links = link_of(
        question, "SELECT count(*) FROM trip JOIN station ON start_station_id = station_id WHERE city = 'Lima'");
    cr_expect_gt(links->role_rival, links->role_score);
    cr_expect_str_eq(links->role_better->name, "end_station_id");
    links =
        link_of(question, "SELECT count(*) FROM trip JOIN station ON end_station_id = station_id WHERE city = 'Lima'");
    cr_expect_lt(links->role_rival, links->role_score);
    links = link_of("Athletes", "SELECT name FROM athlete");
    cr_expect(links->role_score != links->role_score, "no join, no choice");
}

/* Returns the best value over all assignments of a small table, found by trying all of them. */
static float best_by_trying(const struct link_edge *edges, uint32_t n, uint32_t word, uint32_t used)
{
    enum { WORDS = 5 };
    if (word == WORDS) return 0;
    float best = best_by_trying(edges, n, word + 1, used);
    for (uint32_t e = 0; e < n; e++) {
        if (edges[e].word != word || used >> edges[e].slot & 1U) continue;
        float with = edges[e].gain + best_by_trying(edges, n, word + 1, used | 1U << edges[e].slot);
        if (with > best) best = with;
    }
    return best;
}

Test(link, the_assignment_is_the_best_of_all)
{
    GRand *random = g_rand_new_with_seed(7);
    for (unsigned round = 0; round < 300; round++) {
        struct link_edge edges[14];
        int best[LINK_MAX_WORDS];
        uint32_t n = (uint32_t)g_rand_int_range(random, 0, 14), slots = 0;
        float sum = 0;
        for (uint32_t e = 0; e < n; e++)
            edges[e] = (struct link_edge){.word = (uint8_t)g_rand_int_range(random, 0, 5),
                                          .slot = (uint8_t)g_rand_int_range(random, 0, 6),
                                          .gain = (float)g_rand_double_range(random, 0.01, 1)};
        cr_assert(link_assign(&fixture.arena, edges, n, best));
        for (uint32_t w = 0; w < LINK_MAX_WORDS; w++) {
            if (best[w] < 0) continue;
            cr_expect_eq(edges[best[w]].word, w);
            cr_expect_not(slots >> edges[best[w]].slot & 1U, "a slot is taken once");
            slots |= 1U << edges[best[w]].slot;
            sum += edges[best[w]].gain;
        }
        cr_expect_float_eq(sum, best_by_trying(edges, n, 0, 0), 1e-4F);
    }
    g_rand_free(random);
}

Test(link, hostile_text_stays_within_bounds)
{
    GString *question = g_string_new("Show"), *sql = g_string_new("SELECT name");
    for (unsigned i = 0; i < 3000; i++) g_string_append(question, " name age weight Lima open");
    for (unsigned i = 0; i < 300; i++) g_string_append(sql, ", age, weight, count(*)");
    g_string_append(sql, " FROM athlete WHERE name = 'a b c d e f g'");
    for (unsigned i = 0; i < 300; i++) g_string_append_printf(sql, " OR name = 'open %u'", i);
    const struct link_query *links = link_of(question->str, sql->str);
    cr_expect_leq(links->question->n_words, LINK_MAX_WORDS);
    cr_expect_leq(links->n_parts, LINK_MAX_PARTS);
    cr_expect_leq(links->n_slots, LINK_MAX_SLOTS);
    g_string_free(question, TRUE);
    g_string_free(sql, TRUE);
}
