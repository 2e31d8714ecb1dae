/* The label model (SQLens §3.2): P(correct) from the votes of many noisy signals, without labels.
 *
 * A matrix has one row for each candidate and one column for each labeling function. A vote is a level. 0 means silent.
 * The column's kind defines levels from 1. LM_MISSING means that the function could not run, which never equals silent.
 * The model is a mixture of "wrong" and "right", fitted by EM; label_model.c has the mathematics.
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
    LM_SIGNAL,   /* votes "wrong", the more so the higher the level */
    LM_POSITIVE, /* votes "right" (level 1) if all its parents are silent: computed here, never given */
    LM_VIEW      /* any other fact about a candidate, in levels: agreement with the others, rank ... */
};

/* The meaning of a column's higher levels. The fit keeps the likelihood ratio in this order. */
enum lm_order { LM_FREE, LM_MORE_WRONG, LM_MORE_RIGHT };

struct lm_column {
    const char *name; /* unique, at most LM_NAME_MAX - 1 bytes; copied */
    enum lm_kind kind;
    unsigned levels;     /* 2 .. LM_MAX_LEVELS; 0: 2 */
    enum lm_order order; /* views only; signals are LM_MORE_WRONG */
    /* Weak prior: the believed share of wrong candidates where the signal fires, and the weight of this belief as a
     * multiple of the data's evidence. 0 means the options' defaults. */
    double prior_precision, prior_weight;
    /* LM_POSITIVE: the columns that it depends on. It abstains if more than a fifth of them are missing. */
    const unsigned *parents;
    unsigned n_parents;
};

struct lm_matrix; /* columns copied, rows appended */

/* Makes a matrix. Returns NULL with `err` if a column is not valid (name, levels, parents) or there are too many.
 * Positive labelers come after the columns that they depend on. */
struct lm_matrix *lm_matrix_new(const struct lm_column *columns, unsigned n, struct err *err);
void lm_matrix_free(struct lm_matrix *matrix);

/* Adds one candidate: a level for each column, in order. Levels of positive labelers are ignored and computed. A level
 * out of range is ERR_MALFORMED. `weight` is the number of candidates that the row represents, > 0. */
enum err_code lm_matrix_add(struct lm_matrix *matrix, const uint8_t *votes, double weight, struct err *err);

size_t lm_matrix_rows(const struct lm_matrix *matrix);
unsigned lm_matrix_columns(const struct lm_matrix *matrix);
/* Returns the votes of a row, positive labelers included. */
const uint8_t *lm_matrix_row(const struct lm_matrix *matrix, size_t row);
const struct lm_column *lm_matrix_column(const struct lm_matrix *matrix, unsigned column);
int lm_matrix_find(const struct lm_matrix *matrix, const char *name); /* -1: no such column */

/* Baselines. The vote count is the number of fired signals. The majority vote adds up votes "wrong" and "right" (of
 * positive labelers) and returns the share of "wrong"; 0.5 on a tie or without votes. */
unsigned lm_count_fired(const struct lm_matrix *matrix, size_t row);
double lm_majority(const struct lm_matrix *matrix, size_t row);

struct lm_options {
    double prior_wrong;     /* anchor of P(wrong), in (0, 1) */
    double prior_strength;  /* weight of the anchor as a multiple of the data's; INFINITY fixes it */
    double lift_prior;      /* default belief: odds of "wrong" multiply by this where a signal fires */
    double accuracy_weight; /* default of lm_column.prior_weight */
    double smoothing;       /* pseudo-candidates a column, so that rare levels stay finite; > 0 */
    bool dependencies;      /* learn which signals depend on each other within a class, and count them once */
    bool views_follow;      /* views take no part in finding the class: label_model.c, "Views" */
    double refine;          /* with views_follow: re-estimate each signal once through all the others; the belief
                             * weighs this many times that evidence; 0: off */
    double edge_bits;       /* least conditional mutual information of an edge, beyond its penalty, bits a candidate */
    unsigned max_iterations, max_rounds; /* EM steps a round; rounds of structure and EM */
    double tolerance;                    /* of the mean log-likelihood */
    const char *command;                 /* command that makes the file again, stored in it; NULL: "" */
};
struct lm_options lm_options_default(void); /* likelihood almost alone: for many signals that fire together */
/* Returns options for the logs of a generator, where signals are sparse: strong prior in each signal, views that
 * follow, one re-estimation. Chosen on the training logs; docs/models.md. */
struct lm_options lm_options_anchored(void);

struct lm_signal { /* a column of a fitted model */
    char name[LM_NAME_MAX];
    enum lm_kind kind;
    enum lm_order order;
    unsigned levels;
    double p[2][LM_MAX_LEVELS]; /* P(level | right), P(level | wrong); of a positive labeler: derived, not used */
    double coverage;            /* share of the candidates it could see where its level is above 0 */
    double available;           /* share of the candidates that it could see */
    int parent;                 /* the signal it depends on, -1: none; index into signals, smaller depth first */
    double parent_bits;         /* conditional mutual information with the parent */
    double given[2][LM_MAX_LEVELS][LM_MAX_LEVELS]; /* [class][level of parent][level]; only with a parent */
};

struct lm_model {
    unsigned n_signals;
    struct lm_signal *signals;
    unsigned *order; /* a permutation of the signals with parents before children */
    double prior_wrong;
    double n;              /* candidates it was fitted on (weights) */
    double log_likelihood; /* mean, nats a candidate */
    unsigned iterations, rounds;
    bool converged;
    char command[LM_COMMAND_MAX];
};

/* Fits by maximising the marginal likelihood. The same matrix and options give the same bytes. Cost: under a second for
 * 100,000 candidates (equal rows are merged). Returns ERR_CONFIG for options out of range, ERR_LIMIT_COUNT without
 * rows. */
enum err_code lm_fit(const struct lm_matrix *matrix, const struct lm_options *options, struct lm_model **out,
                     struct err *err);
void lm_free(struct lm_model *model);

/* Return P(wrong | level > 0) at the model's prior, and the likelihood ratio of a signal (lift of the odds). */
double lm_precision(const struct lm_model *model, unsigned signal);
double lm_odds_ratio(const struct lm_model *model, unsigned signal);
/* Returns the increase of the log-odds of "right", in nats, if a signal stays silent; never below 0. */
double lm_silence(const struct lm_model *model, unsigned signal);

/* Maps the caller's columns to the model's, by name. Columns that the model does not know are ignored. Columns that the
 * caller does not have are marginalised, like missing votes. */
struct lm_map {
    int16_t from[LM_MAX_COLUMNS]; /* per signal of the model: the caller's column, -1 */
};
void lm_map_init(struct lm_map *map, const struct lm_model *model, const char *const *names, unsigned n);

/* Returns P(correct) of a candidate. `votes` are the caller's; levels past the model's count as its highest. About 0.3
 * µs. */
double lm_p_correct(const struct lm_model *model, const struct lm_map *map, const uint8_t *votes);

/* Computes how much each signal of the model moved the log-odds of "wrong", in nats; out[n_signals]. Their sum and the
 * prior's log-odds give those of 1 - P(correct), unless votes are missing. Each signal then counts given its parent, if
 * that is known. */
void lm_contributions(const struct lm_model *model, const struct lm_map *map, const uint8_t *votes, double *out);

/* Adapts a model to data with another share of wrong candidates. Returns ERR_CONFIG outside (0, 1). */
enum err_code lm_set_prior(struct lm_model *model, double prior_wrong, struct err *err);

/* Save and load JSON files, versioned. Loading checks sizes, ranges, sums and cycles. Returns ERR_VERSION for a version
 * that this build does not know, ERR_IO for the file itself, else ERR_MALFORMED. A file is written completely or not at
 * all. */
enum err_code lm_save(const struct lm_model *model, const char *path, struct err *err);
enum err_code lm_load(const char *path, struct lm_model **out, struct err *err);
enum err_code lm_load_text(const char *text, size_t len, struct lm_model **out, struct err *err);
char *lm_save_text(const struct lm_model *model); /* malloc'd; the caller frees it. NULL: out of memory */

#endif
