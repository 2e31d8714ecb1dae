/* Tests predictors of branching points. They learn, hold their guarantee on new recordings, can be saved and loaded,
 * and refuse recordings of other linkers. */
#include "lib/learn/metrics.h"
#include "linking/evaluate.h"
#include "linking/result.h"
#include "tests/unit/linking/made.h"

#include <criterion/criterion.h>
#include <glib.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char learn[64], calibrate[64], fresh[64], file[64];
static const struct made usual = {.questions = 400, .layers = 4, .hidden = 12, .wrong = 0.15, .plain = 1.2, .seed = 1};

static struct made like_usual(uint64_t seed)
{
    struct made made = usual;
    made.seed = seed;
    return made;
}

static void begin(void)
{
    static char *const paths[] = {learn, calibrate, fresh, file};
    for (unsigned i = 0; i < G_N_ELEMENTS(paths); i++)
        snprintf(paths[i], sizeof learn, "/tmp/assay-linking-%d-%u", (int)getpid(), i);
    struct made made = like_usual(2);
    made_write(learn, &usual);
    made_write(calibrate, &made);
    made = like_usual(3);
    made_write(fresh, &made);
}

static void finish(void)
{
    made_remove(learn);
    made_remove(calibrate);
    made_remove(fresh);
    remove(file);
}

TestSuite(predictor, .init = begin, .fini = finish);

static struct predictor *train(void)
{
    struct predictor *predictor = NULL;
    struct err err = {0};
    const char *learns[] = {learn}, *calibrates[] = {calibrate};
    struct perceptron_options options = perceptron_options_default();
    options.hidden = 16;
    options.epochs = 15;
    const struct predictor_sources sources = {
        .training = learns, .calibration = calibrates, .n_training = 1, .n_calibration = 1};
    cr_assert_eq(predictor_train(&sources, &options, &predictor, &err), ERR_OK, "%s", err.text);
    return predictor;
}

static struct link_evaluation evaluate(const struct predictor *predictor, const struct predictor_options *options)
{
    struct link_evaluation out;
    struct err err = {0};
    cr_assert_eq(link_evaluate(predictor, options, fresh, NULL, &out, &err), ERR_OK, "%s", err.text);
    return out;
}

Test(predictor, best_layers_come_first_with_guaranteed_coverage)
{
    struct predictor *predictor = train();
    for (int s = 0; s < TRACE_STAGES; s++) {
        const struct predictor_stage *stage = &predictor->stages[s];
        cr_assert_eq(stage->n_layers, 4);
        cr_assert_eq(stage->layers[0].number, 3, "the last layer shows it most");
        cr_assert(stage->layers[0].auc > 0.95 && stage->layers[0].auc >= stage->layers[3].auc);
    }
    for (int merge = 0; merge < 2; merge++)
        for (int near = 0; near < 2; near++) {
            struct predictor_options options = predictor_options_default();
            options.merge = (enum predictor_merge)merge;
            options.near = near ? 100 : 0;
            options.temperature = 4; /* among twelve uniform numbers, two differ by about 2 */
            struct link_evaluation e = evaluate(predictor, &options);
            const struct link_counts *c = &e.stages[TRACE_TABLES];
            struct learn_interval range = learn_wilson(c->branching_held, c->branching, 1.96);
            cr_assert_gt(c->branching, 100);
            cr_assert_geq(range.high, 1 - 2 * options.alpha, "%g-%g", range.low, range.high);
            cr_assert_lt((double)c->extra / (double)c->tokens, 0.2);
        }
    predictor_free(predictor);
}

Test(predictor, abstention_keeps_right_links_and_feedback_corrects)
{
    struct predictor *predictor = train();
    struct predictor_options options = predictor_options_default();
    options.alpha = 0.02;
    struct link_evaluation e = evaluate(predictor, &options);
    const struct link_counts *c = &e.stages[TRACE_TABLES];
    const struct link_outcomes *o = &c->abstention;
    cr_assert_eq(o->answered_right + o->answered_wrong + o->abstained_right + o->abstained_wrong, usual.questions);
    cr_assert_eq(o->answered_right + o->abstained_right, c->right);
    cr_assert_gt(link_em(o), 100.0 * (double)c->right / usual.questions + 5);
    cr_assert_gt((double)c->human_right, 0.9 * usual.questions);
    const struct link_outcomes *joint = &e.joint;
    cr_assert_eq(joint->answered_right + joint->answered_wrong + joint->abstained_right + joint->abstained_wrong,
                 usual.questions);
    cr_assert_leq(joint->answered_right, o->answered_right);
    predictor_free(predictor);
}

/* Confirms every name, so that the linker stops only at the end of a list. */
static bool confirms_names(void *data, const struct trace *trace, uint32_t token, int candidate)
{
    (*(unsigned *)data)++;
    cr_assert(candidate >= -1 && candidate < (int)trace->n_candidates && token < trace->n_tokens);
    return candidate >= 0;
}

Test(predictor, confirming_surrogate_stops_only_at_list_end)
{
    struct predictor *predictor = train();
    struct predictor_options options = predictor_options_default();
    struct link_evaluation e;
    struct err err = {0};
    unsigned asked = 0;
    const struct link_surrogate surrogate = {confirms_names, &asked};
    cr_assert_eq(link_evaluate(predictor, &options, fresh, &surrogate, &e, &err), ERR_OK);
    const struct link_counts *c = &e.stages[TRACE_TABLES];
    cr_assert_gt(asked, 10);
    cr_assert_lt(link_far(&c->surrogate) + link_tar(&c->surrogate),
                 link_far(&c->abstention) + link_tar(&c->abstention));
    predictor_free(predictor);
}

Test(predictor, file_round_trips_to_same_predictor)
{
    struct predictor *predictor = train(), *loaded = NULL;
    struct err err = {0};
    struct predictor_options options = predictor_options_default();
    cr_assert_eq(predictor_save(predictor, "made by a test", file, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(predictor_load(file, &loaded, &err), ERR_OK, "%s", err.text);
    for (int near = 0; near < 2; near++) {
        options.near = near ? 50 : 0;
        struct link_evaluation one = evaluate(predictor, &options), two = evaluate(loaded, &options);
        cr_assert_eq(one.stages[0].held, two.stages[0].held);
        cr_assert_eq(one.stages[1].extra, two.stages[1].extra);
    }
    predictor_free(predictor);
    predictor_free(loaded);
}

Test(predictor, recordings_of_other_models_are_refused)
{
    struct predictor *predictor = train();
    struct predictor_options options = predictor_options_default();
    struct link_evaluation e;
    struct err err = {0};
    struct made made = like_usual(4);
    made.layers = 2;
    made_write(fresh, &made);
    cr_assert_eq(link_evaluate(predictor, &options, fresh, NULL, &e, &err), ERR_MALFORMED);
    cr_assert(strstr(err.text, "layer 3 is missing"), "%s", err.text);
    made = like_usual(4);
    made.hidden = 10;
    made_write(fresh, &made);
    cr_assert_eq(link_evaluate(predictor, &options, fresh, NULL, &e, &err), ERR_MALFORMED);
    cr_assert(strstr(err.text, "hidden states of 10 numbers"), "%s", err.text);
    predictor_free(predictor);
}

Test(predictor, errorless_recordings_and_foreign_files_are_refused)
{
    struct predictor *predictor = NULL;
    struct err err = {0};
    struct made made = like_usual(5);
    made.wrong = 0;
    made_write(learn, &made);
    const char *learns[] = {learn}, *calibrates[] = {calibrate};
    const struct predictor_sources sources = {
        .training = learns, .calibration = calibrates, .n_training = 1, .n_calibration = 1};
    struct perceptron_options options = perceptron_options_default();
    cr_assert_eq(predictor_train(&sources, &options, &predictor, &err), ERR_CONFIG);
    cr_assert(strstr(err.text, "no branching points"), "%s", err.text);
    char *states = g_strdup_printf("%s.safetensors", learn);
    cr_assert_eq(predictor_load(states, &predictor, &err), ERR_MALFORMED);
    cr_assert(strstr(err.text, "assay link train"), "%s", err.text);
    g_free(states);
}

Test(predictor, linking_lists_names_and_uncertain_places)
{
    struct predictor *predictor = train();
    struct predictor_options options = predictor_options_default();
    struct recording recording;
    struct trace *trace = NULL;
    struct arena arena;
    struct err err = {0};
    struct linking_results *results = linking_results_new();
    arena_init(&arena, 0);
    cr_assert_eq(recording_open(fresh, &recording, &err), ERR_OK);
    while (recording_next(&recording, &arena, &trace, &err) == ERR_OK && trace)
        cr_assert_eq(linking_results_add(results, predictor, &options, &recording, trace, &arena, &err), ERR_OK, "%s",
                     err.text);
    json_t *list = linking_results_json(results), *first = json_array_get(list, 0),
           *linking = json_object_get(first, "linking");
    cr_assert_eq(json_array_size(list), usual.questions);
    cr_assert_str_eq(json_string_value(json_object_get(first, "id")), "q0");
    cr_assert(json_array_size(json_object_get(linking, "tables")) &&
              json_is_array(json_object_get(linking, "columns")));
    size_t uncertain = 0;
    for (size_t i = 0; i < usual.questions; i++)
        uncertain += json_array_size(json_object_get(json_object_get(json_array_get(list, i), "linking"), "uncertain"));
    cr_assert_gt(uncertain, 200);
    json_decref(list);
    linking_results_free(results);
    recording_close(&recording);
    arena_free(&arena);
    predictor_free(predictor);
}
