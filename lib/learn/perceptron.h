/* A perceptron of two layers over dense vectors. P(positive) is the sigmoid of a weighted sum of rectified units over
 * the standardised input. linking/predictor.h uses it to read hidden states of a model.
 *
 * Trained by Adam on shuffled batches, with dropout and weight decay. Positives may be weighed up to count as much as
 * negatives. The same data and options give the same weights. Thread: training any, one at a time an object; a trained
 * one is read-only and may be shared. */
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
    float *out;           /* hidden weights, then the bias of the output. The four arrays are contiguous in memory */
};

struct perceptron_options {
    uint32_t hidden, epochs, batch;
    double rate, decay;
    double dropout;         /* share of the inputs, and of the hidden units, dropped in a step; below 1 */
    double positive_weight; /* weight of a positive's loss; 0 means negatives / positives */
    uint64_t seed;
};
struct perceptron_options perceptron_options_default(void);

/* Allocates a zeroed perceptron for the caller to fill. NULL if memory runs out or a size exceeds the bounds above. */
struct perceptron *perceptron_new(uint32_t inputs, uint32_t hidden);
void perceptron_free(struct perceptron *p);

/* Trains on rows of `inputs` finite floats each and their classes. Returns ERR_CONFIG without rows of both classes, or
 * ERR_NOMEM. The caller frees *out. */
enum err_code perceptron_train(const float *x, const uint8_t *positive, size_t n, uint32_t inputs,
                               const struct perceptron_options *options, struct perceptron **out, struct err *err);

/* Returns P(positive), 0 to 1. */
double perceptron_predict(const struct perceptron *p, const float *x);

#endif
