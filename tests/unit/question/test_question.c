/* Tests the reading of a question: values, mentions, cues, requested outputs, and hostile text. */
#include "lib/question/forms.h"
#include "lib/question/phrase.h"
#include "lib/question/question.h"
#include "lib/question/read.h"
#include "tests/unit/db/fixture.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>

static const char SCHEMA[] =
    "CREATE TABLE city (city_id INTEGER PRIMARY KEY, name TEXT, country_name TEXT, population INTEGER, max_height "
    "REAL);"
    "CREATE TABLE teacher (teacher_id INTEGER PRIMARY KEY, first_name TEXT, surname TEXT, salary REAL, birth_date TEXT,"
    "  city_id INTEGER REFERENCES city(city_id));"
    "CREATE TABLE course (course_id INTEGER PRIMARY KEY, title TEXT, number_of_lessons INTEGER, teacher_id INTEGER "
    "REFERENCES teacher);"
    "INSERT INTO city VALUES (1, 'New York', 'United States', 8000000, 10), (2, 'Lima', 'Peru', 9000000, 160);"
    "INSERT INTO teacher VALUES (1, 'Ann', 'York', 1000, '1980-01-01', 1), (2, 'Bo', 'New', 2000, '1970-01-01', 2);"
    "INSERT INTO course VALUES (1, 'Algebra', 12, 1), (2, 'The Art of War', 9, 2);";

static struct fixture fixture;
static struct schema_index *schema;

static void setup(void)
{
    const struct schema_options options = {0};
    struct err err = {0};
    fixture_init_as(&fixture, "q", SCHEMA);
    fixture_open(&fixture, NULL);
    cr_assert(schema_build(fixture.db, "q", fixture.path, &options, &schema, &err) == ERR_OK, "%s", err.text);
}

static void teardown(void)
{
    schema_unref(schema);
    fixture_end(&fixture);
}

TestSuite(question, .init = setup, .fini = teardown);

static const struct question *read_question(const char *text)
{
    arena_reset(&fixture.arena);
    const struct question *question = question_read(&fixture.arena, schema, text, NULL);
    cr_assert(question, "%s", text);
    return question;
}

static const struct question_value *value_of(const struct question *question, const char *text)
{
    for (uint32_t i = 0; i < question->n_values; i++)
        if (strcmp(question->values[i].text, text) == 0) return &question->values[i];
    return NULL;
}

Test(question, values_of_every_kind)
{
    const struct question *question = read_question(
        "Which 'Algebra' courses in New York or Atlantis have 1,200 lessons, more than twice or at least 3?");
    const struct question_value *quoted = value_of(question, "Algebra"), *held = value_of(question, "New York");
    cr_assert(quoted && quoted->kind == QUESTION_VALUE_QUOTED && quoted->n_hits == 1);
    cr_assert(held && held->kind == QUESTION_VALUE_DATABASE && held->n_tokens == 2 && held->capital &&
              held->n_hits == 1);
    cr_expect_str_eq(schema->columns[held->hits[0].column]->name, "name");
    cr_expect(value_of(question, "Atlantis") && value_of(question, "Atlantis")->kind == QUESTION_VALUE_NAME);
    cr_expect(value_of(question, "1200") && value_of(question, "1200")->number == 1200 &&
              !value_of(question, "1200")->spelled);
    cr_expect(value_of(question, "2") && value_of(question, "2")->spelled, "twice");
    cr_expect(value_of(question, "3"));
    cr_expect(!value_of(question, "York"), "the longest run wins");
}

Test(question, values_spare_names_of_the_schema_and_the_first_word)
{
    const struct question *question = read_question("List Lima. Which Teachers know The Art of War?");
    cr_expect(value_of(question, "The Art of War") && value_of(question, "The Art of War")->n_tokens == 4);
    cr_expect(value_of(question, "Lima") && value_of(question, "Lima")->capital);
    cr_expect(!value_of(question, "List") && !value_of(question, "Which"));
    cr_expect(value_of(question, "Teachers") && value_of(question, "Teachers")->is_name);
}

static double score_of(const struct question *question, const char *table, const char *column)
{
    int t = schema_find_table(schema, table, strlen(table));
    int c = schema_find_column(schema, t, column, strlen(column));
    cr_assert(t >= 0 && c >= 0);
    return (double)question->column_score[schema->tables[t].columns[c].id];
}

Test(question, mentions_by_stem_part_and_synonym)
{
    const struct question *question =
        read_question("What are the surnames and wages of instructors, and where do they live?");
    cr_expect(score_of(question, "teacher", "surname") > 0.99);
    cr_expect(score_of(question, "teacher", "salary") > 0.7 && score_of(question, "teacher", "salary") < 0.9,
              "a synonym counts less");
    cr_expect(question->table_score[schema_find_table(schema, "teacher", 7)] > 0.7F);
    cr_expect(score_of(question, "course", "title") < 0.99 && score_of(question, "city", "max_height") <= 0);
    question = read_question("What is the country name of each city?");
    cr_expect(score_of(question, "city", "country_name") > 0.99);
    for (uint32_t i = 1; i < question->n_mentions; i++)
        cr_expect(question->mentions[i - 1].first < question->mentions[i].first ||
                  question->mentions[i - 1].score >= question->mentions[i].score);
}

/* A question, and the first cue of one kind in it: its operator, its words and its numbers. */
static const struct {
    const char *question;
    enum question_cue_kind kind;
    enum sql_op op;
    const char *words, *number, *number2;
} CUES[] = {
    {"cities with more than 5 teachers", QUESTION_CUE_COMPARE, SQL_OP_GT, "more than", "5", NULL},
    {"cities with no more than 5 teachers", QUESTION_CUE_COMPARE, SQL_OP_LE, "no more than", "5", NULL},
    {"cities with at least two teachers", QUESTION_CUE_COMPARE, SQL_OP_GE, "at least", "2", NULL},
    {"cities greater than or equal to 7", QUESTION_CUE_COMPARE, SQL_OP_GE, "greater than or equal to", "7", NULL},
    {"teachers with 3 or more courses", QUESTION_CUE_COMPARE, SQL_OP_GE, "3 or more", "3", NULL},
    {"length 3 or above 5", QUESTION_CUE_COMPARE, SQL_OP_GT, "above", "5", NULL},
    {"taught more than once", QUESTION_CUE_COMPARE, SQL_OP_GT, "more than", "1", NULL},
    {"born after the year 1980", QUESTION_CUE_COMPARE, SQL_OP_GT, "after", "1980", NULL},
    {"older than at least one teacher", QUESTION_CUE_COMPARE, SQL_OP_GT, "older than", NULL, NULL},
    {"salaries between 10 and 20", QUESTION_CUE_BETWEEN, SQL_OP_NONE, "between 10 and 20", "10", "20"},
    {"How many cities are there", QUESTION_CUE_COUNT, SQL_OP_NONE, "How many", NULL, NULL},
    {"the city with the most courses", QUESTION_CUE_EXTREME, SQL_DESC, "most", NULL, NULL},
    {"the city with the fewest number of courses", QUESTION_CUE_EXTREME, SQL_ASC, "fewest number of", NULL, NULL},
    {"the youngest teacher", QUESTION_CUE_FIRST, SQL_DESC, "youngest", NULL, NULL},
    {"the top 3 cities", QUESTION_CUE_TOP, SQL_DESC, "top 3", "3", NULL},
    {"the 5 least popular courses", QUESTION_CUE_TOP, SQL_ASC, "5 least popular", "5", NULL},
    {"sorted by title", QUESTION_CUE_SORT, SQL_OP_NONE, "sorted by", NULL, NULL},
    {"titles in descending alphabetical order", QUESTION_CUE_DIRECTION, SQL_DESC, "in descending alphabetical order",
     NULL, NULL},
    {"cities from the smallest to the largest", QUESTION_CUE_DIRECTION, SQL_ASC, "from the smallest to the largest",
     NULL, NULL},
    {"from the biggest city to the smallest", QUESTION_CUE_DIRECTION, SQL_DESC, "from the biggest city to the smallest",
     NULL, NULL},
    {"from fewest courses to most", QUESTION_CUE_DIRECTION, SQL_ASC, "from fewest courses to most", NULL, NULL},
    {"courses, dearest at the top", QUESTION_CUE_DIRECTION, SQL_DESC, "dearest at the top", NULL, NULL},
    {"who don't teach", QUESTION_CUE_NOT, SQL_OP_NONE, "don't", NULL, NULL},
    {"either here or there", QUESTION_CUE_EITHER, SQL_OP_NONE, "either", NULL, NULL},
};

static const struct question_cue *first_cue(const struct question *question, enum question_cue_kind kind)
{
    for (uint32_t i = 0; i < question->n_cues; i++)
        if (question->cues[i].kind == kind) return &question->cues[i];
    return NULL;
}

static const char *number_of(const struct question *question, int index)
{
    return index < 0 ? "" : question->values[index].text;
}

Test(question, cues_take_the_longest_match_and_their_numbers)
{
    for (size_t i = 0; i < G_N_ELEMENTS(CUES); i++) {
        const struct question *question = read_question(CUES[i].question);
        const struct question_cue *cue = first_cue(question, CUES[i].kind);
        cr_expect(cue, "%s: no cue", CUES[i].question);
        if (!cue) continue;
        uint32_t start = question->tokens.items[cue->first].start,
                 end = question->tokens.items[cue->first + cue->n_tokens - 1].end;
        char *words = g_strndup(CUES[i].question + start, end - start);
        cr_expect_str_eq(words, CUES[i].words);
        g_free(words);
        cr_expect_eq(cue->op, CUES[i].op, "%s: %s", CUES[i].question, sql_op_text(cue->op));
        cr_expect_str_eq(number_of(question, cue->number), CUES[i].number ? CUES[i].number : "");
        cr_expect_str_eq(number_of(question, cue->number2), CUES[i].number2 ? CUES[i].number2 : "");
    }
}

/* The words after a number that multiply it belong to the number. Both the written value and the multiplied value are
 * checked. */
Test(question, numbers_with_their_scale)
{
    static const struct {
        const char *question, *said;
        double scaled;
        uint32_t n_tokens;
        enum sql_op op;
    } rows[] = {
        {"Which courses cost ten million dollars or more?", "10", 1e7, 2, SQL_OP_NONE},
        {"Which courses have over 1.5 billion lessons?", "1.5", 1.5e9, 2, SQL_OP_GT},
        {"Which courses have two hundred thousand or more lessons?", "2", 2e5, 3, SQL_OP_GE},
        {"Which courses have at most 40 lessons?", "40", 40, 1, SQL_OP_LE},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        const struct question *question = read_question(rows[i].question);
        const struct question_value *value = value_of(question, rows[i].said);
        const struct question_cue *cue = first_cue(question, QUESTION_CUE_COMPARE);
        cr_assert(value && value->kind == QUESTION_VALUE_NUMBER, "%s", rows[i].question);
        cr_expect_float_eq(value->scaled, rows[i].scaled, 1e-3, "%s: %g", rows[i].question, value->scaled);
        cr_expect_eq(value->n_tokens, rows[i].n_tokens);
        if (rows[i].op == SQL_OP_NONE) continue;
        cr_assert(cue, "%s: no bound", rows[i].question);
        cr_expect_eq(cue->op, rows[i].op);
        cr_expect_str_eq(number_of(question, cue->number), rows[i].said);
    }
}

Test(question, cues_spare_names_of_columns_idioms_and_values)
{
    const struct question *question = read_question("What is the number of lessons and the max height?");
    cr_expect(first_cue(question, QUESTION_CUE_COUNT) && first_cue(question, QUESTION_CUE_COUNT)->named);
    cr_expect(first_cue(question, QUESTION_CUE_MAXIMUM) && first_cue(question, QUESTION_CUE_MAXIMUM)->named);
    cr_expect(!question_cue_any(question, 1U << QUESTION_CUE_COUNT | 1U << QUESTION_CUE_MAXIMUM));
    cr_expect(!first_cue(read_question("the last names of teachers"), QUESTION_CUE_FIRST));
    cr_expect(!first_cue(read_question("whether or not they teach"), QUESTION_CUE_NOT));
    cr_expect(!first_cue(read_question("Who teaches \"not more than 5\"?"), QUESTION_CUE_COMPARE),
              "quoted words ask for nothing");
    cr_expect(first_cue(read_question("the phone number of Ann"), QUESTION_CUE_COUNT)->weak,
              "a number of something is no count");
}

/* A question, its requested outputs with | between phrases, and whether the list of outputs is closed. */
static const struct {
    const char *question, *phrases;
    bool closed;
} ASKED[] = {
    {"Show the title, number of lessons and id of all courses.", "title|number of lessons|id of all courses", true},
    {"What are the first name, as well as the salary of each teacher who lives in Lima and New York?",
     "first name|salary", true},
    {"How many cities are there?", "How many cities", true},
    {"Which teachers have more than 2 courses?", "teachers", true},
    {"Who is the oldest teacher?", "Who", true},
    {"List the names of teachers and their salaries.", "names|salaries", true},
    {"List the name of the city and the country.", "name", false},
    {"Give the name of each city and the titles of the courses there.", "name|titles", true},
    {"Give the name of each city and the courses there.", "name", false},
    {"For each city, what is the average salary?", "average salary", false},
    {"Which teachers live in Lima? List their salaries.", "salaries", false},
    {"Show the titles of courses, and how many teachers there are.", "titles|how many teachers there", true},
    {"Algebra please", "", false},
};

static char *phrases_of(const struct question *question)
{
    GString *text = g_string_new("");
    for (uint32_t i = 0; i < question->n_outputs; i++) {
        const struct question_output *phrase = &question->outputs[i];
        uint32_t start = question->tokens.items[phrase->first].start;
        uint32_t end = question->tokens.items[phrase->first + phrase->n_tokens - 1].end;
        g_string_append_printf(text, "%s%.*s", i ? "|" : "", (int)(end - start), question->text + start);
    }
    return g_string_free(text, FALSE);
}

Test(question, the_asked_list)
{
    for (size_t i = 0; i < G_N_ELEMENTS(ASKED); i++) {
        const struct question *question = read_question(ASKED[i].question);
        char *phrases = phrases_of(question);
        cr_expect_str_eq(phrases, ASKED[i].phrases, "%s: %s", ASKED[i].question, phrases);
        cr_expect_eq(question->outputs_closed, ASKED[i].closed, "%s", ASKED[i].question);
        g_free(phrases);
    }
}

Test(question, evidence_is_read_apart)
{
    const struct question *question =
        question_read(&fixture.arena, schema, "Who earns well?", "earning well refers to salary > 1500");
    cr_assert(question && question->evidence_score && question->evidence.n);
    const struct schema_table *teacher = &schema->tables[schema_find_table(schema, "teacher", 7)];
    int salary = schema_find_column(schema, (int)(teacher - schema->tables), "salary", 6);
    cr_expect(question->evidence_score[teacher->columns[salary].id] > 0.99F);
    cr_expect(question_has(question, "refers") && !question_has(question, "population"));
    cr_expect(!value_of(question, "1500"), "values are the question's own");
}

/* Returns a text of about `bytes` bytes that repeats `unit`. */
static char *long_text(const char *unit, size_t bytes)
{
    GString *text = g_string_sized_new(bytes + 16);
    while (text->len < bytes) g_string_append(text, unit);
    return g_string_free(text, FALSE);
}

Test(question, hostile_text_stays_in_bounds)
{
    static const char *const UNITS[] = {
        "'x' ",      "7 ",        "Lima ",  "more than 5 and ", "and ",          "the ",
        "\xFF\xFE ", "\xE2\x80 ", "(((( ",  "city of ",         "New York New ", "list the name, ",
        "?. ",       "\"",        "a'b'c'", "# or more ",       "between 1 and "};
    for (size_t i = 0; i < G_N_ELEMENTS(UNITS); i++) {
        char *text = long_text(UNITS[i], 200000);
        const struct question *question = read_question(text);
        cr_expect(question->tokens.n <= 2000 && question->n_values <= 64 && question->n_mentions <= 256 &&
                  question->n_cues <= 64);
        for (uint32_t c = 0; c < question->n_cues; c++)
            cr_expect(question->cues[c].first + question->cues[c].n_tokens <= question->tokens.n);
        for (uint32_t p = 0; p < question->n_outputs; p++)
            cr_expect(question->outputs[p].n_tokens > 0 &&
                      question->outputs[p].first + question->outputs[p].n_tokens <= question->tokens.n);
        g_free(text);
    }
    cr_expect(read_question("")->n_values == 0 && read_question("?")->n_outputs == 0);
}

/* Tests every size of the arena up to one that suffices. A smaller arena must return NULL, without a crash or a
 * leak. */
Test(question, a_full_arena_is_told)
{
    static const char TEXT[] =
        "Which 'Algebra' courses of New York teachers have more than 5 lessons, and their titles?";
    bool done = false;
    for (size_t cap = 1024; !done && cap < 4U << 20; cap += 4096) {
        struct arena arena;
        arena_init(&arena, cap);
        done = question_read(&arena, schema, TEXT, "titles refers to title") != NULL;
        arena_free(&arena);
    }
    cr_expect(done);
}

static struct fixture fixture;

static enum question_form form_of(const char *a, const char *b)
{
    struct arena arena;
    struct question_text x, y;
    arena_init(&arena, 0);
    enum question_form form = QUESTION_FORM_NONE;
    if (question_text_of(&arena, a, strlen(a), &x) && question_text_of(&arena, b, strlen(b), &y)) {
        form = question_form_between(&x, &y);
        cr_expect_eq(form, question_form_between(&y, &x), "%s and %s: not both ways", a, b);
    }
    arena_free(&arena);
    return form;
}

Test(question, forms_of_one_thing)
{
    static const struct {
        const char *a, *b;
        enum question_form form;
    } rows[] = {
        {"New York", "new  york", QUESTION_FORM_SAME},
        {"hip-hop", "Hip Hop", QUESTION_FORM_SAME},
        {"cats", "cat", QUESTION_FORM_WORD},
        {"female", "F", QUESTION_FORM_CODE},
        {"women", "Female", QUESTION_FORM_CODE},
        {"men", "F", QUESTION_FORM_NONE},
        {"yes", "T", QUESTION_FORM_CODE},
        {"March", "3", QUESTION_FORM_CODE},
        {"Monday", "Mon", QUESTION_FORM_CODE},
        {"French", "France", QUESTION_FORM_PEOPLE},
        {"Dutch", "Netherlands", QUESTION_FORM_PEOPLE},
        {"French", "Germany", QUESTION_FORM_NONE},
        {"March 5, 2014", "2014-03-05", QUESTION_FORM_DATE},
        {"03/05/2014", "2014-03-05", QUESTION_FORM_DATE},
        {"5th of March 2014", "2014-03-05 00:00:00", QUESTION_FORM_DATE},
        {"March 2014", "2014-03", QUESTION_FORM_DATE},
        {"March 5, 2014", "2014-03-06", QUESTION_FORM_NONE},
        {"2014", "2014-03-05", QUESTION_FORM_NONE},
        {"United States of America", "USA", QUESTION_FORM_INITIALS},
        {"Nairn University", "University of Nairn", QUESTION_FORM_PART},
        {"Nairn", "University of Nairn", QUESTION_FORM_PART},
        {"Baltimroe", "Baltimore", QUESTION_FORM_SPELLING},
        {"Europe", "Asia", QUESTION_FORM_NONE},
        {"12", "13", QUESTION_FORM_NONE},
        {"of", "of the", QUESTION_FORM_NONE},
        {"", "", QUESTION_FORM_NONE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        cr_expect_eq(form_of(rows[i].a, rows[i].b), rows[i].form, "%s and %s: %s", rows[i].a, rows[i].b,
                     question_form_name(form_of(rows[i].a, rows[i].b)));
}

/* Tests which forms of a text occur in the question, and which value of a column matches a text. */
Test(question, forms_in_question_and_column)
{
    uint32_t first;
    const struct question *question = read_question("How many women born on March 5, 1980 live in Peruvian cities?");
    cr_expect_eq(question_says_text(&fixture.arena, question, "F", 1, &first), QUESTION_FORM_CODE);
    cr_expect_eq(first, 2);
    cr_expect_eq(question_says_text(&fixture.arena, question, "Peru", 4, NULL), QUESTION_FORM_PEOPLE);
    cr_expect_eq(question_says_text(&fixture.arena, question, "Chile", 5, &first), QUESTION_FORM_NONE);
    cr_expect_eq(first, UINT32_MAX);
    enum question_form form;
    int city = schema_find_table(schema, "city", 4), country = schema_find_column(schema, city, "country_name", 12);
    const struct schema_column *column = &schema->tables[city].columns[country];
    const char *stored = question_stored_form(&fixture.arena, question, schema, column, "peruvian", 8, &form);
    cr_expect(stored && strcmp(stored, "Peru") == 0 && form == QUESTION_FORM_PEOPLE);
    stored = question_stored_form(&fixture.arena, question, schema, column, "USA", 3, &form);
    cr_expect(!stored || strcmp(stored, "United States") == 0);
    cr_expect_null(question_stored_form(&fixture.arena, question, schema, column, "Chile", 5, &form));
    cr_expect_eq(form, QUESTION_FORM_NONE);
}

/* The second time, the answers come from the cache. They must equal the first ones. */
Test(question, what_was_asked_before_is_answered_alike)
{
    static const char *const FIRST[] = {"how many", "women born", NULL}, *const NONE[] = {"per *", NULL},
                             *const CITIES[] = {"in * cities", "citi", NULL};
    static const struct {
        const char *const *phrases;
        uint32_t from, first, n_tokens; /* n_tokens 0: occurs nowhere */
    } rows[] = {{FIRST, 0, 0, 2}, {FIRST, 1, 2, 2}, {NONE, 0, 0, 0}, {CITIES, 0, 5, 3}, {CITIES, 6, 7, 1}};
    const struct question *question = read_question("How many women born live in Peruvian cities?");
    int city = schema_find_table(schema, "city", 4), country = schema_find_column(schema, city, "country_name", 12);
    const struct schema_column *column = &schema->tables[city].columns[country];
    for (int time = 0; time < 2; time++) {
        for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
            struct question_phrase at = {99, 99}, plain = {99, 99};
            bool found = question_phrase_find(question, rows[i].phrases, rows[i].from, &at);
            cr_expect_eq(found, question_phrase_in(&question->tokens, rows[i].phrases, rows[i].from, &plain), "%zu", i);
            cr_expect(at.first == plain.first && at.n_tokens == plain.n_tokens, "%zu", i);
            cr_expect_eq(found, rows[i].n_tokens > 0, "%zu", i);
            cr_expect(!found || (at.first == rows[i].first && at.n_tokens == rows[i].n_tokens), "%zu", i);
        }
        enum question_form form;
        uint32_t first;
        const char *stored = question_stored_form(&fixture.arena, question, schema, column, "peruvian", 8, &form);
        cr_expect(stored && strcmp(stored, "Peru") == 0 && form == QUESTION_FORM_PEOPLE);
        cr_expect_null(question_stored_form(&fixture.arena, question, schema, column, "Chile", 5, &form));
        cr_expect_eq(form, QUESTION_FORM_NONE);
        cr_expect_eq(question_says_text(&fixture.arena, question, "F", 1, &first), QUESTION_FORM_CODE);
        cr_expect_eq(first, 2);
        cr_expect_eq(question_says_text(&fixture.arena, question, "peruvian", 8, NULL), QUESTION_FORM_SAME);
    }
}

Test(question, dates_are_read_or_refused)
{
    static const char *const no[] = {"hello", "12",    "2014-13-40",  "1 2 3 4",
                                     "99999", "March", "20140305123", "a1/b2/c3"};
    struct question_date date;
    for (size_t i = 0; i < sizeof no / sizeof *no; i++)
        cr_expect_not(question_read_date(no[i], strlen(no[i]), false, &date), "%s", no[i]);
    cr_expect(question_read_date("5/3/2014", 8, true, &date) && date.day == 5 && date.month == 3 && date.year == 2014);
    cr_expect(question_read_date("2014", 4, false, &date) && date.year == 2014 && date.month == -1);
}

static struct fixture fixture;

Test(question, words_of_the_team)
{
    const struct schema_options options = {.descriptions_dir = TEST_DATA "/question"};
    struct schema_index *index;
    cr_assert_eq(schema_build(fixture.db, "q", fixture.path, &options, &index, NULL), ERR_OK);
    const struct question *question =
        question_read(&fixture.arena, index, "The headcount where high flyers live?", "live refers to city_id");
    cr_assert_eq(question->n_terms, 2);
    cr_expect_str_eq(question->evidence_text, "live refers to city_id; high flyer refers to teacher.salary = '2000'; "
                                              "headcount refers to city.population");
    const struct schema_column *salary = index->columns[index->terms[0].column];
    cr_expect_str_eq(salary->name, "salary");
    cr_expect_float_eq(question->column_score[salary->id], 1, 0);
    cr_expect_gt(question->evidence_score[salary->id], 0.9);
    const struct question_mention *m = read_mention_at(question, 3, true);
    cr_assert(m && m->id == salary->id && m->exact && m->n_tokens == 2);
    question = question_read(&fixture.arena, index, "How many teachers?", NULL);
    cr_expect(question->n_terms == 0 && !question->evidence_text && question->evidence.n == 0);
    schema_unref(index);
}

static const struct question_mention *weak_of(const struct question *question, const char *column)
{
    for (uint32_t i = 0; i < question->n_weak; i++) {
        const struct question_mention *m = &question->weak[i];
        if (m->column >= 0 && strcmp(schema->columns[m->id]->name, column) == 0) return m;
    }
    return NULL;
}

Test(question, weak_mentions_are_the_lexicons)
{
    const struct question *question = read_question("What is the nationality and the remuneration of each tutor?");
    const struct question_mention *m = weak_of(question, "salary");
    cr_assert(m && m->kind == TEXT_RELATION_SYNONYM && !m->exact);
    cr_expect(m->score < 0.75 && m->score >= 0.3);
    cr_expect_str_eq(question->tokens.items[m->first].norm, "remuneration");
    cr_expect_float_eq(question->weak_score[m->id], m->score, 1e-6);
    cr_expect_float_eq(question->column_score[m->id], 0, 0, "a guess is not a mention");
    for (uint32_t i = 1; i < question->n_weak; i++) cr_expect_leq(question->weak[i - 1].first, question->weak[i].first);
}

Test(question, mentions_tell_their_kind)
{
    const struct question *question = read_question("What do teachers with the surname Lima earn?");
    bool same = false, synonym = false;
    for (uint32_t i = 0; i < question->n_mentions; i++) {
        const struct question_mention *m = &question->mentions[i];
        cr_expect_eq(m->exact, m->kind == TEXT_RELATION_SAME);
        cr_expect(m->kind == TEXT_RELATION_SAME || m->kind == TEXT_RELATION_SYNONYM);
        same |= m->column < 0 && m->kind == TEXT_RELATION_SAME;
        synonym |= m->column >= 0 && m->kind == TEXT_RELATION_SYNONYM;
    }
    cr_expect(same && synonym);
    cr_expect_null(weak_of(question, "salary"), "what is certain is not weak");
    cr_expect_eq(read_question("")->n_weak, 0);
}

static struct fixture fixture;

/* --- the table of cue phrases: tests/data/question/cues --- */

static const struct {
    const char *name;
    enum question_cue_kind kind;
} KIND_NAMES[] = {
    {"idiom", QUESTION_CUE_IDIOM},       {"compare", QUESTION_CUE_COMPARE},     {"between", QUESTION_CUE_BETWEEN},
    {"count", QUESTION_CUE_COUNT},       {"quantity", QUESTION_CUE_QUANTITY},   {"average", QUESTION_CUE_AVERAGE},
    {"total", QUESTION_CUE_TOTAL},       {"maximum", QUESTION_CUE_MAXIMUM},     {"minimum", QUESTION_CUE_MINIMUM},
    {"extreme", QUESTION_CUE_EXTREME},   {"first", QUESTION_CUE_FIRST},         {"top", QUESTION_CUE_TOP},
    {"sort", QUESTION_CUE_SORT},         {"direction", QUESTION_CUE_DIRECTION}, {"not", QUESTION_CUE_NOT},
    {"both", QUESTION_CUE_BOTH},         {"either", QUESTION_CUE_EITHER},       {"each", QUESTION_CUE_EACH},
    {"distinct", QUESTION_CUE_DISTINCT}, {"ratio", QUESTION_CUE_RATIO},         {"nth", QUESTION_CUE_NTH},
    {"include", QUESTION_CUE_INCLUDE},   {"only", QUESTION_CUE_ONLY},           {"period", QUESTION_CUE_PERIOD}};

static const struct {
    const char *name;
    enum sql_op op;
} OP_NAMES[] = {{"-", SQL_OP_NONE}, {">", SQL_OP_GT}, {">=", SQL_OP_GE}, {"<", SQL_OP_LT},
                {"<=", SQL_OP_LE},  {"=", SQL_OP_EQ}, {"asc", SQL_ASC},  {"desc", SQL_DESC}};

static enum question_cue_kind kind_of_name(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(KIND_NAMES); i++)
        if (strcmp(KIND_NAMES[i].name, name) == 0) return KIND_NAMES[i].kind;
    cr_assert(false, "no kind of cue: %s", name);
    return QUESTION_CUE_KINDS;
}

static enum sql_op op_of_name(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(OP_NAMES); i++)
        if (strcmp(OP_NAMES[i].name, name) == 0) return OP_NAMES[i].op;
    cr_assert(false, "no operator: %s", name);
    return SQL_OP_NONE;
}

static void check_flags(const struct question_cue *cue, char *const *words, const char *sentence)
{
    bool weak = false, loose = false, never = false, part = false, hundred = false;
    int rank = 0;
    for (; *words; words++) {
        weak |= strcmp(*words, "weak") == 0;
        loose |= strcmp(*words, "loose") == 0;
        never |= strcmp(*words, "never") == 0;
        part |= strcmp(*words, "part") == 0;
        hundred |= strcmp(*words, "hundred") == 0;
        if (g_str_has_prefix(*words, "rank=")) rank = atoi(*words + strlen("rank="));
    }
    cr_expect(cue->weak == weak, "%s: weak %d", sentence, cue->weak);
    cr_expect(cue->loose == loose, "%s: loose %d", sentence, cue->loose);
    cr_expect(cue->never == never, "%s: never %d", sentence, cue->never);
    cr_expect(cue->part == part, "%s: part %d", sentence, cue->part);
    cr_expect(cue->hundred == hundred, "%s: hundred %d", sentence, cue->hundred);
    cr_expect(cue->rank == rank, "%s: rank %d", sentence, cue->rank);
}

/* `asked` has the expected kind, operator, number, number2 and flags. */
static void check_phrase(char *const *asked, const char *words, const char *sentence)
{
    const struct question *question = read_question(sentence);
    const struct question_cue *cue = first_cue(question, kind_of_name(asked[0]));
    cr_expect(cue, "%s: no cue %s", sentence, asked[0]);
    if (!cue) return;
    uint32_t start = question->tokens.items[cue->first].start;
    uint32_t end = question->tokens.items[cue->first + cue->n_tokens - 1].end;
    char *found = g_strndup(sentence + start, end - start);
    cr_expect_str_eq(found, words, "%s: %s", sentence, found);
    g_free(found);
    cr_expect_eq(cue->op, op_of_name(asked[1]), "%s: operator %s", sentence, sql_op_text(cue->op));
    cr_expect_str_eq(number_of(question, cue->number), strcmp(asked[2], "-") == 0 ? "" : asked[2], "%s", sentence);
    cr_expect_str_eq(number_of(question, cue->number2), strcmp(asked[3], "-") == 0 ? "" : asked[3], "%s", sentence);
    check_flags(cue, asked + 4, sentence);
}

Test(question, every_phrase_of_the_table_asks_what_it_says)
{
    char *text = NULL;
    unsigned phrases = 0;
    cr_assert(g_file_get_contents(TEST_DATA "/question/cues", &text, NULL, NULL));
    char **lines = g_strsplit(text, "\n", -1);
    for (char **line = lines; *line; line++) {
        if (!**line || **line == '#') continue;
        char **fields = g_strsplit(*line, " | ", -1), **asked = g_strsplit(fields[0], " ", -1);
        cr_assert(g_strv_length(fields) == 3 && g_strv_length(asked) >= 4, "%s", *line);
        check_phrase(asked, fields[1], fields[2]);
        g_strfreev(asked);
        g_strfreev(fields);
        phrases++;
    }
    cr_expect(phrases >= 150, "%u phrases", phrases);
    g_strfreev(lines);
    g_free(text);
}
