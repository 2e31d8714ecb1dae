/* Hashed linear models: many yes/no outputs predicted from the same sparse keys (hashes of words and n-grams).
 *
 * Each output is a logistic regression. All share one table of weights, with a row for each bucket of keys and a column
 * for each output. AdaGrad fits them together in an order that the seed draws, so the same items give the same bytes.
 * Weights are signed bytes with one scale for each output, in the model and in its file. The tested model is therefore
 * the shipped one. Collisions are accepted. Keys that occur fewer than `min_count` times are left out, which prevents
 * most collisions.
 *
 * Thread: fitting is single-threaded; a model is read-only and may be shared.
 */
#ifndef ASSAY_LIB_LEARN_HASHED_H
#define ASSAY_LIB_LEARN_HASHED_H

#include "lib/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HASHED_MAX_OUTPUTS = 64, HASHED_MAX_BITS = 20 };

struct hashed_item {
    const uint64_t *keys; /* each once; the caller's */
    uint32_t n;
    uint64_t labels; /* bit i: output i is true */
};

struct hashed_options {
    unsigned bits; /* of the number of buckets */
    unsigned epochs, min_count;
    double eta, l2;
    uint64_t seed;
};
struct hashed_options hashed_options_default(void);

struct hashed_model;
struct model_blocks;

/* Fits a model. Returns ERR_CONFIG without items or for numbers out of range, or ERR_NOMEM. On success the caller owes
 * hashed_free. */
enum err_code hashed_fit(const struct hashed_item *items, size_t n, unsigned n_outputs,
                         const struct hashed_options *options, struct hashed_model **out, struct err *err);
void hashed_free(struct hashed_model *model);

unsigned hashed_outputs(const struct hashed_model *model);
/* Computes P(true) of each output into p[n_outputs]. About 30 ns a key. */
void hashed_predict(const struct hashed_model *model, const uint64_t *keys, uint32_t n, double *p);

/* Save as a JSON object for a model file (NULL if memory runs out), and load it with sizes and ranges checked (NULL if
 * not valid). */
json_t *hashed_save(const struct hashed_model *model);
struct hashed_model *hashed_load(const json_t *object, const struct model_blocks *blocks);
/* Moves a loaded model's weights into a block (lib/learn/blocks.h). Returns false if `object` does not load. */
bool hashed_move(json_t *object, struct model_blocks *blocks);

#endif
