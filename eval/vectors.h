/* Collects the decision vectors (votes and features) of judged candidates, with their labels, to fit and compare
 * models. */
#ifndef ASSAY_EVAL_VECTORS_H
#define ASSAY_EVAL_VECTORS_H

#include "eval/label.h"
#include "lib/learn/learn.h"
#include "scoring/votes.h"

#include <glib.h>

enum { VECTORS_UNLABELLED = 2 };

struct vectors {
    unsigned flags; /* FEATURES_* */
    unsigned n_votes, n_features;
    int label_model_p; /* index of the feature that holds the label model's probability; -1 if there is none */
    uint32_t n;        /* number of rows */
    uint32_t n_questions;
    GArray *votes; /* uint8_t, n_votes for each row */
    GArray
        /* float, n_features for each row; vectors_set_label_model_p sets the label model's probability, which is NAN
         * before */
        *features;
    GArray *right;     /* uint8_t: 1 right, 0 wrong, VECTORS_UNLABELLED */
    GArray *database;  /* uint32_t: rows of one database share a fold */
    GArray *question;  /* uint32_t */
    GArray *made;      /* uint8_t: a mutant, or the gold query among mutants */
    GArray *detection; /* uint8_t: the first executable candidate of a question whose gold result is not empty */
    GHashTable *databases;
};

/* Returns the number of a database: from 1, in order of appearance. `numbers` maps names to numbers and frees the
 * names. */
uint32_t vectors_database(GHashTable *numbers, const char *name);

struct vectors *vectors_new(unsigned flags);
void vectors_free(struct vectors *vectors);

/* Adds the judged candidates of a verdict, except invalid ones and repeats. `labels` NULL means unlabelled. `made`
 * means that the candidates are mutants; features of the whole request (agreement, rank) then stay missing. */
void vectors_add(struct vectors *vectors, const struct msg_verdict *verdict, const struct labels *labels, bool made);

/* Returns the rows with use[row] set as a matrix for the label model, or NULL with `err` set. `use` NULL selects all
 * rows. Free with lm_matrix_free. */
struct lm_matrix *vectors_matrix(const struct vectors *vectors, const uint8_t *use, struct err *err);

static inline const uint8_t *vectors_votes(const struct vectors *v, uint32_t row)
{
    return &g_array_index(v->votes, uint8_t, (size_t)row * v->n_votes);
}
static inline float *vectors_features(const struct vectors *v, uint32_t row)
{
    return &g_array_index(v->features, float, (size_t)row * v->n_features);
}
static inline uint8_t vectors_right(const struct vectors *v, uint32_t row)
{
    return g_array_index(v->right, uint8_t, row);
}

/* Sets the feature that holds the label model's P(correct), in every row. */
void vectors_set_label_model_p(struct vectors *vectors, const struct lm_model *model);

/* Returns the share of wrong candidates among the labelled rows, or NAN if none is labelled. */
double vectors_share_wrong(const struct vectors *vectors, const uint8_t *use);

#endif
