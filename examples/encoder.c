#include "examples/encoder.h"

#include "examples/store.h"
#include "lib/base/clock.h"

#include <glib.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct examples_encoder {
    struct scorer *scorer;
    int64_t timeout_ns;
    size_t dimensions;
    char name[160];
};

/* The number in the built-in embedder's name increases whenever its vectors change. */
const char *examples_encoder_name(const struct examples_encoder *encoder)
{
    return encoder ? encoder->name : "assay hashed n-grams 1";
}

/* Returns 64 pseudorandom signs, one for each bit. They are the same in every build. */
static uint64_t signs_of(uint64_t at)
{
    uint64_t z = (at + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

static void project(const json_t *vector, int8_t *out)
{
    double sums[TEXT_DIM] = {0}, length = 0;
    for (size_t i = 0; i < json_array_size(vector); i++) {
        double value = json_number_value(json_array_get(vector, i));
        for (unsigned w = 0; w < TEXT_DIM / 64; w++) {
            uint64_t signs = signs_of(i * (TEXT_DIM / 64) + w);
            for (unsigned b = 0; b < 64; b++) sums[w * 64 + b] += signs >> b & 1 ? value : -value;
        }
    }
    for (unsigned d = 0; d < TEXT_DIM; d++) length += sums[d] * sums[d];
    for (unsigned d = 0; d < TEXT_DIM; d++)
        out[d] = length > 0 ? (int8_t)lround(EXAMPLES_SCALE * sums[d] / sqrt(length)) : 0;
}

/* Returns the vectors of a list of texts as JSON, or NULL with `err` set. */
static json_t *ask(struct examples_encoder *encoder, json_t *texts, struct err *err)
{
    char *asked = json_dumps(texts, JSON_COMPACT), *told = NULL;
    enum err_code code = scorer_embed(encoder->scorer, asked, clock_now_ns() + encoder->timeout_ns, &told, NULL, err);
    json_t *vectors = code ? NULL : json_loads(told, 0, NULL);
    free(told);
    free(asked);
    return vectors;
}

enum err_code examples_encode(struct examples_encoder *encoder, const char *const texts[EXAMPLES_PARTS],
                              int8_t out[EXAMPLES_PARTS * TEXT_DIM], struct err *err)
{
    json_t *list = json_array();
    memset(out, 0, (size_t)EXAMPLES_PARTS * TEXT_DIM);
    for (size_t i = 0; i < EXAMPLES_PARTS; i++)
        if (texts[i] && *texts[i]) json_array_append_new(list, json_string(texts[i]));
    size_t n = json_array_size(list), at = 0;
    json_t *vectors = n ? ask(encoder, list, err) : json_array();
    bool whole = json_array_size(vectors) == n;
    for (size_t i = 0; i < EXAMPLES_PARTS && whole; i++) {
        if (!texts[i] || !*texts[i] || !json_string_value(json_array_get(list, at))) continue;
        const json_t *vector = json_array_get(vectors, at++);
        whole = json_array_size(vector) == encoder->dimensions;
        if (whole) project(vector, out + i * TEXT_DIM);
    }
    json_decref(vectors);
    json_decref(list);
    if (whole) return ERR_OK;
    if (vectors && err)
        err_set(err, ERR_MALFORMED, "the embedding model returned vectors of a different length than before");
    return err && err->code ? err->code : ERR_MALFORMED;
}

enum err_code examples_encoder_open(const struct scorer_config *config, struct examples_encoder **out, struct err *err)
{
    struct examples_encoder *encoder = g_new0(struct examples_encoder, 1);
    encoder->timeout_ns = config->timeout_ms * config->max_attempts * 1000000;
    *out = NULL;
    enum err_code code = scorer_open_embedder(config, &encoder->scorer, err);
    json_t *texts = json_pack("[s]", "dimension"), *vectors = code ? NULL : ask(encoder, texts, err);
    encoder->dimensions = json_array_size(json_array_get(vectors, 0));
    if (!code && !vectors) code = err->code ? err->code : ERR_MALFORMED;
    json_decref(vectors);
    json_decref(texts);
    if (code) {
        examples_encoder_close(encoder);
        return code;
    }
    snprintf(encoder->name, sizeof encoder->name, "%.100s, %zu dimensions, projected 1", config->model,
             encoder->dimensions);
    *out = encoder;
    return ERR_OK;
}

void examples_encoder_close(struct examples_encoder *encoder)
{
    if (!encoder) return;
    scorer_close(encoder->scorer);
    g_free(encoder);
}
