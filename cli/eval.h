/* What a log with gold queries says of Assay: collected question by question, then measured. */
#ifndef ASSAY_CLI_EVAL_H
#define ASSAY_CLI_EVAL_H

#include "cli/format.h"
#include "cli/vectors.h"
#include "worker/worker.h"

/* One question. */
struct eval_question {
    uint32_t database;
    uint32_t n_candidates, iterations;
    bool first, first_executable, majority, assay, oracle; /* is that one's answer right? */
    bool executable;                                       /* some candidate runs */
    bool answered;                                         /* Assay returned SQL */
    bool gold_empty;
    double p; /* of the answer; NAN: none */
};

/* One judged candidate that runs. */
struct eval_row {
    uint32_t question;
    bool right;
    bool detection;           /* the first executable candidate of a question whose gold result is not empty */
    double p;                 /* P(correct); NAN */
    uint64_t fired;           /* bit id of each signal that fired */
    uint64_t missing;         /* of each that was unavailable */
    bool known, pointed, hit; /* localisation, of wrong ones */
    double by_chance;
};

struct eval_data {
    GArray *questions, *rows; /* of struct eval_question, struct eval_row */
    GHashTable *databases;
    struct vectors *vectors; /* NULL unless models are to be fitted */
    uint64_t lines_without_gold, lines_failed, unjudged;
    struct worker_stats workers; /* for --profile */
    double wall_s;
};

/* A share with its 95 % interval, in percent; NAN where it is not defined. */
struct eval_share {
    double value, low, high;
};

enum eval_choice { CHOICE_FIRST, CHOICE_FIRST_EXECUTABLE, CHOICE_MAJORITY, CHOICE_ASSAY, CHOICE_ORACLE, CHOICE_COUNT };

struct eval_detection {
    const char *name;
    uint32_t n, positives;
    struct eval_share accuracy, auc, precision, recall, f1;
};

struct eval_signal {
    const char *name, *family;
    bool enabled;
    uint32_t seen, fired, right;               /* over the detection rows it could look at */
    struct eval_share precision, lift, recall; /* lift is a ratio, not a percentage */
    uint32_t all_fired, all_right;             /* over all judged candidates that run */
};

enum { EVAL_MAX_METHODS = 8 };

struct eval_report {
    uint32_t n;
    uint32_t right[CHOICE_COUNT];
    struct eval_share selection[CHOICE_COUNT], gain; /* gain: assay over the first executable, in points, paired */
    uint32_t fixed, broken, unanswered;
    struct eval_detection detection;
    double ece; /* calibration error of P over the detection rows, in percent */
    struct eval_signal *signals;
    unsigned n_signals;
    uint32_t answered_at_95, interactions_to_95;
    double answered_threshold, tried;
    uint32_t wrong_known, wrong_pointed, wrong_hit;
    struct eval_share hit, hit_pointed, chance;
    struct eval_detection folds[EVAL_MAX_METHODS];
    unsigned n_folds;
    bool folds_by_question; /* the log has too few databases to fold by them */
};

struct eval_data *eval_data_new(bool vectors);
void eval_data_free(struct eval_data *data);

/* Take one verdict and its labels in. `catalog` may be NULL: no localisation. */
void eval_add(struct eval_data *data, const struct msg_verdict *verdict, const struct labels *labels,
              const struct sql_catalog *catalog);

/* Measure. `rounds` of bootstrap (0: no intervals). The caller owes eval_report_free. */
struct eval_report *eval_measure(const struct eval_data *data, const struct vsig_options *signals, unsigned rounds);
void eval_report_free(struct eval_report *report);

/* Fit the models five-fold by database and measure each; adds to report->folds. */
enum err_code eval_folds(const struct eval_data *data, unsigned rounds, struct eval_report *report, struct err *err);

/* Detection by any score: higher means wrong. `predicted` wrong from `threshold` on. */
struct eval_detection eval_detect(const char *name, const double *score, const uint8_t *wrong, uint32_t n,
                                  double threshold, unsigned rounds);

/* Tables, or one JSON object. */
void eval_print(FILE *stream, const struct eval_report *report, const struct eval_data *data, bool profile);
json_t *eval_json(const struct eval_report *report, const struct eval_data *data, bool profile);

#endif
