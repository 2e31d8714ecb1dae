/* The label model (SQLens §3.2): P(correct) from the votes of many noisy signals, without labels.
 *
 * A matrix has one row for each candidate and one column for each labeling function. A vote is a level, and level 0
 * means silent. The column's kind defines the levels from 1 on. LM_MISSING means that the function could not run; it is
 * never treated as silent. The model is a mixture of the classes "wrong" and "right", fitted by EM. label_model.c
 * describes the mathematics.
 *
 * Thread: a matrix belongs to one thread; a fitted or loaded model is read-only and may be shared. */
#ifndef ASSAY_LIB_LEARN_LABEL_MODEL_H
#define ASSAY_LIB_LEARN_LABEL_MODEL_H

#include "lib/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LM_MAX_COLUMNS = 128, LM_MAX_LEVELS = 8, LM_NAME_MAX = 64, LM_COMMAND_MAX = 512, LM_FILE_VERSION = 1 };
enum { LM_SILENT = 0, LM_FIRED = 1, LM_MISSING = 255 };

enum lm_kind {
    LM_SIGNAL,   /* votes "wrong"; a higher level is stronger evidence */
    LM_POSITIVE, /* votes "right" (level 1) if all its parents are silent; the matrix computes this vote */
    LM_VIEW      /* another fact about a candidate, in levels: agreement with the others, rank ... */
};

/* Direction of a column's higher levels. The likelihood ratio of the fitted model does not violate it. */
enum lm_order { LM_FREE, LM_MORE_WRONG, LM_MORE_RIGHT };

struct lm_column {
    const char *name; /* unique, at most LM_NAME_MAX - 1 bytes; copied */
    enum lm_kind kind;
    unsigned levels;     /* 2 to LM_MAX_LEVELS; 0 means 2 */
    enum lm_order order; /* only for views; signals are LM_MORE_WRONG */
    /* Weak prior: the assumed share of wrong candidates among those where the signal fires, and its weight as a
     * multiple of the data's evidence. 0 selects the defaults in lm_options. */
    double prior_precision, prior_weight;
    /* For LM_POSITIVE: the columns that it depends on. It abstains if more than a fifth of them are missing. */
    const unsigned *parents;
    unsigned n_parents;
};

struct lm_matrix; /* copies the columns; rows are appended */

/* Creates a matrix. Returns NULL with `err` if a column is not valid (name, levels, parents) or there are too many
 * columns. A positive labeler must come after the columns that it depends on. */
struct lm_matrix *lm_matrix_new(const struct lm_column *columns, unsigned n, struct err *err);
void lm_matrix_free(struct lm_matrix *matrix);

/* Adds one candidate: a level for each column, in order. Given levels of positive labelers are ignored, because the
 * matrix computes them. Returns ERR_MALFORMED for a level out of range. `weight` is the number of candidates that the
 * row represents, > 0. */
enum err_code lm_matrix_add(struct lm_matrix *matrix, const uint8_t *votes, double weight, struct err *err);

size_t lm_matrix_rows(const struct lm_matrix *matrix);
unsigned lm_matrix_columns(const struct lm_matrix *matrix);
/* Returns the votes of a row, including those of positive labelers. */
const uint8_t *lm_matrix_row(const struct lm_matrix *matrix, size_t row);
const struct lm_column *lm_matrix_column(const struct lm_matrix *matrix, unsigned column);
int lm_matrix_find(const struct lm_matrix *matrix, const char *name); /* returns -1 if there is no such column */

/* Baselines. lm_count_fired returns the number of fired signals. lm_majority counts the votes "wrong" and the votes
 * "right" of positive labelers, and returns the share of "wrong". It returns 0.5 on a tie or without votes. */
unsigned lm_count_fired(const struct lm_matrix *matrix, size_t row);
double lm_majority(const struct lm_matrix *matrix, size_t row);

struct lm_options {
    double prior_wrong;    /* anchor of P(wrong), in (0, 1) */
    double prior_strength; /* weight of the anchor as a multiple of the data's weight; INFINITY fixes P(wrong) */
    double lift_prior; /* default prior of a signal: it multiplies the odds of "wrong" by this factor where it fires */
    double accuracy_weight; /* default of lm_column.prior_weight */
    double smoothing;       /* pseudo-candidates added to each column, so that rare levels stay finite; > 0 */
    bool dependencies;      /* learn which signals depend on each other within a class, so that they count once */
    bool views_follow;      /* views are not used to find the class (label_model.c, "Views") */
    /* With views_follow: re-estimate each signal once from all other columns. The prior weighs this many times that
     * evidence. 0 disables it. */
    double refine;
    /* Minimum conditional mutual information of an edge, above its penalty, in bits for each candidate. */
    double edge_bits;
    unsigned max_iterations, max_rounds; /* EM steps in each round; rounds of structure learning and EM */
    double tolerance;                    /* of the mean log-likelihood, to end EM */
    const char *command;                 /* command that recreates the file, stored in it; NULL means "" */
};
struct lm_options lm_options_default(void); /* the data outweigh the priors: for many signals that fire together */
/* Returns options for the logs of a generator, where signals rarely fire. Each signal has a strong prior, views follow,
 * and each signal is re-estimated once. The values were chosen on the training logs (docs/models.md). */
struct lm_options lm_options_anchored(void);

struct lm_signal { /* a column of a fitted model */
    char name[LM_NAME_MAX];
    enum lm_kind kind;
    enum lm_order order;
    unsigned levels;
    double p[2][LM_MAX_LEVELS]; /* P(level | right), P(level | wrong); for a positive labeler only informative */
    double coverage;            /* share of the candidates with level above 0, among those with a vote */
    double available;           /* share of the candidates with a vote */
    int parent;                 /* index in `signals` of the signal that it depends on; -1 if there is none */
    double parent_bits;         /* conditional mutual information with the parent */
    double given[2][LM_MAX_LEVELS][LM_MAX_LEVELS]; /* [class][level of parent][level]; used only with a parent */
};

struct lm_model {
    unsigned n_signals;
    struct lm_signal *signals;
    unsigned *order; /* a permutation of the signals with parents before children */
    double prior_wrong;
    double n;              /* total weight of the candidates that the model was fitted on */
    double log_likelihood; /* mean for each candidate, in nats */
    unsigned iterations, rounds;
    bool converged;
    char command[LM_COMMAND_MAX];
};

/* Fits a model by maximising the marginal likelihood. The same matrix and options give the same bytes. 100,000
 * candidates take less than a second, because equal rows are merged. Returns ERR_CONFIG for options out of range,
 * ERR_LIMIT_COUNT without rows. */
enum err_code lm_fit(const struct lm_matrix *matrix, const struct lm_options *options, struct lm_model **out,
                     struct err *err);
void lm_free(struct lm_model *model);

/* lm_precision returns P(wrong | level > 0) at the model's prior. lm_odds_ratio returns the likelihood ratio of a
 * signal, the factor by which it multiplies the odds of "wrong". */
double lm_precision(const struct lm_model *model, unsigned signal);
double lm_odds_ratio(const struct lm_model *model, unsigned signal);
/* Returns the increase of the log-odds of "right", in nats, if a signal is silent. Never below 0. */
double lm_silence(const struct lm_model *model, unsigned signal);

/* Maps the caller's columns to those of the model, by name. Columns that the model does not have are ignored. Model
 * columns that the caller does not have count as missing votes. */
struct lm_map {
    int16_t from[LM_MAX_COLUMNS]; /* for each signal of the model: the caller's column, or -1 */
};
void lm_map_init(struct lm_map *map, const struct lm_model *model, const char *const *names, unsigned n);

/* Returns P(correct) of a candidate. `votes` has the caller's columns. A level above the model's highest counts as the
 * highest. Takes about 0.3 µs. */
double lm_p_correct(const struct lm_model *model, const struct lm_map *map, const uint8_t *votes);

/* Writes to out[n_signals] by how much each signal changed the log-odds of "wrong", in nats. Without missing votes,
 * their sum and the prior's log-odds give the log-odds of 1 - P(correct). A signal with a parent then counts given the
 * parent's level. */
void lm_contributions(const struct lm_model *model, const struct lm_map *map, const uint8_t *votes, double *out);

/* Adapts a model to data with another share of wrong candidates. Returns ERR_CONFIG if the share is not in (0, 1). */
enum err_code lm_set_prior(struct lm_model *model, double prior_wrong, struct err *err);

/* Save and load versioned JSON files. Loading checks sizes, ranges, sums and cycles. It returns ERR_VERSION for an
 * unknown version, ERR_IO if the file is unreadable, and otherwise ERR_MALFORMED. Saving writes the file completely or
 * not at all. */
enum err_code lm_save(const struct lm_model *model, const char *path, struct err *err);
enum err_code lm_load(const char *path, struct lm_model **out, struct err *err);
enum err_code lm_load_text(const char *text, size_t len, struct lm_model **out, struct err *err);
char *lm_save_text(const struct lm_model *model); /* malloc'd; the caller frees it. NULL if memory runs out */

#endif
