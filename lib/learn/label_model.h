/* The label model (SQLens §3.2): from the votes of many noisy signals to P(correct), without labels.
 *
 * A matrix holds one row a candidate and one column a labeling function. A vote is a level: 0 says nothing (silent),
 * 1 and above say what the column's kind says; LM_MISSING means the function could not look, which is never the same
 * as silent. The model is a mixture over "wrong" and "right", fitted by EM; the mathematics stand in label_model.c.
 *
 * Thread: a matrix belongs to one thread; a fitted or loaded model is read-only and may be shared.
 */
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
    LM_POSITIVE, /* votes "right" (level 1) where all its parents are silent: computed here, never given */
    LM_VIEW      /* anything else that is known of a candidate, in levels: agreement with the others, rank ... */
};

/* What a higher level of a column may mean. The fit keeps the likelihood ratio in this order. */
enum lm_order { LM_FREE, LM_MORE_WRONG, LM_MORE_RIGHT };

struct lm_column {
    const char *name; /* unique, at most LM_NAME_MAX - 1 bytes; copied */
    enum lm_kind kind;
    unsigned levels;     /* 2 .. LM_MAX_LEVELS; 0: 2 */
    enum lm_order order; /* views only; signals are LM_MORE_WRONG */
    /* Weak prior: how often a candidate is thought wrong where the signal fires, and how many times the evidence of the
     * data this belief weighs. 0: the options' defaults. */
    double prior_precision, prior_weight;
    /* LM_POSITIVE: the columns it ranges over. Abstains where more than a fifth of them are missing. */
    const unsigned *parents;
    unsigned n_parents;
};

struct lm_matrix; /* columns copied, rows appended */

/* NULL with `err` when a column is not valid (name, levels, parents) or there are too many. Positive labelers come
 * after the columns they range over. */
struct lm_matrix *lm_matrix_new(const struct lm_column *columns, unsigned n, struct err *err);
void lm_matrix_free(struct lm_matrix *matrix);

/* One candidate: a level for each column, in their order (those of positive labelers are ignored and computed). A level
 * out of range is ERR_MALFORMED. `weight` is how many candidates the row stands for, > 0. */
enum err_code lm_matrix_add(struct lm_matrix *matrix, const uint8_t *votes, double weight, struct err *err);

size_t lm_matrix_rows(const struct lm_matrix *matrix);
unsigned lm_matrix_columns(const struct lm_matrix *matrix);
/* The votes of a row, positive labelers filled in. */
const uint8_t *lm_matrix_row(const struct lm_matrix *matrix, size_t row);
const struct lm_column *lm_matrix_column(const struct lm_matrix *matrix, unsigned column);
int lm_matrix_find(const struct lm_matrix *matrix, const char *name); /* -1: no such column */

/* Baselines. The vote count is the number of signals that fired; the majority vote adds up votes "wrong" and "right"
 * (of positive labelers) and returns the share of "wrong", 0.5 on a tie or where nobody votes. */
unsigned lm_count_fired(const struct lm_matrix *matrix, size_t row);
double lm_majority(const struct lm_matrix *matrix, size_t row);

struct lm_options {
    double prior_wrong;     /* anchor of P(wrong), in (0, 1) */
    double prior_strength;  /* weight of the anchor as a multiple of the data's; INFINITY: it does not move */
    double lift_prior;      /* default belief: odds of "wrong" multiply by this where a signal fires */
    double accuracy_weight; /* default of lm_column.prior_weight */
    double smoothing;       /* pseudo-candidates a column, so that rare levels stay finite; > 0 */
    bool dependencies;      /* learn which signals go together whatever the class, and count them once */
    bool views_follow;      /* views take no part in finding the class: label_model.c, "Views" */
    double refine;          /* with views_follow: one look back at each signal through all the others, the belief
                             * weighing this many times that evidence; 0: none */
    double edge_bits;       /* least conditional mutual information of an edge, beyond its penalty, bits a candidate */
    unsigned max_iterations, max_rounds; /* EM steps a round; rounds of structure and EM */
    double tolerance;                    /* of the mean log-likelihood */
    const char *command;                 /* kept in the file: how to make it again; NULL: "" */
};
struct lm_options lm_options_default(void); /* the likelihood all but alone: for many signals that fire together */
/* For the logs of a generator, where signals are sparse: firm belief in each signal, views that follow, one look back.
 * Chosen on the training logs; docs/models.md. */
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

/* Fit by maximising the marginal likelihood. The same matrix and options give the same bytes. Cost: under a second for
 * 100,000 candidates (equal rows are merged). ERR_CONFIG: options out of range; ERR_LIMIT_COUNT: no rows. */
enum err_code lm_fit(const struct lm_matrix *matrix, const struct lm_options *options, struct lm_model **out,
                     struct err *err);
void lm_free(struct lm_model *model);

/* What a signal's vote means at the model's prior: P(wrong | level > 0), and its likelihood ratio (lift of the odds).
 */
double lm_precision(const struct lm_model *model, unsigned signal);
double lm_odds_ratio(const struct lm_model *model, unsigned signal);
/* And what it means that a signal stays silent: how much the log-odds of "right" gain by it, in nats; never below 0.
 */
double lm_silence(const struct lm_model *model, unsigned signal);

/* Which of the caller's columns is which of the model's, by name. Columns that the model does not know are ignored;
 * those that the caller does not have are marginalised, like missing votes. */
struct lm_map {
    int16_t from[LM_MAX_COLUMNS]; /* per signal of the model: the caller's column, -1 */
};
void lm_map_init(struct lm_map *map, const struct lm_model *model, const char *const *names, unsigned n);

/* P(correct) of a candidate. `votes` are the caller's; levels past the model's count as its highest. About 0.3 µs. */
double lm_p_correct(const struct lm_model *model, const struct lm_map *map, const uint8_t *votes);

/* How much each signal of the model moved the log-odds of "wrong", in nats; out[n_signals]. They add up, with the
 * prior's log-odds, to those of 1 - P(correct), unless votes are missing: then each stands given its parent where seen.
 */
void lm_contributions(const struct lm_model *model, const struct lm_map *map, const uint8_t *votes, double *out);

/* Carry a model to data with another share of wrong candidates. Outside (0, 1): ERR_CONFIG. */
enum err_code lm_set_prior(struct lm_model *model, double prior_wrong, struct err *err);

/* JSON files, versioned. Loading checks everything: sizes, ranges, sums, cycles; ERR_VERSION for a version this build
 * does not know, ERR_MALFORMED otherwise, ERR_IO for the file itself. A file is written whole or not at all. */
enum err_code lm_save(const struct lm_model *model, const char *path, struct err *err);
enum err_code lm_load(const char *path, struct lm_model **out, struct err *err);
enum err_code lm_load_text(const char *text, size_t len, struct lm_model **out, struct err *err);
char *lm_save_text(const struct lm_model *model); /* malloc'd; the caller frees it. NULL: out of memory */

#endif
