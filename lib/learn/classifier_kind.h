/* The interface of a kind of classifier. Each kind fills one such table; classifier.c lists the tables. */
#ifndef ASSAY_LIB_LEARN_CLASSIFIER_KIND_H
#define ASSAY_LIB_LEARN_CLASSIFIER_KIND_H

#include "lib/learn/classifier.h"

#include <jansson.h>

/* A selection of rows of the data. */
struct learn_rows {
    const struct learn_data *data;
    const uint32_t *rows;
    size_t n;
};

struct model_blocks;

struct classifier_kind {
    const char *name;
    const char *unsupported; /* reason why this build cannot train it, or NULL */
    bool compact;            /* true to write the file without line breaks */
    /* Fits on the rows, which contain both classes with weight. Sets *state, which `free` below frees. */
    enum err_code (*fit)(const struct learn_rows *rows, const struct learn_options *options, void **state,
                         struct err *err);
    double (*predict)(const void *state, unsigned m, const float *x);      /* returns P(positive), uncalibrated */
    double (*importance)(const void *state, unsigned m, unsigned feature); /* not negative, on any scale */
    json_t *(*save)(const void *state, unsigned m);
    /* Returns NULL if the parameters are not valid. */
    void *(*load)(const json_t *parameters, unsigned m, const struct model_blocks *blocks);
    /* Moves the large parts of the JSON of `state` into blocks (lib/learn/blocks.h). NULL if a model of this kind has
     * no large parts. */
    bool (*move)(json_t *parameters, const void *state, struct model_blocks *blocks);
    void (*free)(void *state);
};

extern const struct classifier_kind classifier_logistic, classifier_trees;

struct learn_model {
    const struct classifier_kind *kind;
    void *state;
    unsigned m;
    char **names; /* NULL-terminated */
    char *command;
    struct learn_calibration calibration;
};

const struct classifier_kind *classifier_kind_find(const char *name); /* returns NULL if the kind is unknown */

static inline double row_weight(const struct learn_data *data, uint32_t row)
{
    return data->weight ? data->weight[row] : 1;
}

/* Fits a model on the rows, and calibrates it on predictions for held-out parts of them. */
enum err_code classifier_fit_rows(const struct classifier_kind *kind, const struct learn_rows *rows,
                                  const struct learn_options *options, struct learn_model **out, struct err *err);

#endif
