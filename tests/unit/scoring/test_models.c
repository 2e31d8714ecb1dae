/* Tests the set of models: loading from a folder, missing parts, the decision file, and the combination of label model,
 * classifier and verifier. */
#include "tests/support/leak.h"
#include "tests/unit/coordinator/script.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char dir[64];
static struct scoring_models *models;

static void begin(void)
{
    strcpy(dir, "/tmp/assay-models-XXXXXX");
    cr_assert(mkdtemp(dir));
}

static void path_of(const char *name, char out[128])
{
    snprintf(out, 128, "%s/%s", dir, name);
}

static void end(void)
{
    static const char *const names[] = {"label_model.json", "classifier.json", "decision.json"};
    char path[128];
    for (unsigned i = 0; i < 3; i++) {
        path_of(names[i], path);
        unlink(path);
    }
    rmdir(dir);
    models_free(models);
    leak_check();
}
static enum err_code load(const char *from, const char *label_model, const char *classifier, struct err *err)
{
    const struct models_files files = {from, label_model, classifier, NULL};
    return models_load(&files, &models, err);
}
TestSuite(models, .init = begin, .fini = end);

static void write_label_model(void)
{
    char path[128];
    struct err err = {0};
    struct scoring_models *made = script_models();
    path_of("label_model.json", path);
    cr_assert_eq(lm_save(made->label_model, path, &err), ERR_OK, "%s", err.text);
    models_free(made);
}

static void write_decision(const char *text)
{
    char path[128];
    path_of("decision.json", path);
    FILE *file = fopen(path, "w");
    fputs(text, file);
    fclose(file);
}

Test(models, missing_label_model_is_configuration_error)
{
    struct err err = {0};
    cr_assert_eq(load(dir, NULL, NULL, &err), ERR_CONFIG);
    cr_assert(strstr(err.text, "label_model.json") && strstr(err.text, "none"), "%s", err.text);
    cr_assert_null(models);
}

Test(models, value_none_omits_model)
{
    struct err err = {0};
    cr_assert_eq(load(dir, "none", "none", &err), ERR_OK, "%s", err.text);
    cr_assert_eq(models_strategy(models), MSG_FIRST_VALID);
    cr_assert_float_eq(models_threshold(models), 0.5, 0);
    struct msg_judged judged = {.judged = true};
    struct votes_subject subject = {&judged, 1, 1, 0};
    struct models_score score = models_score(models, &subject);
    cr_assert(isnan(score.p));
    cr_assert(isfinite(score.score));
}

Test(models, missing_model_prefers_fewer_fired_signals)
{
    cr_assert_eq(load(dir, "none", "none", NULL), ERR_OK);
    struct msg_signal silent[] = {{.id = 1}, {.id = 2}}, fired[] = {{.id = 1, .state = MSG_FIRED}, {.id = 2}};
    struct msg_judged judged[] = {{.judged = true, .signals = silent, .n_signals = 2},
                                  {.judged = true, .signals = fired, .n_signals = 2}};
    struct votes_subject a = {judged, 2, 2, 0}, b = {judged, 2, 2, 1};
    cr_assert_gt(models_score(models, &a).score, models_score(models, &b).score);
}

Test(models, folder_with_models_is_loaded)
{
    struct err err = {0};
    write_label_model();
    write_decision("{\"schema\":\"assay.decision\",\"version\":1,\"strategy\":\"rerank\",\"threshold\":0.8,\"margin\":{"
                   "\"ranked\":0.1},"
                   "\"command\":\"made by hand\"}");
    cr_assert_eq(load(dir, NULL, NULL, &err), ERR_OK, "%s", err.text);
    cr_assert_eq(models_strategy(models), MSG_RERANK);
    cr_assert_float_eq(models_threshold(models), 0.8, 0);
    cr_assert_float_eq(models->margins[MSG_ORDER_RANKED], 0.1, 0);
    cr_assert_float_eq(models->margins[MSG_ORDER_SAMPLED], 0, 0);
    cr_assert_float_eq(models->margins[MSG_ORDER_UNKNOWN], 0, 0, "places say nothing");
    cr_assert_eq(strncmp(models->label_model_version, "label_model.json ", 17), 0);
    struct msg_judged judged = {.judged = true};
    struct votes_subject subject = {&judged, 1, 1, 0};
    struct models_score score = models_score(models, &subject);
    cr_assert(score.p > 0 && score.p < 1);
    cr_assert_float_eq(score.p, score.label_model_p, 0);
}

Test(models, remote_verifier_has_weight_of_decision)
{
    struct err err = {0};
    write_label_model();
    cr_assert_eq(load(dir, NULL, NULL, &err), ERR_OK, "%s", err.text);
    cr_assert_float_eq(models_blend(models, MSG_ORDER_RANKED, 0.9, 0.2), 0.2, 0, "unless it says so, it alone counts");
    models_free(models);
    models = NULL;
    write_decision("{\"schema\":\"assay.decision\",\"version\":1,\"builtin_share\":{\"ranked\":0.5,\"sampled\":1}}");
    cr_assert_eq(load(dir, NULL, NULL, &err), ERR_OK, "%s", err.text);
    cr_assert_float_eq(models_blend(models, MSG_ORDER_RANKED, 0.8, 0.2), 0.5, 1e-9, "log-odds are added");
    cr_assert_gt(models_blend(models, MSG_ORDER_RANKED, 0.9, 0.2), 0.5);
    cr_assert_float_eq(models_blend(models, MSG_ORDER_SAMPLED, 0.9, 0.2), 0.9, 0);
    cr_assert_float_eq(models_blend(models, MSG_ORDER_UNKNOWN, 0.9, 0.2), 0.2, 0);
    cr_assert_float_eq(models_blend(models, MSG_ORDER_RANKED, (double)NAN, 0.2), 0.2, 0, "one alone is not halved");
    cr_assert_float_eq(models_blend(models, MSG_ORDER_RANKED, 0.9, (double)NAN), 0.9, 0);
}

Test(models, environment_selects_folder)
{
    write_label_model();
    setenv("ASSAY_MODELS", dir, 1);
    cr_assert_eq(load(NULL, NULL, NULL, NULL), ERR_OK);
}

Test(models, bad_decision_files_are_refused)
{
    static const char *const bad[] = {
        "junk",
        "{\"schema\":\"assay.decision\",\"version\":2}",
        "{\"schema\":\"other\",\"version\":1}",
        "{\"schema\":\"assay.decision\",\"version\":1,\"strategy\":\"best\"}",
        "{\"schema\":\"assay.decision\",\"version\":1,\"threshold\":7}",
        "{\"schema\":\"assay.decision\",\"version\":1,\"margin\":\"wide\"}",
        "{\"schema\":\"assay.decision\",\"version\":1,\"margin\":{\"ranked\":2}}",
        "{\"schema\":\"assay.decision\",\"version\":1,\"builtin_share\":{\"ranked\":2}}",
        "{\"schema\":\"assay.decision\",\"version\":1,\"entailment_threshold\":-1}",
        "{\"schema\":\"assay.decision\",\"version\":1,\"combine\":[0,1]}",
        "{\"schema\":\"assay.decision\",\"version\":1,\"combine\":[0,1,\"a lot\"]}",
        "{\"schema\":\"assay.decision\",\"version\":1,\"combine\":[0,-1,1]}",
        "{\"schema\":\"assay.decision\",\"version\":1,\"unfamiliar\":[0,1,1]}",
        "{\"schema\":\"assay.decision\",\"version\":1,\"schema_only\":[0]}",
        "{\"schema\":\"assay.decision\",\"version\":1,\"unfamiliar\":[0,-1]}",
    };
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err err = {0};
        write_decision(bad[i]);
        cr_assert_eq(load(dir, "none", "none", &err), ERR_CONFIG, "%s", bad[i]);
        cr_assert(strstr(err.text, "decision.json"), "%s", err.text);
    }
}

Test(models, judges_are_combined_by_decision_file)
{
    struct err err = {0};
    write_decision("{\"schema\":\"assay.decision\",\"version\":1,\"combine\":[0,1,2],\"entailment_threshold\":0.9,"
                   "\"cyclesql_threshold\":0.7}");
    cr_assert_eq(load(dir, "none", "none", &err), ERR_OK, "%s", err.text);
    cr_assert_float_eq(models->entailment_threshold, 0.9, 0);
    cr_assert_float_eq(models->cyclesql_threshold, 0.7, 0);
    cr_assert_float_eq(models_combine(models, 0.5, 0.75, true), 0.9, 1e-9, "odds 1 times 3 squared");
    cr_assert_float_eq(models_combine(models, 0.3, NAN, true), 0.3, 0, "one alone decides");
    cr_assert_float_eq(models_combine(models, NAN, 0.3, true), 0.3, 0);
    cr_assert(isnan(models_combine(models, NAN, NAN, true)));
    cr_assert_lt(models_combine(models, 0, 1, true), 1);
    cr_assert_gt(models_combine(models, 1, 0, true), 0, "no judge is infinitely sure");
    cr_assert_lt(models_combine(models, 1, 1, true), 1, "nor are two");
    cr_assert_lt(models_combine(models, 1, NAN, true), 1);
    cr_assert_lt(models_combine(models, NAN, 1, true), 1);
    cr_assert_gt(models_combine(models, 0, NAN, true), 0);
}

Test(models, unfamiliar_generator_lowers_p_correct)
{
    struct err err = {0};
    write_decision("{\"schema\":\"assay.decision\",\"version\":1,\"combine\":[0,1,1],\"unfamiliar\":[0,0.5]}");
    cr_assert_eq(load(dir, "none", "none", &err), ERR_OK, "%s", err.text);
    cr_assert_float_eq(models_combine(models, 0.9, 0.9, true), 81 / 82.0, 1e-9);
    cr_assert_float_eq(models_combine(models, 0.9, 0.9, false), 0.9, 1e-9, "half the log-odds");
    cr_assert_float_eq(models_combine(models, 0.3, NAN, false), 0.3, 0, "calibrated by itself");
}

Test(models, schema_alone_never_raises_p_correct)
{
    struct err err = {0};
    write_decision("{\"schema\":\"assay.decision\",\"version\":1,\"schema_only\":[0,2]}");
    cr_assert_eq(load(dir, "none", "none", &err), ERR_OK, "%s", err.text);
    cr_assert(models->knows_schemas);
    cr_assert_float_eq(models_from_schema(models, 0.9), 0.9, 1e-9, "81 / 82 would be more");
    cr_assert_float_eq(models_from_schema(models, 0.1), 1 / 82.0, 1e-9);
    cr_assert(isnan(models_from_schema(models, NAN)));
    models_free(models);
    write_decision("{\"schema\":\"assay.decision\",\"version\":1}");
    cr_assert_eq(load(dir, "none", "none", &err), ERR_OK, "%s", err.text);
    cr_assert_not(models->knows_schemas);
    cr_assert_float_eq(models_from_schema(models, 0.9), 0.5, 0, "nobody has measured what it is worth");
    cr_assert_float_eq(models_from_schema(models, 0.2), 0.2, 0);
}

Test(models, features_round_trip_through_message)
{
    float out[FEATURE_COUNT];
    struct msg_number numbers[] = {{features_id(1), 2.5F}, {999999, 1}};
    struct msg_explanation explanation = {.components = 5, .numbers = numbers, .n_numbers = 2};
    cr_assert(models_read_features(&explanation, out));
    cr_assert(isnan(out[0]), "what did not come is not known");
    cr_assert_float_eq(out[1], 2.5, 0);
    for (unsigned i = FEATURE_COMPONENTS; i < FEATURE_COUNT; i++)
        cr_assert_float_eq(
            out[i], (double)(features_id(i) == FEATURE_COMPONENT_ID || features_id(i) == FEATURE_COMPONENT_ID + 2), 0);
    struct msg_explanation none = {.prose = "nothing"};
    cr_assert_not(models_read_features(&none, out));
    cr_assert_not(models_read_features(NULL, out));
}

Test(models, named_classifier_must_exist)
{
    struct err err = {0};
    cr_assert_eq(load(dir, "none", "/nowhere/trees.json", &err), ERR_CONFIG);
    cr_assert(strstr(err.text, "trees.json"), "%s", err.text);
}

/* The classifier decides, and receives the estimate of the label model as a feature. */
Test(models, classifier_makes_decision)
{
    enum { ROWS = 400 };
    unsigned m;
    char path[128];
    struct err err = {0};
    const char *const *names = votes_feature_names(0, &m);
    float *x = calloc((size_t)ROWS * m, sizeof *x);
    double y[ROWS];
    for (unsigned r = 0; r < ROWS; r++) {
        y[r] = r % 2;
        x[(size_t)r * m] = r % 2 ? 0 : 1; /* makes the first signal always right */
    }
    struct learn_data data = {.n = ROWS, .m = m, .x = x, .y = y, .names = names};
    struct learn_options options = learn_options_default();
    struct learn_model *model;
    cr_assert_eq(learn_fit("logistic", &data, &options, &model, &err), ERR_OK, "%s", err.text);
    path_of("classifier.json", path);
    cr_assert_eq(learn_save(model, path, &err), ERR_OK, "%s", err.text);
    learn_free(model);
    free(x);
    cr_assert_eq(load(dir, "none", NULL, &err), ERR_OK, "%s", err.text);
    unsigned n;
    const struct vsig_def *const *all = vsig_all(&n);
    struct msg_signal silent = {.id = (uint32_t)all[0]->id}, fired = {.id = (uint32_t)all[0]->id, .state = MSG_FIRED};
    struct msg_judged judged[] = {{.judged = true, .signals = &silent, .n_signals = 1},
                                  {.judged = true, .signals = &fired, .n_signals = 1}};
    struct votes_subject a = {judged, 2, 2, 0}, b = {judged, 2, 2, 1};
    cr_assert_gt(models_score(models, &a).p, models_score(models, &b).p);
    cr_assert(isnan(models_score(models, &a).label_model_p));
}
