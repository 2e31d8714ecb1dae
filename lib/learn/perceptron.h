/* A perceptron of two layers over dense vectors: P(positive) is the sigmoid of a weighted sum of rectified units over the standardised input. What
 * reads hidden states of a model (linking/predictor.h) uses it.
 *
 * Trained by Adam on shuffled batches, with dropout, weights decayed, positives weighed up to count as much as negatives where asked. The same data and
 * options give the same weights. Thread: training any, one at a time an object; a trained one is read-only and may be shared.
 */
#ifndef ASSAY_LIB_LEARN_PERCEPTRON_H
#define ASSAY_LIB_LEARN_PERCEPTRON_H

#include "lib/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { PERCEPTRON_MAX_INPUTS = 16384, PERCEPTRON_MAX_HIDDEN = 1024 };

struct perceptron {
    uint32_t inputs, hidden;
    float *mean, *scale;  /* inputs each: z = (x - mean) * scale */
    float *weight, *bias; /* hidden rows of inputs; hidden */
    float *out;           /* hidden, and one more: the bias of the output. The four follow each other in memory */
};

struct perceptron_options {
    uint32_t hidden, epochs, batch;
    double rate, decay;
    double dropout;         /* share of the inputs, and of the hidden units, that a step does without; below 1 */
    double positive_weight; /* of a positive's loss; 0: negatives / positives */
    uint64_t seed;
};
struct perceptron_options perceptron_options_default(void);

/* Zeroed, to be filled. NULL: out of memory, or out of the bounds above. */
struct perceptron *perceptron_new(uint32_t inputs, uint32_t hidden);
void perceptron_free(struct perceptron *p);

/* Rows of `inputs` finite floats each, and which of them are positive. ERR_CONFIG: one class only, or none; ERR_NOMEM. The caller frees. */
enum err_code perceptron_train(const float *x, const uint8_t *positive, size_t n, uint32_t inputs,
                               const struct perceptron_options *options, struct perceptron **out, struct err *err);

/* P(positive), 0 to 1. */
double perceptron_predict(const struct perceptron *p, const float *x);

#endif
