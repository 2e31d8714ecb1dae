/* A perceptron with one hidden layer, over dense vectors. P(positive) is the sigmoid of a weighted sum of rectified
 * units over the standardised input. linking/predictor.h applies it to the hidden states of a model.
 *
 * Training uses Adam on shuffled batches, with dropout and weight decay. Positives may be weighted to count as much as
 * all negatives. The same data and options give the same weights. Thread: training any, one at a time for an object; a
 * trained perceptron is read-only and may be shared. */
#ifndef ASSAY_LIB_LEARN_PERCEPTRON_H
#define ASSAY_LIB_LEARN_PERCEPTRON_H

#include "lib/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { PERCEPTRON_MAX_INPUTS = 16384, PERCEPTRON_MAX_HIDDEN = 1024 };

struct perceptron {
    uint32_t inputs, hidden;
    float *mean, *scale;  /* `inputs` items each: z = (x - mean) * scale */
    float *weight, *bias; /* weight: `hidden` rows of `inputs` items; bias: `hidden` items */
    /* `hidden` weights, then the bias of the output. mean, scale, weight, bias and out are parts of one allocation. */
    float *out;
};

struct perceptron_options {
    uint32_t hidden, epochs, batch;
    double rate, decay;
    double dropout;         /* share of the inputs and of the hidden units that each step drops; below 1 */
    double positive_weight; /* weight of a positive's loss; 0 selects negatives / positives */
    uint64_t seed;
};
struct perceptron_options perceptron_options_default(void);

/* Allocates a perceptron of zeros for the caller to fill. Returns NULL if memory runs out or a size exceeds the bounds
 * above. */
struct perceptron *perceptron_new(uint32_t inputs, uint32_t hidden);
void perceptron_free(struct perceptron *p);

/* Trains on n rows of `inputs` finite floats each, and their classes. Returns ERR_CONFIG unless there are rows of both
 * classes, or ERR_NOMEM. Free *out with perceptron_free. */
enum err_code perceptron_train(const float *x, const uint8_t *positive, size_t n, uint32_t inputs,
                               const struct perceptron_options *options, struct perceptron **out, struct err *err);

/* Returns P(positive), from 0 to 1. */
double perceptron_predict(const struct perceptron *p, const float *x);

#endif
