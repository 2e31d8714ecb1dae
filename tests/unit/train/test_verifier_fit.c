/* Tests training the verifier, on constructed samples, and by the program on the sample databases. */
#include "lib/learn/metrics.h"
#include "scoring/verifier.h"
#include "tests/support/leak.h"
#include "tests/unit/cli/spawn.h"
#include "train/mutants.h"
#include "train/verifier_fit.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

enum { DATABASES = 6, QUESTIONS = 40, SAMPLES = 6, N_QUESTIONS = DATABASES * QUESTIONS };

/* Makes questions that ask for a count or for names. A sample is right if it returns what the question asks for, and
 * n_nodes is low. */
static struct verifier_data *make(uint64_t seed)
{
    static const char *const asked[] = {"How many boats are there in %u?", "What are the names of the boats in %u?"};
    struct verifier_data *data = g_new0(struct verifier_data, 1);
    *data = (struct verifier_data){.n_questions = N_QUESTIONS, .n_databases = DATABASES, .n = N_QUESTIONS * SAMPLES};
    data->questions = g_new0(struct verifier_question, data->n_questions);
    data->samples = g_new0(struct verifier_sample, data->n);
    for (uint32_t i = 0; i < N_QUESTIONS; i++) {
        bool counts = learn_random(&seed) & 1;
        data->questions[i] = (struct verifier_question){
            .text = counts ? g_strdup_printf(asked[0], i) : g_strdup_printf(asked[1], i),
            .db = g_strdup_printf("db%u", i % DATABASES),
            .database = i % DATABASES,
            .components = counts ? 1U << SQL_HAS_answer_count : 1U << SQL_HAS_answer_one_item,
            .first = i * SAMPLES,
            .n = SAMPLES,
            .usable = true};
        for (uint32_t k = 0; k < SAMPLES; k++) {
            struct verifier_sample *s = &data->samples[i * SAMPLES + k];
            bool has_count = learn_random(&seed) & 1, low = learn_random(&seed) % 3 == 0;
            *s = (struct verifier_sample){.question = i, .origin = k ? ORIGIN_MUTANT : ORIGIN_GOLD, .op = -1};
            s->features[FEATURE_COMPONENTS + SQL_HAS_answer_count] = has_count;
            s->features[FEATURE_COMPONENTS + SQL_HAS_answer_one_item] = !has_count;
            s->features[FEATURE_n_nodes] = low ? 1 : 2;
            s->right = has_count == counts && low;
        }
    }
    return data;
}

static struct verifier_fit_options small(void)
{
    struct verifier_fit_options o = verifier_fit_options_default();
    o.trees.rounds = 40;
    o.trees.depth = 4;
    o.components.bits = 10;
    o.command = "a test";
    return o;
}

static double held_out_auc(const struct verifier_data *data, const struct verifier_fitted *fitted)
{
    uint8_t *right = g_new(uint8_t, data->n);
    for (uint32_t i = 0; i < data->n; i++) right[i] = data->samples[i].right;
    double auc = learn_auc(fitted->held_out, right, data->n);
    g_free(right);
    return auc;
}

static void skip_without_trees(void)
{
    if (learn_unsupported("trees")) cr_skip("%s", learn_unsupported("trees"));
}

Test(train_verifier, requested_operations_are_learned)
{
    skip_without_trees();
    struct verifier_data *data = make(7);
    struct verifier_fit_options options = small();
    struct verifier_fitted fitted, blind;
    struct err err = {0};
    cr_assert_eq(verifier_cross(data, &options, &fitted, &err), ERR_OK, "%s", err.text);
    options.without = 1U << FEATURE_GROUP_COMPONENTS;
    cr_assert_eq(verifier_cross(data, &options, &blind, &err), ERR_OK, "%s", err.text);
    double with = held_out_auc(data, &fitted), without = held_out_auc(data, &blind);
    cr_expect_gt(with, 0.97, "%g", with);
    cr_expect_lt(without, with - 0.05, "left out is left out: %g", without);
    verifier_fitted_free(&fitted);
    verifier_fitted_free(&blind);
    verifier_data_free(data);
    leak_check();
}

Test(train_verifier, training_is_deterministic, .timeout = 300)
{
    skip_without_trees();
    struct verifier_data *data = make(7);
    struct verifier_fit_options options = small();
    struct verifier_fitted a, b;
    struct err err = {0};
    options.trees.focal_gamma = 2; /* also tests the focal loss */
    cr_assert_eq(verifier_fit(data, &options, &a, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(verifier_fit(data, &options, &b, &err), ERR_OK, "%s", err.text);
    char *x = verifier_fitted_text(&a, &options), *y = verifier_fitted_text(&b, &options);
    cr_expect_str_eq(x, y);
    struct verifier_model *model;
    cr_assert_eq(verifier_load_text(x, strlen(x), &model, &err), ERR_OK, "%s", err.text);
    double *scores = g_new(double, data->n);
    verifier_fitted_score(&a, data, scores);
    for (uint32_t i = 0; i < data->n; i += 97) {
        const struct verifier_sample *s = &data->samples[i];
        double z = verifier_content(model, data->questions[s->question].text, s->features, s->signals);
        cr_expect_float_eq(1 / (1 + exp(-z)), CLAMP(scores[i], 1e-4, 1 - 1e-4), 1e-6,
                           "what was fitted is what is shipped");
    }
    g_free(scores);
    verifier_free(model);
    free(x);
    free(y);
    verifier_fitted_free(&a);
    verifier_fitted_free(&b);
    verifier_data_free(data);
    leak_check();
}

/* The blind score of a sample must equal its held-out score, from the fold that excluded its database. */
Test(train_verifier, blind_scores_exclude_own_database)
{
    skip_without_trees();
    struct verifier_data *data = make(7);
    struct verifier_fit_options options = small();
    struct verifier_fitted fitted;
    struct err err = {0};
    cr_assert_eq(verifier_cross(data, &options, &fitted, &err), ERR_OK, "%s", err.text);
    for (uint32_t i = 1; i < data->n; i++) {
        double a = verifier_fitted_blind(&fitted, data, &data->samples[i]) -
                   verifier_fitted_blind(&fitted, data, &data->samples[i - 1]);
        double b = fitted.held_out[i] - fitted.held_out[i - 1];
        cr_assert(a * b >= 0, "calibration keeps the order: %g, %g", a, b);
    }
    verifier_fitted_free(&fitted);
    verifier_data_free(data);
    leak_check();
}

Test(train_verifier, extra_samples_join_their_questions)
{
    struct verifier_data *data = make(7), *more = make(8);
    for (uint32_t i = 0; i < more->n; i++) more->samples[i].origin = ORIGIN_FAVOURITE;
    verifier_data_merge(data, more);
    cr_assert_eq(data->n, 2 * more->n);
    for (uint32_t i = 0; i < data->n_questions; i++) {
        const struct verifier_question *q = &data->questions[i];
        cr_assert_eq(q->n, 2 * SAMPLES);
        for (uint32_t k = 0; k < q->n; k++) {
            const struct verifier_sample *s = &data->samples[q->first + k];
            cr_assert_eq(s->question, i);
            cr_assert_eq(s->origin == ORIGIN_FAVOURITE, k >= SAMPLES);
        }
    }
    verifier_data_free(data);
    verifier_data_free(more);
    leak_check();
}

Test(train_verifier, folds_need_enough_databases)
{
    struct verifier_data *data = make(7);
    struct verifier_fit_options options = small();
    struct verifier_fitted fitted;
    struct err err = {0};
    options.folds = DATABASES + 1;
    cr_expect_eq(verifier_cross(data, &options, &fitted, &err), ERR_CONFIG);
    verifier_data_free(data);
    leak_check();
}

/* A draw orders eight mutants of a common kind and one of a rare kind. The rare one must nearly always be first. */
Test(train_verifier, rare_kinds_are_drawn_equally_often)
{
    enum { COMMON = 8, DRAWS = 400 };
    struct mutant_kinds kinds = {.questions = 1000};
    struct sql_mutation mutants[COMMON + 1];
    uint32_t order[COMMON + 1], first = 0;
    for (unsigned i = 0; i < COMMON; i++) mutants[i] = (struct sql_mutation){.op = SQL_MUTATE_column_sibling};
    mutants[COMMON] = (struct sql_mutation){.op = SQL_MUTATE_ratio_inverted};
    kinds.with[SQL_MUTATE_column_sibling] = 1000;
    kinds.with[SQL_MUTATE_ratio_inverted] = 9;
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        uint32_t seen = 0;
        mutants_order(&kinds, mutants, COMMON + 1, seed, order);
        for (unsigned i = 0; i <= COMMON; i++) seen |= 1U << order[i];
        cr_assert_eq(seen, (1U << (COMMON + 1)) - 1, "each once");
        first += order[0] == COMMON;
    }
    cr_expect_gt(first, DRAWS * 9 / 10, "%u", first);
    kinds.with[SQL_MUTATE_ratio_inverted] = 1000;
    first = 0;
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        mutants_order(&kinds, mutants, COMMON + 1, seed, order);
        first += order[0] == COMMON;
    }
    cr_expect(first > DRAWS / 4 && first < DRAWS * 3 / 4, "evenly over kinds, not over instances: %u", first);
}

/* --- by the program --- */

static void make_sample(const char *name)
{
    char *script = NULL, *source = g_strdup_printf("%s/deploy/samples/%s.sql", SOURCE_ROOT, name);
    char *path = g_strdup_printf("%s/%s.sqlite", name, name);
    sqlite3 *db;
    cr_assert(g_file_get_contents(source, &script, NULL, NULL), "%s", source);
    g_mkdir(name, 0755);
    cr_assert(sqlite3_open(path, &db) == SQLITE_OK && sqlite3_exec(db, script, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
    g_free(script);
    g_free(source);
    g_free(path);
}

Test(train_verifier, program_trains_model, .init = scratch_begin, .fini = scratch_end, .timeout = 300)
{
    skip_without_trees();
    make_sample("ferries");
    make_sample("orchard");
    make_sample("podcasts");
    char *log = g_strdup_printf("%s/deploy/samples/questions.jsonl", SOURCE_ROOT);
    struct run first = assay("train", "verifier", log, "--db-root", ".", "--recipe", "{rounds: 5}", "--out", "a.json");
    struct run again = assay("train", "verifier", log, "--db-root", ".", "--recipe", "{rounds: 5}", "--out", "b.json");
    struct run liked = assay("train", "verifier", log, "--db-root", ".", "--recipe",
                             "{rounds: 5, favourites: 2, pool: 4, favourite_rounds: 2}", "--out", "c.json");
    cr_expect(liked.status == 0 && strstr(liked.out, "favourite"), "%s%s", liked.out, liked.err);
    run_free(&liked);
    struct run blind = assay("train", "verifier", log, "--db-root", ".", "--blind", "ferries", "--out", "d.json");
    cr_expect(blind.status == 2 && strstr(blind.err, "no wording model in ferries"), "%s", blind.err);
    run_free(&blind);
    cr_expect_eq(first.status, 0, "%s", first.err);
    cr_expect(strstr(first.out, "beam"), "%s", first.out);
    char *a = read_file("a.json"), *b = read_file("b.json");
    cr_assert(a && b);
    cr_expect_str_eq(a, b, "two threads, the same bytes");
    struct run calibrated = assay("train", "calibration", log, "--db-root", ".", "--out", "a.json");
    cr_expect_eq(calibrated.status, 0, "%s", calibrated.err);
    char *c = read_file("a.json");
    cr_expect(c && strstr(c, "\"temperature\""), "%s", calibrated.out);
    struct verifier_model *model = NULL;
    cr_expect_eq(verifier_load("a.json", &model, NULL), ERR_OK);
    verifier_free(model);
    g_free(a);
    g_free(b);
    g_free(c);
    g_free(log);
    run_free(&first);
    run_free(&again);
    run_free(&calibrated);
    leak_check();
}

static void append_pairs(GString *pairs, const char *db, const char *table)
{
    g_string_append_printf(
        pairs,
        "{\"db\": \"%s\", \"question\": \"how many are there?\", \"right\": \"SELECT COUNT(*) FROM %s\","
        " \"wrong\": \"SELECT * FROM %s\"}\n"
        "{\"db\": \"%s\", \"question\": \"list all of them please\", \"right\": \"SELECT * FROM %s\","
        " \"wrong\": \"SELECT COUNT(*) FROM %s\"}\n",
        db, table, table, db, table, table);
}

/* In each of five databases, one question asks for a count and one does not. The words of the question must decide,
 * also in a held-out database. */
Test(train_wording, program_trains_model, .init = scratch_begin, .fini = scratch_end, .timeout = 300)
{
    static const char *const tables[] = {"boat", "crew", "dock", "fare", "port"};
    GString *pairs = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(tables); i++) {
        char *path = g_strdup_printf("%s/%s.sqlite", tables[i], tables[i]);
        char *ddl = g_strdup_printf("CREATE TABLE %s (id INTEGER PRIMARY KEY, name TEXT)", tables[i]);
        sqlite3 *db;
        g_mkdir(tables[i], 0755);
        cr_assert(sqlite3_open(path, &db) == SQLITE_OK && sqlite3_exec(db, ddl, NULL, NULL, NULL) == SQLITE_OK);
        sqlite3_close(db);
        append_pairs(pairs, tables[i], tables[i]);
        g_free(path);
        g_free(ddl);
    }
    g_mkdir("blind", 0755);
    write_file("pairs.jsonl", pairs->str);
    struct run run = assay("train", "wording", "pairs.jsonl", "--db-root", ".", "--blind", "blind", "--out", "w.bin",
                           "--recipe", "{bits: 14}");
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.out, "10 pairs of 5 databases, 0 lines not used"), "%s", run.out);
    cr_expect(strstr(run.out, "preferred: 100.0 %"), "%s", run.out);
    cr_expect(g_file_test("w.bin", G_FILE_TEST_EXISTS) && g_file_test("blind/port.bin", G_FILE_TEST_EXISTS));
    run_free(&run);
    g_string_append(
        pairs, "{\"db\": \"boat\", \"question\": \"who?\"}\n"
               "{\"db\": \"boat\", \"question\": \"who?\", \"right\": \"SELECT nam FROM boat\", \"wrong\": "
               "\"SELECT 1\"}\n"
               "{\"db\": \"nowhere\", \"question\": \"who?\", \"right\": \"SELECT 2\", \"wrong\": \"SELECT 1\"}\n");
    write_file("pairs.jsonl", pairs->str);
    run = assay("train", "wording", "pairs.jsonl", "--db-root", ".", "--out", "w.bin", "--recipe", "{bits: 14}");
    cr_expect(run.status == 0 && strstr(run.out, "3 lines not used"), "%s%s", run.out, run.err);
    cr_expect(strstr(run.err, "pairs.jsonl:11: skipped: a pair is an object with db, question, right and wrong") &&
                  strstr(run.err, "pairs.jsonl:12: skipped: a query cannot be read") &&
                  strstr(run.err, "pairs.jsonl:13: skipped: the database cannot be opened"),
              "%s", run.err);
    run_free(&run);
    write_file("pairs.jsonl",
               "{\"db\": \"boat\", \"question\": \"how many?\", \"right\": \"SELECT COUNT(*) FROM boat\", "
               "\"wrong\": \"SELECT * FROM boat\"}\n");
    run = assay("train", "wording", "pairs.jsonl", "--db-root", ".", "--out", "w.bin");
    cr_expect(run.status == 2 && strstr(run.err, "pairs of at least 5 databases are needed, there are 1"), "%s",
              run.err);
    run_free(&run);
    g_string_free(pairs, TRUE);
    leak_check();
}

/* A gold query that sorts numbers as text is skipped. It is not used as a sibling of another, valid question either. */
Test(train_verifier, gold_refuted_by_data_is_skipped, .init = scratch_begin, .fini = scratch_end, .timeout = 300)
{
    static const char cars[] =
        "CREATE TABLE car (car_id INTEGER PRIMARY KEY, name TEXT, power TEXT);"
        "INSERT INTO car VALUES (1, 'A', '95'), (2, 'B', '150'), (3, 'C', '1000'), (4, 'D', '88');";
    static const char lines[] =
        "{\"id\": \"x1\", \"db\": \"cars\", \"question\": \"Which car has the most power?\", \"gold\": "
        "\"SELECT name FROM car ORDER BY power DESC LIMIT 1\"}\n"
        "{\"id\": \"x2\", \"db\": \"cars\", \"question\": \"What is the power of each car?\", \"gold\": "
        "\"SELECT name, power FROM car\"}\n";
    sqlite3 *db;
    skip_without_trees();
    make_sample("ferries");
    make_sample("orchard");
    make_sample("podcasts");
    g_mkdir("cars", 0755);
    cr_assert(sqlite3_open("cars/cars.sqlite", &db) == SQLITE_OK &&
              sqlite3_exec(db, cars, NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_close(db);
    cr_assert(g_file_set_contents("cars.jsonl", lines, -1, NULL));
    char *log = g_strdup_printf("%s/deploy/samples/questions.jsonl", SOURCE_ROOT);
    struct run run =
        assay("train", "verifier", log, "cars.jsonl", "--db-root", ".", "--recipe", "{rounds: 5}", "--out", "a.json");
    cr_expect_eq(run.status, 0, "%s", run.err);
    cr_expect(strstr(run.out, "1 lines skipped"), "%s", run.out);
    g_free(log);
    run_free(&run);
    leak_check();
}

/* A recipe may be a file, an inline mapping, or flags with the names of its keys. All three must fit the same model. */
Test(train_verifier, recipe_equals_its_flags, .init = scratch_begin, .fini = scratch_end, .timeout = 300)
{
    static const char *const WAYS[][4] = {{"--recipe", "r.yaml"},
                                          {"--recipe", "{rounds: 2, mutants: 2, without: [result]}"},
                                          {"--rounds=2", "--mutants=2", "--without=result"}};
    skip_without_trees();
    make_sample("ferries");
    make_sample("orchard");
    make_sample("podcasts");
    write_file("r.yaml", "rounds: 2\nmutants: 2\nwithout: [result]\n");
    char *log = g_strdup_printf("%s/deploy/samples/questions.jsonl", SOURCE_ROOT), *kept = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(WAYS); i++) {
        struct run run = assay("train", "verifier", log, "--db-root", ".", "--out", "m.json", WAYS[i][0], WAYS[i][1],
                               WAYS[i][2], WAYS[i][3]);
        char *model = read_file("m.json");
        cr_expect_eq(run.status, 0, "%s", run.err);
        cr_expect((strstr(run.err, "training recipe") != NULL) == (i == 2), "the old names alone warn: %s", run.err);
        cr_assert(model && strstr(model, "rounds: 2"), "the model says how it was made");
        if (kept) cr_expect_str_eq(model, kept, "way %zu", i);
        g_free(kept);
        kept = model;
        run_free(&run);
    }
    struct run unknown = assay("train", "verifier", log, "--db-root", ".", "--out", "m.json", "--recipe", "{nope: 2}");
    cr_expect_eq(unknown.status, 2);
    cr_expect(strstr(unknown.err, "--recipe:1: unknown setting 'nope'") && strstr(unknown.err, "rounds"), "%s",
              unknown.err);
    run_free(&unknown);
    g_free(kept);
    g_free(log);
    leak_check();
}
