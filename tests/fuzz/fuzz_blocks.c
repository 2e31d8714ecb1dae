/* Loads binary forms of models. The target makes the checksum valid first. Loading must end in a usable model or in an
 * error. */
#include "lib/learn/blocks.h"
#include "lib/learn/learn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { HEAD = 48, CHECKSUM_AT = 24 };

static void use(const struct learn_model *model)
{
    float *x = calloc(learn_n_features(model), sizeof *x);
    for (unsigned i = 0; x && i < learn_n_features(model); i++) x[i] = i % 3 ? (float)i : NAN;
    if (x && !(learn_predict(model, x) >= 0 && learn_predict(model, x) <= 1)) abort();
    free(x);
    char *text = learn_save_text(model);
    if (!text) abort();
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD) return 0;
    unsigned char *copy = g_memdup2(data, size);
    uint64_t sum = XXH3_64bits(copy + HEAD, size - HEAD);
    memcpy(copy + CHECKSUM_AT, &sum, sizeof sum);
    GBytes *file = g_bytes_new_take(copy, size);
    struct model_document document;
    struct learn_model *model = NULL;
    if (model_document_read(file, "assay-classifier", 1, &document, NULL) == ERR_OK) {
        if (learn_load_json(document.root, &document.blocks, &model, NULL) == ERR_OK) use(model);
        model_document_clear(&document);
    }
    learn_free(model);
    g_bytes_unref(file);
    return 0;
}
