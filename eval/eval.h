/* Evaluates Assay on a query log with gold queries: collects the labelled questions, then computes the measures. */
#ifndef ASSAY_EVAL_EVAL_H
#define ASSAY_EVAL_EVAL_H

#include "eval/difficulty.h"
#include "eval/vectors.h"
#include "worker/worker.h"

#include <jansson.h>

/* The methods of choosing the SQL of the answer. */
enum eval_choice { CHOICE_FIRST, CHOICE_FIRST_EXECUTABLE, CHOICE_MAJORITY, CHOICE_ASSAY, CHOICE_ORACLE, CHOICE_COUNT };

/* The scores that can decide whether an answer is given (triggering.h): X(ID, name, description). */
#define EVAL_SCORES(X)                                                                                                 \
    X(P, p_correct, "P(correct)")                                                                                      \
    X(LABEL_MODEL, label_model, "label model")                                                                         \
    X(VERIFIER, verifier, "verifier")                                                                                  \
    X(FINDINGS, findings, "fewest findings")                                                                           \
    X(VOTES, votes, "votes")                                                                                           \
    X(GENERATOR, generator, "the generator's own score")                                                               \
    X(NOTHING, nothing, "nothing known")                                                                               \
    X(TRUTH, truth, "the truth")

enum eval_score {
#define X(id, name, text) SCORE_##id,
    EVAL_SCORES(X)
#undef X
        SCORE_COUNT
};
/* Return the name as in JSON ("p_correct"), and the description ("P(correct)"). */
const char *eval_score_name(enum eval_score score);
const char *eval_score_text(enum eval_score score);

/* The evaluation of one question. */
struct eval_question {
    uint32_t database;
    uint32_t n_candidates, iterations;
    bool first, first_executable, majority, assay, oracle; /* true if the answer of that choice is right */
    bool executable;                                       /* at least one candidate runs */
    bool answered;                                         /* Assay returned SQL */
    bool gold_empty;
    double p;                   /* P(correct) of the answer; NAN without an answer */
    double scores[SCORE_COUNT]; /* scores of the answer; NAN without an answer */
    enum difficulty difficulty;
    bool comparable; /* the gold query has a normal form, so `matches` is defined */
    /* exact match (eval/exact.h) of the SQL of each choice. For the oracle: of any candidate */
    bool matches[CHOICE_COUNT];
    bool ceiling;           /* true if the loop with a perfect verifier finds the right candidate */
    uint32_t ceiling_tried; /* number of candidates that this loop tries */
    struct {
        bool shown, applied;
        bool fixes, breaks; /* fixes: only the repair is right; breaks: only the old query is right */
        uint64_t fired;     /* bit id of each signal that fired on the old query; 0 if none did or it does not run */
    } repair;
};

/* One judged candidate that runs. */
struct eval_row {
    uint32_t question;
    bool right;
    bool detection;           /* the first executable candidate of a question whose gold result is not empty */
    double p;                 /* P(correct); may be NAN */
    uint64_t fired;           /* bit id of each signal that fired */
    uint64_t missing;         /* bit id of each unavailable signal, and of the family llm if no model was called */
    bool known, pointed, hit; /* localisation of a wrong candidate (eval/localise.h) */
    double by_chance;
};

struct eval_data {
    GArray *questions, *rows; /* struct eval_question, struct eval_row */
    GHashTable *databases;
    struct vectors *vectors; /* NULL unless models are to be fitted */
    uint32_t max_iterations; /* candidates that the loop with a perfect verifier may try; 0 means all */
    uint64_t lines_without_gold, lines_failed, unjudged;
    uint64_t unreached;          /* requests left out because their database could not be opened */
    struct worker_stats workers; /* costs for --profile */
    double wall_s;
};

/* A share with its 95 % interval, in percent; NAN if undefined. */
struct eval_share {
    double value, low, high;
};

struct eval_detection {
    const char *name;
    uint32_t n, positives;
    struct eval_share accuracy, auc, precision, recall, f1;
};

struct eval_signal {
    const char *name, *family;
    bool enabled;
    uint32_t seen, fired, right;               /* counts over the detection rows on which the signal was available */
    struct eval_share precision, lift, recall; /* lift is a ratio, not a percentage */
    uint32_t all_fired, all_right;             /* counts over all judged candidates that run */
};

/* Assay's choice compared with another one, question by question. */
struct eval_contrast {
    enum eval_choice against;
    struct eval_share gain; /* paired difference, in percentage points */
    uint32_t fixed, broken;
};

/* The measures over the questions of one difficulty level. */
struct eval_level {
    uint32_t n;
    struct eval_share selection[CHOICE_COUNT], gain; /* gain: over the first executable candidate */
    double exact;                                    /* share of Assay's exact matches, in percent */
};

enum { EVAL_BINS = 10 };

/* Calibration of P: predictions in bins of equal width. */
struct eval_bin {
    uint32_t n;
    double p;                /* mean of the predictions, in percent */
    struct eval_share right; /* Wilson's interval */
};
struct eval_calibration {
    uint32_t n;
    double ece; /* calibration error in percent; NAN without predictions */
    struct eval_bin bins[EVAL_BINS];
};

/* The counts of a calibration. Initialise it with zeros. */
struct eval_reliability {
    uint32_t n[EVAL_BINS], right[EVAL_BINS];
    double p[EVAL_BINS]; /* sums of predictions */
};
void eval_reliability_add(struct eval_reliability *reliability, double p, bool right);
struct eval_calibration eval_reliability_end(const struct eval_reliability *reliability);

/* A point of a curve; both coordinates are between 0 and 1. */
struct eval_point {
    double x, y;
};

enum { EVAL_MAX_METHODS = 8, EVAL_CONTRASTS = 3 };

struct eval_report {
    uint32_t n;
    uint32_t right[CHOICE_COUNT];
    /* gain: Assay over the first executable candidate, paired, in percentage points */
    struct eval_share selection[CHOICE_COUNT], gain;
    uint32_t fixed, broken, unanswered;
    struct eval_contrast contrasts[EVAL_CONTRASTS];
    /* share of the gain from the first executable candidate to the oracle that Assay reaches, in percent */
    struct eval_share gap_closed;
    struct eval_share exact[CHOICE_COUNT];
    uint32_t ceiling; /* right answers of the loop with a perfect verifier */
    struct eval_share ceiling_ex;
    double ceiling_tried;
    struct eval_level levels[DIFFICULTY_COUNT];
    struct eval_detection detection;
    struct eval_calibration rows, answers; /* calibration of P on the detection rows, and on the answers given */
    struct eval_signal *signals;
    unsigned n_signals;
    uint32_t answered_at_95, interactions_to_95;
    double answered_threshold, tried;
    struct eval_repairs {
        uint32_t n, fixed, broken;
        struct eval_repairs_of {
            uint32_t n, fixed, broken;
            /* by id of a signal that fired on the old query; [0] if none fired. A repair counts once for each signal */
        } of[64];
    } repaired, proposed; /* answers that are repairs; repairs shown beside the answer */
    uint32_t wrong_known, wrong_pointed, wrong_hit;
    struct eval_share hit, hit_pointed, chance;
    struct eval_detection folds[EVAL_MAX_METHODS];
    unsigned n_folds;
    bool folds_by_question; /* folds are by question, since the log has too few databases */
};

struct eval_data *eval_data_new(bool vectors);
void eval_data_free(struct eval_data *data);

/* Adds one verdict and its labels. `catalog` NULL disables localisation. */
void eval_add(struct eval_data *data, const struct msg_verdict *verdict, const struct labels *labels,
              const struct sql_catalog *catalog);

/* Computes the report, with `rounds` bootstrap resamples for the intervals. With 0 rounds there are no intervals. Free
 * with eval_report_free. */
struct eval_report *eval_measure(const struct eval_data *data, const struct vsig_options *signals, unsigned rounds);
void eval_report_free(struct eval_report *report);

/* Fits the models in five folds by database, measures each model, and appends the results to report->folds. */
enum err_code eval_folds(const struct eval_data *data, unsigned rounds, struct eval_report *report, struct err *err);

/* Compute parts of the report. eval_measure calls them. */
void eval_selection(const struct eval_data *data, unsigned rounds, struct eval_report *out);
void eval_calibration(const struct eval_data *data, struct eval_report *out);

/* Compute curves. eval_roc has true positives over false positives of detection, for each threshold, from (0,0) to
 * (1,1). eval_coverage has precision over coverage of the answers, most certain first. Free with g_free. *n is the
 * number of points; NULL and 0 if there are none. */
struct eval_point *eval_roc(const struct eval_data *data, size_t *n);
struct eval_point *eval_coverage(const struct eval_data *data, size_t *n);

/* Computes a statistic over rows 0..n-1, multiplied by `scale`, with its 95 % interval from `rounds` bootstrap
 * resamples. */
struct eval_share eval_interval(learn_statistic statistic, const void *context, size_t n, unsigned rounds,
                                double scale);

/* Measures how well a score detects wrong candidates; a higher score means wrong. A score of `threshold` or more
 * predicts wrong. */
struct eval_detection eval_detect(const char *name, const double *score, const uint8_t *wrong, uint32_t n,
                                  double threshold, unsigned rounds);

/* Time spent in one signal, or in work that signals share. */
struct eval_cost {
    const char *name;
    int64_t ns;
    uint64_t runs;
};
enum { EVAL_COSTS = VSIG_ID_END + 3 };

/* Lists the costs, highest first, and returns their number. Sets *total to the time spent in tasks. */
unsigned eval_costs(const struct worker_stats *stats, struct eval_cost out[EVAL_COSTS], int64_t *total);

/* Returns the name of a choice as in JSON, such as "first_executable". */
const char *eval_choice_name(enum eval_choice choice);

/* Returns "n", "ece" and the "bins" as in the report. Release with json_decref. */
json_t *eval_calibration_json(const struct eval_calibration *calibration);
/* Returns the report as one JSON object. Release with json_decref. */
json_t *eval_json(const struct eval_report *report, const struct eval_data *data, bool profile);
/* Returns the member "triggering" (triggering.h), a row for each score. Release with json_decref. */
json_t *eval_triggering_json(const struct eval_data *data);

#endif
