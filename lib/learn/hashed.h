/* Hashed linear models: many yes/no outputs predicted from the same sparse keys (hashes of words and n-grams).
 *
 * Each output is a logistic regression. All outputs share one table of weights, with a row for each bucket of keys and
 * a column for each output. AdaGrad fits them together in an order that the seed determines, so equal items give equal
 * bytes. Weights are signed bytes with one scale for each output, both in memory and in the file. So the tested model
 * is identical to the shipped one. Keys in the same bucket share their weights. Ignoring keys that occur fewer than
 * `min_count` times prevents most such collisions.
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
    const uint64_t *keys; /* without duplicates; owned by the caller */
    uint32_t n;
    uint64_t labels; /* bit i is set if output i is true */
};

struct hashed_options {
    unsigned bits; /* logarithm to base 2 of the number of buckets */
    unsigned epochs, min_count;
    double eta, l2;
    uint64_t seed;
};
struct hashed_options hashed_options_default(void);

struct hashed_model;
struct model_blocks;

/* Fits a model. Returns ERR_CONFIG if there are no items or a number is out of range, or ERR_NOMEM. Free *out with
 * hashed_free. */
enum err_code hashed_fit(const struct hashed_item *items, size_t n, unsigned n_outputs,
                         const struct hashed_options *options, struct hashed_model **out, struct err *err);
void hashed_free(struct hashed_model *model);

unsigned hashed_outputs(const struct hashed_model *model);
/* Writes P(true) of each output to p[n_outputs]. Takes about 30 ns for each key. */
void hashed_predict(const struct hashed_model *model, const uint64_t *keys, uint32_t n, double *p);

/* hashed_save returns a JSON object for a model file, or NULL if memory runs out. hashed_load checks sizes and ranges,
 * and returns NULL if the object is not valid. */
json_t *hashed_save(const struct hashed_model *model);
struct hashed_model *hashed_load(const json_t *object, const struct model_blocks *blocks);
/* Moves a loaded model's weights into a block (lib/learn/blocks.h). Returns false if `object` does not load. */
bool hashed_move(json_t *object, struct model_blocks *blocks);

#endif
