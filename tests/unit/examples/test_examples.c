/* Tests a store of examples: insertion, search, and files that are not a store. */
#include "examples/encoder.h"
#include "lib/base/clock.h"
#include "tests/support/fake_model.h"
#include "tests/support/leak.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <jansson.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static char path[64];
static struct examples *store;
static struct arena arena;

static void begin(void)
{
    strcpy(path, "/tmp/assay-examples-XXXXXX");
    g_close(g_mkstemp(path), NULL);
    arena_init(&arena, 0);
}

static void end(void)
{
    cr_assert_eq(examples_close(store, NULL), ERR_OK);
    g_unlink(path);
    arena_free(&arena);
    leak_check();
}
TestSuite(examples, .init = begin, .fini = end);

static bool add(const char *source, const char *question, const char *wrong, const char *error)
{
    const struct example example = {source,           "shop", question, wrong, error, "SELECT count(*) FROM customer",
                                    "WHERE: nothing", "WHERE"};
    struct err err = {0};
    bool added;
    cr_assert_eq(examples_add(store, &example, &added, &err), ERR_OK, "%s", err.text);
    return added;
}

static void create(void)
{
    struct err err = {0};
    cr_assert_eq(examples_create(path, NULL, &store, &err), ERR_OK, "%s", err.text);
}

static void reopen(bool writes)
{
    struct err err = {0};
    cr_assert_eq(examples_close(store, &err), ERR_OK, "%s", err.text);
    store = NULL;
    cr_assert_eq(examples_open(path, writes, NULL, &store, &err), ERR_OK, "%s", err.text);
}

static void fill(void)
{
    create();
    add("a", "How many customers are there?", "SELECT sum(id) FROM customer", "the question asks for a count");
    add("b", "Which invoices are unpaid?", "SELECT id FROM invoice WHERE paid = 'no'",
        "no row of invoice.paid meets this condition");
    add("c", "Names of the oldest employees", "SELECT name FROM employee ORDER BY age",
        "the question asks for the greatest");
    reopen(false);
}

static const char *nearest(struct examples_query query, enum examples_key key)
{
    struct examples_found found[3];
    struct example example;
    uint32_t n = examples_search(store, &query, key, 1, found);
    if (!n) return "nothing";
    cr_assert_eq(examples_read(store, &arena, found, 1, &example, NULL), ERR_OK);
    return example.source;
}

Test(examples, each_key_searches_its_part)
{
    fill();
    struct examples_query query = {.question = "how many clients do we have",
                                   .sql = "SELECT id FROM invoice WHERE paid = 'never'",
                                   .error = "the question asks for the greatest, and gets all"};
    cr_expect_str_eq(nearest(query, EXAMPLES_QUESTION), "a");
    cr_expect_str_eq(nearest(query, EXAMPLES_SQL), "b");
    cr_expect_str_eq(nearest(query, EXAMPLES_ERROR), "c");
    query.error = query.sql = NULL;
    for (int key = 0; key < EXAMPLES_KEY_COUNT; key++)
        cr_expect_str_eq(nearest(query, (enum examples_key)key),
                         key == EXAMPLES_ERROR || key == EXAMPLES_SQL ? "nothing" : "a");
    cr_expect_eq(examples_key_by_name("question_sql"), EXAMPLES_QUESTION_SQL);
    cr_expect_eq(examples_key_by_name("nearest"), -1);
}

Test(examples, hybrid_key_finds_by_words_alone)
{
    create();
    for (int i = 0; i < 150; i++) {
        char question[64];
        g_snprintf(question, sizeof question, "Which invoices of quarter %d are unpaid and late?", i);
        add("many", question, "SELECT id FROM invoice", "another result");
    }
    add("rare", "What did the notary of the lower town write to the mayor about zygomatic matters?", "SELECT 1",
        "another result");
    reopen(false);
    struct examples_query query = {.question = "Which are zygomatic?"};
    cr_expect_str_eq(nearest(query, EXAMPLES_HYBRID), "rare", "BM25 knows that the word is rare");
}

Test(examples, column_notes_are_stored_with_example)
{
    static const struct repair_column columns[] = {{"order \"2\"", "id", "INTEGER", true, NULL},
                                                   {"invoice", "customer", NULL, false, "customer"},
                                                   {"invoice", NULL, NULL, false, NULL}};
    struct example example = {"a", "shop", "q", "SELECT 1", "e", "SELECT 2", "s", "SELECT", columns, 3};
    struct repair_example found[2];
    bool added;
    create();
    cr_assert_eq(examples_add(store, &example, &added, NULL), ERR_OK);
    example = (struct example){"b",        "shop", "other",  "SELECT 1", "e",
                               "SELECT 2", "s",    "SELECT", columns,    EXAMPLES_MAX_COLUMNS + 1};
    cr_assert_eq(examples_add(store, &example, &added, NULL), ERR_OK);
    cr_expect_not(added, "too many columns");
    reopen(false);
    const struct examples_query query = {.question = "which?", .sql = "SELECT 1"};
    cr_assert_eq(examples_for_repair(store, &arena, &query, 2, found), 1);
    cr_assert_eq(found->n_columns, 3);
    cr_expect_str_eq(found->right, "SELECT 2");
    cr_expect_str_eq(found->columns[0].table, "order \"2\"");
    cr_expect(found->columns[0].primary_key && !found->columns[0].references && !found->columns[1].primary_key);
    cr_expect_str_eq(found->columns[1].references, "customer");
    cr_expect_null(found->columns[1].type);
    cr_expect_null(found->columns[2].column);
}

Test(examples, damaged_column_notes_exclude_example)
{
    static const char *const damaged[] = {"",
                                          "{}",
                                          "[1]",
                                          "[[\"t\",null,null,0,null]]",
                                          "[[null,null,null,true,null]]",
                                          "[[\"t\",null,null,true,null,1]]",
                                          "[[\"t\",null,null,true,[]]]"};
    for (size_t i = 0; i < G_N_ELEMENTS(damaged); i++) {
        struct repair_example found[3];
        sqlite3 *db = NULL;
        char *sql = sqlite3_mprintf("UPDATE example SET columns = %Q WHERE source = 'a'", damaged[i]);
        fill();
        cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
        cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        sqlite3_free(sql);
        const struct examples_query query = {.question = "which?", .sql = "SELECT 1"};
        cr_expect_eq(examples_for_repair(store, &arena, &query, 3, found), 2, "%s", damaged[i]);
        examples_close(store, NULL);
        store = NULL;
    }
}

static _Atomic int64_t now_ns = 1000000000;

static int64_t own_clock(void)
{
    return atomic_load(&now_ns);
}

Test(examples, examples_of_other_process_are_found_soon)
{
    const struct examples_query query = {.question = "Which employees are the youngest of all?"};
    struct examples *writer = NULL;
    struct err err = {0};
    clock_set_source(own_clock);
    fill();
    cr_expect_str_eq(nearest(query, EXAMPLES_QUESTION), "c");
    struct examples *reader = store;
    cr_assert_eq(examples_open(path, true, NULL, &writer, &err), ERR_OK, "%s", err.text);
    store = writer;
    cr_expect(add("d", "Which employees are youngest?", "SELECT max(age) FROM employee", "another result"));
    cr_expect_not(add("a", "How many customers are there?", "SELECT sum(id) FROM customer", "again"), "it is there");
    store = reader;
    atomic_fetch_add(&now_ns, INT64_C(2000000000));
    cr_expect_str_eq(nearest(query, EXAMPLES_QUESTION), "c", "not before it is written");
    cr_assert_eq(examples_close(writer, &err), ERR_OK, "%s", err.text);
    cr_expect_str_eq(nearest(query, EXAMPLES_QUESTION), "c", "nor within the second");
    atomic_fetch_add(&now_ns, INT64_C(2000000000));
    cr_expect_str_eq(nearest(query, EXAMPLES_QUESTION), "d");
    cr_expect_str_eq(nearest(query, EXAMPLES_HYBRID), "d");
    cr_expect_eq(examples_count(store), 4);
    clock_set_source(NULL);
}

Test(examples, examples_of_same_question_are_excluded)
{
    fill();
    struct examples_query query = {.question = "  how many CUSTOMERS are there? "};
    cr_expect_str_neq(nearest(query, EXAMPLES_QUESTION), "a", "the same but for case and space");
    query = (struct examples_query){.question = "how many customers", .source = "a"};
    cr_expect_str_neq(nearest(query, EXAMPLES_QUESTION), "a", "of the same request");
    cr_expect_str_neq(nearest(query, EXAMPLES_HYBRID), "a");
}

Test(examples, repeated_or_overlong_examples_are_dropped)
{
    char *longer = g_strnfill(EXAMPLES_MAX_TEXT + 1, 'x');
    create();
    cr_expect(add("a", "q", "SELECT 1", "e"));
    cr_expect_not(add("b", "q", "SELECT 1", "another error"));
    cr_expect(add("b", "q", "SELECT 2", "e"));
    cr_expect_not(add("c", longer, "SELECT 1", "e"));
    reopen(false);
    cr_expect_eq(examples_count(store), 2);
    g_free(longer);
}

Test(examples, pruning_keeps_first_of_near_duplicates)
{
    struct err err = {0};
    uint32_t taken;
    create();
    add("a", "How many customers are there?", "SELECT sum(id) FROM customer", "e");
    add("b", "How many customers are there now?", "SELECT sum(id) FROM customer", "e");
    add("c", "Which invoices are unpaid?", "SELECT id FROM invoice WHERE paid = 'no'", "f");
    reopen(true);
    cr_assert_eq(examples_prune(store, 0.9F, &taken, &err), ERR_OK, "%s", err.text);
    cr_expect_eq(taken, 1);
    reopen(false);
    cr_expect_eq(examples_count(store), 2);
    cr_expect_str_eq(nearest((struct examples_query){.question = "how many customers are there now"}, EXAMPLES_HYBRID),
                     "a");
}

Test(examples, invalid_store_file_is_refused_with_hint)
{
    static const struct {
        const char *sql, *says;
    } rows[] = {
        {"PRAGMA application_id = 7", "not a store of examples"},
        {"PRAGMA user_version = 3", "version 3"},
        {"UPDATE about SET value = 'other'", "another embedder"},
        {"UPDATE example SET vectors = x'00'", "damaged"},
        {"DROP TABLE example", "damaged"},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
        struct err err = {0};
        sqlite3 *db;
        fill();
        cr_assert_eq(examples_close(store, NULL), ERR_OK);
        sqlite3_open(path, &db);
        cr_assert_eq(sqlite3_exec(db, rows[i].sql, NULL, NULL, NULL), SQLITE_OK);
        sqlite3_close(db);
        cr_expect_eq(examples_open(path, false, NULL, &store, &err), ERR_CONFIG, "%s", rows[i].sql);
        cr_expect(strstr(err.text, rows[i].says), "%s: %s", rows[i].sql, err.text);
        cr_assert_null(store);
    }
    struct err err = {0};
    cr_assert(g_file_set_contents(path, "this is no database, and long enough to be looked at", -1, NULL));
    cr_expect_eq(examples_open(path, false, NULL, &store, &err), ERR_CONFIG);
    g_unlink(path);
    cr_expect_eq(examples_open(path, false, NULL, &store, &err), ERR_IO);
}

Test(examples, corrector_receives_most_similar_examples)
{
    fill();
    char *data = examples_with_shots(store, "{\"question\":\"how many clients\",\"sql\":\"SELECT 1\",\"findings\":[]}",
                                     EXAMPLES_QUESTION, 2);
    cr_assert(data);
    json_t *json = json_loads(data, 0, NULL);
    const json_t *shots = json_object_get(json, "examples");
    cr_expect_eq(json_array_size(shots), 2);
    cr_expect_str_eq(json_string_value(json_object_get(json_array_get(shots, 0), "wrong")),
                     "SELECT sum(id) FROM customer");
    cr_expect_str_eq(json_string_value(json_object_get(json, "question")), "how many clients");
    json_decref(json);
    free(data);
    cr_expect_null(examples_with_shots(store, "no JSON", EXAMPLES_QUESTION, 2));
    cr_expect_null(examples_with_shots(store, "{\"question\":\"q\"}", EXAMPLES_QUESTION, 2), "what has no query");
}

/* If there are more examples than EXAMPLES_EXACT, their signs select those to compare. The search must still find most
 * results of a full comparison. */
Test(examples, sign_search_finds_most_examples)
{
    enum { MANY = EXAMPLES_EXACT + 1000, ASKED = 40 };
    static const char *const nouns[] = {"invoices", "customers", "ships", "games",
                                        "books",    "rivers",    "songs", "flights"};
    static const char *const verbs[] = {"paid", "moved", "sold", "lost", "read", "crossed", "played", "booked"};
    char question[128];
    unsigned found = 0;
    create();
    for (unsigned i = 0; i < MANY; i++) {
        g_snprintf(question, sizeof question, "Which %s of group %u were %s after %u?", nouns[i % 8], i / 64,
                   verbs[i / 8 % 8], i % 97);
        add("x", question, "SELECT 1", "e");
    }
    reopen(false);
    for (unsigned i = 0; i < ASKED; i++) {
        unsigned at = i * (MANY / ASKED);
        struct examples_found out[3];
        g_snprintf(question, sizeof question, "%s of group %u that were %s after %u", nouns[at % 8], at / 64,
                   verbs[at / 8 % 8], at % 97);
        uint32_t n = examples_search(store, &(struct examples_query){.question = question}, EXAMPLES_QUESTION, 3, out);
        for (uint32_t k = 0; k < n; k++) found += out[k].at == at;
    }
    cr_expect_geq(found, ASKED * 9 / 10, "%u of %d", found, ASKED);
}

/* --- vectors of a model --- */

#define VECTORS(a, b, c)                                                                                               \
    "{\"data\":[{\"index\":0,\"embedding\":" a "},{\"index\":1,\"embedding\":" b "},{\"index\":2,\"embedding\":" c "}" \
    "]"                                                                                                                \
    "}"
#define ONE(a) "{\"data\":[{\"index\":0,\"embedding\":" a "}],\"model\":\"m\"}"

static struct examples_encoder *open_encoder(struct fake_model *fake, struct err *err)
{
    struct scorer_config config = scorer_defaults();
    struct examples_encoder *encoder = NULL;
    char endpoint[128];
    g_snprintf(endpoint, sizeof endpoint, "%s/v1", fake_model_url(fake));
    config.endpoint = endpoint;
    config.model = "m";
    config.max_attempts = 1;
    config.timeout_ms = 2000;
    examples_encoder_open(&config, &encoder, err);
    return encoder;
}

/* The vectors come from a model. Texts whose vectors are close are found, whatever their words. Without the model no
 * example is found. */
Test(examples, model_vectors_determine_similarity)
{
    static const struct fake_step steps[] = {{.body = ONE("[1,0,0]")},
                                             {.body = VECTORS("[0,0,1]", "[1,0,0]", "[0,0,1]")},
                                             {.body = VECTORS("[0,0,1]", "[0,1,0]", "[0,0,1]")},
                                             {.body = ONE("[0.1,0.9,0]")},
                                             {.body = ONE("[0.9,0.2,0]")},
                                             {.body = ONE("[1,0]")},
                                             {.status = 503}};
    struct fake_model *fake = fake_model_start();
    struct err err = {0};
    bool added;
    fake_model_script(fake, "/v1/embeddings", steps, G_N_ELEMENTS(steps));
    struct examples_encoder *encoder = open_encoder(fake, &err);
    cr_assert(encoder, "%s", err.text);
    cr_assert_eq(examples_create(path, encoder, &store, &err), ERR_OK, "%s", err.text);
    struct example example = {"a", "shop", "alpha", "SELECT 1", "e", "SELECT 2", "s", "SELECT", NULL, 0};
    cr_assert_eq(examples_add(store, &example, &added, &err), ERR_OK, "%s", err.text);
    example.source = "b";
    example.question = "beta";
    cr_assert_eq(examples_add(store, &example, &added, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(examples_close(store, &err), ERR_OK);
    cr_expect_eq(examples_open(path, false, NULL, &store, &err), ERR_CONFIG, "not by the built-in embedder");
    cr_expect(strstr(err.text, "another embedder than"), "%s", err.text);
    cr_assert_eq(examples_open(path, false, encoder, &store, &err), ERR_OK, "%s", err.text);
    cr_expect_str_eq(nearest((struct examples_query){.question = "one"}, EXAMPLES_QUESTION), "b");
    cr_expect_str_eq(nearest((struct examples_query){.question = "two"}, EXAMPLES_QUESTION), "a");
    cr_expect_str_eq(nearest((struct examples_query){.question = "of another length"}, EXAMPLES_QUESTION), "nothing");
    cr_expect_str_eq(nearest((struct examples_query){.question = "away"}, EXAMPLES_QUESTION), "nothing");
    examples_close(store, NULL);
    store = NULL;
    examples_encoder_close(encoder);
    fake_model_stop(fake);
}

Test(examples, malformed_vectors_are_refused)
{
    static const char *const bodies[] = {"",
                                         "{}",
                                         ONE("[]"),
                                         ONE("[1,\"2\"]"),
                                         ONE("[1,null]"),
                                         ONE("[1e999]"),
                                         ONE("7"),
                                         VECTORS("[1]", "[1]", "[1]"),
                                         "{\"data\":[{\"index\":1,\"embedding\":[1]}]}"};
    for (size_t i = 0; i < G_N_ELEMENTS(bodies); i++) {
        struct fake_model *fake = fake_model_start();
        struct fake_step step = {.body = bodies[i]};
        struct err err = {0};
        fake_model_script(fake, "/v1/embeddings", &step, 1);
        cr_expect_null(open_encoder(fake, &err), "%s", bodies[i]);
        cr_expect_eq(err.code, ERR_MALFORMED, "%s: %s", bodies[i], err.text);
        fake_model_stop(fake);
    }
}
