/* Loads model files, which users provide. Loading must end in a usable model or in an error. */
#include "lib/learn/learn.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

static void try_label_model(const char *text, size_t size)
{
    struct err err;
    struct lm_model *model;
    if (lm_load_text(text, size, &model, &err)) return;
    struct lm_map map;
    const char *names[LM_MAX_COLUMNS];
    uint8_t votes[LM_MAX_COLUMNS];
    double parts[LM_MAX_COLUMNS];
    for (unsigned i = 0; i < model->n_signals; i++) {
        names[i] = model->signals[i].name;
        votes[i] = i % 3 == 2 ? LM_MISSING : (uint8_t)(i % 3);
    }
    for (unsigned known = 0; known <= model->n_signals; known += 1 + model->n_signals / 4) {
        lm_map_init(&map, model, names, known);
        double p = lm_p_correct(model, &map, votes);
        if (!(p >= 0 && p <= 1)) abort();
        lm_contributions(model, &map, votes, parts);
    }
    char *again = lm_save_text(model);
    if (!again) abort();
    free(again);
    lm_free(model);
}

static void try_classifier(const char *text, size_t size)
{
    struct err err;
    struct learn_model *model;
    if (learn_load_text(text, size, &model, &err)) return;
    float *x = calloc(learn_n_features(model), sizeof *x);
    for (unsigned i = 0; x && i < learn_n_features(model); i++) x[i] = i % 3 ? (float)i : NAN;
    if (x && !(learn_predict(model, x) >= 0 && learn_predict(model, x) <= 1)) abort();
    free(x);
    char *again = learn_save_text(model);
    if (!again) abort();
    free(again);
    learn_free(model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    try_label_model((const char *)data, size);
    try_classifier((const char *)data, size);
    return 0;
}
